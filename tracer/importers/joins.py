"""From a kernel back to Python: a Timeline in; for every kernel its runtime call, operator and innermost frame out.

Kernel to runtime call goes by correlation id; call to operator by external id, checked against (or replaced by) nesting
in time on the call's thread; call to frame by nesting. How each was found is kept, and so is what could not be.
"""

from __future__ import annotations

import enum
import math
import operator
from array import array
from collections.abc import Sequence

from tracer.importers.columns import column
from tracer.importers.losses import Losses
from tracer.importers.nesting import NONE, Nest, nest
from tracer.importers.shared_ids import rows_that_share, tell_apart, tell_graphs_apart
from tracer.importers.timeline import MISSING, NO_TIME, Timeline, launches_graph, launches_kernel

#: a kernel seldom waits so long for those before it
_LONG_AFTER_US = 60e6


class Found(enum.IntEnum):
    """How a link was found."""

    NO = 0  #: not at all
    ID = 1  #: by an id that occurs once
    ID_AND_NESTING = 2  #: by an id, and the times agree
    NESTING = 3  #: by times alone
    SHARED_ID = 4  #: by an id that several share, told apart by name and order
    GRAPH = 5  #: by the id of the graph's launch, which all kernels of the graph share


class Joined:
    """The links of one timeline. Rows of `call`, `op`, `frame` and `..._by` are kernels, in the timeline's order.

    Attributes:
        call: row of the runtime call, or NONE; call_by: how it was found.
        shared_graphs: rows of graphs' kernels whose launch was told apart from other calls with its id.
        op: index into `ops`, or NONE; op_by: how.
        frame: index into `frames`, or NONE; a kernel of a graph has none of its own.
        launched_frame, launched_op: for every runtime call, the innermost frame and operator around it, or NONE.
        ops, frames: the spans that enclose a launch.
        unlaunched: rows of the kernels without a runtime call.
        kernelless: rows of the launch calls without a kernel.
    """

    def __init__(self, timeline: Timeline) -> None:
        count = len(timeline.kernels)
        none = array("q", [NONE])
        self.timeline = timeline
        self.call = none * count
        self.call_by = bytearray(count)
        self.shared_graphs: set[int] = set()
        self.op = none * count
        self.op_by = bytearray(count)
        self.frame = none * count
        self.launched_frame = none * len(timeline.calls)
        self.launched_op = none * len(timeline.calls)
        self.ops = Nest()
        self.frames = Nest()
        self.unlaunched: list[int] = []
        self.kernelless: list[int] = []


def join(timeline: Timeline) -> Joined:
    """Links every kernel of `timeline`, and counts in its losses what has no link.

    The timeline's spans are let go: those that matter are in the result.
    """
    joined = Joined(timeline)
    _calls_of_kernels(timeline, joined)
    rows = _launch_rows(timeline, joined)
    start = timeline.calls.start_us
    instants = {thread: [start[row] for row in own] for thread, own in rows.items()}
    joined.ops = nest(timeline.ops, instants, _externals(timeline))
    joined.frames = nest(timeline.frames, instants)
    timeline.ops.release()
    timeline.frames.release()
    joined.launched_op = _by_call(joined.ops, rows, len(timeline.calls))
    joined.launched_frame = _by_call(joined.frames, rows, len(timeline.calls))
    _ops_and_frames_of_kernels(timeline, joined)
    _count_losses(timeline, joined)
    return joined


def _by_call(spans: Nest, rows: dict[int, list[int]], count: int) -> array[int]:
    """The innermost span around each of `count` calls, or NONE; given the calls of each thread's instants."""
    innermost = [NONE] * count
    for thread, own in rows.items():
        for row, index in zip(own, spans.innermost[thread], strict=True):
            innermost[row] = index
    return column("q", innermost)


