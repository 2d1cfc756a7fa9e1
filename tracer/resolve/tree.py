"""The tree that a page shows: a record's frames and operators in, shown nodes out, hidden frames folded and counted.

A hidden frame's shown calls take its place; a frame that leads to no kernel is shown without its own calls;
neighbouring frames of one JIT layer share a line.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from tracer.model.capture import BoundaryCall, CaptureRecord, CpuOp, Frame
from tracer.model.report import FrameNode, JitLayer
from tracer.resolve.filters import NO_KERNEL, hidden_by, left_out
from tracer.resolve.layers import recognise
from tracer.resolve.links import linked
from tracer.resolve.operators import Operators, caller_of, place_operators

#: at most this many calls that lead to no kernel are shown in one frame
SHOWN_SIDE_CALLS = 6

#: layers that torch's dispatcher weaves together; a profiler names its C++ side as built-in functions
_GUARD = frozenset({JitLayer.TORCH_GUARD, JitLayer.TORCH_OPS, JitLayer.BUILTIN})


#: orders the nodes in a frame: id of a frame; 1 for an operator that comes after it, then the operator's id
_Key = tuple[int, int, int]


class _Part:
    """What a frame, hidden or shown, or an operator contributes to what it stands in."""

    __slots__ = ("boundaries", "folded", "launches", "nodes")

    def __init__(self) -> None:
        self.nodes: list[tuple[_Key, FrameNode]] = []
        self.boundaries: list[BoundaryCall] = []
        self.launches: list[int] = []
        self.folded: Counter[str] = Counter()


def is_host_function(boundary: BoundaryCall) -> bool:
    """Whether a boundary call only computed something on the CPU, so that no kernel stands behind it."""
    return boundary.answered == "true"


def leads_to_kernel(node: FrameNode) -> bool:
    """Whether a launch, or a boundary call with a kernel behind it, stands in or below a node."""
    return (
        bool(node.launches)
        or any(not is_host_function(b) for b in node.boundaries)
        or any(leads_to_kernel(child) for child in node.children)
    )


def _leads_anywhere(node: FrameNode) -> bool:
    return bool(node.launches or node.boundaries) or any(_leads_anywhere(c) for c in node.children)


def _size(node: FrameNode) -> int:
    """Frames in a node and below it, folded ones included."""
    own = (1 if node.frame else 0) + len(node.merged) + node.folded
    return own + sum(_size(child) for child in node.children)


def _stand_in(folded: Counter[str]) -> tuple[FrameNode, ...]:
    names = tuple(name for name, _ in folded.most_common())
    return (FrameNode(frame=None, folded=folded.total(), folded_by=names),) if folded else ()


def _is_stand_in(node: FrameNode) -> bool:
    return node.frame is None and node.operator is None


def _same_line(a: FrameNode, b: FrameNode) -> bool:
    return a.layer is not None and (a.layer == b.layer or {a.layer, b.layer} <= _GUARD)


def _strongest(a: JitLayer | None, b: JitLayer | None) -> JitLayer | None:
    """The layer that names a line on which two stand."""
    for layer in (JitLayer.TORCH_GUARD, JitLayer.TORCH_OPS):
        if layer in (a, b):
            return layer
    return a


def _merge(node: FrameNode) -> FrameNode:
    """Puts a node and its only call on one line when both belong to one layer; an operator between them parts them."""
    if node.boundaries or node.launches:
        return node
    calls = [child for child in node.children if not _is_stand_in(child)]
    aside = [child for child in node.children if _is_stand_in(child)]
    if len(calls) != 1 or not _same_line(node, calls[0]):
        return node
    (inner,) = calls
    folded: Counter[str] = Counter()
    for stand_in in [*aside, *(c for c in inner.children if _is_stand_in(c))]:
        folded.update(dict.fromkeys(stand_in.folded_by, 0))
        folded[stand_in.folded_by[0]] += stand_in.folded
    assert inner.frame is not None
    return msgspec.structs.replace(
        inner,
        frame=node.frame,
        layer=_strongest(node.layer, inner.layer),
        merged=(*node.merged, inner.frame, *inner.merged),
        children=(*(c for c in inner.children if not _is_stand_in(c)), *_stand_in(+folded)),
    )


def _children(part: _Part) -> tuple[FrameNode, ...]:
    """The shown calls of a shown frame or an operator, what is not shown of them folded."""
    folded = part.folded
    children: list[FrameNode] = []
    side_calls = 0
    for _, child in sorted(part.nodes, key=lambda pair: pair[0]):
        if _leads_anywhere(child):
            children.append(child)
            continue
        side_calls += 1
        shown = side_calls <= SHOWN_SIDE_CALLS and child.layer in (None, JitLayer.GET_MODULE)
        below = _size(child) - (1 if shown else 0)
        if below:
            folded[NO_KERNEL] += below
        if shown:
            children.append(msgspec.structs.replace(child, children=(), merged=()))
    return (*children, *_stand_in(folded))


def _node(frame: Frame, part: _Part) -> FrameNode:
    """The node of a shown frame."""
    return _merge(
        FrameNode(
            frame=frame,
            children=_children(part),
            boundaries=tuple(part.boundaries),
            launches=tuple(part.launches),
            layer=recognise(frame),
        )
    )


def _part_of(frame: int | None, parts: dict[int, _Part], root: _Part) -> _Part:
    """The part of a frame; the root's for a frame that is not in the record."""
    return root if frame is None else parts.get(frame, root)


