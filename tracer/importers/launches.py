"""Launches of a trace in the record's terms: rows of a joined timeline in, Launch values with grids in blocks out."""

from __future__ import annotations

import math

from tracer.importers.joins import Found, Joined
from tracer.importers.nesting import NONE
from tracer.importers.timeline import NO_TIME, LaunchShape, Timeline, stated_id
from tracer.model.capture import Launch, Resources, RuntimeCall
from tracer.model.evidence import Evidence, GridUnit

#: HIP calls whose grid counts work-items; every other launch call of HIP and CUDA counts blocks
_WORK_ITEM_CALLS = frozenset({"hipExtModuleLaunchKernel", "hipHccModuleLaunchKernel"})

#: how a kernel is linked to its call where several share the id
BY_SHARED_ID = "an id that several calls or kernels share, told apart by name and order"
BY_SHARED_GRAPH_ID = "an id that several calls share, one of them the graph's launch, told apart by device and order"
_HOW = {
    Found.ID: "id",
    Found.ID_AND_NESTING: "id, confirmed by nesting in time",
    Found.NESTING: "nesting in time",
    Found.SHARED_ID: BY_SHARED_ID,
    Found.GRAPH: "the correlation id of the graph's launch",
}
#: how a kernel of a graph comes by the frame and the operator of its launch in the capture
_BY_CAPTURE = "order and name in the trace of the graph's capture"


def nanoseconds(us: float, origin_us: float) -> int | None:
    """A time of the trace in nanoseconds since an origin; None where it is not stated, 0 for one beyond all numbers."""
    if us == NO_TIME:
        return None
    since = (us - origin_us) * 1000
    return round(since) if math.isfinite(since) else 0


def grid_unit(timeline: Timeline, shape: LaunchShape, call_name: str | None) -> GridUnit | None:
    """What a launch's grid counts; None when the trace does not tell."""
    if not shape.grid:
        return None
    if shape.unit is not None:
        return shape.unit
    if call_name in _WORK_ITEM_CALLS:
        return GridUnit.WORK_ITEMS
    if call_name is not None and "aunch" in call_name:
        return GridUnit.BLOCKS
    # only ROCm has calls that count work-items
    return None if is_rocm(timeline) else GridUnit.BLOCKS


def is_rocm(timeline: Timeline) -> bool:
    """Whether a trace comes from a ROCm profiler."""
    if timeline.producer.rocm is not None or timeline.format != "torch.profiler JSON":
        return True
    return any(timeline.names.values_[name].startswith("hip") for name in set(timeline.calls.name))