def _calls_of_kernels(timeline: Timeline, joined: Joined) -> None:
    calls, kernels = timeline.calls, timeline.kernels
    if not len(calls):
        joined.unlaunched = list(range(len(kernels)))
        return
    by_id = dict(zip(calls.correlation, range(len(calls)), strict=True))
    by_id.pop(MISSING, None)
    linked = [by_id.get(correlation, NONE) for correlation in kernels.correlation]
    joined.call = column("q", linked)
    graphs = {name for name in set(calls.name) if launches_graph(timeline.names.values_[name])}
    found = bytearray([Found.GRAPH if name in graphs else Found.ID for name in calls.name] if graphs else ())
    found = found or bytearray([Found.ID]) * len(calls)
    found.append(Found.NO)  # the last one answers for NONE
    joined.call_by = bytearray([found[call] for call in linked])
    joined.unlaunched = [row for row, call in enumerate(linked) if call == NONE] if NONE in linked else []
    shared_calls = rows_that_share(calls.correlation) if len(by_id) < len(calls) else {}
    shared_kernels = rows_that_share(kernels.correlation) if len(set(kernels.correlation)) < len(kernels) else {}
    for correlation, rows in shared_kernels.items():
        if correlation not in shared_calls:
            for row in rows:
                if joined.call_by[row] == Found.ID:
                    joined.call_by[row] = Found.SHARED_ID
    if shared_calls:
        kernels_of: dict[int, list[int]] = {}
        for row, correlation in enumerate(kernels.correlation):
            if correlation in shared_calls:
                kernels_of.setdefault(correlation, []).append(row)
        for correlation, rows in kernels_of.items():
            candidates = shared_calls[correlation]
            launches = [call for call in candidates if calls.name[call] in graphs]
            ran: dict[int, int] = {}
            if launches:
                own, ran = tell_graphs_apart(timeline, rows, candidates, launches)
            else:
                own = tell_apart(timeline, rows, candidates)
            for linked_to, how in ((own, Found.SHARED_ID), (ran, Found.GRAPH)):
                for row, call in linked_to.items():
                    joined.call[row], joined.call_by[row] = call, how
            joined.shared_graphs.update(ran)


def _launch_rows(timeline: Timeline, joined: Joined) -> dict[int, list[int]]:
    """The calls that launched a kernel or should have, a thread, in order of time."""
    calls = timeline.calls
    launching = {name for name in set(calls.name) if launches_kernel(timeline.names.values_[name])}
    idle = set(range(len(calls))).difference(joined.call)
    joined.kernelless = [row for row in sorted(idle) if calls.name[row] in launching]
    idle.difference_update(joined.kernelless)
    start = calls.start_us.tolist()
    rows = [row for row in range(len(calls)) if row not in idle]
    rows.sort(key=start.__getitem__)
    by_thread: dict[int, list[int]] = {thread: [] for thread in set(calls.thread)}
    for row in rows:
        by_thread[calls.thread[row]].append(row)
    return {thread: own for thread, own in by_thread.items() if own}


def _externals(timeline: Timeline) -> frozenset[int]:
    """External ids that kernels and calls name: the operators with these ids are needed whatever their times."""
    return frozenset(timeline.kernels.external).union(timeline.calls.external) - {MISSING}


def _ops_and_frames_of_kernels(timeline: Timeline, joined: Joined) -> None:
    if not len(joined.ops) and not len(joined.frames):
        return
    # behind the columns of calls and operators stands what is true of NONE, which is the index of the last value
    frames, ops = [*joined.launched_frame, NONE], [*joined.launched_op, NONE]
    ids_of_calls, ids_of_ops = [*timeline.calls.external, MISSING], [*joined.ops.extra, MISSING]
    no_id = bytearray([Found.NESTING]) * len(ids_of_ops)
    no_id[NONE] = Found.NO
    by_external: dict[int, int] = {}
    found: list[int] = []
    found_by = bytearray([Found.ID_AND_NESTING]) * len(joined.call)
    for row, (call, external) in enumerate(zip(joined.call, timeline.kernels.external, strict=True)):
        op = ops[call]
        if external == MISSING:
            external = ids_of_calls[call]
        if external == MISSING:
            found_by[row] = no_id[op]
        elif ids_of_ops[op] != external:
            by_external = by_external or _ops_by_external(joined.ops)
            if external in by_external:
                op = by_external[external]
                found_by[row] = Found.ID
            else:
                found_by[row] = no_id[op]
        found.append(op)
    joined.op, joined.op_by = column("q", found), found_by
    around = [frames[call] for call in joined.call]
    if Found.GRAPH in joined.call_by:
        graph = int(Found.GRAPH)
        around = [NONE if by == graph else frame for frame, by in zip(around, joined.call_by, strict=True)]
    joined.frame = column("q", around)


