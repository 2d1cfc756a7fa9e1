"""The base of formal grammars: which form of a family reads and writes a name."""

from __future__ import annotations

import pytest

from tracer.names import registry
from tracer.names.formal import OneOf
from tracer.names.pattern import Pattern, lit, num, opt

_SHORT = Pattern("f", lit("k_"), num("a"))
_LONG = Pattern("f", lit("k_"), num("a"), lit("_"), num("b"), opt(lit("_c") + num("c")))


@pytest.mark.parametrize("name", ["k_1", "k_1_2", "k_1_2_c3"])
def test_a_family_reads_by_the_form_that_fits_and_writes_by_the_form_that_has_the_fields(name: str) -> None:
    family = OneOf(_SHORT, _LONG)
    assert family.format(family.read(name, "g").fields) == name


def test_a_broken_name_is_told_by_the_form_that_gets_furthest() -> None:
    answer = OneOf(_SHORT, _LONG).read("k_1_2_d4", "g")
    assert answer.fields == {"a": 1, "b": 2}
    assert answer.unparsed[0].text == "_d4"


def test_forms_of_two_families_are_a_mistake_of_their_author() -> None:
    with pytest.raises(ValueError, match="several families"):
        OneOf(_SHORT, Pattern("g", lit("x")))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "a8w8_rowwise_256x128x256x128_32x32_2x4_8x32x1_8x32x1_1x32x1x8_8x8x1_1x1_intrawave_v3",
            {"tile_m": 128, "tile_n": 256, "tile_k": 128, "wave_tile_m": 64, "wave_tile_n": 128, "waves_m": 2,
             "waves_n": 2, "instruction_m": 32, "pipeline": "intrawave v3"},
        ),
        (
            "a8w8_bpreshuffle_256x128x256x128_16x16_16x16_8x32x1_8x32x1_1x32x1x8_8x8x1_2x1_intrawave_v3",
            {"tile_m": 128, "wave_tile_m": None, "waves_m": None, "instruction_m": 16, "threads_per_block": 256},
        ),
        (
            "moe_ck2stages_gemm2_256x64x128x128_1x4_TypeCast_v1_Nswizzle0_Quant0_MulRoutedWeight1_B16_B16_B16",
            {"op": "moe stage 2", "waves_n": 4, "wave_tile_n": 32, "dtype_a": "bf16", "pipeline": "v1"},
        ),
        (
            "opus_gemm_gfx1250_splitk_clusterlaunch_tdm_ws_128x128x64x128_2x1_16x16x32_0x0x0_c2x5_p3w2",
            {"op": "gemm", "tile_n": 64, "waves_m": 2, "instruction_k": 32, "stages": 3},
        ),
        (
            "flydsl_gemm3_abf16_wbf16_bf16_t32x64x256_split_k4_block_m_warp1_block_n_warp2_block_k_warp2_async_copyTrue"
            "_b_to_ldsTrue_b_preshuffleFalse_c_to_ldsFalse_gfx950",
            {"split_k": 4, "stages": 3, "waves_k": 2, "wave_tile_n": 32, "dtype_c": "bf16"},
        ),
        (
            "_gemm_afp4wfp4_kernel_BLOCK_SIZE_M_256_BLOCK_SIZE_N_32_BLOCK_SIZE_K_256_GROUP_SIZE_M_8_num_warps_8"
            "_num_stages_1_waves_per_eu_2_matrix_instr_nonkdim_16_cache_modifier_NONE_NUM_KSPLIT_4",
            {"tile_m": 256, "tile_n": 32, "tile_k": 256, "split_k": 4, "stages": 1, "dtype_a": None},
        ),
    ],
)  # fmt: skip
def test_the_common_view_holds_what_the_name_states_and_no_more(name: str, expected: dict[str, object]) -> None:
    view = registry.view(registry.decode(name))
    assert view is not None
    assert {key: getattr(view, key) for key in expected} == expected
