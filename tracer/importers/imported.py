"""One trace, imported: a path (and perhaps a capture's trace) in; its summary, and records of what was picked, out."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from tracer.aiter.tree import AiterTree
from tracer.importers.answers import Summary
from tracer.importers.bytestream import Progress
from tracer.importers.formats import NO_KERNELS, read_timeline
from tracer.importers.gemm_shapes import gemm_shape
from tracer.importers.joins import Joined, join, kernels_of_ops
from tracer.importers.op_inputs import read_op_inputs
from tracer.importers.picks import Pick, pick_kernels, pick_spans
from tracer.importers.records import OpInputs, record_of, spread
from tracer.importers.replay import Capture
from tracer.importers.stacks import KernelStacks
from tracer.importers.summary import summarise
from tracer.importers.timeline import MISSING, Timeline
from tracer.model.capture import Call, CaptureRecord
from tracer.model.environment import TraceOrigin

#: a time before or after these years is none that a trace was recorded at (clocks that count from boot)
_PLAUSIBLE_YEARS = (2015, 2100)


def writable(text: str) -> str:
    """A path, or text with one in it, as text that can be written anywhere: what is no UTF-8 in it is replaced."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


class ImportedTrace:
    """A trace with its links.

    Attributes:
        path: the file.
        joined: the timeline with its links.
        capture: the capture of the graphs that it replays, matched; None where none was given.
    """

    def __init__(self, path: Path, joined: Joined, capture: Capture | None = None) -> None:
        self.path = path
        self.joined = joined
        self.capture = capture

    @cached_property
    def stacks(self) -> KernelStacks:
        """The stack of every kernel."""
        return KernelStacks(self.joined, self.capture)

    @cached_property
    def _kernel_counts(self) -> list[int | None]:
        return kernels_of_ops(self.joined)

    def summary(self) -> Summary:
        """What the trace holds, in figures."""
        return summarise(self.joined, writable(str(self.path)), self.capture, self.stacks)

    def picks(
        self, kernels: Sequence[str] = (), ops: Sequence[str] = (), frames: Sequence[str] = (), top: int | None = None
    ) -> list[Pick]:
        """What patterns pick; with `top`, the picks that take most time (without patterns, of all kernels)."""
        found: list[Pick] = []
        if kernels or (top is not None and not ops and not frames):
            found += pick_kernels(self.joined, self.stacks, kernels)
        if ops:
            found += pick_spans(self.joined, self.capture, "op", ops)
        if frames:
            found += pick_spans(self.joined, self.capture, "frame", frames)
        found.sort(key=lambda pick: -pick.us)
        return found if top is None else found[:top]

    def records(
        self,
        picks: Sequence[Pick],
        command: str | None = None,
        progress: Progress | None = None,
        tree: AiterTree | None = None,
    ) -> list[CaptureRecord]:
        """A record a pick; reads the file again for what the picked operators were called with.

        Args:
            picks: what `picks` gave.
            command: the command that asked for them.
            progress: called with (bytes read, bytes in all) as reading goes on.
            tree: an aiter whose choice for the operators' calls is held against the kernels that ran.
        """
        joined = self.joined
        wanted = {
            joined.ops.extra[index]
            for pick in picks
            for row in pick.rows
            for index in joined.ops.chain(joined.op[row])
            if joined.ops.extra[index] != MISSING
        }
        inputs = read_op_inputs(self.path, wanted, progress)
        origin = self._origin()
        records = [self._record(pick, origin, inputs, command) for pick in picks]
        if tree is None:
            return records
        from tracer.resolve.predicted import with_predictions  # reads C++; most traces have no operator for it

        return [with_predictions(record, tree) for record in records]

    def _record(self, pick: Pick, origin: TraceOrigin, inputs: OpInputs, command: str | None) -> CaptureRecord:
        joined = self.joined
        op, shape = pick.name, {}
        if pick.kind == "kernel" and self.stacks.ops[pick.rows[0]] is not None:
            op = str(self.stacks.ops[pick.rows[0]])
        names = joined.timeline.names.values_
        for index in joined.ops.chain(joined.op[pick.rows[0]])[::-1]:
            # the innermost product around the kernel says what was multiplied
            shape = gemm_shape(names[joined.ops.name[index]], inputs.get(joined.ops.extra[index], ()))
            if shape:
                break
        what = "kernel durations" if pick.kind == "kernel" else f"sums of kernel durations, one {pick.kind} call each"
        return record_of(
            joined,
            pick.rows,
            call=Call(op=op, shape=shape, command=command),
            origin=origin,
            capture=self.capture,
            inputs=inputs,
            kernel_counts=self._kernel_counts,
            timings=(spread(pick.alike, what),) if pick.alike else (),
            recorded_at=recorded_at(joined.timeline),
        )

    def _origin(self) -> TraceOrigin:
        timeline = self.joined.timeline
        counts = timeline.kernels.count
        with self.path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return TraceOrigin(
            file=writable(self.path.name),
            format=timeline.format,
            producer=timeline.producer.name,
            sha256=digest,
            kernel_count=sum(counts) if len(counts) else len(timeline.kernels),
            kernel_us=timeline.total_us(),
        )


def recorded_at(timeline: Timeline) -> datetime.datetime | None:
    """When the trace was recorded, where its clock counts from the epoch; else None."""
    start_us = timeline.earliest_us()
    if start_us is None:
        return None
    seconds = (timeline.base_ns / 1000 + start_us) / 1e6
    first, last = (datetime.datetime(year, 1, 1, tzinfo=datetime.UTC).timestamp() for year in _PLAUSIBLE_YEARS)
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC) if first < seconds < last else None


def open_trace(path: Path, capture_path: Path | None = None, progress: Progress | None = None) -> ImportedTrace:
    """Reads a trace and links its kernels.

    Args:
        path: the trace.
        capture_path: the trace of the capture of the graphs that it replays.
        progress: called with (bytes read, bytes in all) as reading goes on.

    Raises:
        TraceError: nothing could be read from one of the files.
    """
    joined = join(read_timeline(path, progress=progress))
    if capture_path is None:
        return ImportedTrace(path, joined)
    timeline = read_timeline(capture_path, progress=progress)
    # before its launches are linked: in a capture they lead to no kernel, and it runs none
    damage = [loss for loss in timeline.losses.entries() if loss.what != NO_KERNELS]
    capture = Capture(join(timeline), joined, damaged=bool(damage))
    for loss in damage:
        joined.timeline.losses.add(f"in the capture's trace: {loss.what}", loss.count, detail=loss.detail)
    if capture.empty:
        joined.timeline.losses.add(capture.empty, detail=writable(str(capture_path)))
    for replay in capture.replays:
        if not replay.complete and not capture.empty:
            joined.timeline.losses.add(
                "graph launches whose capture is incomplete",
                detail=f"the replay ran {replay.kernels} kernels, the capture launched {replay.captured}, "
                f"{replay.matched} were matched",
            )
    return ImportedTrace(path, joined, capture)
