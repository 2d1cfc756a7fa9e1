"""What a GPU showed is kept as records, so that joining and reading it is tested where there is none.

The records were captured on an NVIDIA H200 (torch 2.11, Triton 3.6, the aiter wheel).
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tracer.capture.join import join_frames
from tracer.model.capture import CaptureRecord, Frame
from tracer.model.evidence import Evidence, Mode
from tracer.model.timing import CacheState
from tracer.store import load_record

FOLDER = Path(__file__).parents[1] / "data" / "records" / "live"
TRITON = ("gemm_a16w16_h200", "gemm_a16w16_split_k_h200")
MEASURED = (*TRITON, "torch_mm_h200", "torch_linear_h200", "torch_softmax_h200")


def record(name: str) -> CaptureRecord:
    return load_record(FOLDER / f"{name}.json")


def ancestors(frames: tuple[Frame, ...], id_: int | None) -> list[str]:
    by_id = {frame.id: frame for frame in frames}
    found = []
    while id_ is not None:
        found.append(by_id[id_].function)
        id_ = by_id[id_].parent
    return found


@pytest.mark.parametrize("name", TRITON)
def test_joining_a_records_launches_again_finds_the_same_frames(name: str) -> None:
    seen = record(name)
    bare = [msgspec.structs.replace(launch, frame=None) for launch in seen.launches]
    threads = {launch.runtime.thread: seen.frames[0].thread for launch in seen.launches if launch.runtime}
    joined, _, lost = join_frames(seen.frames, bare, seen.cpu_ops, threads)
    assert [launch.frame for launch in joined] == [launch.frame for launch in seen.launches]
    assert not lost


@pytest.mark.parametrize("name", TRITON)
def test_every_launch_hangs_below_the_function_that_was_called(name: str) -> None:
    seen = record(name)
    for launch in seen.launches:
        assert launch.frame_evidence is Evidence.OBSERVED
        assert ancestors(seen.frames, launch.frame)[-1] == "gemm_a16w16"


@pytest.mark.parametrize("name", TRITON)
def test_runtime_calls_lie_inside_their_frames_by_the_clock(name: str) -> None:
    seen = record(name)
    by_id = {frame.id: frame for frame in seen.frames}
    for launch in seen.launches:
        frame = by_id[launch.frame or 0]
        assert launch.runtime is not None
        assert frame.enter_ns < launch.runtime.start_ns < frame.exit_ns


def test_split_k_launches_the_product_and_then_the_reduction() -> None:
    first, second = record("gemm_a16w16_split_k_h200").launches
    assert (first.kernel or "").startswith("_gemm_a16_w16_kernel_")
    assert (second.kernel or "").startswith("_gemm_a16w16_reduce_kernel_")
    assert first.grid == (4 * 8 * 24, 1, 1)
    assert (first.start_ns or 0) < (second.start_ns or 0)


def test_a_built_in_has_operators_and_launches_but_no_python_frame() -> None:
    seen = record("torch_mm_h200")
    assert not seen.frames
    assert [op.name for op in seen.cpu_ops] == ["aten::mm"]
    assert len(seen.launches) == 2
    assert all(launch.cpu_op == seen.cpu_ops[0].id for launch in seen.launches)
    assert not seen.lost


@pytest.mark.parametrize("name", MEASURED)
def test_every_figure_says_how_it_was_made(name: str) -> None:
    seen = record(name)
    assert seen.mode is Mode.LIVE
    assert seen.target.device == "H200"
    assert seen.target.device_evidence is Evidence.OBSERVED
    assert [timing.method for timing in seen.timings] == ["graph", "eager", "profiler"]
    for timing in seen.timings:
        assert timing.n >= 20
        assert timing.p20_us <= timing.median_us <= timing.p80_us
        if timing.cache is CacheState.COLD and timing.method == "graph":
            assert timing.bytes_rotated > timing.cache_bytes


def test_options_of_the_other_vendor_were_dropped_and_said_so() -> None:
    (warning,) = record("gemm_a16w16_h200").warnings
    assert "waves_per_eu" in warning
    assert "matrix_instr_nonkdim" in warning


def test_a_gpu_that_ran_out_of_memory_leaves_a_record_that_says_how_much_was_free() -> None:
    seen = record("torch_mm_out_of_memory_h200")
    assert seen.exception is not None
    assert seen.exception.type == "OutOfMemoryError"
    assert "GiB are free" in seen.exception.message
    assert not seen.launches
