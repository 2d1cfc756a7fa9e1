"""The choice of an instance in aiter's two-stage MoE on CK-tile: a call of `cktile_moe_gemm1` or `2` in, the hops out.

The host function is walked in aiter's text; the functions that choose by block size are those that aiter's generator
writes, walked in the generated text, whose lines are led back to the templates. Main (2026) also looks names up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tracer.aiter import text
from tracer.aiter.binding import Binding, find_binding
from tracer.aiter.call_values import call_values
from tracer.aiter.ck import CkPlaces
from tracer.aiter.ck_launch import ceil_div
from tracer.aiter.ck_tile import tile_places
from tracer.aiter.cpp_eval import Walk
from tracer.aiter.cpp_events import Refused, Undecided
from tracer.aiter.cpp_values import InstanceRef
from tracer.aiter.hops import binding_hops, dispatch_hops, instance_hop, kernel_hops
from tracer.aiter.host_names import host_functions, host_names
from tracer.aiter.instances import Instance
from tracer.aiter.moe_cktile_generated import GENERATOR, HEADER, MODULE, TABLES, Chooser, TileGenerated, tile_generated
from tracer.aiter.tree import AiterTree
from tracer.model.capture import BoundaryCall
from tracer.model.environment import Target
from tracer.model.evidence import Evidence
from tracer.model.source import Dispatch, Hop, Instantiation, Layer

#: what C++ asks: the wheel's function templates, and main's structs
_CHOOSERS = tuple(f"moe_gemm{stage}_heuristic_{word}" for stage in (1, 2) for word in ("dispatch", "dispatcher"))
#: main's generated table of names
_LOOKUP = "get_cktile_name_lookup"
_GRID = r"return dim3\(TilePartitioner::GridSize\(kargs\.M, kargs\.N\), 1, kargs\.k_batch\);"
#: the generated function takes these from its tensors
_SIZES = r"int M = sorted_ids\.size\(0\);\s*int N = WQ\.size\(1\);"


class _NoChoice(Exception):
    """C++ asks a general template that returns nothing."""

    def __init__(self, name: str, arguments: tuple[str, ...]) -> None:
        super().__init__(name)
        self.name, self.arguments = name, arguments


class _Stop(msgspec.Struct, frozen=True):
    """Where a walk ended without a choice: why, and whether what is not known here decides."""

    reason: str
    undecided: bool = False


def resolve_moe_cktile(
    tree: AiterTree, boundary: BoundaryCall, target: Target, environment: Mapping[str, str]
) -> Dispatch | None:
    """What a stage launches; None when the module does not bind the function.

    Raises:
        SourceTreeError: a file of the tree can't be read, or its generator not be evaluated.
    """
    binding = find_binding(tree, MODULE, boundary.function)
    if binding is None or binding.function is None:
        return None
    written = tile_generated(tree, target.arch or "")
    names = host_names(tree, target)
    inner: list[tuple[Chooser, Walk]] = []
    walk = Walk(
        tree.absolute(binding.function[0]),
        find=lambda key: _by_name(written, key),
        functions=host_functions(target, environment),
        templates={name: _choose(written, name, names, inner) for name in _CHOOSERS},
        names=names,
    )
    values = call_values(binding, boundary)
    stop = _walked(tree, walk, binding, values, inner)
    hops = [*binding_hops(tree, binding), *dispatch_hops(tree, binding, walk, None, stop.reason if stop else None)]
    hops[-1 if stop else len(hops) :] = [
        *_lookup_hops(tree, binding.function[0], walk, written),
        *_chooser_hops(tree, inner),
        *(hops[-1:] if stop else []),
    ]
    answer = Dispatch(
        boundary=boundary.id,
        hops=tuple(hops),
        assumption=f"{MODULE} is built from this tree for {target.arch}",
        candidates=_candidates(written, binding, inner) if stop is not None and stop.undecided else (),
    )
    return _with_instance(tree, answer, walk, written, target) if walk.chosen else answer


def _walked(
    tree: AiterTree, walk: Walk, binding: Binding, values: Mapping[str, Any], inner: list[tuple[Chooser, Walk]]
) -> _Stop | None:
    """Walks the call; None when it came to its end."""
    assert binding.function is not None
    file = binding.function[0]
    try:
        walk.call(binding.symbol, list(values.values()))
    except Undecided as stop:
        return _Stop(f"{_place(inner, file, stop.line)} depends on what can't be known here: {stop.text}", True)
    except Refused as stop:
        return _Stop(f"{_place(inner, file, stop.line)} refuses the call: {stop.text}")
    except _NoChoice as stop:
        line = text.find_line(tree.absolute(HEADER), rf"\bstruct\s+{stop.name}\b")
        asked = f"<{', '.join(stop.arguments)}>"
        return _Stop(f"{HEADER}:{line} returns nothing: the generator writes no {stop.name} for {asked}")
    if not walk.chosen:
        last = next((e for e in reversed(walk.events) if e.kind == "condition"), None)
        where = f"{file}:{last.line}: {last.text} {'holds' if last.outcome else 'does not hold'}" if last else file
        return _Stop(f"{where}, and after it nothing is launched")
    return None


def _by_name(written: TileGenerated, key: tuple[Any, ...]) -> InstanceRef | None:
    """The look-up by name, which gives the instance's function with its template arguments."""
    name = key[0] if key else None
    types = written.by_name.get(name) if isinstance(name, str) else None
    return InstanceRef(name, types, 0, from_table=True) if isinstance(name, str) and types is not None else None


