"""What compiled code comes to on its hardware: a kernel's code and its target in; name, occupancy and counts out."""

from __future__ import annotations

import re

import msgspec

from tracer.analyse.occupancy import Occupancy, analyse_occupancy
from tracer.codeobjects.instructions import histogram
from tracer.codeobjects.kernel import KernelCode
from tracer.codeobjects.targets import TargetId
from tracer.devices.base import Device
from tracer.devices.registry import devices_of
from tracer.model.kernel import DecodedName, GemmView
from tracer.names import registry
from tracer.names.base import Context

_LDS_KINDS = ("lds_read", "lds_write", "lds_other", "load_to_lds")


class KernelAnalysis(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel of compiled code, seen as a whole.

    Attributes:
        code: what its file says.
        decoded: its name, read.
        view: the common GEMM view of the name, or None.
        occupancy: how many blocks fit on a CU; None where it can't be reckoned.
        occupancy_note: why there is none, or what it leaves out; None when nothing is left out.
        histogram: kind of instruction -> how many; empty where nobody counted.
    """

    code: KernelCode
    decoded: DecodedName
    view: GemmView | None
    occupancy: Occupancy | None
    occupancy_note: str | None
    histogram: dict[str, int]


def device_rules(target: TargetId) -> Device | None:
    """A part of the target's architecture: occupancy rules are the same on all of them. None for an unknown one."""
    if target.arch is None:
        return None
    parts = devices_of(re.sub(r"^(sm_\d+)[a-z]$", r"\1", target.arch))
    return parts[0] if parts else None


def analyse_code(code: KernelCode, target: TargetId) -> KernelAnalysis:
    """Reads a kernel's name and reckons its occupancy.

    Args:
        code: what its file says of it.
        target: what the code is for.
    """
    decoded = registry.decode(code.name, Context(target=target.arch))
    counted = histogram(code.instructions or {})
    occupancy, note = _occupancy(code, target, counted)
    return KernelAnalysis(
        code=code,
        decoded=decoded,
        view=registry.view(decoded),
        occupancy=occupancy,
        occupancy_note=note,
        histogram=counted,
    )


def _occupancy(code: KernelCode, target: TargetId, counted: dict[str, int]) -> tuple[Occupancy | None, str | None]:
    device = device_rules(target)
    if device is None:
        return None, f"ktrace has no occupancy rules for {target}"
    if code.threads is None:
        return None, "the size of a block is not stated"
    resources, note = code.resources, None
    if not code.lds_is_whole and not resources.lds_bytes:
        if any(counted.get(kind) for kind in _LDS_KINDS):
            note = "the code uses LDS that a launch brings along, and does not say how much: it is left out here"
            resources = msgspec.structs.replace(resources, lds_bytes=None)
        elif code.instructions is None:
            note = "LDS that a launch may bring along is not stated, and left out here"
    found = analyse_occupancy(device, code.threads, resources, agprs_included=not code.agprs_apart)
    if found is None:
        return None, "neither registers nor LDS are stated"
    if note is None and not found.complete:
        missing = "registers" if code.resources.vgprs is None and code.resources.registers is None else "LDS"
        note = f"{missing} not stated, and left out here"
    return found, note
