"""torch.profiler's JSON (Kineto, PyTorch 2.1 to today, CUDA and ROCm): unpacked blocks in, a Timeline out.

Events are decoded straight into the few fields that are needed. Python functions are most of a trace and come in long
runs, so a run of them is decoded without its arguments.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable
from typing import Any

from tracer.importers.arrays import ArrayStream, array_keys
from tracer.importers.boundaries import boundary_before
from tracer.importers.elements import Elements
from tracer.importers.enclosing import count_text_around
from tracer.importers.kineto_events import (
    FIRST_KEYS,
    Event,
    Number,
    as_event,
    category_of,
    decode_events,
    loosen,
    number,
)
from tracer.importers.kineto_metadata import read_metadata
from tracer.importers.losses import Losses
from tracer.importers.spans import SpanStore
from tracer.importers.timeline import Timeline, ids

#: PyTorch before 1.12 wrote categories with a capital letter
_CATEGORIES = {
    "kernel": "kernel",
    "Kernel": "kernel",
    "gpu_memcpy": "copy",
    "gpu_memset": "copy",
    "Memcpy": "copy",
    "Memset": "copy",
    "cuda_runtime": "call",
    "cuda_driver": "call",
    "hip_runtime": "call",
    "hip_driver": "call",
    "privateuse1_runtime": "call",
    "privateuse1_driver": "call",
    "Runtime": "call",
    "cpu_op": "op",
    "Operator": "op",
    "python_function": "frame",
}


_EVENTS = "traceEvents"
#: Python functions shorter than this are passed over: a function that launches a kernel lasts at least as long as the
#: launch call, and no launch call of CUDA or HIP is so short (0.43 µs was seen, for a launch captured into a graph)
SHORTEST_FRAME_US = 0.4

# patterns take a millisecond to build: done once, when this module is loaded
array_keys((_EVENTS,))
boundary_before(FIRST_KEYS)


class KinetoReader:
    """Fills a timeline from events.

    Attributes:
        passed_over: whether Python functions were passed over because they are shorter than `shortest_frame_us`.
    """

    def __init__(self, timeline: Timeline, shortest_frame_us: float = SHORTEST_FRAME_US) -> None:
        self.passed_over = False
        self._shortest_frame_us = shortest_frame_us
        self._timeline = timeline
        self._losses = timeline.losses
        self._handlers: dict[str, Callable[[list[Any]], None]] = {
            "kernel": self._kernels,
            "copy": self._copies,
            "call": self._calls,
            "op": self._ops,
            "frame": self._frames,
        }
        self._whole_us = True
        self._offset = 0

    def elements(self) -> Elements[Any]:
        """How to read the array of events."""
        return Elements(first_keys=FIRST_KEYS, decode=decode_events, loosen=self._loosen)

    def _loosen(self, value: dict[str, Any], byte: int) -> Event | None:
        return loosen(value, self._losses, byte)

    def take(self, events: list[Any], offset: int = 0) -> None:
        """Adds a batch of events; `offset` is the byte of the first one."""
        self._offset = offset
        if len(kinds := set(map(type, events))) == 1 and Event not in kinds:
            self._take_category(category_of(kinds.pop()), events)
            return
        by_type: dict[type, list[Any]] = {}
        for event in events:
            kind = type(event)
            if kind in by_type:
                by_type[kind].append(event)
            else:
                by_type[kind] = [event]
        if Event in by_type:  # unusual events are among them: all go one way, so that they stay in order
            self._take_any([as_event(event) for event in events])
            return
        for kind, own in by_type.items():
            self._take_category(category_of(kind), own)

    def _take_category(self, category: str, events: list[Any]) -> None:
        seen = self._timeline.events
        seen[category] = seen.get(category, 0) + len(events)
        kind = _CATEGORIES.get(category)
        if kind is not None:
            self._handlers[kind](events)

    def _take_any(self, events: list[Event]) -> None:
        """Adds events of a batch that holds unusual ones."""
        by_category: dict[str, list[Event]] = {}
        for event in events:
            if event.ph in ("X", ""):
                by_category.setdefault(event.cat, []).append(event)
                continue
            seen = self._timeline.events
            category = event.cat or "(no category)"
            seen[category] = seen.get(category, 0) + 1
            if event.cat in _CATEGORIES:
                why = f"phase {event.ph!r} has no duration of its own"
                what = f"{_CATEGORIES[event.cat]} events that are no complete events"
                self._losses.add(what, from_byte=self._offset, detail=why)
        for category, own in by_category.items():
            self._take_category(category, own)

    def passed_too_much(self) -> bool:
        """Whether a function that was passed over could have made one of the launch calls."""
        shortest_call = min(self._timeline.calls.duration_us, default=math.inf)
        return self.passed_over and shortest_call < self._shortest_frame_us

    def finish(self) -> None:
        """Closes the reading: notes a coarse clock."""
        if self._whole_us and len(self._timeline.kernels):
            self._timeline.clock_us = 1.0

    def _kernels(self, events: list[Event]) -> None:
        timeline, kernels = self._timeline, self._timeline.kernels
        names, shapes = timeline.names, timeline.shapes
        without = [event for event in events if event.dur != event.dur]
        if without:
            timeline.untimed_kernels += len(without)
            self._losses.add("kernels without a duration (counted as 0 µs)", len(without), from_byte=self._offset)
        if self._whole_us:
            self._whole_us = all(event.ts.is_integer() for event in events)
        kernels.name.extend([names[event.name] for event in events])
        kernels.start_us.extend([event.ts for event in events])
        kernels.duration_us.extend([event.dur if event.dur == event.dur else 0.0 for event in events])
        args = [event.args for event in events]
        kernels.correlation.extend(ids([a.correlation for a in args], timeline))
        kernels.external.extend(ids([a.external for a in args], timeline))
        kernels.device.extend(self._places([a.device for a in args], [event.pid for event in events]))
        kernels.stream.extend(self._places([a.stream for a in args], [event.tid for event in events]))
        kernels.shape.extend(
            [shapes[a.grid, a.block, None, a.lds_bytes, a.registers, a.occupancy_percent] for a in args]
        )

    def _copies(self, events: list[Event]) -> None:
        devices = self._places([event.args.device for event in events], [event.pid for event in events])
        self._timeline.copies_us += [
            (device, event.ts, event.dur if event.dur == event.dur else 0.0)
            for device, event in zip(devices, events, strict=True)
        ]

    def _calls(self, events: list[Event]) -> None:
        timeline, calls = self._timeline, self._timeline.calls
        names, shapes, threads = timeline.names, timeline.shapes, timeline.threads
        starting = {name: timeline.starts_work(name) for name in {event.name for event in events}}
        events = [event for event in events if starting[event.name]]
        args = [event.args for event in events]
        calls.name.extend([names[event.name] for event in events])
        calls.start_us.extend([event.ts for event in events])
        calls.duration_us.extend([event.dur if event.dur == event.dur else 0.0 for event in events])
        calls.thread.extend([threads[event.pid, event.tid] for event in events])
        calls.correlation.extend(ids([a.correlation for a in args], timeline))
        calls.external.extend(ids([a.external for a in args], timeline))
        calls.kernel.extend([-1 if a.kernel is None else names[a.kernel] for a in args])
        none = shapes[()]
        calls.shape.extend([shapes[a.grid, a.block] if a.grid else none for a in args])

    def _ops(self, events: list[Event]) -> None:
        self._spans(self._timeline.ops, events, ids([event.args.external for event in events], self._timeline))

    def _frames(self, events: list[Any]) -> None:
        if self._shortest_frame_us:
            shortest = self._shortest_frame_us
            long = [event for event in events if event.dur >= shortest]
            self.passed_over |= len(long) < len(events)
            events = long
        self._spans(self._timeline.frames, events, None)

    def _spans(self, store: SpanStore, events: list[Any], extra: array[int] | None) -> None:
        if not events:
            return
        processes, threads = {event.pid for event in events}, {event.tid for event in events}
        if len(processes) == len(threads) == 1:
            self._store(store, events, extra)
            return
        by_thread: dict[tuple[Number, Number], list[int]] = {}
        for row, event in enumerate(events):
            by_thread.setdefault((event.pid, event.tid), []).append(row)
        for rows in by_thread.values():
            own = None if extra is None else array("q", [extra[row] for row in rows])
            self._store(store, [events[row] for row in rows], own)

    def _store(self, store: SpanStore, events: list[Any], extra: array[int] | None) -> None:
        names = self._timeline.names
        start = [event.ts for event in events]
        end = [event.ts + event.dur for event in events]
        if math.isnan(sum(end)):  # a span without a duration has no extent
            end = [begin if reach != reach else reach for begin, reach in zip(start, end, strict=True)]
        thread = self._timeline.threads[events[0].pid, events[0].tid]
        store.add(thread, start, end, [names[event.name] for event in events], extra)

    def _places(self, stated: list[Number | None], lanes: list[Number]) -> array[int]:
        """Devices or streams: as stated in the arguments, else the lane in which the event is drawn."""
        try:
            return array("q", stated)  # type: ignore[arg-type]
        except (TypeError, OverflowError):
            chosen = [lane if value is None else value for value, lane in zip(stated, lanes, strict=True)]
            return ids([self._place(value) for value in chosen], self._timeline)

    def _place(self, value: Number) -> int:
        whole = number(value, int)
        return whole if whole is not None else -2 - self._timeline.names[str(value)]


def read_kineto(open_blocks: Callable[[], Iterable[bytes]], losses: Losses) -> Timeline:
    """Reads a torch.profiler trace, an object with `traceEvents` or a bare list of events.

    Args:
        open_blocks: gives the unpacked text from its start; called again in the rare case that it must be read again.
        losses: where what can't be read is counted.
    """
    timeline, reader = _read(open_blocks(), losses, SHORTEST_FRAME_US)
    if reader.passed_too_much():
        losses.clear()
        timeline, reader = _read(open_blocks(), losses, 0.0)
    return timeline


def _read(blocks: Iterable[bytes], losses: Losses, shortest_frame_us: float) -> tuple[Timeline, KinetoReader]:
    timeline = Timeline("torch.profiler JSON", losses)
    reader = KinetoReader(timeline, shortest_frame_us)
    elements = reader.elements()
    stream = ArrayStream(blocks, {_EVENTS: elements, "": elements}, losses)
    for batch in stream:
        if batch.items:
            reader.take(batch.items, batch.offset)
    reader.finish()
    read_metadata(bytes(stream.outside), timeline)
    timeline.recognised |= bytes(stream.outside[:64]).strip().startswith(b"[")
    count_text_around(stream, losses)
    return timeline, reader
