"""The choice of a kernel in aiter's two-stage CK MoE: a call of `ck_moe_stage1` or `2` in, instance and hops out.

Python passes the kernel's name from the tuned CSV, or none; then C++ that the generator wrote chooses by block size.
The host function is walked in aiter's text, the heuristic in the generated one, whose lines are led back to templates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tracer.aiter import ck, text
from tracer.aiter.binding import find_binding
from tracer.aiter.call_values import call_values
from tracer.aiter.ck_flow import core_flow
from tracer.aiter.ck_launch import Problem, k_steps, launch_parameters
from tracer.aiter.cpp_eval import Walk
from tracer.aiter.cpp_events import Event, Refused, Undecided
from tracer.aiter.cpp_values import DType, InstanceRef, Unknown
from tracer.aiter.hops import binding_hops, dispatch_hops, instance_hop, kernel_hops, tuned_hop
from tracer.aiter.host_names import host_functions, host_names
from tracer.aiter.moe_generated import GENERATOR, MODULE, TABLES, Generated, generated, module_of
from tracer.aiter.moe_stage import moe_tuned
from tracer.aiter.tree import AiterTree
from tracer.model.capture import BoundaryCall
from tracer.model.environment import Target
from tracer.model.evidence import Evidence
from tracer.model.source import Dispatch, Hop, Instantiation, Layer

#: element types of CK by aiter's short names, in torch's spelling (gemm_moe_ck2stages.h; packed int4 is kept as uint32)
_TYPES = {"F16": "float16", "B16": "bfloat16", "F32": "float32", "I8": "int8", "I32": "int32", "I4": "uint32"}
_SORTED = re.compile(r"tokens,\s*topk,\s*sorted_size,\s*N,\s*K,")


def resolve_moe(
    tree: AiterTree, boundary: BoundaryCall, target: Target, environment: Mapping[str, str]
) -> Dispatch | None:
    """What a stage launches; None when the module's name says nothing of how it was built.

    Raises:
        SourceTreeError: a file of the tree can't be read.
    """
    module = module_of(boundary.module)
    binding = find_binding(tree, MODULE, boundary.function)
    if module is None or binding is None or binding.function is None:
        return None
    written = generated(tree, module, target.arch or "")
    names = host_names(tree, target)
    inner: list[Walk] = []
    walk = Walk(
        tree.absolute(binding.function[0]),
        find=lambda key: _find(written, key),
        functions={
            **host_functions(target, environment),
            **{f"moe_stage{stage}_heuristic_dispatch": _heuristic(written, stage, names, inner) for stage in (1, 2)},
        },
        names=names,
    )
    file, reason, undecided = binding.function[0], None, False
    values = call_values(binding, boundary)
    try:
        walk.call(binding.symbol, list(values.values()))
    except Undecided as stop:
        undecided = True
        reason = f"{_place(written, inner, file, stop.line)} depends on what can't be known here: {stop.text}"
    except Refused as stop:
        reason = f"{_place(written, inner, file, stop.line)} refuses the call: {stop.text}"
    tuned = moe_tuned(tree, values, target, environment)
    hops = [*binding_hops(tree, binding), *([tuned_hop(tree, tuned)] if tuned is not None else [])]
    hops += dispatch_hops(tree, binding, walk, None, reason)
    hops[-1 if reason else len(hops) :] = [*_heuristic_hops(tree, written, inner), *(hops[-1:] if reason else [])]
    answer = Dispatch(
        boundary=boundary.id,
        tuned=tuned,
        hops=tuple(hops),
        assumption=f"{boundary.module} is built from this tree for {target.arch}",
        candidates=tuple(written.lookup) if undecided else (),
    )
    return _with_instance(tree, answer, walk, written, boundary.module) if walk.chosen else answer


def _find(written: Generated, key: tuple[Any, ...]) -> InstanceRef | None:
    """The look-up by name, which gives the kernel's function with its template arguments."""
    template = written.lookup.get(key[0]) if key and isinstance(key[0], str) else None
    return _instance_ref(template, 0, from_table=True) if template is not None else None


def _instance_ref(template: str, line: int, *, from_table: bool) -> InstanceRef:
    function, _, types = template.partition("<")
    return InstanceRef(function, tuple(types.rstrip(">").split(", ")), line, from_table=from_table)


