"""M, N and K of matrix products: an operator's name and arguments in, named extents out (none for other operators)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tracer.model.capture import Argument

#: operator -> (position of A, position of B, whether B is N x K)
_PRODUCTS: dict[str, tuple[int, int, bool]] = {
    "aten::mm": (0, 1, False),
    "aten::bmm": (0, 1, False),
    "aten::addmm": (1, 2, False),
    "aten::baddbmm": (1, 2, False),
    "aten::_scaled_mm": (0, 1, False),
    "aten::linear": (0, 1, True),
    "aiter::gemm_a16w16": (0, 1, True),
    "aiter::gemm_a8w8": (0, 1, True),
    "aiter::gemm_a8w8_ck": (0, 1, True),
    "aiter::gemm_a8w8_blockscale": (0, 1, True),
    "aiter::gemm_a8w8_blockscale_ck": (0, 1, True),
    "aiter::gemm_a8w8_bpreshuffle": (0, 1, True),
    "aiter::gemm_a8w8_bpreshuffle_ck": (0, 1, True),
}


def gemm_shape(op: str, inputs: Sequence[Argument]) -> dict[str, int]:
    """The extents of a product; with a batch ("B") where A has three dimensions and the operator keeps them apart."""
    places = _PRODUCTS.get(op)
    if places is None or len(inputs) <= max(places[:2]):
        return {}
    first, second = inputs[places[0]].tensor, inputs[places[1]].tensor
    if first is None or second is None or len(first.shape) < 2 or len(second.shape) < 2:
        return {}
    n, k = second.shape[-2:] if places[2] else second.shape[:-3:-1]
    if first.shape[-1] != k:
        return {}
    if op in ("aten::bmm", "aten::baddbmm"):
        return {"B": first.shape[0], "M": first.shape[1], "N": n, "K": k}
    return {"M": math.prod(first.shape[:-1]), "N": n, "K": k}
