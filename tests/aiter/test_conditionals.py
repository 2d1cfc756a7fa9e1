"""Dead branches of conditional compilation, by what a file itself defines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer.aiter.conditionals import condition_value, live_text


def _left(text: str) -> list[str]:
    """The lines that are left, without directives."""
    return [line.strip() for line in live_text(text).split("\n") if line.strip() and not line.lstrip().startswith("#")]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("#if 0\ndead\n#endif\nlive\n", ["live"]),
        ("#if 0\ndead\n#else\nlive\n#endif\n", ["live"]),
        ("#if 1 // always\nlive\n#else\ndead\n#endif\n", ["live"]),
        ("#define A 0\n#if A\ndead\n#endif\nlive\n", ["live"]),
        ("#ifndef A\n#define A 1\n#endif\n#if !A\ndead\n#else\nlive\n#endif\n", ["live"]),
        ("#define A 2\n#if A == 1\ndead\n#elif A == 2\nlive\n#else\ndead\n#endif\n", ["live"]),
        ("#ifndef GUARD_H\n#define GUARD_H\n#define A 0\n#if A\ndead\n#endif\nlive\n#endif\n", ["live"]),
        ("#if 0\n#if 1\ndead\n#endif\ndead\n#endif\nlive\n", ["live"]),
    ],
)
def test_a_branch_that_the_file_rules_out_is_left_out(text: str, left: list[str]) -> None:
    assert _left(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "#if USE_ROCM\none\n#else\ntwo\n#endif\n",
        "#ifdef A\none\n#else\ntwo\n#endif\n",
        "#if defined(__gfx942__)\n#define A 1\n#else\n#define A 0\n#endif\n#if A\none\n#else\ntwo\n#endif\n",
        "#ifdef B\n#define A 0\n#endif\n#if A\none\n#else\ntwo\n#endif\n",
        "#ifndef CK_TILE_A\n#define CK_TILE_A 0\n#endif\n#if CK_TILE_A\none\n#else\ntwo\n#endif\n",
        "#define A 1\n#undef A\n#if A\none\n#else\ntwo\n#endif\n",
        "#define A f(1)\n#if A\none\n#else\ntwo\n#endif\n",
        "#ifndef A\n#define A 0\n#else\nthree\n#endif\n#if A\none\n#else\ntwo\n#endif\n",
    ],
)
def test_what_the_file_does_not_decide_keeps_all_of_its_branches(text: str) -> None:
    assert {"one", "two"} <= set(_left(text))


def test_a_conditional_that_is_decided_in_part_stays_one() -> None:
    text = "#if 0\ndead\n#elif X\none\n#elif 1\ntwo\n#else\ndead\n#endif\n"
    lines = [line.rstrip() for line in live_text(text).split("\n")]
    assert [line for line in lines if line] == ["#if   X", "one", "#else", "two", "#endif"]


@given(st.lists(st.sampled_from(["#if 0", "#if 1", "#if X", "#elif 1", "#else", "#endif", "#define A 0", "code"])))
def test_lines_and_offsets_stay_whatever_the_directives(lines: list[str]) -> None:
    text = "\n".join(lines)
    left = live_text(text)
    assert len(left) == len(text)
    assert left.count("\n") == text.count("\n")


def test_conditions_are_reckoned_as_the_language_has_it() -> None:
    macros = {"A": "3", "B": "A"}
    assert condition_value("defined(A) && !defined(C)", macros) == 1
    assert condition_value("B * 2 >= 6u || C", macros) == 1
    with pytest.raises(ValueError, match=r"."):
        condition_value("A(1) +", macros)
