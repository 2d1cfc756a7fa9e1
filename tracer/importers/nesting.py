"""Which spans enclose which instants: spans and launch instants of a thread in, the innermost span of each instant out.

Pure functions of times. A span that encloses no instant is dropped as soon as it is looked at, so memory follows the
number of launches.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import repeat

from tracer.importers.columns import column, put
from tracer.importers.outliving import Columns, without_ended_parents
from tracer.importers.spans import NONE as NONE
from tracer.importers.spans import Block, SpanStore

_NEVER = float("inf")
_ZEROS = repeat(0)

#: a span that begins behind all instants, and ends before `_NEVER`, so that it encloses nothing
_LAST = Block(0, array("d", [_NEVER]), array("d", [sys.float_info.max]), array("q", [NONE]), array("q"))


class Nest:
    """The spans of all threads that enclose at least one instant; outer spans stand before inner ones.

    Attributes:
        thread, start, end, name, extra: columns as in `Block`.
        parent: index of the enclosing span, or NONE.
        innermost: thread -> for each of its instants, in ascending order, the index of the innermost span, or NONE.
        duplicates: spans left out because an equal one (same thread, times, name and id) is there.
        crossing: spans that begin inside another one and end after it; where an instant lies behind the end of the
            outer one, they stand in the tree once more, below what is open then.
    """

    def __init__(self) -> None:
        self.thread = array("q")
        self.start = array("d")
        self.end = array("d")
        self.name = array("q")
        self.extra = array("q")
        self.parent = array("q")
        self.innermost: dict[int, array[int]] = {}
        self.duplicates = 0
        self.crossing = 0

    def __len__(self) -> int:
        return len(self.start)

    def chain(self, index: int) -> list[int]:
        """Indices from the outermost span down to `index`; empty for NONE."""
        found = []
        while index != NONE:
            found.append(index)
            index = self.parent[index]
        return found[::-1]


class _Open:
    """The spans that are open, outermost first; the first one stands for one that encloses everything.

    Attributes:
        start, end, name, extra: columns as in `Block`.
        index: of each among the spans that the sweep keeps.
    """

    def __init__(self) -> None:
        self.start = [-_NEVER]
        self.end = [_NEVER]
        self.name = [NONE]
        self.extra = [0]
        self.index = [NONE]

    def only(self, places: list[int]) -> _Open:
        """Some of them."""
        left = _Open()
        left.start, left.end = [self.start[place] for place in places], [self.end[place] for place in places]
        left.name, left.extra = [self.name[place] for place in places], [self.extra[place] for place in places]
        left.index = [self.index[place] for place in places]
        return left


class _Sweep:
    """One thread's spans, taken outer before inner, against its instants."""

    def __init__(self, instants: Sequence[float]) -> None:
        self._instants = [*instants, _NEVER]
        self._next = 0
        self._open = _Open()
        self._start = array("d")
        self._end = array("d")
        self._name = array("q")
        self._extra = array("q")
        self._parent = array("q")
        #: for every instant so far, the innermost span
        self._innermost = array("q")
        self._duplicates = 0
        self._crossing = 0
        #: whether a span is open at an instant at which the one around it has ended
        self._tangled = False
        #: whether a span came after one that it encloses or that begins later; then the sweep is worthless
        self.disordered = False
        self._last_start = -_NEVER

    def feed(self, block: Block) -> None:
        """Takes more spans, which begin no earlier than those before."""
        if block.start[0] < self._last_start:
            self.disordered = True
        if self.disordered:
            return
        self._last_start = block.start[-1]
        self._take(block)

    def _take(self, block: Block) -> None:
        """Keeps the spans that enclose an instant, and finds the innermost one for the instants before them.

        The spans that are open come first in these lists, then those that are kept; a parent is a place in them.
        """
        own = self._open
        starts, ends, names, extras = own.start, own.end, own.name, own.extra
        opened = len(ends)
        parents = [0, *range(opened - 1)]
        around: list[int] = []
        instants, at = self._instants, self._next
        instant, inner = instants[at], opened - 1
        inner_end, place = ends[inner], opened
        for start, end, name, extra in zip(block.start, block.end, block.name, block.extra or _ZEROS, strict=False):
            if end < instant:
                continue
            while instant < start:
                while inner_end < instant:
                    inner = parents[inner]
                    inner_end = ends[inner]
                around.append(inner)
                at += 1
                instant = instants[at]
            if end < instant:
                continue
            while inner_end < start:
                inner = parents[inner]
                inner_end = ends[inner]
            if inner_end <= end and self._is_odd(start, end, name, extra, inner, parents):
                continue
            starts.append(start)
            ends.append(end)
            names.append(name)
            extras.append(extra)
            parents.append(inner)
            inner, inner_end = place, end
            place += 1
        self._next = at
        self._keep(opened, inner, parents, around)

    def _is_odd(self, start: float, end: float, name: int, extra: int, inner: int, parents: list[int]) -> bool:
        """Looks at a span that begins in `inner` and ends no earlier. Returns whether it is there already."""
        own = self._open
        while inner:
            if own.end[inner] < end:
                self._crossing += 1
                self._tangled |= self._instants[bisect_right(self._instants, own.end[inner])] <= end
                self.disordered |= own.start[inner] == start
                return False
            if own.start[inner] != start or own.end[inner] != end:
                return False
            if own.name[inner] == name and own.extra[inner] == extra:
                self._duplicates += 1
                return True
            inner = parents[inner]
        return False

    def _keep(self, opened: int, inner: int, parents: list[int], around: list[int]) -> None:
        """Moves what a block brought into the columns; only the spans that are still open stay as they are."""
        own, kept = self._open, len(self._start)
        own.index += range(kept, kept + len(parents) - opened)
        put(self._start, own.start[opened:])
        put(self._end, own.end[opened:])
        put(self._name, own.name[opened:])
        put(self._extra, own.extra[opened:])
        put(self._parent, [own.index[parent] for parent in parents[opened:]])
        put(self._innermost, [own.index[place] for place in around])
        places = [inner]
        while inner:
            inner = parents[inner]
            places.append(inner)
        self._open = own.only(places[::-1])

    def close(self, thread: int, into: Nest) -> None:
        """Adds what was found to `into`."""
        self._take(_LAST)
        kept = Columns(self._start, self._end, self._name, self._extra, self._parent, self._innermost)
        if self._tangled:
            kept = without_ended_parents(kept, self._instants[:-1])
        base = len(into)
        into.thread.extend(array("q", [thread]) * len(kept.start))
        into.start.extend(kept.start)
        into.end.extend(kept.end)
        into.name.extend(kept.name)
        into.extra.extend(kept.extra)
        into.parent.extend(_moved(kept.parent, base))
        into.innermost[thread] = _moved(kept.innermost, base)
        into.duplicates += self._duplicates
        into.crossing += self._crossing


