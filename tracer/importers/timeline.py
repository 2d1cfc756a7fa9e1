"""What every reader fills, whatever the format: kernels, runtime calls, operators and frames as compact columns.

A column costs a few bytes an event where an object costs hundreds. Times are microseconds as the trace gives them,
relative to `Timeline.base_ns`; durations are kept as read, so that their sum is the trace's sum.
"""

from __future__ import annotations

import itertools
import math
import re
from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from tracer.importers.columns import ColumnError, put
from tracer.importers.losses import Losses
from tracer.importers.spans import SpanStore
from tracer.model.evidence import GridUnit

H = TypeVar("H", bound=Hashable)

#: what is counted where an event's start can't be read
NO_START = "events without a readable time"
#: stands for a start that is not stated: before all others
NO_TIME = -math.inf
NO_DURATION = "kernels without a duration (counted as 0 µs)"
#: an id that the trace does not state
MISSING = -(1 << 62)

_STARTS_WORK = re.compile(r"Launch|Memcpy|Memset|GraphExec|Copy|Fill", re.IGNORECASE)
_LAUNCHES_KERNEL = re.compile(r"Launch(?!HostFunc)")


def stated_id(value: int) -> int | None:
    """An id of a column as the trace states it; None where it states none, or one of more than 64 bits."""
    return value if value > -(1 << 61) else None


class Interner(dict[H, int], Generic[H]):
    """Distinct values, numbered in order of first sight: `interner[value]` is the number of `value`."""

    def __init__(self) -> None:
        super().__init__()
        self.values_: list[H] = []

    def __missing__(self, value: H) -> int:
        self[value] = number = len(self.values_)
        self.values_.append(value)
        return number


class StartsWork(dict[str, bool]):
    """Whether a runtime call of some name can start a kernel (launches, copies and fills can)."""

    def __missing__(self, call: str) -> bool:
        self[call] = known = _STARTS_WORK.search(call) is not None
        return known


class LaunchShape(msgspec.Struct, frozen=True):
    """What a trace states about one launch apart from its name and times; few distinct ones exist in a trace.

    Attributes:
        grid: as it stands in the trace; () where it does not.
        block: threads in x, y, z; () where not stated.
        unit: what the grid counts, where the format itself says so; None when the runtime call decides.
        lds_bytes: LDS (shared memory) of a block; registers: of a CUDA thread; occupancy_percent: the profiler's.
        vgprs, agprs, sgprs, scratch_bytes: where the format states them.
    """

    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    unit: GridUnit | None = None
    lds_bytes: int | None = None
    registers: int | None = None
    occupancy_percent: float | None = None
    vgprs: int | None = None
    agprs: int | None = None
    sgprs: int | None = None
    scratch_bytes: int | None = None


class Kernels:
    """One row a kernel execution, in file order; `name` and `shape` are numbers, ids are MISSING where not stated."""

    def __init__(self) -> None:
        self.name = array("q")
        self.start_us = array("d")
        self.duration_us = array("d")
        self.device = array("q")
        self.stream = array("q")
        self.correlation = array("q")
        self.external = array("q")
        self.shape = array("q")
        #: executions that a row stands for, where a format counts instead of listing; empty when every row is one
        self.count = array("q")

    def __len__(self) -> int:
        return len(self.name)


class Calls:
    """One row a runtime call that may have started work; `kernel` is the name that it states, or -1."""

    def __init__(self) -> None:
        self.name = array("q")
        self.start_us = array("d")
        self.duration_us = array("d")
        self.thread = array("q")
        self.correlation = array("q")
        self.external = array("q")
        self.kernel = array("q")
        self.shape = array("q")

    def __len__(self) -> int:
        return len(self.name)


class SeenDevice(msgspec.Struct, frozen=True, kw_only=True):
    """A device as the trace describes it; None where it does not.

    Attributes:
        id: the number that kernels carry where that is known, else the position in the trace's list.
        name, arch, compute_units, wave_size, memory_bytes, compute_capability: as stated.
    """

    id: int
    name: str | None = None
    arch: str | None = None
    compute_units: int | None = None
    wave_size: int | None = None
    memory_bytes: int | None = None
    compute_capability: str | None = None


