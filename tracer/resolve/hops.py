"""The chain of one kernel: frames, operators, boundary call, the library's choice and launch in, hops out.

Hops stand outermost first, as the calls nest.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tracer.model.capture import BoundaryCall, CaptureRecord, CpuOp, Frame, Launch
from tracer.model.environment import SourceTree
from tracer.model.evidence import Evidence
from tracer.model.report import FrameNode, JitLayer
from tracer.model.source import Dispatch, Hop, Layer, TunedLookup, TunedStatus
from tracer.resolve.layers import pybind_function
from tracer.resolve.links import linked
from tracer.resolve.operators import operators_around

_LAYER_OF = {JitLayer.TORCH_OPS: Layer.REGISTERED_OP, JitLayer.BUILTIN: Layer.BINDING}


def _frame_name(frame: Frame) -> str:
    return pybind_function(frame) or frame.qualname or frame.function


#: why an operator's place in the chain is only inferred
_NO_PLACE = "no frame of the chain is known to be the innermost one around this operator"


def _spine_hops(spine: tuple[FrameNode, ...], launch: Launch | None) -> list[Hop]:
    """The hops of frames and of the operators among them."""
    evidence, reason = Evidence.OBSERVED, None
    if launch is not None and launch.frame_evidence is not None:
        evidence = launch.frame_evidence
        reason = launch.reason if evidence is not Evidence.OBSERVED else None
    hops: list[Hop] = []
    for node in spine:
        if node.operator is not None:
            hops.append(_operator_hop(node.operator, launch))
        if node.frame is None:
            continue
        layer = Layer.PYTHON if node.layer is None else _LAYER_OF.get(node.layer, Layer.JIT)
        hops += [
            Hop(layer=layer, name=_frame_name(frame), source=frame.source, evidence=evidence, reason=reason)
            for frame in (node.frame, *node.merged)
        ]
    return hops


def count_frames(spine: tuple[FrameNode, ...]) -> int:
    """How many hops the frames and operators of a spine make."""
    return sum(1 + len(node.merged) for node in spine if node.frame is not None or node.operator is not None)


def tuned_hop(tuned: TunedLookup) -> Hop:
    """The hop of a look-up in the tuned configs."""
    row = tuned.row
    if row is not None:
        from tracer.model.source import SourceRef

        name = f"{row.file}:{row.line}"
        evidence = Evidence.STATED if tuned.status is TunedStatus.EXACT else Evidence.RESOLVED
        return Hop(
            layer=Layer.TUNED_CONFIG,
            name=name,
            source=SourceRef(row.file, row.line, "aiter"),
            evidence=evidence,
            note=str(tuned.status),
        )
    reason = str(tuned.reason) if tuned.reason else None
    return Hop(layer=Layer.TUNED_CONFIG, name="miss", evidence=Evidence.RESOLVED, note="miss", reason=reason)


def boundary_hop(boundary: BoundaryCall, trees: Sequence[SourceTree] = ()) -> Hop:
    """The hop that leaves Python for a JIT-built module, with the stub that declares the function."""
    notes = [f"declared as {boundary.declared_as}"] if boundary.declared_as else []
    if boundary.built_from is not None:
        notes.append(f"built from {boundary.built_from} when it is called")
    return Hop(
        layer=Layer.JIT,
        name=f"{boundary.module}.{boundary.function}",
        source=linked(boundary.source, trees),
        evidence=boundary.evidence,
        reason=boundary.reason,
        note="; ".join(notes) or None,
    )


def _dispatch_hops(dispatch: Dispatch) -> list[Hop]:
    hops = list(dispatch.hops)
    if dispatch.tuned is not None and not any(hop.layer is Layer.TUNED_CONFIG for hop in hops):
        hops.insert(0, tuned_hop(dispatch.tuned))
    return hops


def _launch_hops(record: CaptureRecord, launch: Launch, known: set[Layer]) -> list[Hop]:
    hops = []
    call = launch.runtime
    if call is not None:
        hops.append(Hop(layer=Layer.LAUNCH, name=call.name, evidence=call.evidence, reason=call.reason))
    compiled = launch.compiled
    # of a kernel that was seen, the reason is about its frames
    reason = launch.reason if launch.evidence is not Evidence.OBSERVED else None
    if launch.instance is not None and Layer.INSTANCE not in known:
        hops.append(Hop(layer=Layer.INSTANCE, name=launch.instance, evidence=launch.evidence, reason=reason))
    if launch.kernel is not None and (Layer.KERNEL not in known or launch.evidence is Evidence.OBSERVED):
        source = linked(compiled.source, record.environment.trees) if compiled else None
        hops.append(Hop(layer=Layer.KERNEL, name=launch.kernel, source=source, evidence=launch.evidence, reason=reason))
    return hops


def build_hops(
    record: CaptureRecord,
    spine: tuple[FrameNode, ...],
    *,
    boundary: BoundaryCall | None,
    dispatch: Dispatch | None,
    launch: Launch | None,
) -> tuple[Hop, ...]:
    """The whole chain: frames and registered operators as they nest, tuned config, binding, C++, instance, kernel.

    A chain that stops before a kernel ends in a hop that is `unresolved`, with the reason.
    """
    hops = _spine_hops(spine, launch)
    behind: list[Hop] = []
    if launch is not None:
        unplaced, behind = _other_operators(record, spine, launch, boundary)
        hops += unplaced
    if boundary is not None:
        hops.append(boundary_hop(boundary, record.environment.trees))
    hops += behind
    if dispatch is not None:
        hops += _dispatch_hops(dispatch)
    if launch is not None:
        hops += _launch_hops(record, launch, {hop.layer for hop in hops})
    if not any(hop.layer in (Layer.KERNEL, Layer.INSTANCE) for hop in hops):
        hops.append(_unresolved_kernel(boundary, dispatch))
    return tuple(hops)


def _operator_hop(op: CpuOp, launch: Launch | None) -> Hop:
    evidence, reason = Evidence.OBSERVED, None
    if launch is not None and launch.graph_replay and launch.frame_evidence is not Evidence.UNRESOLVED:
        # the operators of a replayed kernel ran when its graph was captured: they are as sure as the match with that
        evidence, reason = Evidence.INFERRED, launch.reason
    return Hop(layer=Layer.REGISTERED_OP, name=op.name, evidence=evidence, reason=reason)


def _other_operators(
    record: CaptureRecord, spine: tuple[FrameNode, ...], launch: Launch, boundary: BoundaryCall | None
) -> tuple[list[Hop], list[Hop]]:
    """The operators around a launch that no node of its spine stands for.

    Returns:
        Those whose place among the frames is not known, and those behind the boundary call.
    """
    shown = {node.operator.id for node in spine if node.operator is not None}
    unplaced: list[Hop] = []
    behind: list[Hop] = []
    for op in operators_around({op.id: op for op in record.cpu_ops}, launch):
        if op.id in shown:
            continue
        hop = _operator_hop(op, launch)
        if boundary is not None and boundary.evidence is not Evidence.OBSERVED:
            unplaced.append(hop)  # the call was resolved from the innermost of them
        elif boundary is not None and op.frame is not None and op.frame == boundary.frame:
            behind.append(hop)
        elif not any(node.frame is not None for node in spine) or hop.evidence is not Evidence.OBSERVED:
            unplaced.append(hop)
        else:
            unplaced.append(msgspec.structs.replace(hop, evidence=Evidence.INFERRED, reason=_NO_PLACE))
    return unplaced, behind


def _unresolved_kernel(boundary: BoundaryCall | None, dispatch: Dispatch | None) -> Hop:
    candidates = dispatch.candidates if dispatch else ()
    unresolved = (hop for hop in dispatch.hops if hop.evidence is Evidence.UNRESOLVED) if dispatch else ()
    stops = [hop.reason for hop in unresolved if hop.reason]
    if dispatch is not None and candidates:
        reason = "the choice among the candidates depends on what cannot be known here"
    elif stops:
        reason = stops[-1]
    elif boundary is not None:
        reason = f"no dispatch rule is known for {boundary.module}.{boundary.function}"
    else:
        reason = "no launch was seen below this frame"
    return Hop(layer=Layer.KERNEL, name="?", evidence=Evidence.UNRESOLVED, reason=reason, candidates=candidates)
