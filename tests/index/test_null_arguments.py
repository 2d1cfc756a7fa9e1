"""What a function leaves out when it is called without a buffer."""

from __future__ import annotations

import pytest

from tracer.index.null_arguments import null_arguments, parameters_at, returns_at

_SIZED = """\
void run(void* buf, size_t& size, float const* in)
{
    {
        size_t total = 3;
        if(!buf)
        {
            size = total;
            return;
        }
    }
    kernel<<<1, 64>>>(in);
}
"""


def test_null_arguments_are_found_by_position_through_casts_and_variables() -> None:
    call = "    ns::run<float, 3>(\n        nullptr, size, static_cast<float const*>(nullptr), given);\n"
    assert null_arguments(call, "run", frozenset()) == {0, 2}
    assert null_arguments(call, "run", frozenset({"given"})) == {0, 2, 3}


def test_parameters_have_their_names_with_and_without_defaults() -> None:
    assert parameters_at(_SIZED, "run", frozenset({0, 2})) == {"buf", "in"}
    assert parameters_at("void g(int* a = nullptr, T&& b = {})\n{\n}\n", "g", frozenset({0, 1})) == {"a", "b"}


def test_nothing_runs_behind_the_return_that_a_null_buffer_takes() -> None:
    assert returns_at(_SIZED, frozenset({"buf"})) == 8
    assert returns_at(_SIZED, frozenset({"in"})) is None


@pytest.mark.parametrize(
    ("test", "returns"),
    [
        ("if(buf == nullptr) return;", True),
        ("if(nullptr == buf) { return; }", True),
        ("if(!buf) { note(); }", False),
        ("if(buf) return;", False),
        ("if(other) { if(!buf) return; }", False),
        ("if(other) if(!buf) return;", False),
        ("for(;;) { if(!buf) return; }", False),
    ],
)
def test_only_a_return_that_is_surely_taken_counts(test: str, returns: bool) -> None:
    text = f"void run(void* buf)\n{{\n    {test}\n    go();\n}}\n"
    assert (returns_at(text, frozenset({"buf"})) is not None) is returns


@pytest.mark.parametrize("text", ["", "run", "run(", "run<", "run<a, b", "void run(void* buf"])
def test_text_that_ends_early_gives_nothing(text: str) -> None:
    assert null_arguments(text, "run", frozenset()) == frozenset()
    assert returns_at(text, frozenset({"buf"})) is None
