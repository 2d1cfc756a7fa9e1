"""Arguments that a callable can't take: which are refused, and what the refusal says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tracer.errors import UsageError
from tracer.ops.callable import CallableOp
from tracer.ops.signatures import check_arguments


def scale(input: Any, factor: float = 1.0) -> Any:
    return input, factor


def anything(*args: Any, **kwargs: Any) -> Any:
    return args, kwargs


def by_place(x: Any, /) -> Any:
    return x


class Nothing:
    def tensor(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError


def test_an_unknown_argument_is_named_with_the_signature_and_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="scale has no argument 'inputs'") as error:
        check_arguments("scale", scale, ["inputs"])
    assert error.value.expected == "scale(input: 'Any', factor: 'float' = 1.0) -> 'Any'"
    assert error.value.hint == "did you mean input?"


def test_a_missing_argument_is_named() -> None:
    with pytest.raises(UsageError, match="scale lacks the argument 'input'"):
        check_arguments("scale", scale, ["factor"])


def test_a_callable_is_checked_before_its_tensors_are_made() -> None:
    with pytest.raises(UsageError, match="has no argument 'texts'"):
        CallableOp("textwrap:dedent", ("texts=bf16[4]",)).inputs({}, {}, Nothing())


@pytest.mark.parametrize("function", [anything, by_place, print.__call__, min])
def test_what_states_no_arguments_by_name_is_not_judged(function: Callable[..., Any]) -> None:
    check_arguments("it", function, ["whatever"])


def test_arguments_that_fit_pass() -> None:
    check_arguments("scale", scale, ["input"])
    check_arguments("scale", scale, ["factor", "input"])


def test_an_operator_of_torch_is_checked_by_the_schemas_of_its_overloads() -> None:
    torch = pytest.importorskip("torch")
    check_arguments("mm", torch.ops.aten.mm, ["self", "mat2"])
    check_arguments("mm", torch.ops.aten.mm, ["self", "mat2", "out"])
    with pytest.raises(UsageError, match="mm has no argument 'input'") as error:
        check_arguments("mm", torch.ops.aten.mm.default, ["input", "mat2"])
    assert error.value.expected == "aten::mm(Tensor self, Tensor mat2) -> Tensor"


def test_behind_aiters_guard_the_registered_operator_states_the_arguments() -> None:
    torch = pytest.importorskip("torch")
    library = torch.library.Library("aiter", "FRAGMENT")
    library.define("ktrace_guarded(Tensor dummy, int size, int factor=2) -> Tensor")

    def guard(loadName: str) -> Callable[..., Any]:
        def wrapper_custom(*args: Any, **kwargs: Any) -> Any:
            return getattr(torch.ops.aiter, loadName)(*args, **kwargs)

        return wrapper_custom

    check_arguments("it", guard("ktrace_guarded"), ["size"])
    with pytest.raises(UsageError, match="it lacks the argument 'size'") as error:
        check_arguments("it", guard("ktrace_guarded"), [])
    assert error.value.expected == "aiter::ktrace_guarded(int size, int factor=2) -> Tensor"
