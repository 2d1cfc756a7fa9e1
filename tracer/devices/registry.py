"""Every device that ktrace knows: a name, a target or a trace's properties in, the Device out.

Adding a device: a table in the TOML of its architecture, every figure with its source. No code.
"""

from __future__ import annotations

import difflib
import tomllib
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from tracer.devices.base import Device, Identification
from tracer.errors import UsageError
from tracer.model.evidence import Evidence

#: CU counts that say which target is meant when only the architecture is given
WHOLE_PART = {"gfx90a": 104, "gfx942": 304, "gfx950": 256, "sm_80": 108, "sm_90": 132, "sm_100": 148}


def parse_device_file(text: str, name: str) -> tuple[Device, ...]:
    """Reads the devices of one TOML text.

    Raises:
        ValueError: the text is no device file; names the file and the part.
    """
    content = tomllib.loads(text)
    shared: dict[str, Any] = {
        **content["common"],
        "vendor": content["vendor"],
        "arch": content["arch"],
        "compute_capability": content["compute_capability"],
        "rates_flop_per_clk_per_unit": content["rates_flop_per_clk_per_unit"],
    }
    devices = []
    for key, part in content["parts"].items():
        try:
            devices.append(msgspec.convert({**shared, **part, "key": key}, Device))
        except msgspec.ValidationError as error:
            raise ValueError(f"{name}: part {key}: {error}") from None
    return tuple(devices)


@cache
def all_devices() -> tuple[Device, ...]:
    """Every device, by architecture and then in the order of its file."""
    folder = resources.files("tracer.devices")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return tuple(d for f in files for d in parse_device_file(f.read_text(encoding="utf-8"), f.name))


def device_named(key: str) -> Device | None:
    """The device called `key`, in any case, or None."""
    return next((device for device in all_devices() if device.key.lower() == key.lower()), None)


def get_device(key: str) -> Device:
    """The device called `key`, in any case.

    Raises:
        UsageError: there is none; the nearest keys are offered.
    """
    named = device_named(key)
    if named is not None:
        return named
    by_key = {device.key.lower(): device for device in all_devices()}
    near = difflib.get_close_matches(key.lower(), by_key, n=3, cutoff=0.4)
    raise UsageError(
        f"there is no device called {key!r}",
        expected="one of those that `ktrace devices` lists",
        hint="did you mean " + " or ".join(by_key[k].key for k in near) + "?" if near else None,
    )


def default_device(arch: str, compute_units: int) -> Device | None:
    """The part that a target is assumed to be when nobody names one; None when none has so many compute units."""
    for device in all_devices():
        if (arch, compute_units) in device.default_for:
            return device
    return None


def devices_of(arch: str) -> tuple[Device, ...]:
    """Every device of an architecture."""
    return tuple(device for device in all_devices() if device.arch == arch)


def _arch_of(wave_size: int | None, compute_capability: str | None, arch: str | None) -> str | None:
    if arch:
        return arch.split(":")[0]
    if compute_capability is None:
        return None
    matches = {
        device.arch
        for device in all_devices()
        if device.compute_capability == compute_capability and wave_size in (None, device.wave_size.value)
    }
    return matches.pop() if len(matches) == 1 else None


def _bare(name: str) -> str:
    return " ".join(name.lower().split())


def identify(
    *,
    name: str | None = None,
    arch: str | None = None,
    wave_size: int | None = None,
    compute_capability: str | None = None,
    compute_units: int | None = None,
    memory_bytes: int | None = None,
) -> Identification:
    """Says which part has these properties, as a runtime or a trace states them.

    A name decides where it is one of a known part; drivers without a current list of ids give an empty name or
    "AMD Radeon Graphics", and then wave size, compute capability, compute units and memory decide, in that order.
    """
    if name:
        for device in all_devices():
            if _bare(name) in map(_bare, device.names):
                mode = _partition(device, compute_units)
                return Identification(device=device, evidence=Evidence.STATED, arch=device.arch, partition=mode)
    known_arch = _arch_of(wave_size, compute_capability, arch)
    if known_arch is None:
        why = "neither the name nor the compute capability is one that ktrace knows"
        return Identification(device=None, evidence=Evidence.UNRESOLVED, reason=why)
    parts = devices_of(known_arch)
    if compute_units is None:
        return Identification(
            device=None,
            evidence=Evidence.UNRESOLVED,
            reason="the number of compute units is not stated",
            candidates=tuple(d.key for d in parts),
            arch=known_arch,
        )
    fits = [d for d in parts if d.compute_units.value == compute_units or compute_units in d.partitions.values()]
    whole = [d for d in fits if d.compute_units.value == compute_units]
    if memory_bytes is not None and len(fits) > 1:
        near = [d for d in fits if d.hbm_bytes.value and 0.9 <= memory_bytes / d.hbm_bytes.value <= 1.1]
        fits = near or fits
        whole = [d for d in whole if d in fits]
    candidates = tuple(d.key for d in fits)
    if len(fits) == 1:
        return Identification(
            device=fits[0],
            evidence=Evidence.INFERRED,
            reason="no usable name; architecture, compute units and memory fit this part only",
            arch=known_arch,
            partition=_partition(fits[0], compute_units),
        )
    assumed = default_device(known_arch, compute_units)
    if assumed is not None and assumed in whole:
        why = f"{known_arch} with {compute_units} compute units is any of {', '.join(candidates)}"
        return Identification(
            device=assumed, evidence=Evidence.ASSUMED, reason=why, candidates=candidates, arch=known_arch
        )
    why = f"no single part of {known_arch} with {compute_units} compute units" + (
        f": any of {', '.join(candidates)}" if candidates else " is known"
    )
    return Identification(device=None, evidence=Evidence.UNRESOLVED, reason=why, candidates=candidates, arch=known_arch)


def _partition(device: Device, compute_units: int | None) -> str | None:
    """The partition mode that shows so many compute units of a device; None for the whole device."""
    for mode, count in device.partitions.items():
        if count == compute_units:
            return mode
    return None