def blocks_of(grid: tuple[int, ...], block: tuple[int, ...], unit: GridUnit | None) -> tuple[int, int, int] | None:
    """The grid in blocks; None when it is not known, or counts work-items of blocks that are not known."""
    if len(grid) != 3 or unit is None:
        return None
    x, y, z = grid
    if unit is GridUnit.BLOCKS:
        return (x, y, z)
    if len(block) != 3 or 0 in block:
        return None
    return (-(-x // block[0]), -(-y // block[1]), -(-z // block[2]))


def shape_of(joined: Joined, row: int) -> tuple[LaunchShape, GridUnit | None]:
    """What is stated of a kernel's launch, by its own event or else by its runtime call, and what the grid counts."""
    timeline = joined.timeline
    shape = timeline.shape(timeline.kernels.shape[row])
    call = joined.call[row]
    name = None
    if call != NONE:
        name = timeline.names.values_[timeline.calls.name[call]]
        if not shape.grid and joined.call_by[row] != Found.GRAPH:
            shape = timeline.shape(timeline.calls.shape[call])
    return shape, grid_unit(timeline, shape, name)


def runtime_call(joined: Joined, row: int, frame: int | None, origin_us: float) -> RuntimeCall:
    """The runtime call of a kernel that has one; `frame` is the record's id of the innermost frame around it."""
    timeline, calls = joined.timeline, joined.timeline.calls
    call = joined.call[row]
    thread = timeline.threads.values_[calls.thread[call]][1]
    correlation = calls.correlation[call]
    external = calls.external[call]
    reason = _why_inferred(joined, row)
    return RuntimeCall(
        name=timeline.names.values_[calls.name[call]],
        start_ns=nanoseconds(calls.start_us[call], origin_us),
        duration_us=calls.duration_us[call],
        thread=thread if isinstance(thread, int) else 0,
        correlation=stated_id(correlation),
        external_id=stated_id(external),
        frame=frame,
        evidence=Evidence.INFERRED if reason else Evidence.OBSERVED,
        reason=reason,
    )


def _why_inferred(joined: Joined, row: int) -> str | None:
    """Why a kernel's link to its runtime call is only inferred; None when an id of its own states it."""
    if row in joined.shared_graphs:
        return BY_SHARED_GRAPH_ID
    return BY_SHARED_ID if joined.call_by[row] == Found.SHARED_ID else None


def launch(
    joined: Joined,
    row: int,
    *,
    id_: int,
    origin_us: float,
    frame: int | None,
    cpu_op: int | None,
    call_frame: int | None,
    frame_evidence: Evidence | None = None,
    frame_reason: str | None = None,
    captured: tuple[Joined, int] | None = None,
) -> Launch:
    """One kernel of the timeline as a Launch.

    Args:
        joined: the timeline with its links.
        row: the kernel.
        id_: the launch's id in the record.
        origin_us: time 0 of the record.
        frame: record's ids of the innermost frame of the kernel, of its operator, and of the frame around its call.
        cpu_op: see `frame`.
        call_frame: see `frame`; for a kernel of a graph, the frame that replays it.
        frame_evidence: how `frame` is known, where it is not from this trace.
        frame_reason: why it is known no better.
        captured: for a kernel of a graph, the capture's timeline and the call there that launched it.
    """
    timeline, kernels = joined.timeline, joined.timeline.kernels
    call = joined.call[row]
    shape, unit = shape_of(joined, row)
    found = Found(joined.call_by[row])
    joined_by = {}
    if captured is not None and not shape.grid:
        source, captured_call = captured
        names, calls = source.timeline.names.values_, source.timeline.calls
        shape = source.timeline.shape(calls.shape[captured_call])
        unit = grid_unit(source.timeline, shape, names[calls.name[captured_call]])
        if unit is not None:
            joined_by["grid"] = "the launch in the trace of the graph's capture"
    if found:
        stated = "correlation " + _HOW[found] if found is Found.ID else _HOW[found]
        joined_by["runtime"] = _why_inferred(joined, row) or stated
    if joined.op_by[row] and cpu_op is not None:
        joined_by["cpu_op"] = "external " + _HOW[Found(joined.op_by[row])]
        if joined.op_by[row] == Found.NESTING:
            joined_by["cpu_op"] = _HOW[Found.NESTING]
    elif captured is not None and cpu_op is not None:
        joined_by["cpu_op"] = _BY_CAPTURE
    evidence, reason = Evidence.OBSERVED, frame_reason
    if frame is not None and frame_evidence is None:
        joined_by["frame"] = "nesting of the runtime call on its thread"
        frame_evidence = Evidence.INFERRED if found is Found.SHARED_ID else Evidence.OBSERVED
        reason = BY_SHARED_ID if found is Found.SHARED_ID else None
    elif frame is not None:
        joined_by["frame"] = _BY_CAPTURE
    else:
        frame_evidence = Evidence.UNRESOLVED
        reason = reason or why_no_stack(joined, row)
    correlation = kernels.correlation[row]
    return Launch(
        id=id_,
        kernel=timeline.names.values_[kernels.name[row]],
        grid=blocks_of(shape.grid, shape.block, unit),
        grid_unit_seen=unit,
        block=shape.block if len(shape.block) == 3 else None,
        resources=resources_of(joined, row, shape),
        start_ns=nanoseconds(kernels.start_us[row], origin_us),
        duration_us=None if row in timeline.untimed else kernels.duration_us[row],
        device=kernels.device[row],
        stream=kernels.stream[row],
        correlation=stated_id(correlation),
        runtime=None if call == NONE else runtime_call(joined, row, call_frame, origin_us),
        cpu_op=cpu_op,
        frame=frame,
        graph_replay=found is Found.GRAPH,
        evidence=evidence,
        frame_evidence=frame_evidence,
        reason=reason,
        joined_by=joined_by,
        count=kernels.count[row] if len(kernels.count) else 1,
    )


def resources_of(joined: Joined, row: int, shape: LaunchShape) -> Resources:
    """What a kernel takes of the machine, where its launch has a shape."""
    return Resources(
        vgprs=shape.vgprs,
        agprs=shape.agprs,
        sgprs=shape.sgprs,
        registers=shape.registers,
        # HIP's launch calls state only what was asked for dynamically, which says nothing of the whole
        lds_bytes=kernel_shape(joined, row).lds_bytes,
        scratch_bytes=shape.scratch_bytes,
        occupancy_percent=shape.occupancy_percent,
    )


def kernel_shape(joined: Joined, row: int) -> LaunchShape:
    """What the kernel's own event states."""
    return joined.timeline.shape(joined.timeline.kernels.shape[row])


def why_no_stack(joined: Joined, row: int) -> str | None:
    """Why a kernel has no Python stack of its own; None when it has one."""
    timeline = joined.timeline
    if joined.frame[row] != NONE:
        return None
    if not len(timeline.calls):
        return "the trace holds no runtime calls"
    if joined.call[row] == NONE:
        return "its runtime call is not in the trace: launched before the trace began, or not recorded"
    call = timeline.names.values_[timeline.calls.name[joined.call[row]]]
    if joined.call_by[row] == Found.GRAPH:
        return (
            f"{call} replayed it as part of a graph; the stack that led to it stands in the trace of the graph's "
            "capture (--capture-trace)"
        )
    if not timeline.events.get("python_function"):
        return "the trace holds no Python functions (with_stack was off)"
    return f"no Python function of the trace is open around {call} on its thread"
