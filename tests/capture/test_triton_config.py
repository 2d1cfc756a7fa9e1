"""Kernel configurations of the Triton GEMM: what is refused before anything runs, and what is warned of."""

from __future__ import annotations

from typing import Any

import pytest

from tests.capture.conftest import TILE
from tracer.errors import UsageError
from tracer.ops.registry import get_op
from tracer.ops.triton_gemm import split_k_warning


def test_a_whole_configuration_is_taken() -> None:
    get_op("gemm_a16w16").check_config(TILE)
    get_op("gemm_a16w16").check_config({**TILE, "cache_modifier": None, "waves_per_eu": 0, "kpack": 2})
    get_op("gemm_a16w16").check_config(None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"BLOCK_M": 16}, "unknown key 'BLOCK_M'"),
        ({"num_warps": "4"}, "num_warps='4' in the configuration is of the type str"),
        ({"num_warps": True}, "of the type bool"),
        ({"NUM_KSPLIT": None}, "of the type NoneType"),
        ({"BLOCK_SIZE_M": 0}, "BLOCK_SIZE_M=0"),
    ],
)
def test_a_bad_key_or_type_is_named_with_what_is_accepted(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as error:
        get_op("gemm_a16w16").check_config({**TILE, **change})
    assert message in error.value.message
    assert error.value.expected is not None
    assert next(iter(change)) in error.value.expected or "BLOCK_SIZE_M (int)" in error.value.expected


def test_a_missing_key_is_named() -> None:
    with pytest.raises(UsageError, match="lacks SPLITK_BLOCK_SIZE"):
        get_op("gemm_a16w16").check_config({k: v for k, v in TILE.items() if k != "SPLITK_BLOCK_SIZE"})


def test_an_op_without_a_configuration_takes_none() -> None:
    with pytest.raises(UsageError, match="takes no kernel configuration"):
        get_op("torch_mm").check_config({"a": 1})


def test_a_configuration_that_leaves_part_of_k_out_is_warned_of() -> None:
    warning = split_k_warning(7168, TILE)
    assert warning is not None
    assert "1 x SPLITK_BLOCK_SIZE 3072 = 3072 of K=7168" in warning
    assert "4096 are left out" in warning


@pytest.mark.parametrize("splits", [{"NUM_KSPLIT": 3}, {"SPLITK_BLOCK_SIZE": 7168}, {"NUM_KSPLIT": None}])
def test_a_configuration_that_covers_k_or_says_nothing_is_not(splits: dict[str, Any]) -> None:
    assert split_k_warning(7168, {**TILE, **splits}) is None