def _heuristic(written: Generated, stage: int, names: Mapping[str, Any], inner: list[Walk]) -> Any:
    """The generated function of a stage, walked in its own text."""

    def is_type(name: str) -> Any:
        known = names["torch_fp8"] if name == "F8" else names["torch_fp4x2"] if name == "FP4X2" else None
        wanted = known if known is not None else DType(_TYPES.get(name, name))
        return lambda given: given == wanted if isinstance(given, DType) else Unknown(f"is {name}")

    def call(*arguments: Any) -> Any:
        source = written.heuristics[stage]
        checks = {f"is_{name}": is_type(name) for name in (*_TYPES, "F8", "FP4X2")}
        walk = Walk(source, functions=checks, names=names)
        inner.append(walk)
        return walk.call(f"moe_stage{stage}_heuristic_dispatch", list(arguments))

    return call


def _place(written: Generated, inner: list[Walk], file: str, line: int) -> str:
    """Where a walk stopped: in the generator's template when it had entered the generated function."""
    if not inner:
        return f"{file}:{line}"
    return f"{GENERATOR}:{_line(written, inner[-1], line)}"


def _line(written: Generated, walk: Walk, line: int) -> int | str:
    stage = next((s for s, source in written.heuristics.items() if source is walk.source), 0)
    return written.lines.get(stage, {}).get(line, f"(generated line {line})")


def _heuristic_hops(tree: AiterTree, written: Generated, inner: list[Walk]) -> list[Hop]:
    """The generated function, cited by the template line of the return (or of the last condition)."""
    hops = []
    for walk in inner:
        last: Event | None = next((e for e in reversed(walk.events) if e.kind in ("return", "condition")), None)
        line = _line(written, walk, last.line) if last is not None else None
        held = [e.text for e in walk.events if e.kind == "condition" and e.outcome]
        hops.append(
            Hop(
                layer=Layer.DISPATCH,
                name=next(e.text for e in walk.events if e.kind == "enter"),
                source=tree.ref(GENERATOR, line if isinstance(line, int) else None),
                evidence=Evidence.RESOLVED,
                note="written when the module is built" + (f"; {held[-1]} holds" if held else ""),
            )
        )
    return hops


def _with_instance(tree: AiterTree, answer: Dispatch, walk: Walk, written: Generated, module: str) -> Dispatch:
    chosen, passed = walk.chosen[-1]
    name = written.named(f"{chosen.name}<{', '.join(chosen.types)}>")
    instance = written.instances.get(name or "")
    ref = InstanceRef(name or chosen.name, chosen.types, chosen.line, from_table=chosen.from_table)
    hops = [*answer.hops, instance_hop(tree, ref, instance, TABLES)]
    if name is None or instance is None:
        # the heuristic names a template that the module does not instantiate: loading it fails
        return msgspec.structs.replace(answer, hops=tuple(hops))
    places = ck.places_of_function(tree, written.headers[name], chosen.name, instance.values.get("pipeline_version"))
    values = {**instance.values, "nswizzle": instance.fields.get("Nswizzle")}
    problem = _problem(tree, written.headers[name], passed)
    return msgspec.structs.replace(
        answer,
        instance=name,
        instantiation=_instantiation(module, problem),
        hops=(*hops, *kernel_hops(tree, places)),
        not_in_name=instance.not_in_name(),
        core_flow=core_flow(tree, places, k_steps(values, problem) if problem is not None else None),
        parameters=launch_parameters(tree, places, values, problem) if problem is not None else {},
    )


def _instantiation(module: str, problem: Problem | None) -> Instantiation | None:
    """What selects a kernel: the module's words, and the extents; a K that is split is split by the stage itself."""
    if problem is None or module.endswith("_splitk"):
        return None
    return Instantiation(types=(module.removeprefix(f"{MODULE}_"),), m=problem.m, n=problem.n, k=problem.k)


def _problem(tree: AiterTree, header: str, passed: tuple[Any, ...]) -> Problem | None:
    """M is the padded number of sorted tokens: the function's third argument, which it passes to CK as M."""
    sizes = passed[2:5]
    if len(sizes) < 3 or not all(isinstance(size, int) for size in sizes):
        return None
    if _SORTED.search(text.read(tree.absolute(header))) is None:
        return None
    return Problem(m=sizes[0], n=sizes[1], k=sizes[2])
