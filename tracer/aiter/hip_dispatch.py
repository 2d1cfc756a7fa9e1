"""Kernels that aiter's own `.cu` files launch themselves: a call in, the `__global__` function or code object out.

The host function is walked in its text with the recorded arguments, so conditions, macros and the launch configuration
are those of the file at hand. Assembly kernels are chosen from the tables under `hsa/`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tracer.aiter import text
from tracer.aiter.asm_configs import AsmConfigs, asm_configs
from tracer.aiter.binding import find_binding, recipe
from tracer.aiter.call_values import call_values
from tracer.aiter.cpp_eval import Walk
from tracer.aiter.cpp_events import KernelLaunch, Refused, Undecided
from tracer.aiter.cpp_launches import split_types
from tracer.aiter.hops import binding_hops, code_object_hops, dispatch_hops
from tracer.aiter.host_names import host_functions, host_names
from tracer.aiter.tree import AiterTree
from tracer.model.capture import BoundaryCall
from tracer.model.environment import Target
from tracer.model.evidence import Evidence
from tracer.model.source import Dispatch, FlowStep, Hop, Layer

#: modules of which a walk that stops is an answer; of others only one that reaches a launch or is refused
HIP_MODULES = frozenset({
    "module_quant", "module_gemm_a8w8_asm", "module_gemm_a16w16_asm", "module_gemm_a4w4_asm", "module_moe_asm",
    "module_moe_fmoe_asm", "module_gemm_a8w8_blockscale_asm", "module_gemm_mi350_a8w8_blockscale_asm",
    "module_f4gemm_asm", "module_mxfp8fp4gemm_asm", "module_gemm_a8w8_blockscale_bpreshuffle_asm",
    "module_attention_asm", "module_mla_asm",
})  # fmt: skip
_QUANT = "module_quant"
_TYPE_PARAMETER = re.compile(r"(?:typename|class)\b")
#: a template argument that is known: a type by its own name, a constant by its value
_KNOWN_TYPE = re.compile(r"[\w:]*::.*|b?float\w*|half|double|bool|(?:u?int|size_t|char|fp|bf)\w*|__\w+|void", re.DOTALL)
_KNOWN_CONSTANT = re.compile(r"-?\d\w*|[Tt]rue|[Ff]alse")

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


def resolve_hip(
    tree: AiterTree, boundary: BoundaryCall, target: Target, environment: Mapping[str, str]
) -> Dispatch | None:
    """What a host function launches; None when the module does not bind the function, or nothing was established.

    Raises:
        SourceTreeError: a file of the tree can't be read.
    """
    binding = find_binding(tree, boundary.module, boundary.function)
    how = recipe(tree, boundary.module)
    if binding is None or binding.function is None or how is None:
        return None
    file = binding.function[0]
    configs = asm_configs(tree, how, target.arch or "")
    walk = Walk(
        tree.absolute(file),
        functions=host_functions(target, environment),
        names={**host_names(tree, target), **configs.tables},
    )
    reason, undecided, refused = None, False, False
    try:
        walk.call(binding.symbol, list(call_values(binding, boundary).values()))
    except Undecided as stop:
        undecided = True
        reason = f"{file}:{stop.line} depends on what can't be known here: {stop.text}"
    except Refused as stop:
        refused = True
        reason = f"{file}:{stop.line} refuses the call: {stop.text}"
    hops = [*binding_hops(tree, binding), *dispatch_hops(tree, binding, walk, None, reason)]
    if not walk.launches:
        if reason is None or (boundary.module not in HIP_MODULES and not refused):
            return None  # the static index knows more than this walk
        return Dispatch(
            boundary=boundary.id, hops=tuple(hops), candidates=_candidates(walk, configs) if undecided else ()
        )
    for launch in walk.launches:
        hops += _code_object(tree, launch, file, configs, target) if launch.code_object else _global(tree, launch, file)
    first = walk.launches[0]
    end = next((hop.source for hop in hops if hop.layer is Layer.KERNEL and hop.source is not None), None)
    flows = boundary.module == _QUANT and end is not None and end.line is not None
    return Dispatch(
        boundary=boundary.id,
        instance=first.kernel if first.code_object else None,
        symbols=(first.kernel,) if first.code_object else (),
        hops=tuple(hops),
        parameters=_parameters(tree, walk.launches, file),
        core_flow=_flow(tree, end.file, end.line) if flows and end and end.line else (),
        assumption=_assumption(tree, first, configs, target),
    )


def _code_object(tree: AiterTree, launch: KernelLaunch, file: str, configs: AsmConfigs, target: Target) -> list[Hop]:
    row = next((kernel for kernel in configs.kernels.values() if kernel.name == launch.kernel), None)
    folder = tree.relative(tree.hsa_root / (target.arch or ""))
    return code_object_hops(tree, launch, file, row, f"{folder}/{(launch.code_object or '').lstrip('/')}")


def _assumption(tree: AiterTree, launch: KernelLaunch, configs: AsmConfigs, target: Target) -> str | None:
    if not any(kernel.name == launch.kernel for kernel in configs.kernels.values()):
        return None
    folder = tree.relative(tree.hsa_root / (target.arch or ""))
    return f"built for {target.arch} from the tables under {folder}; its maps iterate as libstdc++'s do"


def _candidates(walk: Walk, configs: AsmConfigs) -> tuple[str, ...]:
    """Kernels of the tables that the functions entered so far name, where the walk stopped before it chose one."""
    entered = [walk.source.functions.get(event.text) for event in walk.events if event.kind == "enter"]
    body = " ".join(node.text.decode() for node in entered if node is not None and node.text is not None)
    tables = [table for name, table in configs.tables.items() if re.search(rf"\b{name}\b", body)]
    return tuple(dict.fromkeys(configs.kernels[key].name for table in tables for key in table.entries))


def _global(tree: AiterTree, launch: KernelLaunch, file: str) -> list[Hop]:
    """The hops of a kernel that is launched by `<<<>>>`."""
    place = global_function(tree, file, launch.kernel)
    source = tree.ref(file, launch.line)
    return [
        Hop(layer=Layer.LAUNCH, name=f"{launch.kernel}<<<>>>", source=source, evidence=Evidence.RESOLVED),
        Hop(
            layer=Layer.KERNEL,
            name=launch.kernel,
            source=tree.ref(*place) if place else None,
            evidence=Evidence.RESOLVED if place else Evidence.UNRESOLVED,
            reason=None if place else f"{file} defines no __global__ function {launch.kernel}",
        ),
    ]


def _parameters(tree: AiterTree, launches: Sequence[KernelLaunch], file: str) -> dict[str, Any]:
    """What is known of the first launch, and `further` ones after it."""
    first, *others = [_of_launch(tree, launch, file) for launch in launches]
    return {**first, "further": others} if others else first


def _of_launch(tree: AiterTree, launch: KernelLaunch, file: str) -> dict[str, Any]:
    known: dict[str, Any] = {"kernel": launch.kernel, "sources": {}}
    template = _template(tree, launch, file)
    if template:
        known["template"] = template
    for what, extent in (("grid", launch.grid), ("block", launch.block)):
        if extent is not None:
            known[what] = list(extent)
            known["sources"][what] = f"{file}:{launch.line}"
    return known


def _template(tree: AiterTree, launch: KernelLaunch, file: str) -> dict[str, str | None]:
    """Template parameters of a launched kernel and what they are: as the launch states them, else their defaults.

    What the compiler deduces from the launch's arguments is left out; what the launch gives and the walk does not know
    is None.
    """
    place = None if launch.code_object else global_function(tree, file, launch.kernel)
    if place is None:
        return {str(number): given for number, given in enumerate(launch.types)}
    content = text.blank_comments(text.read(tree.absolute(place[0])))
    head = "".join(content.splitlines(keepends=True)[: place[1]])
    declared = re.split(r"\btemplate\s*<", re.split(r"[};]", head)[-1])
    if len(declared) < 2:
        return {}
    known: dict[str, str | None] = {}
    parameters = split_types(declared[-1].partition("__global__")[0])
    for number, parameter in enumerate(parameters):
        named, _, default = (part.strip() for part in parameter.partition("="))
        value = launch.types[number] if number < len(launch.types) else default
        pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)", named)
        known_form = _KNOWN_TYPE if _TYPE_PARAMETER.match(named) or pointer else _KNOWN_CONSTANT
        name = pointer.group(1) if pointer else named.rpartition(" ")[2]
        if known_form.fullmatch(value):
            known[name] = value.lower() if value in ("True", "False") else value  # the walk spells them as Python does
        elif number < len(launch.types):
            known[name] = None
    return known


def global_function(tree: AiterTree, file: str, name: str) -> tuple[str, int] | None:
    """Where a `__global__` function is defined: in a file, or in a header of aiter's that it includes by name."""
    folders = dict.fromkeys((file.rpartition("/")[0], "csrc/include"))
    included = re.findall(r'^\s*#\s*include\s*"([^"]+)"', text.read(tree.absolute(file)), re.MULTILINE)
    headers = [f"{folder}/{header}" for header in included for folder in folders]
    for candidate in (file, *(header for header in headers if tree.absolute(header).is_file())):
        line = _global_function_line(tree, candidate, name)
        if line is not None:
            return candidate, line
    return None


def _global_function_line(tree: AiterTree, file: str, name: str) -> int | None:
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