class Producer(msgspec.Struct, kw_only=True):
    """What a trace says about how it was made; None where it does not."""

    name: str | None = None
    torch: str | None = None
    rocm: str | None = None
    cuda: str | None = None
    driver: str | None = None
    python: str | None = None
    command: str | None = None
    packages: dict[str, str] = {}


class Timeline:
    """Everything that one trace file holds about kernels and what led to them.

    Attributes:
        format: "torch.profiler JSON", "rocprofv3 JSON", ...
        names: every name, numbered.
        threads: (process, thread), numbered.
        shapes: launch shapes (the leading fields of LaunchShape), numbered.
        starts_work: by the name of a runtime call.
        kernels, calls: columns.
        ops, frames: operators and Python functions as spans a thread; an operator's `extra` is its external id.
        copies_us: (device, start, duration) of copies and fills, for the time a device was busy.
        devices: as described by the trace.
        base_ns: nanoseconds since the epoch (or boot) at time 0 of the columns.
        untimed: rows of the kernels that state no duration; they stand with 0 µs.
        places: names of devices and streams that are no numbers; they stand for -2, -3, ...
        lacks_starts: whether there are kernels that state no start; theirs is NO_TIME.
        events: how many events of each category the file holds.
        recognised: whether the text around the events, or the header, says that this is a trace.
    """

    def __init__(self, format_name: str, losses: Losses) -> None:
        self.format = format_name
        self.losses = losses
        self.producer = Producer()
        self.names: Interner[str] = Interner()
        self.threads: Interner[tuple[int | str, int | str]] = Interner()
        self.shapes: Interner[tuple[Any, ...]] = Interner()
        self.starts_work = StartsWork()
        self.kernels = Kernels()
        self.calls = Calls()
        self.ops = SpanStore()
        self.frames = SpanStore()
        self.copies_us: list[tuple[int, float, float]] = []
        self.devices: tuple[SeenDevice, ...] = ()
        self.base_ns = 0
        self.untimed: set[int] = set()
        self.places: Interner[str] = Interner()
        self.lacks_starts = False
        self.events: dict[str, int] = {}
        self.recognised = False
        self._oversized: dict[int, int] = {}

    def shape(self, number: int) -> LaunchShape:
        """The launch shape of a number in a `shape` column."""
        return LaunchShape(*self.shapes.values_[number])

    def number(self, value: int) -> int:
        """An id that fits a column: the id itself, or a stand-in for one of more than 64 bits."""
        if -(1 << 61) < value < 1 << 61 or value == MISSING:
            return value
        return self._oversized.setdefault(value, -(1 << 61) - 1 - len(self._oversized))

    def earliest_us(self) -> float | None:
        """When the first kernel or call starts that states it; None where none does."""
        starts = itertools.chain(self.kernels.start_us, self.calls.start_us)
        return min(filter(NO_TIME.__lt__, starts), default=None)

    def in_order(self, rows: Iterable[int]) -> list[int]:
        """Rows of kernels by start; one that states none stays behind the one before it in the file."""
        starts: Mapping[int, float] | Sequence[float] = self.kernels.start_us
        if not self.lacks_starts:
            return sorted(rows, key=starts.__getitem__)
        placed: dict[int, float] = {}
        last = NO_TIME
        for row in sorted(rows):
            last = placed[row] = last if starts[row] == NO_TIME else starts[row]
        return sorted(placed, key=placed.__getitem__)

    def total_us(self) -> float:
        """The sum of all kernel durations, summed exactly and rounded once."""
        return math.fsum(self.kernels.duration_us)


def launches_kernel(call: str) -> bool:
    """Whether a runtime call's name says that it launches a kernel or a graph."""
    return _LAUNCHES_KERNEL.search(call) is not None


def launches_graph(call: str) -> bool:
    """Whether a runtime call's name says that it replays a graph."""
    return "GraphLaunch" in call


def put_ids(into: array[int], values: list[int], timeline: Timeline) -> None:
    """Adds ids to a column, however large they are."""
    try:
        put(into, values)
    except ColumnError:
        put(into, [timeline.number(value) for value in values])
