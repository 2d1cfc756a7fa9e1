"""Work of dense GEMMs as a trace states them: figures by hand, and none where anything is not stated."""

from __future__ import annotations

import pytest

from tracer.model.capture import Argument, ArgumentKind, TensorInfo
from tracer.ops.aten_gemm import aten_gemm_work

ABSENT = Argument("2", ArgumentKind.NONE, "")


def tensor(*shape: int, dtype: str = "bfloat16", stride: tuple[int, ...] | None = None) -> Argument:
    return Argument("0", ArgumentKind.TENSOR, "Tensor", tensor=TensorInfo(shape, dtype, stride))


def scalar(value: float) -> Argument:
    return Argument("3", ArgumentKind.SCALAR, "Scalar", value)


@pytest.mark.parametrize(
    ("op", "inputs", "flops", "bytes_moved"),
    [
        ("aten::mm", (tensor(16, 64), tensor(64, 32)), 65536, 2048 + 4096 + 1024),
        ("aten::addmm", (tensor(32), tensor(16, 64), tensor(64, 32)), 65536 + 512, 7168 + 64),
        ("aten::addmm", (tensor(1, 32), tensor(16, 64), tensor(64, 32), scalar(1), scalar(1)), 66048, 7232),
        ("aten::linear", (tensor(2, 8, 64), tensor(32, 64), tensor(32)), 66048, 7232),
        ("aten::linear", (tensor(16, 64), tensor(32, 64), ABSENT), 65536, 7168),
    ],
)
def test_operands_give_the_work_of_a_dense_gemm(
    op: str, inputs: tuple[Argument, ...], flops: int, bytes_moved: int
) -> None:
    work = aten_gemm_work(op, inputs)
    assert work is not None
    assert (work.flops, work.bytes_moved, work.compute_dtype) == (flops, bytes_moved, "bf16")


def test_half_precision_is_counted_on_its_own_units() -> None:
    work = aten_gemm_work("aten::mm", (tensor(16, 64, dtype="float16"), tensor(64, 32, dtype="float16")))
    assert work is not None
    assert work.compute_dtype == "fp16"


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("aten::mm", ()),
        ("aten::mm", (tensor(16, 64),)),
        ("aten::mm", (tensor(16, 64), ABSENT)),
        ("aten::mm", (tensor(16, 64), tensor(32, 64))),
        ("aten::mm", (tensor(16, 64), tensor(64, 32, dtype="float16"))),
        ("aten::mm", (tensor(16, 64, dtype="float32"), tensor(64, 32, dtype="float32"))),
        ("aten::mm", (tensor(16, 64, stride=(0, 1)), tensor(64, 32))),
        ("aten::mm", (tensor(0, 64), tensor(64, 32))),
        ("aten::linear", (tensor(16, 64), tensor(32, 64))),
        ("aten::linear", (tensor(16, 64), tensor(32, 64), tensor(16, 32))),
        ("aten::addmm", (tensor(16, 32), tensor(16, 64), tensor(64, 32))),
        ("aten::addmm", (tensor(32), tensor(16, 64), tensor(64, 32), scalar(0), scalar(1))),
        ("aten::bmm", (tensor(2, 16, 64), tensor(2, 64, 32))),
    ],
)
def test_what_is_not_stated_or_is_another_product_has_no_work(op: str, inputs: tuple[Argument, ...]) -> None:
    assert aten_gemm_work(op, inputs) is None
