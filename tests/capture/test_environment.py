"""Which environment variables a record keeps: those that steer what a library chooses, no folder of this machine."""

from __future__ import annotations

import pytest

from tracer.capture.environment import describe


def test_variables_that_steer_the_library_are_kept_and_folders_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {
        "AITER_CONFIG_GEMM_A8W8_BLOCKSCALE": "tuned.csv",
        "ENABLE_CK": "0",
        "FLA_USE_FAST_OPS": "1",
        "MXFP4_G2_SPART": "1",
    }
    left_out = {"AITER_JIT_DIR": "x", "FLYDSL_RUNTIME_CACHE_DIR": "x", "HOME": "x", "AWS_SECRET": "x"}
    for name, value in {**kept, **left_out}.items():
        monkeypatch.setenv(name, value)
    found = describe(None, dry=True).variables
    assert kept.items() <= found.items()
    assert not left_out.keys() & found.keys()
