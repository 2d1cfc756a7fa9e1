"""Hops of a chain from what was found: a place, a launch, its instances or its kernel in, the stated hop out."""

from __future__ import annotations

from tracer.model.evidence import Evidence
from tracer.model.source import Hop, Layer, SourceRef, UnresolvedReason
from tracer.resolve.ends import InstanceSet, LaunchEnd

#: of several tables of instances, so many are named in a note
_TABLES_NAMED = 4


def checked_hop(
    layer: Layer, name: str, source: SourceRef | None, note: str | None = None, candidates: tuple[str, ...] = ()
) -> Hop:
    """A hop whose place was checked just now; one that is gone is unresolved."""
    if source is None:
        return Hop(
            layer=layer,
            name=name,
            evidence=Evidence.UNRESOLVED,
            reason=UnresolvedReason.CHANGED,
            note=note,
            candidates=candidates,
        )
    return Hop(layer=layer, name=name, source=source, evidence=Evidence.RESOLVED, note=note, candidates=candidates)


def launch_hop(end: LaunchEnd, note: str | None = None) -> Hop:
    """The hop to a launch's line."""
    return Hop(
        layer=Layer.LAUNCH,
        name=end.kernel,
        source=end.source,
        evidence=end.evidence,
        reason=None if end.evidence is Evidence.RESOLVED else "followed by a bare name or a generated table",
        note=note,
    )


def instances_hop(instances: InstanceSet) -> Hop:
    """The hop to the instances that a launch is compiled for."""
    note = "instances" if instances.count is None else f"{instances.count} instances"
    if instances.tables:
        shown = ", ".join(instances.tables[:_TABLES_NAMED])
        more = ", ..." if len(instances.tables) > _TABLES_NAMED else ""
        note = f"one of its {len(instances.tables)} tables of instances: {shown}{more}"
    return checked_hop(Layer.INSTANCE, instances.name, instances.source, note=note, candidates=instances.tables)


def kernel_hop(end: LaunchEnd) -> Hop:
    """The hop to a launch's kernel; of several that its line can start, the first, and the others as candidates."""
    kernel, *others = end.kernels
    names = {other.name for other in others} - {kernel.name}
    several = f"one of {len(names) + 1} that this line can launch" if names else None
    return Hop(
        layer=Layer.KERNEL,
        name=kernel.name,
        source=kernel.source,
        evidence=Evidence.RESOLVED if kernel.source is not None else Evidence.UNRESOLVED,
        reason=kernel.reason,
        note="; ".join(note for note in (kernel.note, several) if note) or None,
        candidates=tuple(other.name for other in others),
    )
