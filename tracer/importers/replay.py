"""Stacks for kernels that a graph replayed: the replay's and the capture's traces in, matches with their grounds out.

A graph runs the kernels that were launched while it was captured, so the capture's launch calls, which led to no kernel
of their own, are matched to the replayed kernels by order and name. CUDA's launch calls state no names: there order
alone has to do, where the counts agree and one stream ran it all. A match can be wrong, and is called inferred.
"""

from __future__ import annotations

import difflib
from array import array
from collections import Counter
from collections.abc import Sequence

import msgspec

from tracer.importers.joins import Found, Joined
from tracer.importers.timeline import NO_TIME, Interner, launches_graph, launches_kernel

#: what is said of a trace that --capture-trace should not have named, and why
NO_CAPTURE = "the trace given with --capture-trace holds no capture"
_ALL_RAN = f"{NO_CAPTURE}: every launch call in it ran its kernel"
_AS_FAR = ", as far as it could be read"
_NO_CALLS = f"{NO_CAPTURE}: no call in it launches a kernel by itself"


class Match(msgspec.Struct, frozen=True):
    """One replayed kernel's launch in the capture.

    Attributes:
        call: row of the capture's runtime call.
        reason: how it was matched, and how sure that is.
    """

    call: int
    reason: str


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """One launch of a graph, compared with the capture.

    Attributes:
        call: row of the graph's launch in the replay's trace.
        kernels: kernels that it ran; matched: of these, with a launch in the capture.
        captured: launches in the capture.
        named: whether the capture's launch calls state kernel names.
        in_order: whether the names agree one by one from first to last.
        stretches: how many stretches of the capture hold these names in this order; of several the first is taken.
        missing: (name, how many) that the replay ran and the capture lacks; surplus: the other way round. Empty where
            the trace holds no capture at all (`captured` is 0), and where a stretch of it holds what was replayed: the
            rest belongs to other graphs.
    """

    call: int
    kernels: int
    matched: int
    captured: int
    in_order: bool
    stretches: int = 0
    named: bool = True
    missing: tuple[tuple[str, int], ...] = ()
    surplus: tuple[tuple[str, int], ...] = ()

    @property
    def complete(self) -> bool:
        """Whether capture and replay hold the same kernels; without names, whether they hold as many."""
        same = self.named or self.kernels == self.captured
        return bool(self.captured) and not self.missing and not self.surplus and same


