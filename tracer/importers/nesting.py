"""Which spans enclose which instants: spans and launch instants of a thread in, the innermost span of each instant out.

Pure functions of times. A span that encloses no instant is dropped as soon as it is looked at, so memory follows the
number of launches.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence

from tracer.importers.spans import Block

NONE = -1


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

    def _append(self, thread: int, kept: _Kept, row: int, parent: int) -> int:
        self.thread.append(thread)
        self.start.append(kept.start[row])
        self.end.append(kept.end[row])
        self.name.append(kept.name[row])
        self.extra.append(kept.extra[row])
        self.parent.append(parent)
        return len(self.start) - 1


class _Kept:
    """Spans of one thread that may matter, in the order in which they came."""

    def __init__(self) -> None:
        self.start = array("d")
        self.end = array("d")
        self.name = array("q")
        self.extra = array("q")

    def take(self, block: Block, instants: Sequence[float], wanted: frozenset[int]) -> None:
        """Keeps the spans of `block` that enclose one of `instants` (ascending) or whose extra is wanted."""
        starts, ends = block.start, block.end
        hits: list[int] = []
        at, count = 0, len(starts)
        which = bisect_left(instants, starts[0])
        while at < count and which < len(instants):
            instant = instants[which]
            # these begin after the instant before and not after this one: each needs to reach this one
            until = bisect_right(starts, instant, at)
            hits += [index for index, reach in enumerate(ends[at:until], at) if reach >= instant]
            at = until
            if at < count:
                which = bisect_left(instants, starts[at], which)
        if wanted:
            hits = sorted({*hits, *(index for index, extra in enumerate(block.extra) if extra in wanted)})
        self.start.extend([starts[i] for i in hits])
        self.end.extend([ends[i] for i in hits])
        self.name.extend([block.name[i] for i in hits])
        self.extra.extend([block.extra[i] for i in hits])

    def order(self) -> Sequence[int]:
        """Rows, outer before inner: by start, then by falling end, then as they came."""
        start, end = self.start, self.end
        rows = range(len(start))
        if all(start[i] < start[i + 1] or (start[i] == start[i + 1] and end[i] >= end[i + 1]) for i in rows[:-1]):
            return rows
        return sorted(rows, key=lambda i: (start[i], -end[i]))


def nest(
    blocks: Iterable[Block], instants: Mapping[int, Sequence[float]], wanted: frozenset[int] = frozenset()
) -> Nest:
    """Finds the spans around each instant.

    Args:
        blocks: spans, any number of blocks a thread; within a block `start` ascends.
        instants: thread -> instants in ascending order; both ends of a span belong to it.
        wanted: spans with one of these extras are kept even when they enclose no instant.
    """
    kept: dict[int, _Kept] = {}
    for block in blocks:
        own = instants.get(block.thread, ())
        if own or wanted:
            kept.setdefault(block.thread, _Kept()).take(block, own, wanted)
    nested = Nest()
    for thread, spans in kept.items():
        _sweep(thread, spans, instants.get(thread, ()), nested)
    for thread, own in instants.items():
        if thread not in nested.innermost:
            nested.innermost[thread] = array("q", [NONE]) * len(own)
    return nested


def _sweep(thread: int, kept: _Kept, instants: Sequence[float], into: Nest) -> None:
    """Links spans to their parents and finds the innermost one at each instant."""
    innermost = array("q")
    stack: list[int] = []
    starts, ends, reach = kept.start, kept.end, into.end
    order = kept.order()
    at, count = 0, len(order)
    twins: set[tuple[int, int]] = set()
    last = (0.0, 0.0)
    for instant in (*instants, float("inf")):
        while at < count and starts[row := order[at]] <= instant:
            at += 1
            start, end = starts[row], ends[row]
            if (start, end) != last:
                last = (start, end)
                twins.clear()
            twin = (kept.name[row], kept.extra[row])
            if twin in twins:
                into.duplicates += 1
                continue
            twins.add(twin)
            while stack and reach[stack[-1]] < start:
                stack.pop()
            if stack and reach[stack[-1]] < end:
                into.crossing += 1
            stack.append(into._append(thread, kept, row, stack[-1] if stack else NONE))
        while stack and reach[stack[-1]] < instant:
            stack.pop()
        innermost.append(stack[-1] if stack else NONE)
    innermost.pop()
    into.innermost[thread] = innermost
