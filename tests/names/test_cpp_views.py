"""The GEMM view of C++ kernels: what the fields state, in the tool's own words."""

from __future__ import annotations

from tests.names.test_itanium import CK
from tracer.names import registry


def test_a_ck_kernel_has_tile_waves_types_and_pipeline() -> None:
    view = registry.view(registry.decode(CK))
    assert view is not None
    assert (view.tile_m, view.tile_n, view.tile_k) == (128, 128, 128)
    assert (view.wave_tile_m, view.wave_tile_n, view.waves_m, view.waves_n) == (64, 64, 2, 2)
    assert (view.dtype_a, view.dtype_c, view.dtype_acc) == ("fp8", "bf16", "fp32")
    assert (view.layout_a, view.layout_b, view.pipeline) == ("row", "col", "intrawave v3")


def test_a_type_string_counts_k_in_groups_of_k1() -> None:
    name = "DeviceGemmXdl<256, 256, 128, 4, 8, 32, 32, 4, 2, 8, 8, 8, 8> NumPrefetch: 1, LoopScheduler: Default"
    view = registry.view(registry.decode(f"{name}, PipelineVersion: v1"))
    assert view is not None
    assert (view.tile_m, view.tile_n, view.tile_k, view.pipeline) == (256, 128, 32, "default v1")


def test_block_scaled_types_of_trtllm_gen_are_the_types_of_their_elements() -> None:
    name = "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b_TN_schedS_bN_sm100f"
    view = registry.view(registry.decode(name))
    assert view is not None
    assert (view.dtype_a, view.dtype_b, view.dtype_c, view.dtype_acc) == ("fp4", "fp8", "bf16", "fp32")
    assert (view.tile_m, view.instruction_k, view.stages) == (128, 32, 3)


def test_a_name_that_is_cut_off_before_its_tile_has_no_view() -> None:
    for name in ("void ck::kernel_gemm", "DeviceGemmXdl<256", "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t12", CK[:60]):
        assert registry.view(registry.decode(name)) is None
