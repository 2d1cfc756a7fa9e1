"""The kernel descriptor of an AMD code object: its 64 bytes in, what the hardware is asked for out.

Layout, bit fields and granules: LLVM's AMDGPU usage guide, "Kernel Descriptor". Hand-written assembly (aiter's `.co`
files) leaves out of its metadata how the VGPRs are parted; the descriptor always states it.
"""

from __future__ import annotations

import struct

import msgspec

from tracer.codeobjects.targets import TargetId

SIZE = 64
_RSRC3_AT, _RSRC1_AT, _PROPERTIES_AT = 44, 48, 56
_WAVE32 = 1 << 10
#: processors with one file for architectural and accumulation VGPRs
_UNIFIED = ("gfx90a", "gfx940", "gfx941", "gfx942", "gfx950", "gfx9-4-generic")
_GFX12_5 = ("gfx1250", "gfx1251", "gfx12-5-generic")


class Descriptor(msgspec.Struct, frozen=True):
    """The fields of a descriptor that ktrace shows.

    Attributes:
        lds_bytes: fixed LDS.
        scratch_bytes: fixed scratch of one lane.
        rsrc1: COMPUTE_PGM_RSRC1: registers, among others.
        rsrc3: COMPUTE_PGM_RSRC3: where the accumulation VGPRs begin, among others.
        wave32: whether it runs in waves of 32 lanes.
    """

    lds_bytes: int
    scratch_bytes: int
    rsrc1: int
    rsrc3: int
    wave32: bool

    def allocated_vgprs(self, target: TargetId) -> int | None:
        """VGPRs of a wave, as allocated; None for a target whose granule is not known."""
        granule = _granule(target.arch, self.wave32)
        return None if granule is None else ((self.rsrc1 & 0x3F) + 1) * granule

    def architectural_vgprs(self, target: TargetId) -> int | None:
        """VGPRs before the first accumulation register; None where there is no common file."""
        return ((self.rsrc3 & 0x3F) + 1) * 4 if target.arch in _UNIFIED else None


def _granule(arch: str | None, wave32: bool) -> int | None:
    """VGPRs that one step of the descriptor's field stands for."""
    if arch is None or not arch.startswith("gfx"):
        return None
    if arch in _UNIFIED:
        return 8
    if arch in _GFX12_5:
        return 16 if wave32 else 8
    if arch.startswith(("gfx10", "gfx11", "gfx12")):
        return 8 if wave32 else 4
    return 4 if arch.startswith(("gfx6", "gfx7", "gfx8", "gfx9")) else None


def read_descriptor(content: bytes) -> Descriptor | None:
    """Reads a descriptor; None where the bytes are fewer than it has."""
    if len(content) < SIZE:
        return None
    lds, scratch = struct.unpack_from("<II", content, 0)
    (rsrc3,) = struct.unpack_from("<I", content, _RSRC3_AT)
    (rsrc1,) = struct.unpack_from("<I", content, _RSRC1_AT)
    (properties,) = struct.unpack_from("<H", content, _PROPERTIES_AT)
    return Descriptor(lds, scratch, rsrc1, rsrc3, bool(properties & _WAVE32))
