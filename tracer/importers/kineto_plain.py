"""Plain events of torch.profiler's JSON by the compiled reader, where it was built: bytes in, columns out."""

from __future__ import annotations

import math

import msgspec

from tracer.importers.kineto_events import COUNTED, COUNTED_PHASES, KINDS, KNOWN_CATEGORIES, NO_CATEGORY, Number
from tracer.importers.timeline import MISSING, Timeline

try:
    from tracer.importers.kineto_rows import PlainEvents as PlainEvents
    from tracer.importers.kineto_rows import columns as columns
    from tracer.importers.kineto_scan import EventReader
except (ImportError, ValueError):  # ktrace was installed where no compiler is, or the two are of different builds
    EventReader = None  # type: ignore[assignment, misc]

    columns = None  # type: ignore[assignment]

    class PlainEvents:  # type: ignore[no-redef]
        """Never made."""


_JOINT = b"\0"
_LARGEST_TABLE = 1 << 16


def is_compiled() -> bool:
    """Whether the compiled reader was built when ktrace was installed."""
    return EventReader is not None


class PlainReader:
    """Reads lists of events that hold nothing unusual.

    Args:
        timeline: whose numbers of names, threads and shapes are used.
        shortest_frame_us: Python functions shorter than this are left out.
    """

    def __init__(self, timeline: Timeline, shortest_frame_us: float) -> None:
        self._reader: EventReader | None = None
        if not is_compiled():
            return
        tables = [kind(timeline) for kind in (_Names, _CallNames, _KernelShapes, _CallShapes, _Threads)]
        self._reader = EventReader(_COMPLETE, _OTHERS, tables, MISSING, shortest_frame_us or -math.inf)

    def read(self, text: bytes | memoryview) -> PlainEvents | None:
        """The events of a JSON array; None where the compiled reader is missing or refuses them."""
        return None if self._reader is None else self._reader.read(text)

    @staticmethod
    def categories(events: PlainEvents) -> list[tuple[str, int]]:
        """The categories of some events, and how many are of each."""
        return [(KNOWN_CATEGORIES[category], count) for category, count in events.categories]


def _categories() -> tuple[dict[bytes, tuple[int, str]], dict[bytes, int]]:
    """The categories of complete events and of others, as `EventReader` wants them."""
    numbers = {category: number for number, category in enumerate(KNOWN_CATEGORIES)}
    complete = {b"": (numbers[""], "")}
    for category in (*KINDS, *COUNTED):
        complete[msgspec.json.encode(category)] = (numbers[category], KINDS.get(category, ""))
    others: dict[bytes, int] = {}
    for phase in map(msgspec.json.encode, COUNTED_PHASES):
        others[phase] = numbers[NO_CATEGORY]
        for category in COUNTED:
            others[phase + msgspec.json.encode(category)] = numbers[category]
    return complete, others


_COMPLETE, _OTHERS = _categories()


class _Table(dict[bytes, int]):
    """JSON texts, each with its number. Errors of a missing text: msgspec's, where it is not what it should be."""

    def __init__(self, timeline: Timeline) -> None:
        super().__init__()
        self._timeline = timeline

    def __missing__(self, text: bytes) -> int:
        if len(self) >= _LARGEST_TABLE:
            self.clear()  # the timeline knows the numbers; here they are only found sooner
        self[text] = number = self._number(text)
        return number

    def _number(self, text: bytes) -> int:
        raise NotImplementedError


class _Names(_Table):
    """Names of events."""

    def _number(self, text: bytes) -> int:
        return self._timeline.names[_TEXT(text)]


class _CallNames(_Table):
    """Names of runtime calls; those that start no work have -1."""

    def _number(self, text: bytes) -> int:
        name = _TEXT(text)
        return self._timeline.names[name] if self._timeline.starts_work[name] else -1


class _Threads(_Table):
    """Processes and threads."""

    def _number(self, text: bytes) -> int:
        return self._timeline.threads[_THREAD(_listed(text))]


class _KernelShapes(_Table):
    """Grid, block, LDS, registers and occupancy of kernels."""

    def _number(self, text: bytes) -> int:
        grid, block, lds, registers, occupancy = _KERNEL_SHAPE(_listed(text))
        return self._timeline.shapes[grid or (), block or (), None, lds, registers, occupancy]


class _CallShapes(_Table):
    """Grid and block of launch calls; their LDS is only looked at."""

    def _number(self, text: bytes) -> int:
        grid, block, _ = _CALL_SHAPE(_listed(text))
        return self._timeline.shapes[(grid, block or ()) if grid else ()]


def _listed(text: bytes) -> bytes:
    """JSON texts as one JSON array, with null for those that are not there."""
    return b"[%b]" % b",".join(part or b"null" for part in text.split(_JOINT))


# a decoder takes longer to make than to use
_Sizes = tuple[int, ...] | None
_TEXT = msgspec.json.Decoder(str).decode
_THREAD = msgspec.json.Decoder(tuple[Number, Number]).decode
_KERNEL_SHAPE = msgspec.json.Decoder(tuple[_Sizes, _Sizes, int | None, int | None, float | None]).decode
_CALL_SHAPE = msgspec.json.Decoder(tuple[_Sizes, _Sizes, int | None]).decode
