"""The choice among generated CK instances: a call of a family's JIT module in, the instance and every hop to it out.

aiter's own C++ function is walked in its text with the recorded arguments; its look-up table is the one that the
generator would bake on the target from the merged CSVs. Both are read from the tree at hand, so each hop cites a line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tracer.aiter import ck, text
from tracer.aiter.baked import BakedTable, bake, bake_rule
from tracer.aiter.binding import Recipe, find_binding, recipe
from tracer.aiter.call_values import call_values
from tracer.aiter.ck_flow import core_flow
from tracer.aiter.ck_launch import Problem, ceil_div, k_steps, launch_parameters
from tracer.aiter.ck_refusal import refusal, refusal_hop
from tracer.aiter.ck_tile import tile_places
from tracer.aiter.compiled import compiled_in
from tracer.aiter.configs import MergedConfig, merge, require
from tracer.aiter.cpp_eval import Walk
from tracer.aiter.cpp_events import Refused, Undecided
from tracer.aiter.cpp_values import InstanceRef, Tensor
from tracer.aiter.families import CkFamily
from tracer.aiter.hops import binding_hops, dispatch_hops, instance_hop, kernel_hops, tuned_hop
from tracer.aiter.host_names import host_functions, host_names
from tracer.aiter.instances import Instance, InstanceTable, instance_table
from tracer.aiter.lookups import defaults, lookup_rule
from tracer.aiter.padding import get_padded_m
from tracer.aiter.tree import AiterTree
from tracer.aiter.tuned import Steps, look_up, lookup
from tracer.model.capture import BoundaryCall
from tracer.model.environment import Target
from tracer.model.source import Dispatch, Instantiation, TunedLookup, TunedStatus

#: arguments that some families' C++ takes another kernel without
_SCALES = {"x_scale", "w_scale"}


class _Module(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a family's module before any call."""

    family: CkFamily
    how: Recipe
    table: InstanceTable
    merged: MergedConfig | None
    baked: BakedTable | None


def resolve_ck(
    tree: AiterTree, family: CkFamily, boundary: BoundaryCall, target: Target, environment: Mapping[str, str]
) -> Dispatch | None:
    """What the family's C++ chooses for a call; None when the function is not bound by this module.

    Raises:
        SourceTreeError: a file of the tree can't be read.
    """
    binding = find_binding(tree, family.module, boundary.function)
    if binding is None or binding.function is None:
        return None
    module = _module(tree, family, target, environment)
    if module is None:
        return None
    values = call_values(binding, boundary)
    walk = Walk(
        tree.absolute(binding.function[0]),
        find=lambda key: _find(module.baked, key),
        functions=host_functions(target, environment),
        names=host_names(tree, target),
    )
    reason: str | None = None
    try:
        walk.call(binding.symbol, list(values.values()))
    except Undecided as stop:
        reason = f"{binding.function[0]}:{stop.line} depends on what can't be known here: {stop.text}"
    except Refused as stop:
        reason = f"{binding.function[0]}:{stop.line} refuses the call: {stop.text}"
    chosen = walk.chosen[-1] if walk.chosen else None
    failures = module.baked.failures if module.baked is not None else ()
    if failures:  # the generator raises, so there is no module to call
        row, why = failures[0]
        reason, chosen = f"{family.module} does not build: {row.file}:{row.line}: {why}", None
    problem = _problem(family, values, _splits(tree, module, chosen[1] if chosen else ()))
    tuned = _tuned(tree, module, walk, values, problem, target, environment)
    instance = _instance(module, walk, chosen[0]) if chosen else None
    hops = [*binding_hops(tree, binding), *([tuned_hop(tree, tuned)] if tuned else [])]
    hops += dispatch_hops(tree, binding, walk, module.baked, reason)
    answer = Dispatch(
        boundary=boundary.id,
        instance=chosen[0].name if chosen else None,
        tuned=tuned,
        hops=tuple(hops),
        assumption=_assumption(module, target),
        candidates=() if chosen or failures else _candidates(walk, module.table),
    )
    if chosen is None:
        return answer
    answer = msgspec.structs.replace(answer, instantiation=_instantiation(chosen[0], values, problem))
    return _with_kernel(tree, module, answer, chosen[0], instance, problem)


def read_ahead(tree: AiterTree, family: CkFamily, target: Target, environment: Mapping[str, str]) -> None:
    """Reads what every choice of a family needs, so that the first one is quick.

    Raises:
        SourceTreeError: a file of the tree can't be read.
    """
    _module(tree, family, target, environment)
    host_names(tree, target)


