"""aiter's ck_tile instance names: in come `a8w8_..._cktile_...` and `moe_cktile2stages_...`, out come groups as fields.

    a8w8_blockscale_cktile_{MxNxK}_{waves MxNxK}_{instruction MxNxK}_{scheduler}
        _{TiledMMAPermuteNxTransposeC[xDoubleSmem]xPersistent}_{blocks per CU}[_aqrm]
    a8w8_bpreshuffle_cktile_{TransposeCxStructuredSparsityxGroupNumxM01xWaveGroupsxDoubleSmemxPadMxPadNxPadKxBlocksPerCu}
        _{MxNxK}_{waves MxNxK}_{instruction MxNxK}_{scheduler}
    moe_cktile2stages_gemm<stage>_{BLOCKxMxNxK}_{waves MxN}_{instruction MxNxK}_{blocks per CU}perCU_{quantisation}
        [_MulRoutedWeight][_HasBias][_{activation}][_SplitK]

WAVE_MAP in aiter's source means the number of waves here; in the classic CK families it means MFMA tiles per wave.
DoubleSmem stands in `a8w8_blockscale` names of January and February 2026 only. Stage 1 of MoE prints the activation
(`no` where there is none), stage 2 does not. `HasBias` and `SplitK` came in 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, GemmView
from tracer.names.base import Key
from tracer.names.formal import FormalGrammar, OneOf
from tracer.names.pattern import Part, Pattern, bit, choice, flag, groups, lit, num, nums, seq, text, words
from tracer.names.stated_view import moe_op, stated_view
from tracer.names.vocabulary import pick

_TILE = nums(("m_per_block", "n_per_block", "k_per_block"))
_WAVES = nums(("m_warp", "n_warp", "k_warp"))
_INSTRUCTION = nums(("m_warp_tile", "n_warp_tile", "k_warp_tile"))
_SCHEDULER = words("pipeline_sched", "intrawave", "interwave", "default")


def _blockscale(*flags: str) -> Pattern:
    return Pattern(
        "aiter_cktile_a8w8_blockscale",
        lit("a8w8_blockscale_cktile_"),
        groups(_TILE, _WAVES, _INSTRUCTION, _SCHEDULER, groups(*map(bit, flags), sep="x"), num("block_per_cu")),
        flag("aq_row_major", "_aqrm"),
        constants={"a_bits": 8, "b_bits": 8},
    )


_BLOCKSCALE = OneOf(
    _blockscale("tiled_mma_permute_n", "transpose_c", "persistent"),
    _blockscale("tiled_mma_permute_n", "transpose_c", "double_smem_buffer", "persistent"),
)
_BPRESHUFFLE = Pattern(
    "aiter_cktile_a8w8_bpreshuffle",
    lit("a8w8_bpreshuffle_cktile_"),
    groups(
        groups(
            bit("transpose_c"),
            bit("structured_sparsity"),
            nums(("tile_partitioner_group_num", "tile_partitioner_m01", "num_wave_groups")),
            bit("double_smem_buffer"),
            bit("pad_m"),
            bit("pad_n"),
            bit("pad_k"),
            num("block_per_cu"),
            sep="x",
        ),
        _TILE,
        _WAVES,
        _INSTRUCTION,
        _SCHEDULER,
    ),
    constants={"a_bits": 8, "b_bits": 8, "b_preshuffle": True},
)


def _moe(stage: str, *activation: Part) -> Pattern:
    return Pattern(
        "aiter_cktile_moe_2stages",
        lit("moe_cktile2stages_gemm"),
        groups(
            choice("stage", {stage: int(stage)}),
            nums(("block_size", "m_per_block", "n_per_block", "k_per_block")),
            nums(("m_warp", "n_warp")),
            _INSTRUCTION,
            num("block_per_cu") + lit("perCU"),
            text("quant_type", "no|(?:per_)?(?:[0-9]+x[0-9]+|tensor|token)"),
        ),
        flag("mul_routed_weight", "_MulRoutedWeight"),
        flag("has_bias", "_HasBias"),
        seq(*activation),
        flag("split_k_enabled", "_SplitK"),
    )


class AiterCktile(FormalGrammar):
    """aiter's ck_tile instances."""

    name = "aiter_cktile"
    link = "https://github.com/ROCm/aiter/tree/main/csrc/ck_tile_gemm_moe_2stages"
    readers: ClassVar[Mapping[str, Pattern | OneOf]] = {
        "a8w8_blockscale_cktile_": _BLOCKSCALE,
        "a8w8_bpreshuffle_cktile_": _BPRESHUFFLE,
        "moe_cktile2stages_gemm1_": _moe("1", lit("_") + text("activation", "[a-z][a-z0-9]*")),
        "moe_cktile2stages_gemm2_": _moe("2"),
    }
    keys: ClassVar[Mapping[str, Key]] = {
        **pick(
            "transpose_c", "num_wave_groups", "double_smem_buffer", "pad_m", "pad_n", "pad_k", "block_size",
            "m_per_block", "n_per_block", "k_per_block", "m_warp", "n_warp", "k_warp", "m_warp_tile", "n_warp_tile",
            "k_warp_tile", "pipeline_sched", "persistent", "block_per_cu", "a_bits", "b_bits", "b_preshuffle", "stage",
            "activation", "mul_routed_weight", "quant_type", "has_bias", "split_k_enabled",
        ),
        "tiled_mma_permute_n": Key("Whether the MFMA tiles of a wave are interleaved along N."),
        "aq_row_major": Key("Whether the scales of A are read in row-major order, without a transpose before."),
        "structured_sparsity": Key("Whether A is 2:4 sparse."),
        "tile_partitioner_group_num": Key("Groups into which the tile partitioner splits the grid.", "groups"),
        "tile_partitioner_m01": Key("Tiles along M that the partitioner visits before it moves along N.", "tiles"),

    }  # fmt: skip

    def view(self, decoded: DecodedName) -> GemmView | None:
        """Tile, waves and instruction as named; the wave tile is the tile over the waves."""
        f = decoded.fields
        return stated_view(f, moe_op(f, "gemm"), pipeline=f.get("pipeline_sched"))
