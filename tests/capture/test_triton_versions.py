"""Other versions of Triton: KTRACE_TRITONS names folders (like PATH) with one in each (`pip install --target`)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.capture.conftest import DTYPE, triton_gemm
from tracer.capture.dry import capture_dry
from tracer.capture.protocol import CallRequest
from tracer.model.capture import CaptureRecord

pytestmark = pytest.mark.dry
FOLDERS = [Path(folder) for folder in os.environ.get("KTRACE_TRITONS", "").split(os.pathsep) if folder]


@pytest.mark.skipif(not FOLDERS, reason="KTRACE_TRITONS names no folder")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_kernels_are_compiled_and_named_by_every_triton(
    folder: Path, needs_wheel: None, wheel_records: dict[str, CaptureRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(folder))
    requests = [
        CallRequest(op="gemm_a16w16", shape={"M": 16, "N": 3072, "K": 3072}, options=DTYPE),
        triton_gemm(16, 3072, 3072),
        triton_gemm(16, 3072, 3072, NUM_KSPLIT=4, SPLITK_BLOCK_SIZE=768),
        triton_gemm(256, 3072, 3072, BLOCK_SIZE_M=256, BLOCK_SIZE_N=256, num_warps=8),
    ]
    *compiled, refused = capture_dry(requests)
    ours = [wheel_records[name] for name in ("triton_tuned", "triton_tile", "triton_split")]
    for record, own in zip(compiled, ours, strict=True):
        assert record.environment.triton is not None
        assert f"{record.environment.triton}" in str(sorted(p.name for p in folder.glob("triton-*.dist-info")))
        assert record.exception is None
        assert [(x.kernel, x.grid, x.block) for x in record.launches] == [
            (x.kernel, x.grid, x.block) for x in own.launches
        ]
        for launch in record.launches:
            assert launch.resources.vgprs
            assert launch.compiled is not None
            assert launch.compiled.keys is not None
    assert refused.exception is not None
    assert "Hardware limit: 65536" in refused.exception.message
