"""Which conditions compile-time arguments decide, and what of a kernel's flow they leave."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from tracer.model.source import SourceRef
from tracer.resolve.triton_constants import truth
from tracer.resolve.triton_flow import triton_flow

CONSTANTS: dict[str, Any] = {"EVEN_K": True, "ADD_BIAS": False, "NUM_KSPLIT": 4, "activation": "", "scale": None}
KERNEL = """
def kernel(a_ptr, bias_ptr, EVEN_K, ADD_BIAS, n):
    if ADD_BIAS:
        bias = tl.load(bias_ptr)
    if EVEN_K:
        a = tl.load(a_ptr)
    else:
        a = tl.load(a_ptr, mask=m)
    if n > 0:
        tl.store(c_ptr, a)
"""


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("EVEN_K", True),
        ("not EVEN_K", False),
        ("ADD_BIAS", False),
        ("activation", False),
        ("NUM_KSPLIT == 1", False),
        ("NUM_KSPLIT > 1", True),
        ("scale is not None", False),
        ("EVEN_K and ADD_BIAS", False),
        ("ADD_BIAS and m", False),
        ("EVEN_K or m", True),
        ("EVEN_K and m", None),
        ("ADD_BIAS or m", None),
        ("m", None),
        ("m == 1", None),
        ("NUM_KSPLIT < activation", None),
        ("0 < NUM_KSPLIT < 9", None),
        ("NUM_KSPLIT % 2", None),
        ("helper(EVEN_K)", None),
    ],
)
def test_a_condition_is_decided_as_far_as_the_constants_go(condition: str, expected: bool | None) -> None:
    assert truth(ast.parse(condition, mode="eval").body, CONSTANTS) is expected


def lines(constants: dict[str, Any] | None, source: str = KERNEL) -> list[int | None]:
    steps = triton_flow(source, "kernel", "k.py", lambda file, line: SourceRef(file, line), constants=constants)
    return [step.source.line for step in steps if step.source is not None]


def test_branches_that_were_not_compiled_are_left_out() -> None:
    assert lines(None) == [4, 6, 8, 10]
    assert lines(CONSTANTS) == [6, 10]
    assert lines({**CONSTANTS, "EVEN_K": False, "ADD_BIAS": True}) == [4, 8, 10]


def test_a_name_that_the_kernel_binds_itself_decides_nothing() -> None:
    assert lines(CONSTANTS, KERNEL.replace("if ADD_BIAS:", "EVEN_K = n\n    if ADD_BIAS:")) == [7, 9, 11]
