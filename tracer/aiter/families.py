"""The families whose C++ picks among generated CK instances: one row a JIT module; and those on CK-tile by kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


class CkFamily(msgspec.Struct, frozen=True, kw_only=True):
    """One family.

    Attributes:
        module: the JIT module.
        instances: its key in tracer.aiter.instances.MODULES.
        op: its look-up in tracer.aiter.lookups, which decides where Python passes the kernel's name; None for none.
        a, b: names of the arguments that hold A [M, K] and B [N, K], with a leading batch where `batched`.
        k_per_element: columns of A's K that one stored element holds (fp4 packs two).
        batched: A and B have a leading batch extent.
        hints: other conditions that the reader must know.
    """

    module: str
    instances: str
    op: str | None
    a: str = "XQ"
    b: str = "WQ"
    k_per_element: int = 1
    batched: bool = False
    hints: tuple[str, ...] = ()


CK_FAMILIES: dict[str, CkFamily] = {
    family.module: family
    for family in (
        CkFamily(module="module_gemm_a8w8_blockscale", instances="a8w8_blockscale", op="gemm_a8w8_blockscale"),
        CkFamily(
            module="module_gemm_a8w8_blockscale_cktile", instances="a8w8_blockscale_cktile", op="gemm_a8w8_blockscale"
        ),
        CkFamily(
            module="module_gemm_a8w8_blockscale_bpreshuffle",
            instances="a8w8_blockscale_bpreshuffle",
            op="gemm_a8w8_blockscale_bpreshuffle",
        ),
        CkFamily(
            module="module_gemm_a8w8_blockscale_bpreshuffle_cktile",
            instances="a8w8_blockscale_cktile",
            op="gemm_a8w8_blockscale_bpreshuffle",
        ),
        CkFamily(module="module_gemm_a8w8", instances="a8w8", op="gemm_a8w8"),
        CkFamily(module="module_gemm_a8w8_bpreshuffle", instances="a8w8_bpreshuffle", op="gemm_a8w8_bpreshuffle"),
        CkFamily(
            module="module_gemm_a8w8_bpreshuffle_cktile",
            instances="a8w8_bpreshuffle_cktile",
            op="gemm_a8w8_bpreshuffle",
        ),
        CkFamily(module="module_gemm_a4w4_blockscale", instances="a4w4_blockscale", op="gemm_a4w4", k_per_element=2),
        CkFamily(module="module_batched_gemm_a8w8", instances="batched_a8w8", op="batched_gemm_a8w8", batched=True),
        CkFamily(module="module_batched_gemm_bf16", instances="batched_bf16", op="batched_gemm_bf16", batched=True),
        CkFamily(module="module_deepgemm", instances="deepgemm", op=None),
    )
}

#: kernel class of CK-tile -> the family whose instances compile to it, a key of tracer.aiter.instances.MODULES
TILE_KERNELS = {"GroupedFlatmmKernel": "deepgemm", "MoeFlatmmKernel": "moe_cktile2stages"}


def is_tile_kernel(fields: Mapping[str, Any]) -> bool:
    """Whether decoded fields are those of a kernel on CK-tile that instances compile to."""
    return fields.get("kernel") in TILE_KERNELS
