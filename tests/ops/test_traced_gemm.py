"""Work of GEMMs as a trace states them: figures by hand, and none where anything is not stated."""

from __future__ import annotations

from typing import Any

import pytest

from tracer.model.capture import Argument, ArgumentKind, TensorInfo
from tracer.model.roofline import Work
from tracer.ops.traced_gemm import traced_gemm_work

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
    work = traced_gemm_work(op, inputs)
    assert work is not None
    assert (work.flops, work.bytes_moved, work.compute_dtype) == (flops, bytes_moved, "bf16")


NO = (ABSENT, ABSENT, ABSENT)


@pytest.mark.parametrize(
    ("bias", "otype", "flops"),
    [(ABSENT, ABSENT, 65536), (tensor(32), scalar(15), 66048), (ABSENT, scalar(15), 65536)],
)
def test_aiters_a16w16_is_a_dense_gemm(bias: Argument, otype: Argument, flops: int) -> None:
    work = traced_gemm_work("aiter::gemm_a16w16", (tensor(16, 64), tensor(32, 64), bias, otype, *NO))
    assert work is not None
    assert (work.flops, work.compute_dtype) == (flops, "bf16")


@pytest.mark.parametrize(
    "rest",
    [(ABSENT, scalar(6), *NO), (ABSENT, ABSENT, tensor(1), ABSENT, ABSENT), (ABSENT, ABSENT), (scalar(1), ABSENT, *NO)],
    ids=["another output type", "scaled", "not all recorded", "a bias of no tensor"],
)
def test_an_a16w16_that_is_no_plain_product_has_no_work(rest: tuple[Argument, ...]) -> None:
    assert traced_gemm_work("aiter::gemm_a16w16", (tensor(16, 64), tensor(32, 64), *rest)) is None


def blockscale(
    *, k: int = 256, scales: int = 2, out: Argument | None = None, fp8: str = "float8_e4m3fnuz"
) -> Work | None:
    inputs = [tensor(16, k, dtype=fp8), tensor(384, k, dtype=fp8)]
    inputs += [tensor(16, scales, dtype="float32"), tensor(3, scales, dtype="float32"), out or tensor(16, 384)]
    return traced_gemm_work("aiter::gemm_a8w8_blockscale_ck", inputs)


@pytest.mark.parametrize("out", [tensor(16, 384), scalar(15), scalar(5)])
def test_a_block_scaled_gemm_has_the_work_of_its_formula(out: Argument) -> None:
    work = blockscale(out=out)
    assert work is not None
    assert work.flops == 2 * 16 * 384 * 256
    assert work.bytes_moved == 16 * 256 + 384 * 256 + 4 * 16 * 2 + 4 * 3 * 2 + 2 * 16 * 384
    assert work.compute_dtype == "fp8"


@pytest.mark.parametrize(
    "changed", [{"scales": 1}, {"out": scalar(6)}, {"fp8": "bfloat16"}, {"out": ABSENT}], ids=lambda c: next(iter(c))
)
def test_a_block_scaled_gemm_of_another_make_has_no_work(changed: dict[str, Any]) -> None:
    assert blockscale(**changed) is None


def test_half_precision_is_counted_on_its_own_units() -> None:
    work = traced_gemm_work("aten::mm", (tensor(16, 64, dtype="float16"), tensor(64, 32, dtype="float16")))
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
    assert traced_gemm_work(op, inputs) is None
