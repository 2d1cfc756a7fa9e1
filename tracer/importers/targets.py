"""Which GPU a kernel ran on: what a trace states of its devices in, the Target of a record out."""

from __future__ import annotations

import msgspec

from tracer.devices.registry import identify
from tracer.importers.timeline import SeenDevice, Timeline
from tracer.model.environment import Target
from tracer.model.evidence import Evidence


class DeviceAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One device of a trace, identified.

    Attributes:
        id: the number that the trace's kernels carry; None where the trace does not tie kernels to it.
        target: what it is; `target.device_evidence` says how that is known.
        reason: why it is not known better, or None.
    """

    id: int | None
    target: Target
    reason: str | None = None


def _answer(seen: SeenDevice, id_: int | None) -> DeviceAnswer:
    found = identify(
        name=seen.name,
        arch=seen.arch,
        wave_size=seen.wave_size,
        compute_capability=seen.compute_capability,
        compute_units=seen.compute_units,
        memory_bytes=seen.memory_bytes,
    )
    target = Target(
        arch=found.arch or seen.arch,
        compute_units=seen.compute_units,
        wave_size=seen.wave_size,
        device=found.device.key if found.device else None,
        device_evidence=found.evidence,
        device_name=seen.name,
        memory_bytes=seen.memory_bytes,
    )
    return DeviceAnswer(id=id_, target=target, reason=found.reason)


def device_of(timeline: Timeline, device: int) -> DeviceAnswer:
    """The device that kernels with this number ran on.

    ROCm's profilers number the agents of the machine, CPUs included, while deviceProperties counts GPUs. Where no
    number fits, a list of equal devices still says which part it was.
    """
    for seen in timeline.devices:
        if seen.id == device:
            return _answer(seen, device)
    parts = {msgspec.structs.replace(seen, id=0) for seen in timeline.devices}
    if len(parts) == 1:
        return _answer(timeline.devices[0], device)
    reason = (
        "the trace does not describe its devices"
        if not parts
        else "the trace describes different devices, and the kernel's device number is none of theirs"
    )
    return DeviceAnswer(id=device, target=Target(device_evidence=Evidence.UNRESOLVED), reason=reason)


def devices_seen(timeline: Timeline) -> tuple[DeviceAnswer, ...]:
    """Every device on which a kernel ran, by number; without kernels, every device that the trace describes."""
    used = sorted(set(timeline.kernels.device))
    if used:
        return tuple(device_of(timeline, device) for device in used)
    return tuple(_answer(seen, None) for seen in timeline.devices)
