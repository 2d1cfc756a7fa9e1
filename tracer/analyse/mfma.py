"""Which matrix instruction a CK tile compiles to: its family, sizes and types and the target in, the instruction out.

Two headers decide together. The grid-wise kernel sets KPack = max(lcm(AK1, BK1), K elements that a lane feeds to the
instruction it looks at); the warp-wise GEMM then falls back to the older, half-rate instruction on gfx950 when KPack is
too small. The first step differs by kernel, which is why the family is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec

_GRID = "CK include/ck/tensor_operation/gpu/grid/"
_WARP = "CK include/ck/tensor_operation/gpu/warp/xdlops_gemm.hpp (MfmaSelector)"


class Instruction(msgspec.Struct, frozen=True):
    """One MFMA instruction.

    Attributes:
        name: in the target's spelling, without the leading `v_`.
        m, n, k: its extent in elements.
        k_per_lane: K elements that one lane feeds to it.
        half_rate: whether a wider instruction of the same target does twice the work in the same time.
    """

    name: str
    m: int
    n: int
    k: int
    k_per_lane: int
    half_rate: bool = False


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What was found.

    Attributes:
        instruction: the instruction, or None when the inputs leave two open.
        candidates: both, then.
        formula: the rule with its numbers; source: the headers that state it.
    """

    instruction: Instruction | None
    candidates: tuple[Instruction, ...] = ()
    formula: str
    source: str


#: (M = N of the tile, kind) -> K, K a lane; gfx942's set, which is also gfx950's half-rate set
_CDNA3 = {
    (32, "f16"): (8, 4), (16, "f16"): (16, 4),
    (32, "i8"): (16, 8), (16, "i8"): (32, 8),
    (32, "f8"): (16, 8), (16, "f8"): (32, 8),
}  # fmt: skip
#: gfx950's full-rate set
_CDNA4 = {
    (32, "f16"): (16, 8), (16, "f16"): (32, 8),
    (32, "i8"): (32, 16), (16, "i8"): (64, 16),
    (32, "f8"): (64, 32), (16, "f8"): (128, 32),
}  # fmt: skip
_CDNA2 = {
    (32, "f16"): (8, 4), (16, "f16"): (16, 4),
    (32, "i8"): (8, 4), (16, "i8"): (16, 4),
}  # fmt: skip

_KIND = {"fp16": "f16", "bf16": "f16", "int8": "i8", "fp8": "f8"}
#: KPack up to which the warp-wise GEMM takes the half-rate instruction on gfx950
_SINGLE_RATE_KPACK = {"f16": 4, "i8": 8, "f8": 31}


def _lcm_f16_i8(kind: str, lcm: int, k_per_block: int, m: int) -> bool:
    return (kind == "f16" and lcm <= 4) or (kind == "i8" and lcm <= 8)


def _k_per_block_16(kind: str, lcm: int, k_per_block: int, m: int) -> bool:
    return _lcm_f16_i8(kind, lcm, k_per_block, m) or (kind == "f8" and k_per_block < 128 and m == 16)


def _k_per_block(kind: str, lcm: int, k_per_block: int, m: int) -> bool:
    return (kind == "f16" and lcm <= 4) or (kind in ("i8", "f8") and k_per_block < 128)


def _never(kind: str, lcm: int, k_per_block: int, m: int) -> bool:
    return False


_Rule = Callable[[str, int, int, int], bool]
#: family -> when its grid-wise kernel looks at the half-rate instruction, and the header (CK of amd-aiter 0.1.7)
_GRIDWISE: dict[str, tuple[_Rule, str]] = {
    "aiter_ck_a8w8_blockscale": (_lcm_f16_i8, "gridwise_gemm_xdl_cshuffle_v3_multi_d_ab_scale.hpp"),
    "aiter_ck_a8w8_rowwise": (_k_per_block_16, "gridwise_gemm_xdl_cshuffle_v3_multi_d.hpp"),
    "aiter_ck_a8w8_batched_rowwise": (_k_per_block_16, "gridwise_gemm_xdl_cshuffle_v3_multi_d.hpp"),
    "aiter_ck_bf16_batched": (_k_per_block_16, "gridwise_gemm_xdl_cshuffle_v3_multi_d.hpp"),
    "aiter_ck_a8w8_bpreshuffle": (_k_per_block, "gridwise_gemm_xdl_cshuffle_v3_multi_d_b_preshuffle.hpp"),
    "aiter_ck_a8w8_blockscale_bpreshuffle": (
        _never,
        "gridwise_gemm_xdl_cshuffle_v3_multi_d_blockscale_b_preshuffle.hpp",
    ),
}


