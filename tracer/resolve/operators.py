"""Where operators stand among Python frames: a record in, the operator right around each frame and launch out.

A launch, the operators and the frames around it all enclose its runtime call, so they nest: an operator stands below
the innermost frame around it and above every deeper frame on the way to the launch.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tracer.model.capture import CaptureRecord, CpuOp, Frame, Launch


class Operators(msgspec.Struct, frozen=True, kw_only=True):
    """Operators that stand at a known place among the frames of a record.

    Attributes:
        frame: id of an operator -> id of the innermost frame around it; None when it encloses the outermost frame.
            An operator comes after those around it.
        outer: id of an operator -> id of the operator around it in the same frame, or None.
        around_frame: id of a frame -> id of the innermost operator between it and its caller.
        around_launch: id of a launch -> id of the innermost operator between it and its frame.
    """

    frame: dict[int, int | None]
    outer: dict[int, int | None]
    around_frame: dict[int, int]
    around_launch: dict[int, int]


def operators_around(ops: Mapping[int, CpuOp], launch: Launch) -> list[CpuOp]:
    """The operators around a launch, outermost first; `ops` by id. Parents in a loop are followed once."""
    chain: list[CpuOp] = []
    at = launch.cpu_op
    while at is not None and at in ops and len(chain) < len(ops):
        chain.append(ops[at])
        at = ops[at].parent
    return chain[::-1]


def caller_of(frame: Frame, frames: Mapping[int, Frame]) -> int | None:
    """The id of a frame's caller; None where it is not in the record. A caller comes before what it calls."""
    parent = frame.parent
    return parent if parent is not None and parent < frame.id and parent in frames else None


def place_operators(record: CaptureRecord) -> Operators:
    """Places the operators around a record's launches among its frames.

    An operator is left out where its place is not known (no frame is known around it, or one that is not the launch's),
    and where it ran behind a boundary call: that leaves Python below every frame.
    """
    ops = {op.id: op for op in record.cpu_ops}
    frames = {frame.id: frame for frame in record.frames}
    left_python = {boundary.id: boundary.frame for boundary in record.boundaries}
    placed = Operators(frame={}, outer={}, around_frame={}, around_launch={})
    for launch in record.launches:
        stack = _stack(launch.frame, frames)
        if not stack:
            continue
        depths = {frame.id: depth for depth, frame in enumerate(stack)}
        edge = left_python.get(launch.boundary) if launch.boundary is not None else None
        innermost: dict[int, CpuOp] = {}
        for op in operators_around(ops, launch):
            depth = depths.get(op.frame) if op.frame is not None else -1 if _encloses(op, stack[0]) else None
            if depth is None or depth < max(innermost, default=-1) or (edge is not None and op.frame == edge):
                continue
            around = innermost.get(depth)
            placed.frame.setdefault(op.id, op.frame)
            placed.outer.setdefault(op.id, around.id if around else None)
            innermost[depth] = op
        for depth, op in innermost.items():
            if depth + 1 < len(stack):
                placed.around_frame.setdefault(stack[depth + 1].id, op.id)
            else:
                placed.around_launch[launch.id] = op.id
    return placed


def _stack(innermost: int | None, frames: Mapping[int, Frame]) -> list[Frame]:
    """A frame and its callers, outermost first."""
    stack: list[Frame] = []
    at = innermost
    while at is not None and at in frames:
        stack.append(frames[at])
        at = caller_of(frames[at], frames)
    return stack[::-1]


def _encloses(op: CpuOp, frame: Frame) -> bool:
    """Whether times show an operator around a frame, as those of an autograd node around a Python backward."""
    if op.start_ns is None or frame.enter_ns is None or op.start_ns > frame.enter_ns:
        return False
    if op.duration_us is None or frame.exit_ns is None:
        return True
    return op.start_ns + op.duration_us * 1000 >= frame.exit_ns
