"""Kernels that aiter's own `.cu` files launch by `<<<>>>`: a call in, the `__global__` function, grid and block out.

The host function is walked in its text with the recorded arguments, so conditions, macros and the launch configuration
are those of the file at hand.
"""

from __future__ import annotations

import re
from typing import Any

from tracer.aiter import text
from tracer.aiter.binding import find_binding
from tracer.aiter.call_values import call_values
from tracer.aiter.cpp_eval import Walk
from tracer.aiter.cpp_events import KernelLaunch, Refused, Undecided
from tracer.aiter.cpp_values import DType
from tracer.aiter.hops import binding_hops, dispatch_hops
from tracer.aiter.lookups import fp8_dtype
from tracer.aiter.tree import AiterTree
from tracer.model.capture import BoundaryCall, Target
from tracer.model.evidence import Evidence
from tracer.model.source import Dispatch, FlowStep, Hop, Layer

HIP_MODULES = frozenset({"module_quant"})

#: (kind, sentence, expression), in the order in which they stand in a quantising kernel
_QUANT_FLOW = (
    ("map", "The thread finds the group of elements that it shares a scale with.", r"\bgroupId\s*=|token_idx\s*="),
    ("load", "It reads its elements of the input as one vector.", r"\bthread_data\s*=|data_to_per_row_scale\s*<"),
    ("reduce", "It takes the largest absolute value among them,", r"absMax\s*=\s*max\("),
    ("reduce", "and then across the threads of the group.", r"multithread_reduce\(|block_reduce\w*[<(]"),
    ("scale", "The scale is that maximum over the largest value of the output type.",
     r"\binverted_scale\s*=|\brow_scale\s*="),
    ("store", "One thread of the group writes the scale.", r"\bscale\[\w+\]\s*=|\bscales?\[token_idx\]\s*="),
    ("convert", "The elements are multiplied by the inverse scale and converted,",
     r"vec_convert<|scaled_quant_vgpr_impl\s*<|scaled_quant_impl\s*<"),
    ("store", "and written as vectors.", r"buffer_o\.template set\("),
)  # fmt: skip


def resolve_hip(tree: AiterTree, boundary: BoundaryCall, target: Target) -> Dispatch | None:
    """What a host function launches; None when the module does not bind the function.

    Raises:
        SourceTreeError: a file of the tree can't be read.
    """
    binding = find_binding(tree, boundary.module, boundary.function)
    if binding is None or binding.function is None:
        return None
    file = binding.function[0]
    fp8 = (fp8_dtype(tree, target.arch or "") or "").removeprefix("torch.")
    walk = Walk(tree.absolute(file), names={"torch_fp8": DType(fp8), "torch_fp4x2": DType("float4_e2m1fn_x2")})
    reason = None
    try:
        walk.call(binding.symbol, list(call_values(binding, boundary).values()))
    except Undecided as stop:
        reason = f"{file}:{stop.line} depends on what can't be known here: {stop.text}"
    except Refused as stop:
        reason = f"{file}:{stop.line} refuses the call: {stop.text}"
    hops = [*binding_hops(tree, binding), *dispatch_hops(tree, binding, walk, None, reason)]
    if not walk.launches:
        if reason is None:
            hops.append(
                Hop(layer=Layer.LAUNCH, name="?", evidence=Evidence.UNRESOLVED, reason=f"no launch was found in {file}")
            )
        return Dispatch(boundary=boundary.id, hops=tuple(hops))
    launch = walk.launches[-1]
    line = global_function_line(tree, file, launch.kernel)
    source = tree.ref(file, launch.line)
    hops.append(Hop(layer=Layer.LAUNCH, name=f"{launch.kernel}<<<>>>", source=source, evidence=Evidence.RESOLVED))
    hops.append(
        Hop(
            layer=Layer.KERNEL,
            name=launch.kernel,
            source=tree.ref(file, line) if line else None,
            evidence=Evidence.RESOLVED if line else Evidence.UNRESOLVED,
            reason=None if line else f"{file} defines no __global__ function {launch.kernel}",
        )
    )
    return Dispatch(
        boundary=boundary.id,
        hops=tuple(hops),
        parameters=_parameters(launch, file),
        core_flow=_flow(tree, file, line) if line else (),
    )


def _parameters(launch: KernelLaunch, file: str) -> dict[str, Any]:
    known: dict[str, Any] = {"kernel": launch.kernel, "sources": {}}
    if launch.types:
        known["template"] = list(launch.types)
    for what, extent in (("grid", launch.grid), ("block", launch.block)):
        if extent is not None:
            known[what] = list(extent)
            known["sources"][what] = f"{file}:{launch.line}"
    return known


def global_function_line(tree: AiterTree, file: str, name: str) -> int | None:
    """The line of a `__global__` function's name in a file; None when the file defines none."""
    content = text.blank_comments(text.read(tree.absolute(file)))
    for found in re.finditer(rf"\b{re.escape(name)}\s*\(", content):
        before = content[max(0, found.start() - 400) : found.start()]
        if "__global__" in re.split(r"[};]", before)[-1]:
            return content.count("\n", 0, found.start()) + 1
    return None


def _flow(tree: AiterTree, file: str, line: int) -> tuple[FlowStep, ...]:
    """The steps of a quantising kernel that are found between its braces, in the order in which they stand."""
    path = tree.absolute(file)
    end = text.block_end(path, line) or line
    lines = text.blank_comments(text.read(path)).splitlines()
    steps: list[tuple[int, FlowStep]] = []
    at = line
    for kind, sentence, pattern in _QUANT_FLOW:
        found = next((n for n in range(at, end + 1) if re.search(pattern, lines[n - 1])), None)
        if found is not None:
            steps.append((found, FlowStep(kind, sentence, tree.ref(file, found), shared=True)))
            at = found + 1
    return tuple(step for _, step in steps)
