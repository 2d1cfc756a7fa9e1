"""Names that were cut off: what touches the cut is not stated."""

from __future__ import annotations

import pytest

from tracer.names import registry


@pytest.mark.parametrize(
    ("name", "gone", "kept"),
    [
        ("a8w8_rowwise_256x128x256x128_32x32_2x4...", {"n_xdl_per_wave"}, {"m_xdl_per_wave", "a_bits"}),
        ("moe_cktile2stages_gemm2_256x128x128x128_1x4_16x16x128_4perCU_per_1x32...",
         {"quant_type", "has_bias", "mul_routed_weight"}, {"block_per_cu", "stage"}),
        ("fmha_fwd_splitkv_combine_d256_fp16_batch_b32x12...", {"tile"}, {"group_mode"}),
        ("_softmax_kernel_online_BLOCK_SIZE_25\u2026", {"constexprs"}, {"base_name"}),
    ],
)  # fmt: skip
def test_a_cut_name_states_nothing_that_touches_the_cut(name: str, gone: set[str], kept: set[str]) -> None:
    answer = registry.decode(name)
    assert not gone & set(answer.fields)
    assert kept <= set(answer.fields)
    assert set(answer.spans) == set(answer.fields)
    assert answer.unparsed
    assert answer.text == name


def test_of_a_cut_configuration_only_the_last_pair_is_uncertain() -> None:
    answer = registry.decode("_gemm_a16_w16_kernel_BLOCK_SIZE_M_128_BLOCK_SIZE_N_12...")
    assert answer.fields["constexprs"] == {"BLOCK_SIZE_M": 128}
    assert answer.unparsed[-1].text == "12"


def test_the_same_name_in_full_states_everything() -> None:
    assert registry.decode("_softmax_kernel_online_BLOCK_SIZE_256").fields["constexprs"] == {"BLOCK_SIZE": 256}


def test_likely_readings_at_the_cut_go_and_so_do_those_of_what_is_not_printed() -> None:
    answer = registry.decode("nvjet_sm120_tst_mma_128x160x64_2_64x40x64_tmaAB_alignCD4_bx_...")
    assert "bias" not in answer.likely
    assert answer.likely["m_per_block"] == 128
    assert "n_per_block" not in registry.decode("nvjet_tst_256x12...").likely
