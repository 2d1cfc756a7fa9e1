"""Spans that end after the span in which they began: those around each instant in, a tree that is true for each out.

A profiler misses the end of a function that a generator or another thread left open, and then ends it with the trace.
Such a span has other spans around it when it begins than later on, so it stands in the tree once for each.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import msgspec

from tracer.importers.spans import NONE


class Columns(msgspec.Struct, gc=False):
    """Spans of one thread, outer ones before inner ones, and for each instant the innermost span or NONE."""

    start: array[float]
    end: array[float]
    name: array[int]
    extra: array[int]
    parent: array[int]
    innermost: array[int]


class _Open(msgspec.Struct, gc=False):
    """A span that is open: its row, and its place in the new tree, NONE until an instant needs it."""

    row: int
    place: int = NONE


def without_ended_parents(spans: Columns, instants: Sequence[float]) -> Columns:
    """The same spans in a tree in which the chain of each instant is what is open then; `start` ascends in `spans`."""
    new = Columns(array("d"), array("d"), array("q"), array("q"), array("q"), array("q"))
    opened: list[_Open] = []
    row = 0
    for instant in instants:
        while row < len(spans.start) and spans.start[row] <= instant:
            opened.append(_Open(row))
            row += 1
        opened = _still_open(opened, spans.end, instant)
        above = NONE
        for one in opened:
            if one.place == NONE:
                one.place = len(new.start)
                new.start.append(spans.start[one.row])
                new.end.append(spans.end[one.row])
                new.name.append(spans.name[one.row])
                new.extra.append(spans.extra[one.row])
                new.parent.append(above)
            above = one.place
        new.innermost.append(above)
    return new


def _still_open(opened: list[_Open], ends: Sequence[float], instant: float) -> list[_Open]:
    """What has not ended before an instant; a span that lost one around it needs a new place."""
    first = next((place for place, one in enumerate(opened) if ends[one.row] < instant), None)
    if first is None:
        return opened
    return opened[:first] + [_Open(one.row) for one in opened[first:] if ends[one.row] >= instant]