def _moved(indices: array[int], by: int) -> array[int]:
    return column("q", [index + by if index != NONE else NONE for index in indices]) if by else indices


def nest(spans: SpanStore, instants: Mapping[int, Sequence[float]], wanted: frozenset[int] = frozenset()) -> Nest:
    """Finds the spans around each instant.

    Args:
        spans: of all threads.
        instants: thread -> instants in ascending order; both ends of a span belong to it.
        wanted: spans with one of these extras are kept even when they enclose no instant.
    """
    sweeps = {thread: _Sweep(own) for thread, own in instants.items()}
    for block in spans.blocks():
        sweep = sweeps.get(block.thread)
        if sweep is not None:
            sweep.feed(block)
    for thread in [thread for thread, sweep in sweeps.items() if sweep.disordered]:
        sweeps[thread] = _Sweep(instants[thread])
        for block in _in_order(spans, thread, instants[thread]):
            sweeps[thread].feed(block)
    nested = Nest()
    for thread, sweep in sweeps.items():
        sweep.close(thread, nested)
    missing = wanted.difference(nested.extra)
    if missing:
        _add_wanted(spans, missing, nested)
    return nested


def _in_order(spans: SpanStore, thread: int, instants: Sequence[float]) -> list[Block]:
    """The spans of a thread that enclose an instant, as one block: by start, then by falling end, then as they came."""
    rows = [
        (start, -end, block.name[index], block.extra_of(index))
        for block in spans.blocks()
        if block.thread == thread
        for index, (start, end) in enumerate(zip(block.start, block.end, strict=True))
        if bisect_left(instants, start) < bisect_right(instants, end)
    ]
    if not rows:
        return []
    rows.sort(key=lambda row: row[:2])
    columns = list(zip(*rows, strict=True))
    ends = column("d", [-end for end in columns[1]])
    return [Block(thread, column("d", columns[0]), ends, column("q", columns[2]), column("q", columns[3]))]


def _add_wanted(spans: SpanStore, wanted: frozenset[int], into: Nest) -> None:
    """Adds spans that enclose no instant; they stand alone."""
    for block in spans.blocks():
        rows = [row for row, extra in enumerate(block.extra) if extra in wanted]
        put(into.thread, [block.thread] * len(rows))
        put(into.start, [block.start[row] for row in rows])
        put(into.end, [block.end[row] for row in rows])
        put(into.name, [block.name[row] for row in rows])
        put(into.extra, [block.extra[row] for row in rows])
        put(into.parent, [NONE] * len(rows))
