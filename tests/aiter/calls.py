"""Calls across the JIT boundary as a capture records them, for tests of dispatch."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.model.capture import Argument, ArgumentKind, BoundaryCall, TensorInfo
from tracer.model.environment import Target

MI300X = Target(arch="gfx942", compute_units=304)
MI308X = Target(arch="gfx942", compute_units=80)
MI355X = Target(arch="gfx950", compute_units=256)
FP8 = {"gfx942": "float8_e4m3fnuz", "gfx950": "float8_e4m3fn"}


def tensor(name: str, shape: Sequence[int], dtype: str) -> Argument:
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    info = TensorInfo(tuple(shape), dtype, tuple(strides), "cuda:0")
    return Argument(name, ArgumentKind.TENSOR, "torch.Tensor", None, info)


def scalar(name: str, value: str | int | bool) -> Argument:
    return Argument(name, ArgumentKind.SCALAR, type(value).__name__, value)


def none(name: str) -> Argument:
    return Argument(name, ArgumentKind.NONE, "NoneType")


def gemm(
    function: str, m: int, n: int, k: int, *more: Argument, dtype: str = FP8["gfx942"], out: str = "bfloat16"
) -> BoundaryCall:
    """A call of a block-scale or row-wise a8w8 GEMM, in the wheel's argument order."""
    arguments = (
        tensor("XQ", (m, k), dtype),
        tensor("WQ", (n, k), dtype),
        tensor("x_scale", (m, max(1, k // 128)), "float32"),
        tensor("w_scale", (max(1, n // 128), max(1, k // 128)), "float32"),
        tensor("Out", (m, n), out),
        *more,
    )
    return BoundaryCall(id=7, module=f"module_{function}", function=function, arguments=arguments)


def quant(rows: int, columns: int, dtype: str = FP8["gfx942"], group: int | None = 128) -> BoundaryCall:
    """The call of dynamic_per_token_scaled_quant that per_1x128 (or per token, without a group) quantising makes."""
    seen = (rows * columns // group, group) if group else (rows, columns)
    arguments = (
        tensor("out", (rows, columns), dtype),
        tensor("input", seen, "bfloat16"),
        tensor("scales", (rows, columns // (group or columns)), "float32"),
        none("scale_ub"),
        scalar("shuffle_scale", False),
        none("num_rows"),
        scalar("num_rows_factor", 1),
    )
    return BoundaryCall(id=3, module="module_quant", function="dynamic_per_token_scaled_quant", arguments=arguments)
