"""GEMMs that a trace shows as operators of torch or aiter: what one was called with in, the work it states out.

Nothing is taken for granted: without the shape and type of every operand there is no work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tracer.model.capture import Argument, ArgumentKind, TensorInfo
from tracer.model.roofline import Work
from tracer.ops.gemm import blockscale_work, ceil_div
from tracer.ops.torch_gemm import dense_gemm_work

_DTYPES = {"bfloat16": "bf16", "float16": "fp16"}

#: operator -> (position of A, of B, of the bias), and whether B is N x K. PyTorch's native_functions.yaml:
#: mm(self, mat2), addmm(self, mat1, mat2, *, beta, alpha), linear(input, weight, bias)
_OPERANDS: dict[str, tuple[tuple[int, int, int | None], bool]] = {
    "aten::mm": ((0, 1, None), False),
    "aten::addmm": ((1, 2, 0), False),
    "aten::linear": ((0, 1, 2), True),
    # aiter/tuned_gemm.py: gemm_a16w16(A, B, bias, otype, scale_a, scale_b, scale_c)
    "aiter::gemm_a16w16": ((0, 1, 2), True),
}
#: torch's numbers of types (c10/core/ScalarType.h), as which a trace states them
_SCALAR_TYPES = {5: "float16", 15: "bfloat16"}
#: bytes of an element of an output that the block-scaled GEMM writes
_OUT_BYTES = {"float16": 2, "bfloat16": 2}
#: aiter/ops/gemm_op_a8w8.py: (XQ, WQ, x_scale, w_scale, dtype, ...) and (..., Out)
_BLOCKSCALE = ("aiter::gemm_a8w8_blockscale", "aiter::gemm_a8w8_blockscale_ck")


def traced_gemm_work(op: str, inputs: Sequence[Argument]) -> Work | None:
    """The work of an operator that is a GEMM: `aten::mm`, `addmm`, `linear`, and aiter's a16w16 and block-scaled ones.

    Args:
        op: the operator's name.
        inputs: its arguments, by position.

    Returns:
        None for another operator, where a shape or type is not stated, for types that the formula does not cover, for
        operands that do not fit together, for an addend of `addmm` that is no bias of N elements, and for scales or
        another output type of `gemm_a16w16`.
    """
    return _blockscale(inputs) if op in _BLOCKSCALE else _dense(op, inputs)


def _blockscale(inputs: Sequence[Argument]) -> Work | None:
    """The work of the block-scaled GEMM: fp8 operands, fp32 scales for 1 x 128 and 128 x 128 blocks."""
    x, w, x_scale, w_scale = (_operand(inputs, position) for position in range(4))
    if x is None or w is None or x_scale is None or w_scale is None or len(inputs) < 5:
        return None
    if any(len(tensor.shape) != 2 for tensor in (x, w)) or x.shape[1] != w.shape[1] or 0 in (*x.shape, *w.shape):
        return None
    (m, k), n = x.shape, w.shape[0]
    scales = (m * ceil_div(k, 128), ceil_div(n, 128) * ceil_div(k, 128))
    if tuple(math.prod(tensor.shape) for tensor in (x_scale, w_scale)) != scales:
        return None
    fp8 = all(tensor.dtype.startswith("float8_e4m3") for tensor in (x, w))
    width = _OUT_BYTES.get(_output_type(inputs[4]) or "")
    return blockscale_work(m, n, k, width) if fp8 and width is not None else None


def _output_type(argument: Argument) -> str | None:
    """The type of an output: of the tensor that is written to, or as a number of torch's."""
    if argument.tensor is not None:
        return argument.tensor.dtype
    return _SCALAR_TYPES.get(argument.value) if isinstance(argument.value, int) else None


def _dense(op: str, inputs: Sequence[Argument]) -> Work | None:
    places = _OPERANDS.get(op)
    if places is None:
        return None
    (first, second, third), transposed = places
    a, b = _operand(inputs, first), _operand(inputs, second)
    if a is None or b is None or len(b.shape) != 2 or len(a.shape) < 2 or (len(a.shape) > 2 and not transposed):
        return None
    n, k = b.shape if transposed else b.shape[::-1]
    m = math.prod(a.shape[:-1])
    if a.shape[-1] != k or a.dtype != b.dtype or a.dtype not in _DTYPES or 0 in (m, n, k):
        return None
    if op == "aiter::gemm_a16w16" and not _plain_a16w16(inputs, a.dtype):
        return None
    if third is None:
        return dense_gemm_work(m, n, k, _DTYPES[a.dtype])
    if third >= len(inputs):
        return None  # whether there is a bias was not recorded
    if inputs[third].kind is ArgumentKind.NONE:
        return dense_gemm_work(m, n, k, _DTYPES[a.dtype])
    bias = _operand(inputs, third)
    if bias is None or bias.dtype != a.dtype or bias.shape not in ((n,), (1, n)) or _scaled(op, inputs):
        return None
    return dense_gemm_work(m, n, k, _DTYPES[a.dtype], bias=True)


def _plain_a16w16(inputs: Sequence[Argument], dtype: str) -> bool:
    """Whether `gemm_a16w16` writes the operands' own type, and scales nothing."""
    if len(inputs) < 7 or any(argument.kind is not ArgumentKind.NONE for argument in inputs[4:7]):
        return False
    return inputs[3].kind is ArgumentKind.NONE or _output_type(inputs[3]) == dtype


def _operand(inputs: Sequence[Argument], position: int) -> TensorInfo | None:
    """A tensor of stated shape and type that lies in memory in full; an expanded one (stride 0) is read in part."""
    tensor = inputs[position].tensor if position < len(inputs) else None
    if tensor is None:
        return None
    expanded = any(step == 0 and extent > 1 for step, extent in zip(tensor.stride or (), tensor.shape, strict=False))
    return None if expanded else tensor


def _scaled(op: str, inputs: Sequence[Argument]) -> bool:
    """Whether `addmm` scales its terms: with beta 0 the addend is not even read."""
    return op == "aten::addmm" and any(argument.value not in (None, 1) for argument in inputs[3:5])
