"""Part of a trace as a record: a joined timeline and the kernels picked in, a CaptureRecord in mode `imported` out.

The record holds the picked launches with the frames and operators that enclose them, and nothing else of the trace.
"""

from __future__ import annotations

import datetime
import statistics
from collections.abc import Mapping, Sequence

from tracer.importers.joins import Found, Joined
from tracer.importers.launches import launch, nanoseconds
from tracer.importers.nesting import NONE, Nest
from tracer.importers.places import read_frame_name
from tracer.importers.replay import Capture
from tracer.importers.targets import device_of
from tracer.importers.timeline import NO_TIME, Timeline, stated_id
from tracer.model.capture import Argument, Call, CaptureRecord, CpuOp, Frame, Launch
from tracer.model.environment import Environment, SourceTree, TraceOrigin
from tracer.model.evidence import Evidence, Mode
from tracer.model.timing import Timing
from tracer.versions import ktrace_version

#: external id of an operator -> what it was called with
OpInputs = Mapping[int, tuple[Argument, ...]]


class _Ids:
    """The record's ids for the spans of one nest that enclose a picked launch."""

    def __init__(self, nest: Nest, first: int = 0) -> None:
        self._nest = nest
        self._wanted: set[int] = set()
        self._first = first
        self.of: dict[int, int] = {}

    def want(self, index: int) -> None:
        while index != NONE and index not in self._wanted:
            self._wanted.add(index)
            index = self._nest.parent[index]

    def number(self) -> list[int]:
        """Gives ids in order of start, outer spans first; returns the spans in that order."""
        ordered = sorted(self._wanted, key=lambda i: (self._nest.start[i], i))
        self.of = {index: self._first + position for position, index in enumerate(ordered)}
        return ordered

    def __call__(self, index: int) -> int | None:
        return self.of.get(index)


def _thread(timeline: Timeline, number: int) -> int:
    thread = timeline.threads.values_[number][1]
    return thread if isinstance(thread, int) else 0


def _frames(timeline: Timeline, nest: Nest, ids: _Ids, origin_us: float) -> list[Frame]:
    frames = []
    for index in ids.number():
        name = read_frame_name(timeline.names.values_[nest.name[index]])
        frames.append(
            Frame(
                id=ids.of[index],
                parent=ids(nest.parent[index]),
                thread=_thread(timeline, nest.thread[index]),
                function=name.function,
                source=name.source,
                enter_ns=nanoseconds(nest.start[index], origin_us),
                exit_ns=nanoseconds(nest.end[index], origin_us),
            )
        )
    return frames


def _ops(
    joined: Joined,
    ids: _Ids,
    frame_ids: _Ids,
    inputs: OpInputs,
    origin_us: float,
    kernel_counts: Sequence[int | None] | None = None,
) -> list[CpuOp]:
    timeline, nest = joined.timeline, joined.ops
    ops = []
    for index in ids.number():
        external = nest.extra[index]
        ops.append(
            CpuOp(
                id=ids.of[index],
                parent=ids(nest.parent[index]),
                name=timeline.names.values_[nest.name[index]],
                inputs=inputs.get(external, ()),
                external_id=stated_id(external),
                thread=_thread(timeline, nest.thread[index]),
                start_ns=nanoseconds(nest.start[index], origin_us),
                duration_us=None if nest.start[index] == NO_TIME else nest.end[index] - nest.start[index],
                frame=frame_ids(_frame_around(joined, nest.thread[index], nest.start[index], frame_ids)),
                kernel_count=kernel_counts[index] if kernel_counts is not None else None,
            )
        )
    return ops


def _frame_around(joined: Joined, thread: int, at_us: float, frame_ids: _Ids) -> int:
    """The innermost of the kept frames that is open at an instant."""
    nest = joined.frames
    open_then = [
        index
        for index in frame_ids.of
        if nest.thread[index] == thread and nest.start[index] <= at_us <= nest.end[index]
    ]
    return max(open_then, key=lambda index: (nest.start[index], index), default=NONE)


def origin_of(timeline: Timeline) -> float:
    """Time 0 of records: the earliest start of a kernel or call in the trace, in the timeline's microseconds."""
    return timeline.earliest_us() or 0.0


def spread(times: Sequence[float], what: str) -> Timing:
    """The spread of times that the profiler saw, in µs; `what` says what they are."""
    values = sorted(times)
    p20, p80 = values[0], values[-1]
    if len(values) > 1:
        cuts = statistics.quantiles(values, n=5, method="inclusive")
        p20, p80 = cuts[0], cuts[3]
    return Timing(
        method="profiler",
        what=what,
        n=len(values),
        median_us=statistics.median(values),
        p20_us=p20,
        p80_us=p80,
    )


