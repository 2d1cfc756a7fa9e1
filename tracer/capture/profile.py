"""One call under torch.profiler: a call and a frame recorder in, its launches and operators out.

The profiler's own trace is read by the reader of imported traces, so a live run and an import see events alike.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from tracer.capture.frames import FrameRecorder
from tracer.importers.formats import read_timeline
from tracer.importers.joins import join
from tracer.importers.records import origin_of, record_of
from tracer.importers.timeline import Timeline
from tracer.model.capture import Call, CpuOp, Launch, Lost
from tracer.model.environment import TraceOrigin

#: cuBLAS and Triton may launch nothing new after the first calls; the profiler itself needs one to load its tables
_PRIMING_CALLS = 1


class Profile(msgspec.Struct, frozen=True):
    """What the profiler saw of one call; times are nanoseconds since the epoch."""

    launches: tuple[Launch, ...]
    cpu_ops: tuple[CpuOp, ...]
    lost: tuple[Lost, ...]


def profile_once(call: Callable[[], Any], recorder: FrameRecorder, folder: Path) -> Profile:
    """Makes one call under the profiler and the recorder's trace function.

    Args:
        call: the call, warmed up.
        recorder: records the call's Python frames.
        folder: where the profiler's trace may be written for a moment.
    """
    import torch
    from torch.profiler import ProfilerActivity, profile

    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(
        activities=activities
    ):  # the first session of a process loads CUPTI or roctracer, inside whatever runs
        for _ in range(_PRIMING_CALLS):
            call()
        torch.cuda.synchronize()
    with profile(activities=activities, record_shapes=True) as session:
        recorder.start()
        try:
            call()
        finally:
            recorder.stop()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path = Path(name) / "profile.json"
        session.export_chrome_trace(str(path))
        return read_profile(path)


def read_profile(path: Path) -> Profile:
    """The launches and operators of a profiler's trace of one call."""
    timeline = read_timeline(path)
    joined = join(timeline)
    record = record_of(
        joined,
        range(len(timeline.kernels)),
        call=Call(op=""),
        origin=TraceOrigin(file="", format=timeline.format),
    )
    shift = timeline.base_ns + round(origin_of(timeline) * 1000)
    return Profile(
        tuple(_at_epoch(launch, shift) for launch in record.launches),
        tuple(_moved(op, shift) for op in record.cpu_ops),
        record.lost,
    )


def kernel_sums_us(call: Callable[[], Any], calls: int, folder: Path) -> list[float]:
    """Profiles several calls; returns for each the sum of its kernels' durations, in µs.

    Empty when the kernels can't be shared out: the calls launched different numbers of them, or none.
    """
    import torch
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as session:
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path = Path(name) / "profile.json"
        session.export_chrome_trace(str(path))
        return sums_by_call(read_timeline(path), calls)


def sums_by_call(timeline: Timeline, calls: int) -> list[float]:
    """The sum of kernel durations of each of several equal calls, in µs; empty when kernels can't be shared out."""
    kernels = timeline.kernels
    if not len(kernels) or len(kernels) % calls or timeline.lacks_starts:
        return []
    in_order = [us for _, us in sorted(zip(kernels.start_us, kernels.duration_us, strict=True))]
    each = len(in_order) // calls
    return [sum(in_order[i : i + each]) for i in range(0, len(in_order), each)]


def _moved(op: CpuOp, shift: int) -> CpuOp:
    return msgspec.structs.replace(op, start_ns=None if op.start_ns is None else op.start_ns + shift)


def _at_epoch(launch: Launch, shift: int) -> Launch:
    runtime = launch.runtime
    if runtime is not None and runtime.start_ns is not None:
        runtime = msgspec.structs.replace(runtime, start_ns=runtime.start_ns + shift)
    start = None if launch.start_ns is None else launch.start_ns + shift
    return msgspec.structs.replace(launch, start_ns=start, runtime=runtime)