def _module(tree: AiterTree, family: CkFamily, target: Target, environment: Mapping[str, str]) -> _Module | None:
    how = recipe(tree, family.module)
    if how is None:
        return None
    table = instance_table(tree, family.instances, target.arch or "")
    merged = merge(tree, require(tree, how.tuned[0]), environment) if how.tuned else None
    rule = bake_rule(tree, how.generators[0]) if how.generators and merged is not None else None
    baked = bake(rule, merged, table, target) if rule is not None and merged is not None else None
    return _Module(family=family, how=how, table=table, merged=merged, baked=baked)


def _find(baked: BakedTable | None, key: tuple[Any, ...]) -> InstanceRef | None:
    entry = baked.entries.get(key) if baked is not None else None
    return InstanceRef(entry.instance.name, (), 0, from_table=True) if entry is not None else None


def _instance(module: _Module, walk: Walk, chosen: InstanceRef) -> Instance | None:
    """The table's entry that was hit, else a default instance of that name: those are always compiled in."""
    hit = next((e for e in walk.events if e.kind == "lookup" and e.outcome), None)
    if hit is not None and module.baked is not None and hit.key in module.baked.entries:
        return module.baked.entries[hit.key].instance
    default = next((i for i in module.table.defaults.values() if i.name == chosen.name), None)
    return default or module.table.named(chosen.name)


def _splits(tree: AiterTree, module: _Module, passed: tuple[Any, ...]) -> int:
    """How many parts K is split into: where the chosen function takes that, it is the last argument."""
    last = passed[-1] if passed else None
    if not isinstance(last, int) or isinstance(last, bool):
        return 1
    script = text.read(tree.absolute(module.how.generators[0])) if module.how.generators else ""
    # a function with `int splitK` is given the exponent, and raises 2 to it; one with `int KBatch` the number
    return 2**last if re.search(r"\bint splitK\b", script) else last


def _problem(family: CkFamily, values: Mapping[str, Any], splits: int) -> Problem | None:
    a, b = values.get(family.a), values.get(family.b)
    if not isinstance(a, Tensor) or not isinstance(b, Tensor) or len(a.info.shape) < 2 or len(b.info.shape) < 2:
        return None
    return Problem(
        m=a.info.shape[-2],
        n=b.info.shape[-2],
        k=a.info.shape[-1] * family.k_per_element,
        k_batch=splits,
        batch=a.info.shape[0] if family.batched else 1,
        dtype=a.info.dtype,
    )


def _instantiation(chosen: InstanceRef, values: Mapping[str, Any], problem: Problem | None) -> Instantiation | None:
    if problem is None:
        return None
    return Instantiation(
        types=chosen.types,
        m=problem.m,
        n=problem.n,
        k=problem.k,
        k_batch=problem.k_batch,
        batch=problem.batch,
        bias=isinstance(values.get("bias"), Tensor),
        scales=all(isinstance(values[name], Tensor) for name in _SCALES) if values.keys() >= _SCALES else None,
    )


def _tuned(
    tree: AiterTree,
    module: _Module,
    walk: Walk,
    values: Mapping[str, Any],
    problem: Problem | None,
    target: Target,
    environment: Mapping[str, str],
) -> TunedLookup | None:
    """The look-up that decided: the C++ table's by shape, else Python's, which passes the name."""
    if module.merged is None or module.family.op is None or problem is None:
        return None
    shape = {"M": problem.m, "N": problem.n, "K": problem.k, **({"B": problem.batch} if module.family.batched else {})}
    if module.baked is None or module.baked.rule.columns == ("kernelName",):
        answer = lookup(tree, module.family.op, shape, target, environment)
        return answer if _agrees(answer, values.get("kernelName")) else None
    tried: list[tuple[TunedStatus, int, tuple[Any, ...]]] = []
    seen: dict[int, TunedStatus] = {}
    columns = tuple(dict.fromkeys((*module.baked.rule.gpu, *module.baked.rule.columns)))
    gpu = {"gfx": target.arch, "cu_num": target.compute_units}
    for event in (e for e in walk.events if e.kind == "lookup"):
        named = {**gpu, **dict(zip(module.baked.rule.columns, event.key, strict=False))}
        m = named.get("M")
        if not isinstance(m, int):
            return None
        status = seen.setdefault(m, _status(m, problem.m, problem, len(seen)))
        tried.append((status, m, tuple(named[column] for column in columns)))
    if not tried:
        return None
    rule = lookup_rule(tree, module.family.op)
    key = {**defaults(tree, rule.op, target.arch), **{k: str(v) for k, v in {**gpu, **shape}.items()}}
    # the generator takes repeated keys as they come, so that none of them makes it raise
    answer = look_up(tree, module.merged, Steps(columns, tuple(tried)), key, first_wins=True)
    hit = next((e for e in walk.events if e.kind == "lookup" and e.outcome), None)
    entry = module.baked.entries.get(hit.key) if hit is not None else None
    if entry is None:  # Python's look-up may hit a row that the generator can make no instance of
        return compiled_in(tree, module.family.op, answer, target)
    if answer.row is not entry.row:  # of rows with one key the generator keeps the last
        answer = msgspec.structs.replace(answer, row=entry.row)
    return answer


