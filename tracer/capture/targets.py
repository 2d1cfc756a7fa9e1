"""The targets of a dry run: a name and a CU count in, the facts that libraries ask of a GPU out."""

from __future__ import annotations

from tracer.capture.protocol import TargetFacts
from tracer.errors import UsageError
from tracer.model.capture import Target
from tracer.model.evidence import Evidence

#: target -> CU counts that whole parts of it have, the largest first (AMD's data sheets)
COMPUTE_UNITS = {"gfx942": (304, 80), "gfx950": (256,)}
#: most LDS of one block, in bytes: 64 KiB on CDNA3, 160 KiB on CDNA4 (AMD's ISA guides)
_LDS_BYTES = {"gfx942": 65_536, "gfx950": 163_840}
#: the part that is assumed when nobody names one
_DEFAULT_DEVICES = {("gfx942", 304): "MI300X", ("gfx942", 80): "MI308X", ("gfx950", 256): "MI355X"}
_WAVE_SIZE = 64


def target_facts(target: str, cu_num: int | None, device: str | None) -> TargetFacts:
    """The facts of a target.

    Raises:
        UsageError: no such target, or a CU count that is not positive.
    """
    if target not in COMPUTE_UNITS:
        raise UsageError(f"there is no target {target!r} for a dry run", expected="one of " + ", ".join(COMPUTE_UNITS))
    units = COMPUTE_UNITS[target][0] if cu_num is None else cu_num
    if not 0 < units <= COMPUTE_UNITS[target][0]:
        raise UsageError(
            f"{target} has no part with {units} compute units",
            expected=f"1 to {COMPUTE_UNITS[target][0]}; whole parts have " + ", ".join(map(str, COMPUTE_UNITS[target])),
        )
    assumed = _DEFAULT_DEVICES.get((target, units))
    unstated = Evidence.ASSUMED if assumed else Evidence.UNRESOLVED
    evidence = unstated if device is None else Evidence.STATED
    key = device or assumed
    return TargetFacts(
        target=Target(arch=target, compute_units=units, wave_size=_WAVE_SIZE, device=key, device_evidence=evidence),
        lds_bytes_per_block=_LDS_BYTES[target],
        device_name=f"AMD Instinct {key}" if key else None,
    )