def environment_of(timeline: Timeline) -> Environment:
    """What the trace says of the versions behind it."""
    producer = timeline.producer
    trees = tuple(
        SourceTree(name=name.removeprefix("amd-"), version=version)
        for name, version in producer.packages.items()
        if name not in ("torch", "triton")
    )
    return Environment(
        ktrace=ktrace_version(),
        python=producer.python,
        torch=producer.torch,
        triton=producer.packages.get("triton"),
        rocm=producer.rocm,
        cuda=producer.cuda,
        driver=producer.driver,
        trees=trees,
    )


def record_of(
    joined: Joined,
    rows: Sequence[int],
    *,
    call: Call,
    origin: TraceOrigin,
    capture: Capture | None = None,
    inputs: OpInputs | None = None,
    kernel_counts: Sequence[int | None] | None = None,
    timings: tuple[Timing, ...] = (),
    warnings: tuple[str, ...] = (),
    recorded_at: datetime.datetime | None = None,
) -> CaptureRecord:
    """A record of some kernels of a trace.

    Args:
        joined: the timeline with its links.
        rows: the kernels, in the order in which the record shows them.
        call: what was picked.
        origin: the trace.
        capture: the trace of the graph's capture, where one was given: stacks for kernels that a graph replayed.
        inputs: what operators were called with, as far as it was read.
        kernel_counts: for every operator of `joined`, how many kernels it launched, where that is known.
        timings: of the picked kernels.
        warnings: sentences for the page.
        recorded_at: when the trace was recorded, where known; else the record says when it was imported.
    """
    timeline = joined.timeline
    frame_ids, op_ids = _Ids(joined.frames), _Ids(joined.ops)
    for row in rows:
        frame_ids.want(joined.frame[row])
        op_ids.want(joined.op[row])
        if joined.call[row] != NONE:
            frame_ids.want(joined.launched_frame[joined.call[row]])
    origin_us = origin_of(timeline)
    frames = _frames(timeline, joined.frames, frame_ids, origin_us)
    ops = _ops(joined, op_ids, frame_ids, inputs or {}, origin_us, kernel_counts)
    captured = _Captured(capture, rows, len(frames), len(ops))
    launches = tuple(
        _launch(joined, row, position, origin_us, frame_ids, op_ids, captured) for position, row in enumerate(rows)
    )
    device = device_of(timeline, timeline.kernels.device[rows[0]]) if rows else None
    when = recorded_at or datetime.datetime.now(datetime.UTC)
    return CaptureRecord(
        mode=Mode.IMPORTED,
        call=call,
        target=device.target if device else device_of(timeline, 0).target,
        environment=environment_of(timeline),
        recorded_at=when.isoformat(timespec="seconds"),
        frames=(*frames, *captured.frames),
        cpu_ops=(*ops, *captured.ops),
        launches=launches,
        timings=timings,
        lost=timeline.losses.entries(),
        warnings=warnings,
        origin=origin,
    )


class _Captured:
    """Frames and operators that kernels of a graph have from the trace of its capture."""

    def __init__(self, capture: Capture | None, rows: Sequence[int], first_frame: int, first_op: int) -> None:
        self._capture = capture
        self.frames: list[Frame] = []
        self.ops: list[CpuOp] = []
        if capture is None:
            return
        source = capture.joined
        self.frame_ids, self.op_ids = _Ids(source.frames, first_frame), _Ids(source.ops, first_op)
        for row in rows:
            match = capture.match_of(row)
            if match is not None:
                self.frame_ids.want(source.launched_frame[match.call])
                self.op_ids.want(source.launched_op[match.call])
        origin_us = origin_of(source.timeline)
        self.frames = _frames(source.timeline, source.frames, self.frame_ids, origin_us)
        self.ops = _ops(source, self.op_ids, self.frame_ids, {}, origin_us)

    def of(self, row: int) -> tuple[int | None, int | None, str | None, tuple[Joined, int] | None]:
        """For a kernel that a graph replayed: frame, operator, why they are only inferred, and its launch there."""
        match = self._capture.match_of(row) if self._capture else None
        if self._capture is None:
            return None, None, None, None
        if match is None:
            return None, None, self._capture.why_no_match(), None
        source = self._capture.joined
        frame = self.frame_ids(source.launched_frame[match.call])
        return frame, self.op_ids(source.launched_op[match.call]), match.reason, (source, match.call)


def _launch(
    joined: Joined, row: int, position: int, origin_us: float, frame_ids: _Ids, op_ids: _Ids, captured: _Captured
) -> Launch:
    call = joined.call[row]
    call_frame = frame_ids(joined.launched_frame[call]) if call != NONE else None
    frame, cpu_op = frame_ids(joined.frame[row]), op_ids(joined.op[row])
    evidence = reason = launched = None
    if joined.call_by[row] == Found.GRAPH:
        frame, captured_op, reason, launched = captured.of(row)
        cpu_op = captured_op if captured_op is not None else cpu_op
        evidence = Evidence.INFERRED if frame is not None else None
    return launch(
        joined,
        row,
        id_=position,
        origin_us=origin_us,
        frame=frame,
        cpu_op=cpu_op,
        call_frame=call_frame,
        frame_evidence=evidence,
        frame_reason=reason,
        captured=launched,
    )