def _agrees(answer: TunedLookup, passed: Any) -> bool:
    """Whether the name that Python passed is that of the row; a call that states none agrees with any answer."""
    if not isinstance(passed, str):
        return True
    return passed == (answer.row.values.get("kernelName", "") if answer.row is not None else "")


def _status(m: int, asked: int, problem: Problem, level: int) -> TunedStatus:
    if m == asked:
        return TunedStatus.EXACT
    fine = level <= 1 and m == get_padded_m(asked, problem.n, problem.k, 0)
    return TunedStatus.PADDED_FINE if fine else TunedStatus.PADDED_COARSE


def _assumption(module: _Module, target: Target) -> str:
    gpu = f"{target.arch} with {target.compute_units} CUs"
    if module.baked is None:
        return f"{module.family.module} is built from this tree for {gpu}"
    names = module.merged.files if module.merged else ()
    files = ", ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} files of model_configs/"
    what = "set of names" if module.baked.rule.columns == ("kernelName",) else "look-up table"
    built = (
        f"{module.family.module} is JIT-built on the target ({gpu}) from {files}: its {what} is baked in by "
        f"{module.baked.rule.file}:{module.baked.rule.line}, and a CSV that changes later counts after a rebuild only"
    )
    if module.baked.failures:
        row, why = module.baked.failures[0]
        built += f"; the build fails on {len(module.baked.failures)} rows, first {row.file}:{row.line}: {why}"
    return built


def _candidates(walk: Walk, table: InstanceTable) -> tuple[str, ...]:
    """Instances that the functions entered so far could return: those whose names stand in their text."""
    entered = {event.text for event in walk.events if event.kind == "enter"}
    named: list[str] = []
    for name in entered:
        node = walk.source.functions.get(name)
        body = node.text.decode() if node is not None and node.text is not None else ""
        named += [i.name for i in (*table.by_id.values(), *table.defaults.values()) if f"{i.name}" in body]
    return tuple(dict.fromkeys(named))


def _with_kernel(
    tree: AiterTree,
    module: _Module,
    answer: Dispatch,
    chosen: InstanceRef,
    instance: Instance | None,
    problem: Problem | None,
) -> Dispatch:
    version = instance.values.get("pipeline_version") if instance else None
    places = _places(tree, module.how, version)
    parameters: dict[str, Any] = {}
    steps = k_steps(instance.values, problem) if instance is not None and problem is not None else None
    if instance is not None and problem is not None:
        specialisation = _specialisation(tree, module.how.generators[0], instance, problem)
        refused = refusal(tree, places, instance.values, problem, padded="K" in (specialisation or ""))
        if refused is not None:  # the C++ chooses it, and raises before it launches anything
            stop = refusal_hop(tree, refused, chosen.name)
            return msgspec.structs.replace(answer, instance=None, candidates=(chosen.name,), hops=(*answer.hops, stop))
        parameters = launch_parameters(tree, places, instance.values, problem)
        if specialisation is not None:
            parameters["gemm_specialization"] = specialisation
    return msgspec.structs.replace(
        answer,
        hops=(*answer.hops, instance_hop(tree, chosen, instance, module.table.file), *kernel_hops(tree, places)),
        not_in_name=instance.not_in_name() if instance else {},
        core_flow=core_flow(tree, places, steps),
        parameters=parameters,
    )


def _places(tree: AiterTree, how: Recipe, version: int | None) -> ck.CkPlaces:
    if not how.generators:
        return ck.CkPlaces()
    return tile_places(tree, how.generators[0]) or ck.ck_places(tree, how.generators[0], version)


def _specialisation(tree: AiterTree, generator: str, instance: Instance, problem: Problem) -> str | None:
    """CK's GemmSpecialization, by the rule in the generated code: which extents the tile does not divide."""
    script = text.read(tree.absolute(generator))
    tiles = [instance.values.get(name) for name in ("m_per_block", "n_per_block", "k_per_block")]
    if any(tile is None for tile in tiles):
        return None
    m, n, k = (int(tile) for tile in tiles if tile is not None)
    if "GetGemmSpec(" in script:
        parts = (("M", problem.m, m), ("N", problem.n, n), ("K", problem.k, k))
        letters = "".join(letter for letter, extent, tile in parts if ceil_div(extent, tile) * tile != extent)
        return f"{letters}Padding" if letters else "Default"
    if "bool pad = (M %" not in script:
        return None
    k_step = k * problem.k_batch if "* KBatch)" in script else k
    padded = problem.m % m or problem.n % n or problem.k % k_step
    return "MNKPadding" if padded else "Default"
