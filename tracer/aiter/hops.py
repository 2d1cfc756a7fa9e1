"""Hops of a dispatch: bindings, walks, tables and places in, `Hop`s with their evidence and lines out."""

from __future__ import annotations

from itertools import takewhile

from tracer.aiter.asm_tables import AsmKernel
from tracer.aiter.baked import BakedTable
from tracer.aiter.binding import Binding
from tracer.aiter.ck import CkPlaces
from tracer.aiter.cpp_eval import Walk
from tracer.aiter.cpp_events import Event, KernelLaunch
from tracer.aiter.cpp_values import InstanceRef
from tracer.aiter.instances import Instance
from tracer.aiter.tree import AiterTree
from tracer.model.evidence import Evidence
from tracer.model.source import Hop, Layer, SourceRef, TunedLookup, TunedStatus


def binding_hops(tree: AiterTree, binding: Binding) -> list[Hop]:
    """The module's use of a macro, the `m.def` in it, and the C++ function."""
    hops = []
    if binding.used is not None:
        name = binding.macro or f'm.def("{binding.symbol}")'
        hops.append(Hop(layer=Layer.BINDING, name=name, source=tree.ref(*binding.used), evidence=Evidence.RESOLVED))
    if binding.defined is not None:
        name = f'm.def("{binding.symbol}")'
        hops.append(Hop(layer=Layer.BINDING, name=name, source=tree.ref(*binding.defined), evidence=Evidence.RESOLVED))
    if binding.function is not None:
        stated = binding.used is not None
        hops.append(
            Hop(
                layer=Layer.CPP,
                name=binding.symbol,
                source=tree.ref(*binding.function),
                evidence=Evidence.RESOLVED if stated else Evidence.INFERRED,
                reason=None if stated else "found by its name among the module's sources; no binding names it",
            )
        )
    return hops


def tuned_hop(tree: AiterTree, tuned: TunedLookup) -> Hop:
    """The row that was hit, or the miss and its reason (with the row that was lost, if one was)."""
    row = tuned.row or tuned.lost_row
    source: SourceRef | None = tree.ref(row.file, row.line) if row is not None else None
    if source is None and tuned.files:
        source = tree.ref(tuned.files[0])  # the first of the files that do not have it
    if tuned.status is TunedStatus.MISS:
        return Hop(
            layer=Layer.TUNED_CONFIG,
            name="miss",
            source=source,
            evidence=Evidence.RESOLVED,
            reason=str(tuned.reason) if tuned.reason else None,
            note=tuned.caveat,
        )
    name = (row.values.get("kernelName") if row else None) or str(tuned.status)
    return Hop(
        layer=Layer.TUNED_CONFIG,
        name=name,
        source=source,
        evidence=Evidence.STATED,
        note=str(tuned.status) + (f"; {tuned.caveat}" if tuned.caveat else ""),
    )


def dispatch_hops(
    tree: AiterTree, binding: Binding, walk: Walk, baked: BakedTable | None, reason: str | None
) -> list[Hop]:
    """The functions below the bound one that the walk entered, each with the line that decided.

    Where the walk came to launches, functions that none of them stands in and that decided nothing are left out.
    """
    assert binding.function is not None
    file = binding.function[0]
    hops = []
    around = {name for launch in walk.launches for name in launch.stack}
    entered = [i for i, event in enumerate(walk.events) if event.kind == "enter"][1:]
    for at, index in enumerate(entered):
        until = entered[at + 1] if at + 1 < len(entered) else len(walk.events)
        event, inside = walk.events[index], walk.events[index + 1 : until]
        own = takewhile(lambda within: within.kind != "leave", inside)
        decides = any(within.kind in ("lookup", "condition") for within in own)
        if around and event.text not in around and not decides:
            continue
        hops.append(
            Hop(
                layer=Layer.DISPATCH,
                name=event.text,
                source=tree.ref(file, event.line),
                evidence=Evidence.RESOLVED,
                note=_decision(inside, file),
            )
        )
    if baked is not None and any(event.kind == "lookup" for event in walk.events):
        hops.append(
            Hop(
                layer=Layer.DISPATCH,
                name="get_tune_dict",
                source=tree.ref(baked.rule.file, baked.rule.line),
                evidence=Evidence.RESOLVED,
                note=f"writes the look-up table when the module is built: {len(baked.entries)} entries for this GPU",
            )
        )
    if reason is not None:
        hops.append(Hop(layer=Layer.DISPATCH, name="?", evidence=Evidence.UNRESOLVED, reason=reason))
    return hops


