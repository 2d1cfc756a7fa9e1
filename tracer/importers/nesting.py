"""Which spans enclose which instants: spans and launch instants of a thread in, the innermost span of each instant out.

Pure functions of times. A span that encloses no instant is dropped as soon as it is looked at, so memory follows the
number of launches.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from tracer.importers.columns import column, put
from tracer.importers.spans import Block, SpanStore

NONE = -1

_NEVER = float("inf")

#: a span that begins behind all instants, and ends before `_NEVER`, so that it encloses nothing
_LAST = Block(0, array("d", [_NEVER]), array("d", [sys.float_info.max]), [NONE], array("q"))


class Nest:
    """The spans of all threads that enclose at least one instant; outer spans stand before inner ones.

    Attributes:
        thread, start, end, name, extra: columns as in `Block`.
        parent: index of the enclosing span, or NONE.
        innermost: thread -> for each of its instants, in ascending order, the index of the innermost span, or NONE.
        duplicates: spans left out because an equal one (same thread, times, name and id) is there.
        crossing: spans that begin inside another one and end after it.
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


class _Sweep:
    """One thread's spans, taken outer before inner, against its instants.

    Spans that are kept are numbered from 1; 0 stands for one that encloses everything. The spans that are open are the
    innermost one and those that its parents lead to.
    """

    def __init__(self, instants: Sequence[float]) -> None:
        self._instants = [*instants, _NEVER]
        self._next = 0
        self._innermost = 0
        self._start = array("d", [-_NEVER])
        self._end = [_NEVER]
        self._name = array("q", [NONE])
        self._extra = array("q", [0])
        self._parent = [0]
        #: for every instant so far, the innermost span
        self._around: list[int] = []
        self._duplicates = 0
        self._crossing = 0
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
        """Keeps the spans that enclose an instant, and finds the innermost one for the instants before them."""
        ends, parents, around, instants, at = self._end, self._parent, self._around, self._instants, self._next
        instant, inner = instants[at], self._innermost
        inner_end, number = ends[inner], len(ends)
        rows: list[int] = []
        starts: list[float] = []
        for row, start, end in zip(range(len(block)), block.start, block.end, strict=True):
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
            if inner_end <= end and self._is_odd(block, row, rows, inner):
                continue
            parents.append(inner)
            inner, inner_end = number, end
            number += 1
            ends.append(end)
            rows.append(row)
            starts.append(start)
        self._next, self._innermost = at, inner
        put(self._start, starts)
        put(self._name, [block.name[row] for row in rows])
        self._extra.extend(block.extras_of(rows))

    def _is_odd(self, block: Block, row: int, rows: list[int], inner: int) -> bool:
        """Looks at a span that ends no earlier than the one it begins in. Returns whether it is there already.

        Args:
            block: where the span is.
            row: which it is.
            rows: the rows of the block that were kept so far.
            inner: the innermost of the open spans.
        """
        first = len(self._start)
        while inner:
            if inner >= first:
                place = rows[inner - first]
                start, end, name, extra = block.start[place], block.end[place], block.name[place], block.extra_of(place)
            else:
                start, end, name, extra = self._start[inner], self._end[inner], self._name[inner], self._extra[inner]
            if end < block.end[row]:
                self._crossing += 1
                self.disordered |= start == block.start[row]
                return False
            if start != block.start[row] or end != block.end[row]:
                return False
            if name == block.name[row] and extra == block.extra_of(row):
                self._duplicates += 1
                return True
            inner = self._parent[inner]
        return False

    def close(self, thread: int, into: Nest) -> None:
        """Adds what was found to `into`."""
        self._take(_LAST)
        before = len(into) - 1
        into.thread.extend(array("q", [thread]) * (len(self._start) - 1))
        into.start.extend(self._start[1:])
        put(into.end, self._end[1:])
        into.name.extend(self._name[1:])
        into.extra.extend(self._extra[1:])
        put(into.parent, _indices(self._parent[1:], before))
        into.innermost[thread] = column("q", _indices(self._around, before))
        into.duplicates += self._duplicates
        into.crossing += self._crossing


def _indices(numbers: list[int], before: int) -> list[int]:
    """Indices in the nest of spans that a sweep numbered from 1; 0 becomes NONE."""
    if before == NONE:
        return [number - 1 for number in numbers]
    return [before + number if number else NONE for number in numbers]


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
    return [Block(thread, column("d", columns[0]), ends, [*columns[2]], column("q", columns[3]))]


def _add_wanted(spans: SpanStore, wanted: frozenset[int], into: Nest) -> None:
    """Adds spans that enclose no instant; they stand alone."""
    for block in spans.blocks():
        if wanted.isdisjoint(block.extra):
            continue
        rows = [row for row, extra in enumerate(block.extra) if extra in wanted]
        put(into.thread, [block.thread] * len(rows))
        put(into.start, [block.start[row] for row in rows])
        put(into.end, [block.end[row] for row in rows])
        put(into.name, [block.name[row] for row in rows])
        put(into.extra, [block.extra[row] for row in rows])
        put(into.parent, [NONE] * len(rows))