class Capture:
    """A capture's trace, matched to a replay's.

    Attributes:
        joined: the capture.
        replays: every graph launch of the replay, compared.
        empty: why the trace holds no capture, where no launch call in it led to no kernel; else None.
    """

    def __init__(self, joined: Joined, replayed: Joined, *, damaged: bool = False) -> None:
        """Args: both, and whether part of the capture's trace could not be read."""
        self.joined = joined
        self.replays: list[Replay] = []
        self._matches: dict[int, Match] = {}
        launches = _captured_launches(joined)
        self.empty: str | None = None
        if not launches:
            calls, names = joined.timeline.calls, joined.timeline.names.values_
            seen = {names[name] for name in set(calls.name)}
            own = any(launches_kernel(name) and not launches_graph(name) for name in seen)
            self.empty = (_ALL_RAN if own else _NO_CALLS) + (_AS_FAR if damaged else "")
        for call, rows in graph_launches(replayed).items():
            self._compare(replayed, call, rows, launches)

    def match_of(self, row: int) -> Match | None:
        """The match of one of the replay's kernels, or None."""
        return self._matches.get(row)

    def why_no_match(self) -> str:
        """Why a kernel of a graph has no match."""
        return self.empty or "no launch in the trace given with --capture-trace could be taken for it"

    def _compare(self, replayed: Joined, call: int, rows: Sequence[int], launches: Sequence[tuple[str, int]]) -> None:
        names = replayed.timeline.names.values_
        ran = [names[replayed.timeline.kernels.name[row]] for row in rows]
        captured = [name for name, _ in launches]
        if not launches:
            self.replays.append(Replay(call=call, kernels=len(ran), matched=0, captured=0, in_order=False))
            return
        if not any(captured):
            self._match_by_order(replayed, call, rows, launches)
            return
        starts = _stretches(ran, captured)
        in_order = bool(starts)
        pairs = [starts[0] + step for step in range(len(ran))] if starts else _align(ran, captured)
        once = {name for name, count in Counter(ran).items() if count == 1} & {
            name for name, count in Counter(captured).items() if count == 1
        }
        matched = 0
        for position, other in enumerate(pairs):
            if other is None:
                continue
            matched += 1
            if in_order:
                reason = (
                    f"kernel {position + 1} of {len(ran)} in the graph is launch {other + 1} of {len(captured)} in its "
                    "capture; all names agree in order"
                )
                if len(starts) > 1:
                    reason += f", as they do in {len(starts)} stretches of it, of which the first was taken"
            else:
                sure = "its name occurs once in both" if ran[position] in once else "its name occurs several times"
                reason = (
                    f"kernel {position + 1} of {len(ran)} in the graph is taken for launch {other + 1} of "
                    f"{len(captured)} in its capture by order and name; the two differ elsewhere, and {sure}"
                )
            self._matches[rows[position]] = Match(launches[other][1], reason)
        ran_count, captured_count = Counter(ran), Counter(captured)
        self.replays.append(
            Replay(
                call=call,
                kernels=len(ran),
                matched=matched,
                captured=len(captured),
                in_order=in_order,
                stretches=len(starts),
                missing=tuple((ran_count - captured_count).most_common()),
                surplus=() if in_order else tuple((captured_count - ran_count).most_common()),
            )
        )

    def _match_by_order(
        self, replayed: Joined, call: int, rows: Sequence[int], launches: Sequence[tuple[str, int]]
    ) -> None:
        """Matches kernels to launch calls that state no names, where nothing but the order is needed."""
        kernels = replayed.timeline.kernels
        streams = {kernels.stream[row] for row in rows}
        placed = all(kernels.start_us[row] != NO_TIME for row in rows)
        sure = len(rows) == len(launches) and len(streams) == 1 and placed
        if sure:
            for position, row in enumerate(rows):
                reason = (
                    f"kernel {position + 1} of {len(rows)} in the graph is taken for launch {position + 1} of "
                    f"{len(launches)} in its capture by order alone: the capture's launch calls state no kernel names"
                )
                self._matches[row] = Match(launches[position][1], reason)
        self.replays.append(
            Replay(
                call=call,
                kernels=len(rows),
                matched=len(rows) if sure else 0,
                captured=len(launches),
                in_order=False,
                named=False,
            )
        )


def graph_launches(joined: Joined) -> dict[int, list[int]]:
    """Graph launch -> its kernels, both in the order in which they ran."""
    found: dict[int, list[int]] = {}
    for row, call in enumerate(joined.call):
        if joined.call_by[row] == Found.GRAPH:
            found.setdefault(call, []).append(row)
    for rows in found.values():
        rows[:] = joined.timeline.in_order(rows)
    return dict(sorted(found.items(), key=lambda item: joined.timeline.calls.start_us[item[0]]))


def _captured_launches(joined: Joined) -> list[tuple[str, int]]:
    """Launch calls that ran no kernel, in order: the kernel's name and the row of the call."""
    timeline, calls = joined.timeline, joined.timeline.calls
    names = timeline.names.values_
    rows = [row for row in joined.kernelless if not launches_graph(names[calls.name[row]])]
    rows.sort(key=lambda row: calls.start_us[row])
    return [(names[calls.kernel[row]] if calls.kernel[row] >= 0 else "", row) for row in rows]


def _stretches(ran: Sequence[str], captured: Sequence[str]) -> list[int]:
    """Where `captured` holds all of `ran`, one behind the other, without overlap."""
    numbers: Interner[str] = Interner()
    width = array("q").itemsize
    text, wanted = (array("q", [numbers[name] for name in names]).tobytes() for names in (captured, ran))
    found: list[int] = []
    at = 0
    while (at := text.find(wanted, at)) >= 0:
        whole = at % width == 0  # else it is in the middle of numbers
        if whole:
            found.append(at // width)
        at += len(wanted) if whole else 1
    return found


def _align(ran: Sequence[str], captured: Sequence[str]) -> list[int | None]:
    """For each name of `ran`, the position of its partner in `captured`, in ascending order; None without one."""
    pairs: list[int | None] = [None] * len(ran)
    for block in difflib.SequenceMatcher(None, ran, captured, autojunk=False).get_matching_blocks():
        for step in range(block.size):
            pairs[block.a + step] = block.b + step
    return pairs
