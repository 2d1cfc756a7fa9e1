"""From a CK tile to an MFMA instruction: per target, and on gfx950 per kernel, since its rule decides the rate."""

from __future__ import annotations

import pytest

from tracer.analyse.mfma import choose

BLOCKSCALE = "aiter_ck_a8w8_blockscale"


def chosen(arch: str, family: str | None, size: int, dtype: str, ak1: int = 16, bk1: int = 16, k: int = 256) -> str:
    choice = choose(
        arch=arch, family=family, m_per_xdl=size, n_per_xdl=size, dtype=dtype, ak1=ak1, bk1=bk1, k_per_block=k
    )
    assert choice is not None
    return choice.instruction.name if choice.instruction else " | ".join(c.name for c in choice.candidates)


@pytest.mark.parametrize(
    ("arch", "size", "dtype", "name"),
    [
        ("gfx90a", 32, "fp16", "mfma_f32_32x32x8f16"),
        ("gfx90a", 16, "bf16", "mfma_f32_16x16x16bf16_1k"),
        ("gfx90a", 16, "int8", "mfma_i32_16x16x16i8"),
        ("gfx942", 16, "fp8", "mfma_f32_16x16x32_fp8_fp8"),
        ("gfx942", 32, "fp8", "mfma_f32_32x32x16_fp8_fp8"),
        ("gfx942", 32, "bf16", "mfma_f32_32x32x8_bf16"),
        ("gfx942", 16, "int8", "mfma_i32_16x16x32_i8"),
    ],
)
def test_before_gfx950_tile_and_type_decide(arch: str, size: int, dtype: str, name: str) -> None:
    assert chosen(arch, None, size, dtype) == name


@pytest.mark.parametrize(
    ("family", "size", "dtype", "ak1", "k", "name"),
    [
        # the block-scale kernel looks at the wide fp8 instruction first: KPack becomes 32, so the rate is full
        (BLOCKSCALE, 16, "fp8", 16, 256, "mfma_f32_16x16x128_f8f6f4"),
        (BLOCKSCALE, 32, "fp8", 16, 256, "mfma_f32_32x32x64_f8f6f4"),
        # the row-wise kernel takes the narrow one for 16x16 tiles with fewer than 128 K elements
        ("aiter_ck_a8w8_rowwise", 16, "fp8", 16, 64, "mfma_f32_16x16x32_fp8_fp8"),
        ("aiter_ck_a8w8_rowwise", 16, "fp8", 16, 128, "mfma_f32_16x16x128_f8f6f4"),
        ("aiter_ck_a8w8_rowwise", 32, "fp8", 16, 64, "mfma_f32_32x32x64_f8f6f4"),
        ("aiter_ck_a8w8_bpreshuffle", 16, "int8", 16, 64, "mfma_i32_16x16x64_i8"),
        ("aiter_ck_a8w8_bpreshuffle", 16, "fp8", 16, 64, "mfma_f32_16x16x32_fp8_fp8"),
        ("aiter_ck_bf16_batched", 16, "bf16", 8, 64, "mfma_f32_16x16x32_bf16"),
        ("aiter_ck_bf16_batched", 16, "bf16", 4, 64, "mfma_f32_16x16x16_bf16"),
    ],
)
def test_on_gfx950_the_kernel_decides_with_ak1_and_k(
    family: str, size: int, dtype: str, ak1: int, k: int, name: str
) -> None:
    assert chosen("gfx950", family, size, dtype, ak1, ak1, k) == name


def test_the_narrow_instruction_of_gfx950_runs_at_half_rate() -> None:
    choice = choose(
        arch="gfx950",
        family="aiter_ck_bf16_batched",
        m_per_xdl=16,
        n_per_xdl=16,
        dtype="bf16",
        ak1=4,
        bk1=4,
        k_per_block=64,
    )
    assert choice is not None
    assert choice.instruction is not None
    assert choice.instruction.half_rate
    assert choice.formula == "KPack = max(lcm(4, 4), 4) = 4 <= 4: half rate"


def test_a_family_without_a_known_rule_leaves_both_open_on_gfx950() -> None:
    assert chosen("gfx950", None, 16, "fp8") == "mfma_f32_16x16x128_f8f6f4 | mfma_f32_16x16x32_fp8_fp8"


@pytest.mark.parametrize(("arch", "dtype"), [("gfx90a", "fp8"), ("sm_90", "bf16"), ("gfx942", "fp32")])
def test_what_is_not_in_the_tables_is_not_answered(arch: str, dtype: str) -> None:
    choice = choose(
        arch=arch, family=BLOCKSCALE, m_per_xdl=16, n_per_xdl=16, dtype=dtype, ak1=16, bk1=16, k_per_block=256
    )
    assert choice is None
