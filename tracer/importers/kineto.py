"""torch.profiler's JSON (Kineto, PyTorch 2.1 to today, CUDA and ROCm): unpacked blocks in, a Timeline out.

Batches of plain events, which are nearly all, are read by the compiled reader straight into columns; a batch that it
refuses, or all of them where it was not built, by the typed decoder.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from tracer.importers.arrays import ArrayStream, array_keys
from tracer.importers.boundaries import boundary_before, opening_behind_bracket, opening_of
from tracer.importers.elements import Elements
from tracer.importers.enclosing import count_text_around
from tracer.importers.kineto_columns import ColumnFiller
from tracer.importers.kineto_events import (
    FIRST_KEYS,
    KINDS,
    KNOWN_CATEGORIES,
    NO_CATEGORY,
    Event,
    KnownEvents,
    as_event,
    decode,
    loosen,
)
from tracer.importers.kineto_metadata import read_metadata
from tracer.importers.kineto_plain import PlainEvents, PlainReader
from tracer.importers.losses import Losses
from tracer.importers.timeline import NO_START, NO_TIME, Timeline

_EVENTS = "traceEvents"
_CATEGORY = attrgetter("cat")
#: the key of the events before something else than a list
_NO_LIST = re.compile(rb'"traceEvents"\s*:\s*[^\s\[]')
UNREAD = "events of categories that are not read"
#: every event is of one of these; a complete event of no category is by another tool, or damaged
_READ = frozenset(KNOWN_CATEGORIES) - {""}
_NO_EXTENT = "nothing is found in them by its time"
#: categories that are not read, of which the names are told
_TOLD_CATEGORIES = 5
#: events of one kind that are handled together: they come a few at a time
_TOGETHER = 256
#: batches of plain events that are handled together
_BATCHES_TOGETHER = 16
#: Python functions shorter than this are passed over: a function that launches a kernel lasts at least as long as the
#: launch call, and no launch call of CUDA or HIP is so short (0.43 µs was seen, for a launch captured into a graph)
SHORTEST_FRAME_US = 0.4

# patterns take a millisecond to build: done once, when this module is loaded
array_keys((_EVENTS,))
boundary_before(FIRST_KEYS)
opening_of(FIRST_KEYS)
opening_behind_bracket(FIRST_KEYS)


class _Gathered(msgspec.Struct):
    """Events of one kind that wait for more.

    Attributes:
        events: these events, in file order.
        places: for each batch that some of them come from: how many were gathered before it, and its byte.
    """

    events: list[Any] = []
    places: list[tuple[int, int]] = []


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
        self._columns = ColumnFiller(timeline)
        self._plain = PlainReader(timeline, shortest_frame_us)
        self._waiting: list[PlainEvents] = []
        self._gathered = {kind: _Gathered() for kind in KINDS.values()}
        self._offset = 0

    def elements(self) -> Elements[Any]:
        """How to read the array of events."""
        return Elements(first_keys=FIRST_KEYS, decode=self._decode, decode_one=decode, loosen=self._loosen)

    def _decode(self, text: bytes | memoryview) -> Any:
        plain = self._plain.read(text)
        return decode(text) if plain is None else plain

    def _loosen(self, value: dict[str, Any], byte: int) -> Event | None:
        return loosen(value, self._losses, byte)

    def take(self, events: PlainEvents | Sequence[Any], offset: int = 0) -> None:
        """Adds a batch of events; `offset` is the byte of the first one."""
        self._offset = offset
        if isinstance(events, PlainEvents):
            self._take_plain(events)
            return
        self._flush_plain()
        if not isinstance(events, KnownEvents):
            # unusual events are among them: all go one way, so that they stay in order
            self._take_any([as_event(event) for event in events])
        else:
            self._take_events(events)

    def _take_plain(self, events: PlainEvents) -> None:
        """Adds a batch of plain events."""
        for kind, gathered in self._gathered.items():
            if gathered.events:  # they stand before these
                self._flush(kind)
        seen = self._timeline.events
        for category, count in self._plain.categories(events):
            seen[category] = seen.get(category, 0) + count
        self.passed_over |= events.passed_over
        self._waiting.append(events)
        if len(self._waiting) == _BATCHES_TOGETHER:
            self._flush_plain()

    def _flush_plain(self) -> None:
        """Hands on the plain events that were gathered."""
        if self._waiting:
            self._columns.plain(self._waiting)
            self._waiting = []

    def _take_events(self, events: Sequence[Any]) -> None:
        """Adds complete events, and others of categories that are only counted."""
        seen = self._timeline.events
        for category, count in Counter(map(_CATEGORY, events)).items():
            seen[category] = seen.get(category, 0) + count
        by_kind: dict[str, list[Any]] = {kind: [] for kind in self._gathered}
        for event in events:
            kind = KINDS.get(event.cat)
            if kind is not None:
                by_kind[kind].append(event)
        for kind, own in by_kind.items():
            if own:
                self._take_kind(kind, own)

    def _take_kind(self, kind: str, events: list[Any]) -> None:
        if math.isnan(sum(event.ts for event in events)):
            lacking = sum(event.ts != event.ts for event in events)
            self._losses.add(NO_START, lacking, from_byte=self._offset)
            self._timeline.lacks_starts |= kind == "kernel"
            events = [msgspec.structs.replace(own, ts=NO_TIME) if own.ts != own.ts else own for own in events]
        if kind == "frame" and math.isnan(sum(event.dur for event in events)):
            lacking = sum(event.dur != event.dur for event in events)
            self._losses.add("Python functions without a duration", lacking, from_byte=self._offset, detail=_NO_EXTENT)
        if kind == "frame" and self._shortest_frame_us:
            shortest = self._shortest_frame_us
            long = [event for event in events if event.dur >= shortest]
            self.passed_over |= len(long) < len(events)
            events = long
        gathered = self._gathered[kind]
        gathered.places.append((len(gathered.events), self._offset))
        gathered.events += events
        if len(gathered.events) >= _TOGETHER:
            self._flush(kind)

    def _flush(self, kind: str) -> None:
        """Hands on the events of one kind that were gathered."""
        gathered, columns = self._gathered[kind], self._columns
        self._gathered[kind] = _Gathered()
        events = gathered.events
        if not events:
            return
        match kind:
            case "kernel":
                columns.kernels(events, gathered.places)
            case "copy":
                columns.copies(events)
            case "call":
                columns.calls(events)
            case "op":
                columns.ops(events)
            case "frame":
                columns.frames(events)

    def _take_any(self, events: list[Event]) -> None:
        """Adds events of a batch that holds unusual ones."""
        complete = []
        for event in events:
            if event.ph in ("X", ""):
                complete.append(event)
                continue
            seen = self._timeline.events
            category = event.cat or NO_CATEGORY
            seen[category] = seen.get(category, 0) + 1
            if event.cat in KINDS:
                why = f"phase {event.ph!r} has no duration of its own"
                what = f"{KINDS[event.cat]} events that are no complete events"
                self._losses.add(what, from_byte=self._offset, detail=why)
        self._take_events(complete)

    def passed_too_much(self) -> bool:
        """Whether a function that was passed over could have made one of the launch calls."""
        shortest_call = min(self._timeline.calls.duration_us, default=math.inf)
        return self.passed_over and shortest_call < self._shortest_frame_us

    def finish(self) -> None:
        """Closes the reading: adds what was gathered, and puts the commonest category first."""
        self._flush_plain()
        for kind in list(self._gathered):
            self._flush(kind)
        unread = {name: count for name, count in self._timeline.events.items() if name not in _READ}
        told = [f"{name[:40] or 'none at all'} ({count:,})" for name, count in list(unread.items())[:_TOLD_CATEGORIES]]
        told += ["others"] * (len(unread) > len(told))
        self._losses.add(UNREAD, sum(unread.values()), detail=", ".join(told))
        seen = self._timeline.events
        self._timeline.events = {name: seen[name] for name in sorted(seen, key=lambda name: (-seen[name], name))}


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
    if not timeline.events and (other := _NO_LIST.search(stream.outside)) is not None:
        losses.add(f'"{_EVENTS}" is no list of events', byte=stream.place(other.end() - 1))
    timeline.recognised |= bytes(stream.outside[:64]).strip().startswith(b"[")
    count_text_around(stream, losses)
    return timeline, reader
