"""The targets of a dry run: a name, a CU count or a device in, the facts that libraries ask of a GPU out."""

from __future__ import annotations

from tracer.capture.protocol import TargetFacts
from tracer.devices.base import Device
from tracer.devices.registry import WHOLE_PART, default_device, device_named, devices_of, get_device
from tracer.errors import UsageError
from tracer.model.environment import Target
from tracer.model.evidence import Evidence

#: architectures that aiter's Python and Triton's compiler can be asked for without a GPU
DRY_TARGETS = ("gfx942", "gfx950")


def target_facts(target: str | None, cu_num: int | None, device: str | None) -> TargetFacts:
    """The facts of a target.

    Args:
        target: architecture; None takes the device's, or the first of DRY_TARGETS.
        cu_num: compute units; None takes the device's, or the architecture's whole part.
        device: key in the device tables; None assumes the default part of (target, cu_num).

    Raises:
        UsageError: no such target, device or CU count, or they contradict each other.
    """
    named = get_device(device) if device is not None else None
    arch = target or (named.arch if named else DRY_TARGETS[0])
    if arch not in DRY_TARGETS:
        raise UsageError(
            f"there is no target {arch!r} for a dry run", expected="one of " + ", ".join(DRY_TARGETS), hint=_part(arch)
        )
    if named is not None and named.arch != arch:
        raise UsageError(
            f"the device {named.key} is {named.arch}, not {arch}",
            expected="a device of that target: " + ", ".join(d.key for d in devices_of(arch)),
        )
    units = _compute_units(arch, cu_num, named)
    part = named or default_device(arch, units)
    evidence = Evidence.STATED if named else Evidence.ASSUMED if part else Evidence.UNRESOLVED
    like = part or devices_of(arch)[0]
    wave, lds = like.wave_size.value, like.lds_bytes_per_block.value
    assert wave is not None
    assert lds is not None
    memory = part.hbm_bytes.value if part else None
    return TargetFacts(
        target=Target(
            arch=arch,
            compute_units=units,
            wave_size=int(wave),
            device=part.key if part else None,
            device_evidence=evidence,
        ),
        lds_bytes_per_block=int(lds),
        memory_bytes=int(memory) if memory is not None else None,
        device_name=part.name if part else None,
    )


def _part(name: str) -> str | None:
    """How a part is given, where somebody gave its name for its architecture."""
    part = device_named(name)
    return f"a part is given by --device {part.key}; its target is {part.arch}" if part is not None else None


def _compute_units(arch: str, cu_num: int | None, named: Device | None) -> int:
    whole = int(named.compute_units.value or 0) if named else WHOLE_PART[arch]
    if cu_num is None:
        return whole
    if not 0 < cu_num <= whole:
        counts = sorted({int(d.compute_units.value or 0) for d in devices_of(arch)}, reverse=True)
        raise UsageError(
            f"{named.key if named else arch} has no part with {cu_num} compute units",
            expected=f"1 to {whole}; whole parts of {arch} have {', '.join(map(str, counts))}",
        )
    return cu_num
