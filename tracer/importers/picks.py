"""Which parts of a trace get pages: patterns and a number in, picks out, each a set of kernels that one record holds.

A kernel pick is one execution with the spread of all executions that share its name and stack. An operator or frame
pick is one call of it, with every kernel under it.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Callable, Sequence

import msgspec

from tracer.importers.joins import Found, Joined
from tracer.importers.nesting import NONE, Nest
from tracer.importers.places import general_name
from tracer.importers.replay import Capture
from tracer.importers.stacks import KernelStacks
from tracer.importers.summary import group_rows


class Pick(msgspec.Struct, frozen=True, kw_only=True):
    """What one page shows.

    Attributes:
        kind: "kernel", "op" or "frame".
        name: of the kernel, operator or frame.
        rows: the kernels on the page, in order of start.
        alike: for each call or execution like this one whose time is known, that time in µs (itself included).
        us: the time of all of them.
    """

    kind: str
    name: str
    rows: tuple[int, ...]
    alike: tuple[float, ...]

    @property
    def us(self) -> float:
        """The time of all calls or executions alike."""
        return math.fsum(self.alike)


def matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Whether a name fits one of some patterns; a pattern without * ? [ fits any name that contains it."""
    compiled = [
        re.compile(fnmatch.translate(p) if re.search(r"[*?\[]", p) else f".*{re.escape(p)}.*", re.DOTALL)
        for p in patterns
    ]
    return lambda name: any(pattern.fullmatch(name) for pattern in compiled)


def pick_kernels(joined: Joined, stacks: KernelStacks, patterns: Sequence[str]) -> list[Pick]:
    """One pick a kernel name and stack, for names that fit (all, without patterns), most time first."""
    timeline, kernels = joined.timeline, joined.timeline.kernels
    fits = matcher(patterns) if patterns else lambda _: True
    found = []
    for rows in group_rows(joined, stacks):
        name = timeline.names.values_[kernels.name[rows[0]]]
        if fits(name):
            timed = [row for row in rows if row not in timeline.untimed]
            times = tuple(kernels.duration_us[row] for row in timed)
            found.append(Pick(kind="kernel", name=name, rows=((timed or rows)[0],), alike=times))
    return found


def pick_spans(joined: Joined, capture: Capture | None, kind: str, patterns: Sequence[str]) -> list[Pick]:
    """One pick an operator ("op") or frame ("frame") whose name fits, most time first.

    Where a fitting span stands in another one, the outer one counts. The page shows the first call that runs the
    sequence of kernels which takes most time.
    """
    fits = matcher(patterns)
    kernels = joined.timeline.kernels
    calls: dict[tuple[int, int], list[int]] = {}
    names: dict[tuple[int, int], str] = {}
    for origin, source, spans, of_row in _sources(joined, capture, kind):
        outermost = _outermost(spans, source.timeline.names.values_, fits)
        for row in range(len(kernels)):
            index = of_row(row)
            if index != NONE and outermost[index] != NONE:
                key = (origin, outermost[index])
                calls.setdefault(key, []).append(row)
                names[key] = general_name(source.timeline.names.values_[spans.name[outermost[index]]])
    alike: dict[tuple[str, tuple[int, ...]], list[list[int]]] = {}
    for key, rows in calls.items():
        rows[:] = joined.timeline.in_order(rows)
        alike.setdefault((names[key], tuple(kernels.name[row] for row in rows)), []).append(rows)
    best: dict[str, Pick] = {}
    for (name, _), instances in alike.items():
        timed = [rows for rows in instances if joined.timeline.untimed.isdisjoint(rows)]
        times = tuple(math.fsum(kernels.duration_us[row] for row in rows) for rows in timed)
        pick = Pick(kind=kind, name=name, rows=tuple((timed or instances)[0]), alike=times)
        if name not in best or pick.us > best[name].us:
            best[name] = pick
    return sorted(best.values(), key=lambda pick: -pick.us)


def _outermost(spans: Nest, names: Sequence[str], fits: Callable[[str], bool]) -> list[int]:
    """For every span, the outermost span around it (or itself) whose name fits, or NONE."""
    fitting = {number: fits(names[number]) for number in set(spans.name)}
    found: list[int] = []
    for index, (parent, name) in enumerate(zip(spans.parent, spans.name, strict=True)):
        above = found[parent] if parent != NONE else NONE
        found.append(above if above != NONE else index if fitting[name] else NONE)
    return found


def _sources(
    joined: Joined, capture: Capture | None, kind: str
) -> list[tuple[int, Joined, Nest, Callable[[int], int]]]:
    """The spans of the trace itself, then those that graph kernels have from the capture."""
    own = joined.ops if kind == "op" else joined.frames
    column = joined.op if kind == "op" else joined.frame
    sources: list[tuple[int, Joined, Nest, Callable[[int], int]]] = [(0, joined, own, column.__getitem__)]
    if capture is not None:
        source = capture.joined
        launched = source.launched_op if kind == "op" else source.launched_frame

        def captured(row: int) -> int:
            match = capture.match_of(row) if joined.call_by[row] == Found.GRAPH else None
            return launched[match.call] if match is not None else NONE

        sources.append((1, source, source.ops if kind == "op" else source.frames, captured))
    return sources
