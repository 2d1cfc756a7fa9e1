"""Python stacks of kernels, numbered: spans that enclose launches in, equal stacks under one number out.

Stacks are equal when they differ only in object addresses and module numbers ("DecoderLayer_3"), so that the layers of
a model fall together. The names of the first stack seen are the ones shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracer.importers.joins import Found, Joined
from tracer.importers.nesting import NONE, Nest
from tracer.importers.places import general_name
from tracer.importers.replay import Capture

#: the number of the stack that is not known
NO_STACK = 0


class StackTable:
    """Stacks as a tree of names: a stack's number stands for its innermost frame and all frames around it."""

    def __init__(self) -> None:
        self._children: dict[tuple[int, str], int] = {}
        self._parents = [NO_STACK]
        self._names = [""]

    def below(self, stack: int, name: str) -> int:
        """The number of a stack with one more frame."""
        key = (stack, general_name(name))
        known = self._children.get(key)
        if known is None:
            known = self._children[key] = len(self._names)
            self._parents.append(stack)
            self._names.append(name)
        return known

    def names(self, stack: int) -> list[str]:
        """The frames of a stack, outermost first; empty for NO_STACK."""
        found = []
        while stack != NO_STACK:
            found.append(self._names[stack])
            stack = self._parents[stack]
        return found[::-1]

    def of_nest(self, nest: Nest, names: Sequence[str]) -> list[int]:
        """The number of the stack that ends in each span of a nest."""
        numbers: list[int] = []
        memo: dict[tuple[int, int], int] = {}
        for parent, name in zip(nest.parent, nest.name, strict=True):
            above = numbers[parent] if parent != NONE else NO_STACK
            number = memo.get((above, name))
            if number is None:
                number = memo[above, name] = self.below(above, names[name])
            numbers.append(number)
        return numbers


class KernelStacks:
    """The stack of every kernel of a trace.

    Attributes:
        table: the stacks.
        of: kernel -> its stack's number; NO_STACK where it has none.
        inferred: kernel -> whether its stack comes from the trace of a graph's capture.
        ops: kernel -> the name of its innermost operator, or None.
    """

    def __init__(self, joined: Joined, capture: Capture | None = None) -> None:
        timeline = joined.timeline
        names = timeline.names.values_
        self.table = StackTable()
        numbers = self.table.of_nest(joined.frames, names)
        self.of = [numbers[frame] if frame != NONE else NO_STACK for frame in joined.frame]
        self.inferred = bytearray(len(self.of))
        self.ops: list[str | None] = [names[joined.ops.name[op]] if op != NONE else None for op in joined.op]
        if capture is None:
            return
        source = capture.joined
        captured = self.table.of_nest(source.frames, source.timeline.names.values_)
        for row, found in enumerate(joined.call_by):
            match = capture.match_of(row) if found == Found.GRAPH else None
            if match is None:
                continue
            frame, op = source.launched_frame[match.call], source.launched_op[match.call]
            if frame != NONE:
                self.of[row] = captured[frame]
                self.inferred[row] = 1
            if op != NONE:
                self.ops[row] = source.timeline.names.values_[source.ops.name[op]]