def _ops_by_external(ops: Nest) -> dict[int, int]:
    """The operator of each external id; of several, the one that begins last, and the innermost of these."""
    order = sorted(range(len(ops)), key=lambda index: (ops.start[index], -ops.end[index], ops.thread[index]))
    return {ops.extra[index]: index for index in order}


def _count_losses(timeline: Timeline, joined: Joined) -> None:
    losses: Losses = timeline.losses
    kernels, calls = timeline.kernels, timeline.calls
    losses.add(
        "kernels without a runtime call",
        len(joined.unlaunched),
        detail="launched before the trace began, or the call was not recorded; they have no stack, and no operator "
        "without an id of one"
        if len(calls)
        else "the trace holds no runtime calls, so its kernels have no operator and no stack",
    )
    captured = sum(1 for row in joined.kernelless if not launches_graph(timeline.names.values_[calls.name[row]]))
    losses.add(
        "launch calls without a kernel",
        captured,
        detail="captured into a graph, or the kernel ran after the trace ended",
    )
    losses.add("graph launches without a kernel", len(joined.kernelless) - captured)
    losses.add(
        "kernels that share a correlation id outside a graph",
        joined.call_by.count(Found.SHARED_ID),
        detail="linked by name and order: inferred",
    )
    losses.add(
        "kernels of graphs whose launch shares its correlation id",
        len(joined.shared_graphs),
        detail="linked by device and order: inferred",
    )
    if min(kernels.duration_us, default=1.0) <= 0:
        losses.add("kernels with a duration below 0", sum(map((0.0).__gt__, kernels.duration_us)))
        losses.add("kernels with a duration of 0", kernels.duration_us.count(0.0) - len(timeline.untimed))
    begun = [*calls.start_us, NO_TIME]  # the last one answers for NONE
    # infinite where a start is not known
    waits = [start - begun[call] for start, call in zip(kernels.start_us, joined.call, strict=True)]
    early = sum(-math.inf < wait < 0 for wait in waits)
    late = sum(_LONG_AFTER_US < wait < math.inf for wait in waits)
    misnamed = 0
    if calls.kernel.count(-1) < len(calls):  # HIP's calls state the kernel's name
        named = [*calls.kernel, -1]
        stated = [named[call] for call in joined.call]
        misnamed = sum(map(operator.ne, stated, kernels.name)) - stated.count(-1)
    losses.add("kernels that start before their launch", early, detail="the clocks of CPU and GPU disagree, or jumped")
    losses.add(
        "kernels that start more than a minute after their launch",
        late,
        detail="they waited so long for others, or the clocks of CPU and GPU disagree, or jumped",
    )
    losses.add("kernels whose launch names another kernel", misnamed)
    nameless = timeline.names.get("")
    losses.add("kernels without a name", 0 if nameless is None else kernels.name.count(nameless))
    losses.add("Python functions that are in the trace twice", joined.frames.duplicates)
    losses.add("operators that are in the trace twice", joined.ops.duplicates)


def kernels_of_ops(joined: Joined) -> list[int | None]:
    """For every operator, how many kernels it and the operators in it launched; None where a launch led to none."""
    counts = [0] * len(joined.ops)
    executed = joined.timeline.kernels.count
    for row, op in enumerate(joined.op):
        if op != NONE:
            counts[op] += executed[row] if len(executed) else 1
    unsure = {joined.launched_op[call] for call in joined.kernelless} - {NONE}
    for index in range(len(counts) - 1, -1, -1):  # inner operators stand behind outer ones
        parent = joined.ops.parent[index]
        if parent != NONE:
            counts[parent] += counts[index]
            if index in unsure:
                unsure.add(parent)
    return [None if index in unsure else count for index, count in enumerate(counts)]


def stack_names(spans: Nest, index: int, names: Sequence[str]) -> list[str]:
    """Names from the outermost span down to `index`."""
    return [names[spans.name[i]] for i in spans.chain(index)]
