"""Long runs of one category in torch.profiler's JSON: the bytes of a list of events in, typed events out.

Operators and Python functions are most of a trace and come in long runs of one thread. A decoder that takes nothing
else makes sure of that as it goes, so that nobody has to look at the category, process and thread of every event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal

import msgspec

from tracer.importers.kineto_events import CompleteEvent, Number, decode_any, decode_known
from tracer.importers.timeline import MISSING

#: a process and a thread of it
Thread = tuple[Number, Number]
Decode = Callable[[bytes | memoryview], list[Any]]


class OpArgs(msgspec.Struct, gc=False, frozen=True, rename={"external": "External id"}):
    """What is read of an operator's arguments."""

    external: int = MISSING


#: (name, type, default) of what is read of an event of a thread
_SPAN = [
    (field.name, field.type, field.default)
    for field in msgspec.structs.fields(CompleteEvent)
    if field.name not in ("cat", "args")
]
#: what is read of the events that come in runs; of some of them, nothing is needed but their number
_FIELDS: dict[str, list[tuple[str, Any, Any]]] = {
    "cpu_op": [*_SPAN, ("args", OpArgs, OpArgs())],
    "python_function": _SPAN,
    "ac2g": [],
    "cpu_instant_event": [],
}


class KnownEvents(Sequence[Any]):
    """Events of known categories.

    Attributes:
        events: each has at least a category, `cat`.
        category: of all of them, where that is known; else "".
        thread: of all of them, where that is known.
    """

    __slots__ = ("category", "events", "thread")

    def __init__(self, events: list[Any], category: str, thread: Thread | None) -> None:
        self.events = events
        self.category = category
        self.thread = thread

    def __len__(self) -> int:
        return len(self.events)

    def __getitem__(self, place: Any) -> Any:
        return self.events[place]


class EventDecoder:
    """Decodes JSON arrays of events, and tries each first as more of what the one before ended with."""

    def __init__(self) -> None:
        self._tried: list[tuple[Decode, str, Thread | None]] = []

    def __call__(self, text: bytes | memoryview) -> Sequence[Any]:
        """The events of an array, as `KnownEvents` or as a list of `Event`.

        Raises:
            msgspec.DecodeError: it is no array of events.
        """
        for decode, category, thread in self._tried:
            try:
                events = decode(text)
            except msgspec.ValidationError:
                continue  # something else is among them
            if thread is None:
                self._expect_more_of(events)
            return KnownEvents(events, category, thread)
        try:
            events = decode_known(text)
        except msgspec.ValidationError:
            return decode_any(text)
        self._expect_more_of(events)
        return KnownEvents(events, "", None)

    def _expect_more_of(self, events: list[Any]) -> None:
        """Sets what the next text is tried as, by how these events begin and end."""
        self._tried = []
        if not events or events[0].cat != events[-1].cat or events[0].cat not in _FIELDS:
            return
        category = events[0].cat
        for thread in ((events[-1].pid, events[-1].tid), None) if _FIELDS[category] else (None,):
            decode = _run_decoder(category, thread)
            if decode is not None:
                self._tried.append((decode, category, thread))


@lru_cache(maxsize=64)
def _run_decoder(category: str, thread: Thread | None) -> Decode | None:
    """A decoder of events of one category, and of one thread where one is given; None where no type can state it."""
    stated: dict[str, Any] = {"pid": thread[0], "tid": thread[1]} if thread else {}
    fields: list[Any] = [("cat", Literal[category])]
    for name, kind, default in _FIELDS[category]:
        fields.append((name, Literal[stated[name]]) if name in stated else (name, kind, default))
    phase: dict[str, Any] = {"tag_field": "ph", "tag": "X"} if _FIELDS[category] else {}
    try:
        event = msgspec.defstruct("RunEvent", fields, kw_only=True, gc=False, frozen=True, **phase)
        return msgspec.json.Decoder(list[event]).decode  # type: ignore[valid-type]
    except NotImplementedError:  # a number of more than 63 bits
        return None


for _category in _FIELDS:  # types take a while to build: those that any trace needs, when this module is loaded
    _run_decoder(_category, None)