def _decision(events: list[Event], file: str) -> str | None:
    """The look-ups of one function and the return that ended it, with their lines."""
    parts = []
    for event in events:
        if event.kind == "lookup":
            key = ", ".join(map(str, event.key))
            parts.append(f"line {event.line}: find {{{key}}} {'hits' if event.outcome else 'misses'}")
    held = [event for event in events if event.kind == "condition" and event.outcome and "lookup" not in event.text]
    if held and not parts:
        parts.append(f"line {held[-1].line}: {held[-1].text} holds")
    returned = next((event for event in events if event.kind == "return"), None)
    if returned is not None:
        parts.append(f"line {returned.line}: returns it")
    return "; ".join(parts) + f" ({file})" if parts else None


def instance_hop(tree: AiterTree, chosen: InstanceRef, instance: Instance | None, table_file: str) -> Hop:
    """The instance, where the generator's table constructs it."""
    if instance is None:
        return Hop(
            layer=Layer.INSTANCE,
            name=chosen.name,
            evidence=Evidence.RESOLVED,
            reason=f"the C++ returns it; {table_file} has no instance of this name, so the module does not build",
        )
    entry = "kernelId" if instance.table.endswith(("_list", "candidate_kernels_dict")) else "entry"
    how = f"{entry} {instance.id}" if instance.id >= 0 else f"default instance {instance.id}"
    return Hop(
        layer=Layer.INSTANCE,
        name=instance.name,
        source=tree.ref(instance.file, instance.line),
        evidence=Evidence.RESOLVED,
        note=f"{how} in {instance.table}" + (f" <{', '.join(chosen.types)}>" if chosen.types else ""),
    )


def kernel_hops(tree: AiterTree, places: CkPlaces) -> list[Hop]:
    """Aiter's wrapper, CK's device operation, its launch, and the kernel."""
    hops = []
    for place, layer, note in (
        (places.wrapper, Layer.CPP, "runs the instance"),
        (places.helper, Layer.CPP, "names CK's device operation"),
        (places.device_op, Layer.CPP, "CK's device operation"),
        (places.launch, Layer.LAUNCH, None),
        (places.kernel, Layer.KERNEL, None),
    ):
        if place is not None:
            source = tree.ref(place.file, place.line)
            hops.append(Hop(layer=layer, name=place.name, source=source, evidence=Evidence.RESOLVED, note=note))
    if places.missing is not None:
        hops.append(Hop(layer=Layer.KERNEL, name="?", evidence=Evidence.UNRESOLVED, reason=places.missing))
    return hops


def code_object_hops(
    tree: AiterTree, launch: KernelLaunch, file: str, row: AsmKernel | None, expected: str
) -> list[Hop]:
    """The table's row, where the code object is loaded and launched, and the code object itself."""
    hops = []
    if row is not None:
        place = tree.ref(row.row.file, row.row.line)
        hops.append(Hop(layer=Layer.INSTANCE, name=row.name, source=place, evidence=Evidence.RESOLVED))
    loads = f"hipModuleLoad of {launch.code_object}, line {launch.loaded}" if launch.loaded else None
    place = tree.ref(file, launch.line)
    hops.append(
        Hop(layer=Layer.LAUNCH, name="launch_kernel", source=place, evidence=Evidence.RESOLVED, note=loads),
    )
    code_object = row.code_object if row is not None and row.code_object is not None else expected
    shipped = row.shipped if row is not None else tree.absolute(code_object).is_file()
    hops.append(
        Hop(
            layer=Layer.KERNEL,
            name=launch.kernel,
            source=tree.ref(code_object) if shipped else None,
            evidence=Evidence.RESOLVED if shipped else Evidence.UNRESOLVED,
            reason=None if shipped else f"this tree has no {code_object}",
            note="an assembly kernel: its source is not published, the code object is",
        )
    )
    return hops