def _choose(written: TileGenerated, name: str, names: Mapping[str, Any], inner: list[tuple[Chooser, Walk]]) -> Any:
    """What C++ calls to choose: the generated function that its template arguments select, walked in its own text."""

    def call(types: tuple[str, ...], arguments: list[Any]) -> Any:
        chooser = written.chooser(name, types)
        if chooser is None:
            raise _NoChoice(name, types)
        walk = Walk(chooser.source, names=names)
        inner.append((chooser, walk))
        return walk.call(chooser.entry, arguments, types if not chooser.arguments else ())

    return call


def _place(inner: list[tuple[Chooser, Walk]], file: str, line: int) -> str:
    """Where a walk stopped: in the template when it had entered a generated function."""
    return f"{TABLES}:{line + inner[-1][0].offset}" if inner else f"{file}:{line}"


def _lookup_hops(tree: AiterTree, file: str, walk: Walk, written: TileGenerated) -> list[Hop]:
    """The look-up by name, which the generator writes, where the call passes one."""
    return [
        Hop(
            layer=Layer.DISPATCH,
            name=_LOOKUP,
            source=tree.ref(GENERATOR, text.find_line(tree.absolute(GENERATOR), rf"\b{_LOOKUP}\(")),
            evidence=Evidence.RESOLVED,
            note=(
                f"written when the module is built: {len(written.by_name)} names; line {event.line}: find "
                f"{{{', '.join(map(str, event.key))}}} {'hits' if event.outcome else 'misses'} ({file})"
            ),
        )
        for event in walk.events
        if event.kind == "lookup"
    ]


def _chooser_hops(tree: AiterTree, inner: list[tuple[Chooser, Walk]]) -> list[Hop]:
    """The generated function, cited by the template's line of the return (or of the last condition)."""
    hops = []
    for chooser, walk in inner:
        last = next((e for e in reversed(walk.events) if e.kind in ("return", "condition")), None)
        held = [e.text for e in walk.events if e.kind == "condition" and e.outcome]
        written = f" for <{', '.join(chooser.arguments)}>" if chooser.arguments else ""
        hops.append(
            Hop(
                layer=Layer.DISPATCH,
                name=chooser.name,
                source=tree.ref(TABLES, last.line + chooser.offset if last is not None else None),
                evidence=Evidence.RESOLVED,
                note=f"written{written} when the module is built" + (f"; {held[-1]} holds" if held else ""),
            )
        )
    return hops


