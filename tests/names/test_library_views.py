"""The common view of kernels of cuBLAS, rocBLAS and MIOpen: what the names state, and what only experience says."""

from __future__ import annotations

import pytest

from tracer.model.kernel import GemmView
from tracer.names import registry


def _view(name: str) -> GemmView:
    view = registry.view(registry.decode(name))
    assert view is not None
    return view


def test_nothing_that_nvjet_prints_without_a_label_is_stated_but_the_view_shows_it() -> None:
    name = "nvjet_sm100_tst_256x240_64x4_2x1_2cta_v_bz_TNT"
    answer = registry.decode(name)
    assert set(answer.fields) == {"isa", "words"}
    assert (answer.likely["two_cta"], answer.likely["layouts"]) == (True, "TNT")
    view = _view(name)
    assert (view.tile_m, view.tile_n, view.tile_k, view.stages) == (256, 240, 64, 4)


@pytest.mark.parametrize(
    ("name", "tile", "types"),
    [
        ("sm80_xmma_gemm_i8f32_i8i32_f32_tn_n_tilesize32x64x64_stage6_warpsize2x2x1_tensor16x8x32_by_fusion_tactic",
         (32, 64, 64), ("int8", "int8", "fp32", "int32")),
        ("sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize128x128x32_warpgroupsize1x1x1_execute_kernel__5x_cublas",
         (128, 128, 32), ("fp32", None, "fp32", "fp32")),
        ("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", (128, 128, 32), ("bf16", None, "bf16", "fp32")),
    ],
)  # fmt: skip
def test_the_types_of_a_closed_kernel_are_read_in_the_order_a_c_b_accumulator(
    name: str, tile: tuple[int, ...], types: tuple[str | None, ...]
) -> None:
    view = _view(name)
    assert (view.tile_m, view.tile_n, view.tile_k) == tile
    assert (view.dtype_a, view.dtype_b, view.dtype_c, view.dtype_acc) == types
    assert not {"dtype_a", "dtype_b", "dtype_c"} & set(registry.decode(name).fields)


@pytest.mark.parametrize("before", ["", "false, ", "1, 0, "])
def test_a_rocblas_gemm_has_tile_and_transpositions_in_every_release(before: str) -> None:
    view = _view(
        f"void rocblas_gemm_batched_general_kernel<float, 16, 16, 32, 64, 8, 32, 8, 8, 32, {before}(char)78, (char)84, "
        "float const* const, float const* const, float* const>(long, long, long)"
    )
    assert (view.tile_m, view.tile_n, view.tile_k, view.threads_per_block) == (32, 64, 8, 256)
    assert (view.layout_a, view.layout_b) == ("col", "row")


def test_an_implicit_gemm_of_miopen_has_as_many_threads_as_its_waves_hold() -> None:
    view = _view(
        "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt256x128x32_wt32x32x8_ws2x1_wr2x2_ta1x8x4x1_1x4x1x64_tb1x8x2x1_1x4x1x64"
    )
    assert (view.op, view.tile_m, view.tile_n, view.tile_k) == ("conv", 256, 128, 32)
    assert (view.wave_tile_m, view.wave_tile_n, view.waves_m, view.waves_n) == (128, 64, 2, 2)
    assert view.threads_per_block == 64 * 2 * 2
