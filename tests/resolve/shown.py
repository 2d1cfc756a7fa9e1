"""Prints a tree of shown frames as indented text, so that an expectation can be read."""

from __future__ import annotations

from collections.abc import Iterable

from tracer.model.report import FrameNode


def lines(nodes: Iterable[FrameNode], depth: int = 0) -> list[str]:
    out = []
    for node in nodes:
        pad = "  " * depth
        if node.operator is not None:
            out.append(f"{pad}{node.operator.name}  [operator]")
        elif node.frame is None:
            if node.folded:
                out.append(f"{pad}... {node.folded} ({', '.join(node.folded_by)})")
        else:
            names = " > ".join(frame.function[:40] for frame in (node.frame, *node.merged))
            out.append(f"{pad}{names}" + (f"  [{node.layer}]" if node.layer else ""))
        if node.folded:
            continue
        out += lines(node.children, depth + 1)
        inner = "  " * (depth + 1 if node.frame or node.operator else depth)
        out += [f"{inner}=> {boundary.module}.{boundary.function}" for boundary in node.boundaries]
        out += [f"{inner}=> launch {launch}" for launch in node.launches]
    return out


def show(nodes: Iterable[FrameNode]) -> str:
    return "\n".join(lines(nodes)) + "\n"