class _Nesting:
    """What stands in each operator, until the frame that the operator stands in is built."""

    def __init__(self, record: CaptureRecord, frames: dict[int, Frame]) -> None:
        self._placed: Operators = place_operators(record)
        self._frames = frames
        self._ops: dict[int, CpuOp] = {op.id: op for op in record.cpu_ops if op.id in self._placed.frame}
        self._parts = {op_id: _Part() for op_id in self._placed.frame}
        self._in_frame: dict[int | None, list[int]] = {}
        for op_id, frame_id in self._placed.frame.items():
            self._in_frame.setdefault(frame_id, []).append(op_id)

    def around_launch(self, launch: int) -> _Part | None:
        """The part of the operator between a launch and its frame."""
        op = self._placed.around_launch.get(launch)
        return None if op is None else self._parts[op]

    def around_frame(self, frame: int) -> _Part | None:
        """The part of the operator between a frame and its caller."""
        op = self._placed.around_frame.get(frame)
        return None if op is None else self._parts[op]

    def close(self, frame: int | None, part: _Part) -> None:
        """Puts the operators that stand directly in a frame into its part, inner ones into outer ones."""
        for op_id in reversed(self._in_frame.get(frame, [])):
            own, outer_id = self._parts[op_id], self._placed.outer[op_id]
            node = FrameNode(
                frame=None,
                operator=self._ops[op_id],
                children=_children(own),
                boundaries=tuple(own.boundaries),
                launches=tuple(own.launches),
            )
            outer = part if outer_id is None else self._parts[outer_id]
            outer.nodes.append((self._key(self._ops[op_id], own, part, frame), node))

    def _key(self, op: CpuOp, own: _Part, around: _Part, frame: int | None) -> _Key:
        """Where an operator stands among the calls of its frame: as the first frame in it, else by time, else last.

        No earlier than the frame itself: what a hidden frame calls stands among the calls of the one around it.
        """
        if own.nodes:
            return min(key for key, _ in own.nodes)
        before = [key[0] for key, _ in around.nodes if not self._after(key[0], op)]
        return (max(before, default=-1 if frame is None else frame), 1, op.id)

    def _after(self, frame: int, op: CpuOp) -> bool:
        entered = self._frames[frame].enter_ns if frame in self._frames else None
        return entered is not None and op.start_ns is not None and entered > op.start_ns


def build_tree(record: CaptureRecord) -> tuple[tuple[FrameNode, ...], tuple[int, ...]]:
    """Builds the tree of shown frames, with the operators around launches where these stand among the frames.

    Returns:
        The outermost shown nodes in call order, and the ids of launches that stand under no shown frame.
    """
    by_id = {frame.id: frame for frame in record.frames}
    parts = {frame_id: _Part() for frame_id in by_id}
    root = _Part()
    operators = _Nesting(record, by_id)
    for boundary in record.boundaries:
        declared = linked(boundary.source, record.environment.trees)
        call = boundary if declared is boundary.source else msgspec.structs.replace(boundary, source=declared)
        _part_of(boundary.frame, parts, root).boundaries.append(call)
    for launch in record.launches:
        op_part = operators.around_launch(launch.id)
        (op_part or _part_of(launch.frame, parts, root)).launches.append(launch.id)

    # callers have smaller ids than what they call, so one pass from the last frame to the first needs no recursion
    for frame_id in sorted(by_id, reverse=True):
        frame, part = by_id[frame_id], parts[frame_id]
        part.folded.update(left_out(frame))
        operators.close(frame_id, part)
        outer = operators.around_frame(frame_id) or _part_of(caller_of(frame, by_id), parts, root)
        hider = hidden_by(frame)
        if hider is None:
            source = linked(frame.source, record.environment.trees)
            shown = msgspec.structs.replace(frame, source=source) if source is not frame.source else frame
            outer.nodes.append(((frame_id, 0, 0), _node(shown, part)))
            continue
        outer.nodes.extend(part.nodes)
        outer.boundaries.extend(part.boundaries)
        outer.launches.extend(part.launches)
        outer.folded.update(part.folded)
        outer.folded[hider] += 1
    operators.close(None, root)
    nodes = tuple(node for _, node in sorted(root.nodes, key=lambda pair: pair[0]))
    if root.boundaries:
        nodes = (*nodes, FrameNode(frame=None, boundaries=tuple(root.boundaries)))
    return nodes, tuple(sorted(root.launches))
