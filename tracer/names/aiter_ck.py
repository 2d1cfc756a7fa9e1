"""aiter's CK GEMM instance names, in both generations: in comes `a8w8_rowwise_256x...`, out come its groups as fields.

All families print groups of numbers; which groups, and in which order, only the beginning of the name decides:

    a8w8_blockscale_              SCALE TILE K1 XDL [MAP] TAIL
    a8w8_blockscale_bpreshuffle_  SCALE TILE K1 XDL TAIL
    a8w8_bpreshuffle_             TILE K1 XDL TAIL
    a4w4_blockscale_              TILE K1 XDL TAIL           (scalars per vector printed digit by digit: 16 is `1x6`)
    a8w8_rowwise_                 TILE XDL MAP TAIL
    a8w8_batched_rowwise_         TILE XDL MAP TAIL
    bf16_batched_                 TILE XDL MAP TAIL
    deepgemm_                     TILE WAVE_TILE(MxNxK) WAVES(MxN)

    SCALE = scale block M x N x K       TILE = block size x M x N x K       K1 = AK1 x BK1
    XDL = MPerXDL x NPerXDL             MAP = MXdlPerWave x NXdlPerWave
    TAIL = A transfer _ B transfer _ C transfer _ C scalars per vector _ CShuffle MxN _ scheduler _ v<pipeline>

MAP in `a8w8_blockscale` is printed by aiter from late 2025 on; the older generation leaves it out, and then the values
stand in the source only. The two are told apart by the numbers of the group after XDL: MAP has two, a transfer three.
`deepgemm` is built on ck_tile: its last group counts waves, where MAP counts MFMA tiles of one wave.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, FieldValue, GemmView
from tracer.names.base import Key
from tracer.names.formal import FormalGrammar, OneOf
from tracer.names.pattern import (
    Part,
    Pattern,
    digits_list,
    followed_by,
    groups,
    int_list,
    lit,
    num,
    nums,
    opt,
    words,
)
from tracer.names.stated_view import exact_quotient, stated_view
from tracer.names.vocabulary import pick

_TILE = nums(("block_size", "m_per_block", "n_per_block", "k_per_block"))
_SCALE = nums(("scale_block_m", "scale_block_n", "scale_block_k"))
_K1 = nums(("ak1", "bk1"))
_XDL = nums(("m_per_xdl", "n_per_xdl"))
_MAP = nums(("m_xdl_per_wave", "n_xdl_per_wave"))


def _tail(spv: Part) -> Part:
    """The groups that end every name of the classic families."""
    return groups(
        int_list("a_block_transfer", count=3),
        int_list("b_block_transfer", count=3),
        int_list("c_block_transfer", count=4),
        spv,
        nums(("cshuffle_m", "cshuffle_n")),
        words("pipeline_sched", "intrawave", "interwave", "default"),
        lit("v") + num("pipeline_version"),
    )


_TAIL = _tail(int_list("c_block_spv"))


def _pattern(head: str, *parts: Part, **constants: FieldValue) -> Pattern:
    return Pattern(f"aiter_ck_{head}", lit(f"{head}_"), groups(*parts), constants=constants)


class AiterCk(FormalGrammar):
    """aiter's CK GEMM instances."""

    name = "aiter_ck"
    link = "https://github.com/ROCm/aiter/tree/main/csrc/ck_gemm_a8w8_blockscale"
    readers: ClassVar[Mapping[str, Pattern | OneOf]] = {
        "a8w8_blockscale_": _pattern(
            "a8w8_blockscale",
            _SCALE, _TILE, _K1, _XDL + opt(lit("_") + _MAP + followed_by("_")), _TAIL,
            a_bits=8, b_bits=8,
        ),
        "a8w8_blockscale_bpreshuffle_": _pattern(
            "a8w8_blockscale_bpreshuffle",
            _SCALE, _TILE, _K1, _XDL, _TAIL,
            a_bits=8, b_bits=8, b_preshuffle=True,
        ),
        "a8w8_bpreshuffle_": _pattern(
            "a8w8_bpreshuffle", _TILE, _K1, _XDL, _TAIL, a_bits=8, b_bits=8, b_preshuffle=True
        ),
        "a4w4_blockscale_": _pattern(
            "a4w4_blockscale", _TILE, _K1, _XDL, _tail(digits_list("c_block_spv")), a_bits=4, b_bits=4
        ),
        "a8w8_rowwise_": _pattern("a8w8_rowwise", _TILE, _XDL, _MAP, _TAIL, a_bits=8, b_bits=8),
        "a8w8_batched_rowwise_": _pattern(
            "a8w8_batched_rowwise", _TILE, _XDL, _MAP, _TAIL, a_bits=8, b_bits=8, batched=True
        ),
        "bf16_batched_": _pattern(
            "bf16_batched", _TILE, _XDL, _MAP, _TAIL, dtype_a="bf16", dtype_b="bf16", batched=True
        ),
        "deepgemm_": _pattern(
            "deepgemm", _TILE, nums(("m_warp_tile", "n_warp_tile", "k_warp_tile")), nums(("m_warp", "n_warp"))
        ),
    }  # fmt: skip
    keys: ClassVar[Mapping[str, Key]] = pick(
        "block_size", "m_per_block", "n_per_block", "k_per_block", "ak1", "bk1", "m_per_xdl", "n_per_xdl",
        "m_xdl_per_wave", "n_xdl_per_wave", "a_block_transfer", "b_block_transfer", "c_block_transfer", "c_block_spv",
        "cshuffle_m", "cshuffle_n", "pipeline_sched", "pipeline_version", "scale_block_m", "scale_block_n",
        "scale_block_k", "a_bits", "b_bits", "dtype_a", "dtype_b", "batched", "b_preshuffle", "m_warp", "n_warp",
        "m_warp_tile", "n_warp_tile", "k_warp_tile",
    )  # fmt: skip

    def view(self, decoded: DecodedName) -> GemmView | None:
        """Tile, instruction, and what follows from them by arithmetic: wave tile and waves where MAP is printed."""
        f = decoded.fields
        wave_m, wave_n = (
            f[tiles] * f[xdl] if tiles in f and xdl in f else exact_quotient(f.get(extent), f.get(waves))
            for tiles, xdl, extent, waves in (
                ("m_xdl_per_wave", "m_per_xdl", "m_per_block", "m_warp"),
                ("n_xdl_per_wave", "n_per_xdl", "n_per_block", "n_warp"),
            )
        )
        return stated_view(
            f,
            "gemm",
            wave_tile_m=wave_m,
            wave_tile_n=wave_n,
            instruction_m=f.get("m_per_xdl", f.get("m_warp_tile")),
            instruction_n=f.get("n_per_xdl", f.get("n_warp_tile")),
            waves_m=f.get("m_warp", exact_quotient(f.get("m_per_block"), wave_m)),
            waves_n=f.get("n_warp", exact_quotient(f.get("n_per_block"), wave_n)),
            pipeline=f"{f['pipeline_sched']} v{f['pipeline_version']}" if "pipeline_version" in f else None,
        )
