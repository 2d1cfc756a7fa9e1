"""Dense GEMMs that a trace shows as `aten::` operators: what one was called with in, the work it states out.

Nothing is taken for granted: without the shape and type of every operand there is no work.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracer.model.capture import Argument, ArgumentKind, TensorInfo
from tracer.model.roofline import Work
from tracer.ops.torch_gemm import dense_gemm_work

_DTYPES = {"bfloat16": "bf16", "float16": "fp16"}

#: operator -> (position of A, of B, of the bias), and whether B is N x K. PyTorch's native_functions.yaml:
#: mm(self, mat2), addmm(self, mat1, mat2, *, beta, alpha), linear(input, weight, bias)
_OPERANDS: dict[str, tuple[tuple[int, int, int | None], bool]] = {
    "aten::mm": ((0, 1, None), False),
    "aten::addmm": ((1, 2, 0), False),
    "aten::linear": ((0, 1, 2), True),
}


def aten_gemm_work(op: str, inputs: Sequence[Argument]) -> Work | None:
    """The work of `aten::mm`, `aten::addmm` or `aten::linear`, by the formula of dense GEMM.

    Args:
        op: the operator's name.
        inputs: its arguments, by position.

    Returns:
        None for another operator, where a shape or type is not stated, for types other than bf16 and fp16, for operands
        that do not fit together, and for an addend of `addmm` that is no bias of N elements.
    """
    places = _OPERANDS.get(op)
    if places is None:
        return None
    (first, second, third), transposed = places
    a, b = _operand(inputs, first), _operand(inputs, second)
    if a is None or b is None or len(b.shape) != 2 or len(a.shape) < 2 or (len(a.shape) > 2 and not transposed):
        return None
    n, k = b.shape if transposed else b.shape[::-1]
    m = 1
    for extent in a.shape[:-1]:
        m *= extent
    if a.shape[-1] != k or a.dtype != b.dtype or a.dtype not in _DTYPES or 0 in (m, n, k):
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
