"""Which spans enclose which instants: spans and launch instants of a thread in, the innermost span of each instant out.

Pure functions of times. A span that encloses no instant is dropped as soon as it is looked at, so memory follows the
number of launches.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from tracer.importers.spans import Block, SpanStore

NONE = -1

_NEVER = float("inf")


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
    """One thread's spans, taken outer before inner, against its instants."""

    def __init__(self, instants: Sequence[float]) -> None:
        self._instants = instants
        self._next = 0
        #: the open spans: indices, and when each ends
        self._stack: list[int] = []
        self._stack_ends: list[float] = []
        self.start = array("d")
        self.end = array("d")
        self.name = array("q")
        self.extra = array("q")
        self.parent = array("q")
        self.innermost = array("q")
        self.duplicates = 0
        self.crossing = 0
        #: whether a span came after one that it encloses or that begins later; then the sweep is worthless
        self.disordered = False
        self._last_start = float("-inf")

    def feed(self, block: Block) -> None:
        """Takes more spans, which begin no earlier than those before."""
        if block.start[0] < self._last_start:
            self.disordered = True
        if self.disordered:
            return
        self._last_start = block.start[-1]
        rows = self._take(block)
        self.start.extend([block.start[row] for row in rows])
        self.end.extend([block.end[row] for row in rows])
        self.name.extend([block.name[row] for row in rows])
        self.extra.extend([block.extra[row] for row in rows])

    def _take(self, block: Block) -> list[int]:
        """Links the spans that enclose an instant; returns their rows."""
        stack, stack_ends, parents, instants = self._stack, self._stack_ends, self.parent, self._instants
        taken: list[int] = []
        index = len(self.end)
        instant = instants[self._next] if self._next < len(instants) else _NEVER
        for row, (start, end) in enumerate(zip(block.start, block.end, strict=True)):
            if start > instant:
                self._settle(start)
                instant = instants[self._next] if self._next < len(instants) else _NEVER
            if end < instant:
                continue
            while stack_ends and stack_ends[-1] < start:
                stack_ends.pop()
                stack.pop()
            if stack_ends and stack_ends[-1] <= end and self._is_odd(block, row, taken, index):
                continue
            parents.append(stack[-1] if stack else NONE)
            stack.append(index)
            stack_ends.append(end)
            taken.append(row)
            index += 1
        return taken

    def _is_odd(self, block: Block, row: int, taken: list[int], index: int) -> bool:
        """Looks at a span that ends no earlier than the one it begins in. Returns whether it is there already."""
        first = index - len(taken)
        for other in reversed(self._stack):
            if other >= first:
                twin, place = block, taken[other - first]
                start, end, name, extra = twin.start[place], twin.end[place], twin.name[place], twin.extra[place]
            else:
                start, end, name, extra = self.start[other], self.end[other], self.name[other], self.extra[other]
            if end < block.end[row]:
                self.crossing += 1
                self.disordered |= start == block.start[row]
                return False
            if start != block.start[row] or end != block.end[row]:
                return False
            if name == block.name[row] and extra == block.extra[row]:
                self.duplicates += 1
                return True
        return False

    def _settle(self, until: float) -> None:
        """Finds the innermost span of every instant before `until`."""
        instants, stack, stack_ends = self._instants, self._stack, self._stack_ends
        at, count = self._next, len(instants)
        while at < count and (instant := instants[at]) < until:
            while stack_ends and stack_ends[-1] < instant:
                stack_ends.pop()
                stack.pop()
            self.innermost.append(stack[-1] if stack else NONE)
            at += 1
        self._next = at

    def close(self, thread: int, into: Nest) -> None:
        """Adds what was found to `into`."""
        self._settle(_NEVER)
        base = len(into)
        into.thread.extend(array("q", [thread]) * len(self.start))
        into.start.extend(self.start)
        into.end.extend(self.end)
        into.name.extend(self.name)
        into.extra.extend(self.extra)
        if base:
            self.parent = array("q", [NONE if parent == NONE else base + parent for parent in self.parent])
            self.innermost = array("q", [NONE if index == NONE else base + index for index in self.innermost])
        into.parent.extend(self.parent)
        into.innermost[thread] = self.innermost
        into.duplicates += self.duplicates
        into.crossing += self.crossing


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
        (start, -end, block.name[index], block.extra[index])
        for block in spans.blocks()
        if block.thread == thread
        for index, (start, end) in enumerate(zip(block.start, block.end, strict=True))
        if bisect_left(instants, start) < bisect_right(instants, end)
    ]
    if not rows:
        return []
    rows.sort(key=lambda row: row[:2])
    columns = list(zip(*rows, strict=True))
    ends = array("d", [-end for end in columns[1]])
    return [Block(thread, array("d", columns[0]), ends, array("q", columns[2]), array("q", columns[3]))]


def _add_wanted(spans: SpanStore, wanted: frozenset[int], into: Nest) -> None:
    """Adds spans that enclose no instant; they stand alone."""
    for block in spans.blocks():
        for index in [index for index, extra in enumerate(block.extra) if extra in wanted]:
            into.thread.append(block.thread)
            into.start.append(block.start[index])
            into.end.append(block.end[index])
            into.name.append(block.name[index])
            into.extra.append(block.extra[index])
            into.parent.append(NONE)
