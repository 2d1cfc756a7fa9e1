"""What a compiled AMD code object says of its kernels: ELF bytes in, registers and LDS of each kernel out.

The facts are in the note NT_AMDGPU_METADATA, a MessagePack map (LLVM's AMDGPU usage guide, code object V3 and later).
"""

from __future__ import annotations

import io
from typing import Any

import msgspec
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from tracer.model.capture import Resources

_METADATA_NOTE = "NT_AMDGPU_METADATA"
_METADATA_NUMBER = 32


class KernelNote(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel of a code object.

    Attributes:
        name: the kernel's name.
        resources: registers, LDS and scratch.
        max_block_threads: the largest block it was compiled for.
    """

    name: str
    resources: Resources
    max_block_threads: int | None


def kernel_notes(content: bytes) -> tuple[KernelNote, ...]:
    """The kernels that a code object's metadata lists; none when it is no code object or has no such note."""
    try:
        elf = ELFFile(io.BytesIO(content))
        notes = [
            note for section in elf.iter_sections() if section["sh_type"] == "SHT_NOTE" for note in section.iter_notes()
        ]
    except ELFError:
        return ()
    found: list[KernelNote] = []
    for note in notes:
        if note["n_type"] not in (_METADATA_NOTE, _METADATA_NUMBER):
            continue
        desc = note["n_descdata"] if "n_descdata" in note else note["n_desc"]
        raw = desc if isinstance(desc, bytes) else desc.encode("latin-1")
        found += [_note(kernel) for kernel in msgspec.msgpack.decode(raw).get("amdhsa.kernels", ())]
    return tuple(found)


def _note(kernel: dict[str, Any]) -> KernelNote:
    return KernelNote(
        name=kernel[".name"],
        resources=Resources(
            vgprs=kernel.get(".vgpr_count"),
            agprs=kernel.get(".agpr_count"),
            sgprs=kernel.get(".sgpr_count"),
            vgpr_spills=kernel.get(".vgpr_spill_count"),
            sgpr_spills=kernel.get(".sgpr_spill_count"),
            lds_bytes=kernel.get(".group_segment_fixed_size"),
            scratch_bytes=kernel.get(".private_segment_fixed_size"),
        ),
        max_block_threads=kernel.get(".max_flat_workgroup_size"),
    )
