"""Kernels whose correlation id several runtime calls share: rows of one id in, the call of each kernel out.

Ids are unique in a process only, so a file that holds several processes has them twice; so has one merged from others.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Sequence

from tracer.importers.timeline import MISSING, Timeline


def rows_that_share(correlations: array[int]) -> dict[int, list[int]]:
    """Ids that stand in several rows, with the rows."""
    rows: dict[int, list[int]] = {}
    for row, correlation in enumerate(correlations):
        rows.setdefault(correlation, []).append(row)
    return {correlation: own for correlation, own in rows.items() if len(own) > 1 and correlation != MISSING}


def tell_apart(timeline: Timeline, rows: Sequence[int], candidates: Sequence[int]) -> dict[int, int]:
    """The call of each kernel, where none launches a graph: by external id and kernel name, then in order of time."""
    kernels, calls = timeline.kernels, timeline.calls
    groups: dict[tuple[int, int], list[int]] = {}
    ordered = sorted(candidates, key=lambda c: calls.start_us[c])
    for candidate in ordered:
        groups.setdefault((calls.external[candidate], calls.kernel[candidate]), []).append(candidate)
    taken: dict[tuple[int, int], int] = {}
    found = {}
    for row in timeline.in_order(rows):
        key = (kernels.external[row], kernels.name[row])
        if key not in groups:
            key = (kernels.external[row], -1)
        fitting = groups.get(key, ordered)
        turn = taken.get(key, 0)
        taken[key] = turn + 1
        found[row] = fitting[min(turn, len(fitting) - 1)]
    return found


def tell_graphs_apart(
    timeline: Timeline, rows: Sequence[int], candidates: Sequence[int], launches: Collection[int]
) -> tuple[dict[int, int], dict[int, int]]:
    """The call of each kernel where some of the calls, `launches`, launch a graph.

    Another call takes one kernel that fits it, the graphs take the rest: each one those of a device where there are as
    many devices, else each kernel goes to the graph that was launched last before it.

    Returns:
        Kernel -> its own call, and kernel -> the graph's launch.
    """
    kernels, calls = timeline.kernels, timeline.calls
    graphs = set(launches)
    own = _own_calls(timeline, rows, [call for call in candidates if call not in graphs])
    left = timeline.in_order(row for row in rows if row not in own)
    ordered = sorted(launches, key=lambda c: calls.start_us[c])
    devices = list(dict.fromkeys(kernels.device[row] for row in left))
    by_device = dict(zip(devices, ordered, strict=True)) if len(devices) == len(ordered) else {}
    starts = [calls.start_us[call] for call in ordered]
    turns: Counter[int] = Counter()
    ran = {}
    for row in left:
        last = starts[max(0, bisect_right(starts, kernels.start_us[row]) - 1)]
        first, end = bisect_left(starts, last), bisect_right(starts, last)
        in_turn = ordered[first + turns[first] % (end - first)]
        turns[first] += 1
        ran[row] = by_device.get(kernels.device[row], in_turn)
    return own, ran


def _own_calls(timeline: Timeline, rows: Sequence[int], candidates: Sequence[int]) -> dict[int, int]:
    """For each call that launches no graph, a kernel of its operator and name; one alone on its device comes first."""
    kernels, calls = timeline.kernels, timeline.calls
    of_device = Counter(kernels.device[row] for row in rows)
    fitting: dict[tuple[int, int], list[int]] = {}
    latest_first = timeline.in_order(rows)
    latest_first.reverse()
    for row in sorted(latest_first, key=lambda r: -of_device[kernels.device[r]]):
        for name in (kernels.name[row], -1):
            fitting.setdefault((kernels.external[row], name), []).append(row)
    found: dict[int, int] = {}
    for call in sorted(candidates, key=lambda c: calls.start_us[c]):
        waiting = fitting.get((calls.external[call], calls.kernel[call]), [])
        while waiting and waiting[-1] in found:
            waiting.pop()
        if waiting:
            found[waiting.pop()] = call
    return found
