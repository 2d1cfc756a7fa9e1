"""Splits the tree of shown frames into sub-flows: nodes in, one Path for each sub-flow that ends in kernels out.

A call that quantises and then multiplies has two paths; a Triton GEMM whose partial sums a second kernel adds up has
one path with two kernels; in an imported trace every launch has a path of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from tracer.model.capture import BoundaryCall
from tracer.model.report import FrameNode, JitLayer
from tracer.resolve.tree import is_host_function, leads_to_kernel

#: name under which a page counts the outermost frames of an imported path
OUTER = "outer"


class SubFlow(msgspec.Struct, frozen=True, kw_only=True):
    """A sub-flow before its kernels are reported on.

    Attributes:
        title: the function it is about.
        tree: its frames, and the operators among them.
        spines: for each end, the nodes from the sub-flow's outermost frame down to the one that makes it.
    """

    title: str
    tree: tuple[FrameNode, ...]
    spines: tuple[End, ...]


class End(msgspec.Struct, frozen=True, kw_only=True):
    """Where a sub-flow leaves Python.

    Attributes:
        spine: shown nodes from the outermost to the innermost.
        launch: id of the launch, or None for a boundary call whose kernel is not known.
        boundary: that boundary call, or None.
    """

    spine: tuple[FrameNode, ...]
    launch: int | None = None
    boundary: BoundaryCall | None = None


def _ends(nodes: Iterable[FrameNode], launched: frozenset[int], above: tuple[FrameNode, ...] = ()) -> Iterator[End]:
    """Every end below some nodes, in call order; `launched` are the boundary calls that a launch refers to."""
    for node in nodes:
        spine = (*above, node)
        for boundary in node.boundaries:
            if not is_host_function(boundary) and boundary.id not in launched:
                yield End(spine=spine, boundary=boundary)
        for launch in node.launches:
            yield End(spine=spine, launch=launch)
        yield from _ends(node.children, launched, spine)


def in_launch_order(ends: Iterable[End]) -> tuple[End, ...]:
    """Ends as the kernels would run: a frame's own launch may come after those of the frames it called before.

    Ends without a launch stay where they stand among the others.
    """
    found = tuple(ends)
    launches = sorted(end.launch for end in found if end.launch is not None)
    by_launch = {end.launch: end for end in found if end.launch is not None}
    ordered = iter(launches)
    return tuple(end if end.launch is None else by_launch[next(ordered)] for end in found)


def title_of(spine: tuple[FrameNode, ...], fallback: str) -> str:
    """The function that a sub-flow is about: the outermost one on the way that is no machinery."""
    for node in spine:
        if node.frame is not None and node.layer is None:
            return node.frame.function
    for node in spine:
        if node.boundaries:
            return node.boundaries[-1].function
        if node.operator is not None:
            return node.operator.name
    return fallback


def _is_triton_launch(node: FrameNode) -> bool:
    """Whether a node is Triton's launcher: part of the frame that calls it, not a sub-flow of its own."""
    return node.layer is JitLayer.TRITON_JIT


def _makes_kernel(node: FrameNode) -> bool:
    """Whether a node launches by itself, or calls an operator that does so without further Python."""
    return (
        bool(node.launches)
        or any(not is_host_function(boundary) for boundary in node.boundaries)
        or any(child.operator is not None and _makes_kernel(child) for child in node.children)
    )


def _common_entry(nodes: tuple[FrameNode, ...]) -> tuple[tuple[FrameNode, ...], tuple[FrameNode, ...]]:
    """Walks down while one frame holds everything; returns the frames passed and the nodes at which sub-flows part."""
    entry: list[FrameNode] = []
    here = nodes
    while True:
        bearing = [node for node in here if leads_to_kernel(node)]
        if len(bearing) != 1:
            break
        (node,) = bearing
        inner = [child for child in node.children if leads_to_kernel(child)]
        if _makes_kernel(node) or not inner or any(_is_triton_launch(child) for child in inner):
            break
        entry.append(node)
        here = node.children
    if len([node for node in here if leads_to_kernel(node)]) < 2:
        return (), nodes
    return tuple(entry), here


def split(nodes: tuple[FrameNode, ...], launched: frozenset[int]) -> tuple[tuple[FrameNode, ...], tuple[SubFlow, ...]]:
    """Splits shown nodes into sub-flows.

    Args:
        nodes: the outermost shown nodes.
        launched: ids of the boundary calls that a launch refers to.

    Returns:
        The frames that all sub-flows share (without their calls), outermost first; and the sub-flows.
    """
    entry, level = _common_entry(nodes)
    flows: list[SubFlow] = []
    lead_in: list[FrameNode] = []
    for node in level:
        lead_in.append(node)
        if not leads_to_kernel(node):
            continue
        ends = in_launch_order(_ends((node,), launched))
        if ends:
            flows.append(SubFlow(title=title_of(ends[0].spine, "?"), tree=tuple(lead_in), spines=ends))
            lead_in = []
    if lead_in and flows:
        last = flows[-1]
        flows[-1] = msgspec.structs.replace(last, tree=(*last.tree, *lead_in))
    shared = tuple(msgspec.structs.replace(node, children=()) for node in entry)
    return shared, tuple(flows)


#: frames of an imported path's own Python that are shown above its innermost layers; the rest are outer callers
SHOWN_CALLERS = 6


def _outer(spine: tuple[FrameNode, ...]) -> tuple[tuple[FrameNode, ...], tuple[FrameNode, ...]]:
    """Parts a spine into outer callers and what is shown."""
    plain = [i for i, node in enumerate(spine) if node.frame is not None and node.layer is None]
    if len(plain) <= SHOWN_CALLERS + 1:
        return (), spine
    cut = plain[-SHOWN_CALLERS]
    return spine[:cut], spine[cut:]


def _stand_in(outer: tuple[FrameNode, ...]) -> tuple[FrameNode, ...]:
    """One line for the outer callers, which are its calls, each without its own."""
    callers = tuple(msgspec.structs.replace(node, children=(), boundaries=(), launches=()) for node in outer)
    count = sum(1 + len(node.merged) for node in callers)
    return (FrameNode(frame=None, children=callers, folded=count, folded_by=(OUTER,)),) if callers else ()


def one_path_a_launch(nodes: tuple[FrameNode, ...], launched: frozenset[int]) -> tuple[SubFlow, ...]:
    """A sub-flow for every end, each showing only the innermost frames on the way to it, outer callers as one line."""
    flows = []
    for end in _ends(nodes, launched):
        tree: tuple[FrameNode, ...] = ()
        outer, shown = _outer(end.spine)
        for depth, node in enumerate(reversed(shown)):
            boundaries = node.boundaries if depth == 0 else ()
            launches = (end.launch,) if depth == 0 and end.launch is not None else ()
            tree = (msgspec.structs.replace(node, children=tree, boundaries=boundaries, launches=launches),)
        flows.append(
            SubFlow(title=title_of(tuple(reversed(end.spine)), "?"), tree=(*_stand_in(outer), *tree), spines=(end,))
        )
    return tuple(flows)
