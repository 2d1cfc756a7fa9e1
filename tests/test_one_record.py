"""One call of aiter's split-K GEMM by three collectors: dry for gfx942, live on an H200, imported from a trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Answer, ktrace  # noqa: F401 - a fixture
from tracer.model.capture import CaptureRecord
from tracer.model.evidence import Evidence, Mode
from tracer.pipeline import build_report
from tracer.store import load_record

RECORDS = Path(__file__).parent / "data" / "records"
DRY = RECORDS / "dry" / "gemm_a16w16_split_k_gfx942.json"
LIVE = RECORDS / "live" / "gemm_a16w16_split_k_h200.json"
IMPORTED = RECORDS / "imported" / "gemm_a16w16_h200.json"


def first(path: Path) -> CaptureRecord:
    return load_record(path)


def test_all_three_name_the_same_kernel_with_the_same_grid() -> None:
    launches = [first(path).launches[0] for path in (DRY, LIVE, IMPORTED)]
    assert len({launch.kernel for launch in launches}) == 1
    assert {launch.grid for launch in launches} == {(4 * 8 * 24, 1, 1)}


def test_each_says_how_it_knows_the_launch_and_only_a_run_has_times() -> None:
    dry, live, imported = (first(path) for path in (DRY, LIVE, IMPORTED))
    assert [record.mode for record in (dry, live, imported)] == [Mode.DRY, Mode.LIVE, Mode.IMPORTED]
    assert [record.launches[0].evidence for record in (dry, live, imported)] == [
        Evidence.RESOLVED,
        Evidence.OBSERVED,
        Evidence.OBSERVED,
    ]
    assert [launch.duration_us for launch in dry.launches] == [None, None]
    assert not dry.timings
    assert live.timings
    assert all(launch.duration_us for launch in (*live.launches, *imported.launches))


def test_the_frames_from_the_called_function_to_the_launcher_are_the_same_dry_and_live() -> None:
    def way(record: CaptureRecord) -> list[str]:
        by_id = {frame.id: frame for frame in record.frames}
        found, frame = [], by_id[record.launches[0].frame or 0]
        while True:
            if frame.source is not None and frame.source.file.endswith(("jit.py", "autotuner.py", "gemm_a16w16.py")):
                found.append(f"{frame.source.file}:{frame.function}")
            if frame.parent is None:
                return found[::-1]
            frame = by_id[frame.parent]

    assert way(first(DRY)) == way(first(LIVE))


@pytest.mark.parametrize("path", [DRY, LIVE, IMPORTED], ids=["dry", "live", "imported"])
def test_every_one_has_a_report_with_the_decoded_tile(path: Path) -> None:
    kernel = build_report(first(path)).paths[0].kernels[0]
    assert kernel.view is not None
    assert (kernel.view.tile_m, kernel.view.tile_n, kernel.view.tile_k) == (16, 64, 128)


@pytest.mark.parametrize("other", [LIVE, IMPORTED], ids=["live", "imported"])
def test_records_of_different_collectors_are_compared_field_by_field(
    ktrace: Callable[..., Answer],  # noqa: F811
    other: Path,
) -> None:
    answer = ktrace("diff", str(DRY), str(other), "--json")
    assert answer.code == 0
    text = json.dumps(json.loads(answer.out))
    for field in ("mode", "target.arch", "target.compute_units", "block"):
        assert field in text
    plain = ktrace("diff", str(DRY), str(other)).out
    assert "not timed" in plain
