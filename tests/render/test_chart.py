"""The end-to-end chart in plain characters."""

from __future__ import annotations

from typing import Any

from tests import handmade
from tracer.model.capture import CaptureRecord
from tracer.pipeline import build_report
from tracer.render.chart import flow_chart
from tracer.render.languages import Words


def chart(record: CaptureRecord) -> str:
    words = Words("en")

    def label(key: str, **values: Any) -> str:
        return str(words(key, **values))

    return flow_chart(build_report(record), label) + "\n"


def test_two_kernels_of_one_path_share_the_way_to_them() -> None:
    assert (
        chart(handmade.triton())
        == """\
gemm_a16w16(M=16, N=3072, K=3072)
│
└─ Path 1: gemm_a16w16
     │
     ▼ [Python] gemm_a16w16   aiter/ops/triton/gemm_a16w16.py:19   (observed)
     │
     ▼ [JIT] run   triton/runtime/jit.py:695   (observed)
     │
     ▼ Triton Kernel ↓
       _gemm_a16_w16_kernel_BLOCK_SIZE_M_16_BLOCK_SIZE_N_16_BLOCK_SIZE_K_256_GROUP_SIZE_M_1_NUM_KSPLIT_4_SPLITK_BLOCK_SIZE_768_EVEN_K_1_GRID_MN_192_cache_modifier_NONE_activation_NONE_use_activation_0_ADD_BIAS_0_SKIP_REDUCE_0
       grid (768, 1, 1)   block (256, 1, 1)   LDS of a block 16384 B
     │
     ▼ Triton Kernel ↓
       _gemm_a16w16_reduce_kernel_BLOCK_SIZE_M_32_BLOCK_SIZE_N_32_ACTUAL_KSPLIT_4_MAX_KSPLIT_4
       grid (1, 96, 1)   block (256, 1, 1)   LDS of a block 2048 B
"""
    )


def test_paths_branch_from_one_trunk() -> None:
    lines = chart(handmade.pair()).splitlines()
    assert [line for line in lines if "Path" in line] == [
        "├─ Path 1: per_group_quant_hip",
        "└─ Path 2: gemm_a8w8_blockscale",
    ]
    first = lines[2 : lines.index("└─ Path 2: gemm_a8w8_blockscale")]
    assert all(line.startswith(("├", "│")) for line in first)


def test_an_unresolved_end_is_on_the_chart() -> None:
    assert "▼ [kernel] ?   (unresolved)" in chart(handmade.pair())


def test_a_call_without_a_shape_has_no_brackets() -> None:
    assert chart(handmade.imported()).splitlines()[0] == "aiter::rmsnorm"
