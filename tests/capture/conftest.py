"""Dry captures for the tests: each child process does many calls, and what it recorded is shared by a whole session."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tracer.aiter.tree import AiterTree
from tracer.capture.dry import capture_dry
from tracer.capture.protocol import CallRequest
from tracer.model.capture import CaptureRecord

HERE = Path(__file__).parent
SHAPE = {"M": 128, "N": 1536, "K": 7168}
DTYPE = {"dtype": "bf16"}
TILE = {
    "BLOCK_SIZE_M": 16,
    "BLOCK_SIZE_N": 16,
    "BLOCK_SIZE_K": 256,
    "GROUP_SIZE_M": 1,
    "NUM_KSPLIT": 1,
    "SPLITK_BLOCK_SIZE": 3072,
    "num_warps": 4,
    "num_stages": 2,
    "cache_modifier": "",
}


def gemm(m: int, n: int, k: int) -> CallRequest:
    return CallRequest(op="gemm_a8w8_blockscale", shape={"M": m, "N": n, "K": k}, options=DTYPE)


def triton_gemm(m: int, n: int, k: int, **changes: object) -> CallRequest:
    shape = {"M": m, "N": n, "K": k}
    return CallRequest(op="gemm_a16w16", shape=shape, options=DTYPE, config={**TILE, **changes})


@pytest.fixture(scope="session")
def needs_torch() -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")


@pytest.fixture(scope="session")
def needs_wheel(needs_torch: None, wheel: AiterTree) -> None:
    if importlib.util.find_spec("triton") is None:
        pytest.skip("triton is not installed")


@pytest.fixture(scope="session")
def wheel_records(needs_wheel: None) -> dict[str, CaptureRecord]:
    """Everything the tests ask of the wheel on gfx942 with 304 CUs, in one child."""
    quant = {"dtype": "bf16", "quant_dtype": "fp8"}
    requests = {
        "gemm": gemm(**{k.lower(): v for k, v in SHAPE.items()}),
        "gemm_missed": gemm(100, 384, 512),
        "gemm_huge": gemm(2**31 - 1, 2**20, 2**17),
        "quant_gemm": CallRequest(op="quant_gemm_a8w8_blockscale", shape=SHAPE, options=quant),
        "triton_tuned": CallRequest(op="gemm_a16w16", shape={"M": 16, "N": 3072, "K": 3072}, options=DTYPE),
        "triton_tile": triton_gemm(16, 3072, 3072),
        "triton_uncovered": triton_gemm(16, 3072, 7168),
        "triton_split": triton_gemm(16, 3072, 3072, NUM_KSPLIT=4, SPLITK_BLOCK_SIZE=768),
        "triton_too_large": triton_gemm(256, 3072, 3072, BLOCK_SIZE_M=256, BLOCK_SIZE_N=256, num_warps=8),
        "triton_not_a_power": triton_gemm(16, 3072, 3072, BLOCK_SIZE_M=24),
        "linear": CallRequest(op="torch_linear", shape={"M": 4, "N": 8, "K": 16}, options=DTYPE),
        "callable": CallRequest(
            op="aiter.ops.quant:per_group_quant_hip", arguments=("x=bf16[64,256]", "quant_dtype=fp8", "group_size=64")
        ),
        "torch_quant": CallRequest(
            op="aiter:pertoken_quant", arguments=("x=bf16[128,7168]", "quant_dtype=float8_e4m3fnuz")
        ),
        "moe": CallRequest(
            op="aiter.fused_moe:fused_moe",
            arguments=(
                "hidden_states=bf16[128,7168]",
                "w1=bf16[256,512,7168]",
                "w2=bf16[256,7168,256]",
                "topk_weight=fp32[128,8]",
                "topk_ids=i32[128,8]",
            ),
        ),
        "attention": CallRequest(
            op="aiter:flash_attn_func",
            arguments=("q=bf16[1,128,32,128]", "k=bf16[1,128,8,128]", "v=bf16[1,128,8,128]", "causal=true"),
        ),
        "paged_attention": CallRequest(
            op="aiter:paged_attention_rocm",
            arguments=(
                "out=bf16[4,8,128]",
                "exp_sums=fp32[4,8,2]",
                "max_logits=fp32[4,8,2]",
                "tmp_out=bf16[4,8,2,128]",
                "query=bf16[4,8,128]",
                "key_cache=bf16[64,1,16,16,8]",
                "value_cache=bf16[64,1,128,16]",
                "num_kv_heads=1",
                "scale=0.088",
                "block_tables=i32[4,32]",
                "context_lens=i32[4]",
                "block_size=16",
                "max_context_len=512",
                "alibi_slopes=none",
                'kv_cache_dtype="auto"',
                "k_scale=none",
                "v_scale=none",
            ),
        ),
        "raising": CallRequest(
            op="aiter.ops.quant:per_group_quant_hip", arguments=("x=bf16[64,256]", "quant_dtype=fp8", "group_size=63")
        ),
    }
    return dict(zip(requests, capture_dry(list(requests.values()), timeout_s=240), strict=True))