def _candidates(written: TileGenerated, binding: Binding, inner: list[tuple[Chooser, Walk]]) -> tuple[str, ...]:
    """What the function could still return where the walk stopped: the instances it names, or all of the stage."""
    if inner:
        chooser = inner[-1][0]
        node = chooser.source.functions[chooser.entry]
        body = node.text.decode() if node.text is not None else ""
        return tuple(name for name in written.instances if re.search(rf"\b{name}\b", body))
    stage = int(binding.symbol[-1])
    return tuple(name for name, instance in written.instances.items() if instance.fields.get("stage") == stage)


def _with_instance(tree: AiterTree, answer: Dispatch, walk: Walk, written: TileGenerated, target: Target) -> Dispatch:
    chosen, passed = walk.chosen[-1]
    instance = written.instances.get(chosen.name)
    compiled = {written.plain(types) for types in written.compiled.get(chosen.name, ())}
    if instance is None or written.plain(chosen.types) not in compiled:
        hop = _not_written(tree, chosen, instance, target)
        return msgspec.structs.replace(answer, hops=(*answer.hops, hop), candidates=(chosen.name,))
    places = tile_places(tree, GENERATOR) or CkPlaces()
    return msgspec.structs.replace(
        answer,
        instance=chosen.name,
        hops=(*answer.hops, instance_hop(tree, chosen, instance, TABLES), *kernel_hops(tree, places)),
        not_in_name=instance.not_in_name(),
        instantiation=_instantiation(chosen, passed),
        parameters=_parameters(tree, places, instance, passed),
    )


def _instantiation(chosen: InstanceRef, passed: tuple[Any, ...]) -> Instantiation | None:
    """The instance's template arguments, and the extents of its product: sorted tokens, columns, depth."""
    shapes = [info.shape for value in passed[:4] if (info := getattr(value, "info", None)) is not None]
    if len(shapes) < 4 or len(shapes[1]) < 2:
        return None
    activations, weights, _, rows = shapes
    return Instantiation(types=chosen.types, m=rows[0], n=weights[1], k=activations[-1])


def _not_written(tree: AiterTree, chosen: InstanceRef, instance: Instance | None, target: Target) -> Hop:
    """The C++ returns an instance that the generator does not write for this target: the module does not load."""
    line = text.find_line(tree.absolute(GENERATOR), r"\bnot in get_gfx_list\(\)")
    types = ", ".join(chosen.types)
    return Hop(
        layer=Layer.INSTANCE,
        name=chosen.name,
        source=tree.ref(instance.file, instance.line) if instance is not None else None,
        evidence=Evidence.UNRESOLVED,
        reason=(
            f"the C++ returns {chosen.name}<{types}>, and {GENERATOR}:{line} writes no "
            f"source of it for {target.arch}: the module does not load"
        ),
    )


def _parameters(tree: AiterTree, places: CkPlaces, instance: Instance, passed: tuple[Any, ...]) -> dict[str, Any]:
    """Threads and blocks: a block for each tile of sorted tokens and columns, times the splits of K."""
    known: dict[str, Any] = {"block": [instance.fields["BLOCK_SIZE"], 1, 1], "sources": {}}
    if places.launch is not None:
        known["sources"]["block"] = f"{places.launch.file}:{places.launch.line}"
    if places.kernel is None or re.search(_SIZES, text.read(tree.absolute(GENERATOR))) is None or len(passed) < 4:
        return known
    line = text.find_line(tree.absolute(places.kernel.file), _GRID, start=places.kernel.line)
    rows, weights = getattr(passed[3], "info", None), getattr(passed[1], "info", None)
    if line is None or rows is None or weights is None or len(weights.shape) < 2:
        return known
    m = ceil_div(rows.shape[0], instance.values["m_per_block"])
    n = ceil_div(weights.shape[1], instance.values["n_per_block"])
    splits = passed[-1] if isinstance(passed[-1], int) and len(passed) > 13 else 1
    known |= {"grid": [m * n, 1, splits], "tiles_m": m, "tiles_n": n, "k_batch": splits}
    known["sources"]["grid"] = f"{places.kernel.file}:{line}"
    return known
