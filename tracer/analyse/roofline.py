"""The roofline of a call: its work, a device and the times known of it in, one RooflinePoint out. Pure arithmetic.

The least time is the larger of bytes / bandwidth and FLOPs / peak. A share of the roof over 100 % is kept as it is: it
says that the count, the peak or the time is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tracer.devices.base import Device, Figure
from tracer.model.evidence import Evidence
from tracer.model.roofline import Bound, Ceiling, RooflinePoint, Work
from tracer.model.timing import CacheState, Timing


class Time(msgspec.Struct, frozen=True, kw_only=True):
    """A time in µs and who says so."""

    us: float
    how: str


def best_timing(timings: Sequence[Timing]) -> Time | None:
    """The timing to hold against the roof: graph before profiler before eager, cold before warm; None for none."""
    order = {"graph": 0, "profiler": 1, "eager": 2}
    cache = {CacheState.COLD: 0, CacheState.UNPROVEN: 1, CacheState.WARM: 2}
    ranked = sorted(timings, key=lambda t: (order.get(t.method, 3), cache[t.cache]))
    if not ranked:
        return None
    best = ranked[0]
    return Time(us=best.median_us, how=f"{best.method} median, {best.cache}")


def _fraction(device: Device, compute_units: int | None) -> float:
    whole = device.compute_units.value
    return 1.0 if compute_units is None or not whole else compute_units / whole


def compute_ceiling(device: Device, dtype: str, compute_units: int | None) -> Ceiling:
    """The peak of a dtype on so many compute units of a device; `per_s` is None when the figure is not public."""
    figure = device.peaks_flop_per_s.get(dtype)
    name = dtype if dtype.endswith(("_vector", "_matrix")) else f"{dtype}_matrix"
    if figure is None:
        return Ceiling(name=name, per_s=None, source=f"{device.key} has no peak for {dtype}")
    fraction = _fraction(device, compute_units)
    if figure.value is None or fraction == 1.0:
        return Ceiling(name=name, per_s=figure.value, source=figure.source)
    source = f"{figure.source}; scaled to {compute_units} compute units"
    return Ceiling(name=name, per_s=figure.value * fraction, source=source)


def memory_ceiling(device: Device, compute_units: int | None) -> Ceiling:
    """The memory bandwidth; of a partition, its fair share."""
    figure: Figure = device.hbm_bytes_per_s
    if figure.value is None or compute_units not in device.partitions.values():
        return Ceiling(name="memory", per_s=figure.value, source=figure.source)
    source = f"{figure.source}; the fair share of a partition, which one partition alone may exceed"
    return Ceiling(name="memory", per_s=figure.value * _fraction(device, compute_units), source=source)


def analyse_roofline(
    work: Work,
    device: Device,
    *,
    device_evidence: Evidence,
    compute_units: int | None = None,
    measured: Time | None = None,
    quoted: Time | None = None,
) -> RooflinePoint:
    """Places a call's work under a device's roof.

    Args:
        work: FLOPs and minimal bytes.
        device: the part.
        device_evidence: how it is known that it is this part.
        compute_units: CUs (SMs) in use, where they are not the whole part.
        measured: the time that was measured of this call.
        quoted: a time that somebody else states for it.

    Returns:
        The point. `floor_us` is the larger of the two least times. Where one ceiling is not known, the bound is
        `unknown` and the floor is the one that is known, which holds all the same.
    """
    compute, memory = compute_ceiling(device, work.compute_dtype, compute_units), memory_ceiling(device, compute_units)
    compute_us = work.flops / compute.per_s * 1e6 if compute.per_s else None
    memory_us = work.bytes_moved / memory.per_s * 1e6 if memory.per_s else None
    known = [us for us in (compute_us, memory_us) if us is not None]
    floor_us = max(known) if known else None
    if compute_us is None or memory_us is None:
        bound = Bound.UNKNOWN
    else:
        bound = Bound.COMPUTE if compute_us > memory_us else Bound.MEMORY

    def share(time: Time | None) -> float | None:
        return floor_us / time.us if time and time.us > 0 and floor_us is not None else None

    note = None
    if _fraction(device, compute_units) != 1.0:
        note = f"{compute_units} of {device.compute_units.value:.0f} compute units"
    return RooflinePoint(
        device=device.key,
        device_evidence=device_evidence,
        work=work,
        compute=compute,
        memory=memory,
        compute_us=compute_us,
        memory_us=memory_us,
        floor_us=floor_us,
        bound=bound,
        measured_us=measured.us if measured else None,
        measured_how=measured.how if measured else None,
        share=share(measured),
        quoted_us=quoted.us if quoted else None,
        quoted_how=quoted.how if quoted else None,
        quoted_share=share(quoted),
        note=note,
    )