def _name(arch: str, size: int, k: int, dtype: str) -> str:
    shape = f"{size}x{size}x{k}"
    kind = _KIND[dtype]
    if kind == "i8":
        return f"mfma_i32_{shape}{'i8' if arch == 'gfx90a' else '_i8'}"
    if kind == "f8":
        return f"mfma_f32_{shape}{'_f8f6f4' if k >= 64 else '_fp8_fp8'}"
    letters = "f16" if dtype == "fp16" else "bf16"
    if arch == "gfx90a":
        return f"mfma_f32_{shape}{letters}{'_1k' if dtype == 'bf16' else ''}"
    return f"mfma_f32_{shape}_{letters}"


def _instruction(arch: str, size: int, dtype: str, *, single_rate: bool) -> Instruction | None:
    table = {"gfx90a": _CDNA2, "gfx942": _CDNA3, "gfx950": _CDNA3 if single_rate else _CDNA4}.get(arch)
    found = table.get((size, _KIND[dtype])) if table else None
    if found is None:
        return None
    k, k_per_lane = found
    half = arch == "gfx950" and single_rate
    return Instruction(_name(arch, size, k, dtype), size, size, k, k_per_lane, half)


def choose(
    *,
    arch: str,
    family: str | None,
    m_per_xdl: int,
    n_per_xdl: int,
    dtype: str,
    ak1: int | None,
    bk1: int | None,
    k_per_block: int | None,
) -> Choice | None:
    """Finds the MFMA instruction of a CK tile.

    Args:
        arch: "gfx90a", "gfx942" or "gfx950".
        family: the family of the instance's name; on gfx950 it decides the rule.
        m_per_xdl: M extent of the tile of one instruction, in elements.
        n_per_xdl: its N extent.
        dtype: element type of A and B in ktrace's spelling.
        ak1: contiguous K elements that a thread reads of A.
        bk1: contiguous K elements that a thread reads of B.
        k_per_block: K extent of the block's tile.

    Returns:
        The choice; None for sizes, types or targets that are not in the tables.
    """
    if m_per_xdl != n_per_xdl or dtype not in _KIND:
        return None
    wide = _instruction(arch, m_per_xdl, dtype, single_rate=False)
    if wide is None:
        return None
    if arch != "gfx950":
        return Choice(instruction=wide, formula=f"{m_per_xdl}x{n_per_xdl} {dtype} on {arch}", source=_WARP)
    narrow = _instruction(arch, m_per_xdl, dtype, single_rate=True)
    assert narrow is not None
    rule = _GRIDWISE.get(family or "")
    if rule is None or ak1 is None or bk1 is None or k_per_block is None:
        missing = "the rule of this family" if rule is None else "AK1, BK1 or KPerBlock"
        return Choice(instruction=None, candidates=(wide, narrow), formula=f"{missing} is not known", source=_WARP)
    first, header = rule
    lcm = math.lcm(ak1, bk1)
    kind = _KIND[dtype]
    looked_at = narrow if first(kind, lcm, k_per_block, m_per_xdl) else wide
    kpack = max(lcm, looked_at.k_per_lane)
    limit = _SINGLE_RATE_KPACK[kind]
    single = kpack <= limit
    formula = (
        f"KPack = max(lcm({ak1}, {bk1}), {looked_at.k_per_lane}) = {kpack} "
        f"{'<=' if single else '>'} {limit}: {'half' if single else 'full'} rate"
    )
    return Choice(instruction=narrow if single else wide, formula=formula, source=f"{_GRID}{header}; {_WARP}")
