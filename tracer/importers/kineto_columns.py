"""Events of one kind from torch.profiler's JSON in, rows in the columns of a Timeline out."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any

from tracer.importers.columns import ColumnError, column, put
from tracer.importers.kineto_events import Number, number
from tracer.importers.kineto_plain import PlainEvents, columns
from tracer.importers.spans import Block, SpanStore
from tracer.importers.timeline import NO_DURATION, NO_TIME, Timeline, put_ids

#: no duration is so long: longer than the world has stood, even where a tool writes nanoseconds
_ENDLESS_US = 1e27


class ColumnFiller:
    """Fills the columns of a timeline. Each method takes events of one kind, of a type that has the fields it needs."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    def plain(self, batches: list[PlainEvents]) -> None:
        """Adds events of all kinds that the compiled reader read."""
        timeline, own = self._timeline, self._timeline.kernels
        kernels, copies, calls, spans = columns(batches)
        if kernels is not None:
            ids = own.external, own.correlation, own.device, own.stream
            _extend((own.name, own.start_us, own.duration_us, *ids, own.shape), kernels)
        if calls is not None:
            to = timeline.calls
            ids = to.external, to.correlation, to.thread, to.kernel
            _extend((to.name, to.start_us, to.duration_us, *ids, to.shape), calls)
        if copies is not None:
            timeline.copies_us += zip(*copies, strict=True)
        for kind, ascending, thread, start, end, name, extra in spans:
            store = timeline.ops if kind == "op" else timeline.frames
            store.add(Block(thread, start, end, name, extra), ascending=ascending)

    def kernels(self, events: list[Any], places: list[tuple[int, int]]) -> None:
        """Adds kernels.

        Args:
            events: the kernels.
            places: for each batch that some of them come from: how many stand before it, and its byte.
        """
        timeline, kernels = self._timeline, self._timeline.kernels
        names, shapes = timeline.names, timeline.shapes
        durations = [event.dur for event in events]
        for what, find in (
            (NO_DURATION, _missing),
            ("kernels whose duration is no time (counted as 0 µs)", _endless),
        ):
            if odd := find(durations):
                timeline.untimed.update(len(kernels) + row for row in odd)
                byte = max(byte for row, byte in places if row <= odd[0])
                timeline.losses.add(what, len(odd), from_byte=byte)
                for row in odd:
                    durations[row] = 0.0
        args = [event.args for event in events]
        put(kernels.name, [names[event.name] for event in events])
        put(kernels.start_us, [event.ts for event in events])
        put(kernels.duration_us, durations)
        put_ids(kernels.correlation, [a.correlation for a in args], timeline)
        put_ids(kernels.external, [a.external for a in args], timeline)
        self._put_places(kernels.device, [a.device for a in args], events, "pid")
        self._put_places(kernels.stream, [a.stream for a in args], events, "tid")
        put(kernels.shape, [shapes[a.grid, a.block, None, a.lds_bytes, a.registers, a.occupancy_percent] for a in args])

    def copies(self, events: list[Any]) -> None:
        """Adds copies and fills; of one that states no start, nothing is known that is needed."""
        events = [event for event in events if event.ts != NO_TIME]
        if not events:
            return
        devices = array("q")
        self._put_places(devices, [event.args.device for event in events], events, "pid")
        durations = [event.dur for event in events]
        for row in (*_missing(durations), *_endless(durations)):
            durations[row] = 0.0
        self._timeline.copies_us += zip(devices, [event.ts for event in events], durations, strict=True)

    def calls(self, events: list[Any]) -> None:
        """Adds the runtime calls that can start work."""
        timeline, calls = self._timeline, self._timeline.calls
        names, shapes, starts_work = timeline.names, timeline.shapes, timeline.starts_work
        events = [event for event in events if starts_work[event.name]]
        args = [event.args for event in events]
        put(calls.name, [names[event.name] for event in events])
        put(calls.start_us, [event.ts for event in events])
        put(calls.duration_us, _without_nan([event.dur for event in events]))
        put(calls.thread, self._threads(events))
        put_ids(calls.correlation, [a.correlation for a in args], timeline)
        put_ids(calls.external, [a.external for a in args], timeline)
        put(calls.kernel, [-1 if a.kernel is None else names[a.kernel] for a in args])
        none = shapes[()]
        put(calls.shape, [shapes[a.grid, a.block] if a.grid else none for a in args])

    def ops(self, events: list[Any]) -> None:
        """Adds operators."""
        extra = array("q")
        put_ids(extra, [event.args.external for event in events], self._timeline)
        self._spans(self._timeline.ops, events, extra)

    def frames(self, events: list[Any]) -> None:
        """Adds Python functions."""
        self._spans(self._timeline.frames, events, None)

    def _spans(self, store: SpanStore, events: list[Any], extra: array[int] | None) -> None:
        by_thread: dict[tuple[Number, Number], list[int]] = {}
        for row, event in enumerate(events):
            by_thread.setdefault((event.pid, event.tid), []).append(row)
        for rows in by_thread.values():
            own = None if extra is None else column("q", [extra[row] for row in rows])
            self._store(store, [events[row] for row in rows], own)

    def _store(self, store: SpanStore, events: list[Any], extra: array[int] | None) -> None:
        names = self._timeline.names
        start = [event.ts for event in events]
        end = [event.ts + event.dur for event in events]
        if math.isnan(sum(end)):  # a span without a duration has no extent
            end = [begin if reach != reach else reach for begin, reach in zip(start, end, strict=True)]
        thread = self._timeline.threads[events[0].pid, events[0].tid]
        numbers = column("q", [names[event.name] for event in events])
        block = Block(thread, column("d", start), column("d", end), numbers, array("q") if extra is None else extra)
        store.add(block, ascending=start == sorted(start))

    def _threads(self, events: list[Any]) -> list[int]:
        """The thread of each event."""
        threads = self._timeline.threads
        if len({event.tid for event in events}) == len({event.pid for event in events}) == 1:
            return [threads[events[0].pid, events[0].tid]] * len(events)
        return [threads[event.pid, event.tid] for event in events]

    def _put_places(self, into: array[int], stated: list[Number | None], events: list[Any], lane: str) -> None:
        """Adds devices or streams: as stated in the arguments, else the lane in which the event is drawn."""
        try:
            put(into, stated)
        except ColumnError:
            lanes = [getattr(event, lane) for event in events]
            chosen = [own if value is None else value for value, own in zip(stated, lanes, strict=True)]
            put_ids(into, [self._place(value) for value in chosen], self._timeline)

    def _place(self, value: Number) -> int:
        whole = number(value, int)
        return whole if whole is not None else -2 - self._timeline.places[str(value)]


def _extend(whole: Sequence[array[Any]], by: Sequence[array[Any]]) -> None:
    for own, more in zip(whole, by, strict=True):
        own.extend(more)


def _missing(times: list[float]) -> list[int]:
    """Where times are not stated."""
    return [row for row, us in enumerate(times) if us != us] if math.isnan(sum(times)) else []


def _endless(durations: list[float]) -> list[int]:
    """Where durations are so long that their sum might be no number; others are stated."""
    if max(durations) < _ENDLESS_US and min(durations) > -_ENDLESS_US:
        return []
    return [row for row, us in enumerate(durations) if not -_ENDLESS_US < us < _ENDLESS_US]


def _without_nan(durations: list[float]) -> list[float]:
    """Durations, of which those that are not stated are 0; the same list where all are."""
    return [0.0 if us != us else us for us in durations] if math.isnan(sum(durations)) else durations
