"""AMD target ids: the flags of a code object or a text such as `gfx942:sramecc+:xnack-` in, a `TargetId` out.

Numbers and masks are those of LLVM's AMDGPU usage guide (ELF header, EF_AMDGPU_MACH and the feature fields of code
object V3 to V6) as of 2026.
"""

from __future__ import annotations

import re

import msgspec

#: EF_AMDGPU_MACH -> processor. 0x40 and 0x4b, gfx940 and gfx941 in older LLVMs, are reserved today.
MACHINES: dict[int, str] = {
    0x20: "gfx600", 0x21: "gfx601", 0x3A: "gfx602", 0x22: "gfx700", 0x23: "gfx701", 0x24: "gfx702", 0x25: "gfx703",
    0x26: "gfx704", 0x3B: "gfx705", 0x28: "gfx801", 0x29: "gfx802", 0x2A: "gfx803", 0x3C: "gfx805", 0x2B: "gfx810",
    0x2C: "gfx900", 0x2D: "gfx902", 0x2E: "gfx904", 0x2F: "gfx906", 0x30: "gfx908", 0x31: "gfx909", 0x3F: "gfx90a",
    0x32: "gfx90c", 0x40: "gfx940", 0x4B: "gfx941", 0x4C: "gfx942", 0x4F: "gfx950", 0x33: "gfx1010", 0x34: "gfx1011",
    0x35: "gfx1012", 0x42: "gfx1013", 0x36: "gfx1030", 0x37: "gfx1031", 0x38: "gfx1032", 0x39: "gfx1033",
    0x3E: "gfx1034", 0x3D: "gfx1035", 0x45: "gfx1036", 0x41: "gfx1100", 0x46: "gfx1101", 0x47: "gfx1102",
    0x44: "gfx1103", 0x43: "gfx1150", 0x4A: "gfx1151", 0x55: "gfx1152", 0x58: "gfx1153", 0x5D: "gfx1170",
    0x5E: "gfx1171", 0x5C: "gfx1172", 0x48: "gfx1200", 0x4E: "gfx1201", 0x49: "gfx1250", 0x5A: "gfx1251",
    0x50: "gfx1310", 0x51: "gfx9-generic", 0x5F: "gfx9-4-generic", 0x52: "gfx10-1-generic", 0x53: "gfx10-3-generic",
    0x54: "gfx11-generic", 0x62: "gfx11-7-generic", 0x59: "gfx12-generic", 0x5B: "gfx12-5-generic",
    0x63: "gfx13-generic",
}  # fmt: skip
#: generic processor -> the processors that its code runs on
_GENERIC: dict[str, tuple[str, ...]] = {
    "gfx9-generic": ("gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"),
    "gfx9-4-generic": ("gfx940", "gfx941", "gfx942", "gfx950"),
    "gfx10-1-generic": ("gfx1010", "gfx1011", "gfx1012", "gfx1013"),
    "gfx10-3-generic": ("gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"),
    "gfx11-generic": (
        "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153",
    ),
    "gfx12-generic": ("gfx1200", "gfx1201"),
    "gfx12-5-generic": ("gfx1250", "gfx1251"),
}  # fmt: skip
_MACH = 0xFF
_SETTINGS = {0: None, 1: "any", 2: "off", 3: "on"}
_SIGNS = {"on": "+", "off": "-"}
_TEXT = re.compile(r"(?:[\w.]+-[\w.]+-[\w.]*-[\w.]*-)?(gfx[0-9a-z][0-9a-z-]*)((?::(?:sramecc|xnack)[+-])*)")


class TargetId(msgspec.Struct, frozen=True, kw_only=True):
    """What code is for.

    Attributes:
        arch: the processor ("gfx942", "gfx9-4-generic"); None for a number that is not in the table.
        machine: EF_AMDGPU_MACH as the file has it; None for a target read from text.
        xnack: "on", "off", "any"; None where the processor has no such feature, or the file is too old to say.
        sramecc: the same for SRAM ECC.
        generic_version: version of a generic processor (code object V6); None for others.
    """

    arch: str | None
    machine: int | None = None
    xnack: str | None = None
    sramecc: str | None = None
    generic_version: int | None = None

    def __str__(self) -> str:
        text = self.arch or (f"machine 0x{self.machine:x}" if self.machine is not None else "unknown")
        for name, setting in (("sramecc", self.sramecc), ("xnack", self.xnack)):
            if setting in _SIGNS:
                text += f":{name}{_SIGNS[setting]}"
        return text


def target_of_flags(flags: int, abi_version: int) -> TargetId:
    """The target that the header of a code object states.

    Args:
        flags: `e_flags`.
        abi_version: `e_ident[EI_ABIVERSION]`: 1 for code object V3, 2 for V4, 3 for V5, 4 for V6.
    """
    machine = flags & _MACH
    xnack = sramecc = None
    version = None
    if abi_version >= 2:
        xnack, sramecc = _SETTINGS[(flags >> 8) & 3], _SETTINGS[(flags >> 10) & 3]
        version = (flags >> 24) & 0xFF or None if abi_version >= 4 else None
    elif abi_version == 1:  # V3 says "on" alone: off, and not there, look the same
        xnack, sramecc = "on" if flags & 0x100 else None, "on" if flags & 0x200 else None
    return TargetId(arch=MACHINES.get(machine), machine=machine, xnack=xnack, sramecc=sramecc, generic_version=version)


def parse_target(text: str) -> TargetId | None:
    """Reads `gfx942`, `gfx942:sramecc+:xnack-` or a triple before either; None for anything else."""
    found = _TEXT.fullmatch(text.strip())
    if found is None:
        return None
    settings = {part[:-1]: "on" if part[-1] == "+" else "off" for part in found.group(2).split(":") if part}
    return TargetId(
        arch=found.group(1).rstrip("-"),
        xnack=settings.get("xnack"),
        sramecc=settings.get("sramecc"),
    )


def runs_on(code: TargetId, wanted: TargetId) -> bool | None:
    """Whether code for one target runs on another: same processor (or its generic one), no feature contradicted.

    Returns:
        None where either processor is not known.
    """
    if code.arch is None or wanted.arch is None:
        return None
    if code.arch != wanted.arch and wanted.arch not in _GENERIC.get(code.arch, ()):
        return False
    pairs = ((code.xnack, wanted.xnack), (code.sramecc, wanted.sramecc))
    return not any(a in _SIGNS and b in _SIGNS and a != b for a, b in pairs)
