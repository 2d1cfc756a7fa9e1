"""What a compiled AMD code object says of its kernels: ELF bytes in, target, registers, LDS and arguments out.

The facts are in the note NT_AMDGPU_METADATA, a MessagePack map (LLVM's AMDGPU usage guide, code object V3 and later),
in the ELF header (target) and in each kernel's descriptor (tracer.codeobjects.descriptor).
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tracer.codeobjects.descriptor import SIZE, Descriptor, read_descriptor
from tracer.codeobjects.elf import AMD_GPU, NVIDIA_GPU, Elf, Section, Symbol
from tracer.codeobjects.kernel import CodeObject, KernelArgument, KernelCode
from tracer.codeobjects.targets import target_of_flags
from tracer.errors import CodeObjectError
from tracer.model.capture import Lost, Resources

_METADATA_NUMBER = 32
_OWNER = "AMDGPU"


def _key(field: str) -> str:
    return f".{field}"


class ArgumentMetadata(msgspec.Struct, rename=_key):
    """One entry of `.args`, under LLVM's own names."""

    name: str | None = None
    value_kind: str | None = None
    offset: int | None = None
    size: int | None = None
    value_type: str | None = None
    address_space: str | None = None
    actual_access: str | None = None
    access: str | None = None


class KernelMetadata(msgspec.Struct, rename=_key):
    """One entry of `amdhsa.kernels`, under LLVM's own names; what it does not state stays None."""

    name: str
    symbol: str | None = None
    vgpr_count: int | None = None
    agpr_count: int | None = None
    sgpr_count: int | None = None
    vgpr_spill_count: int | None = None
    sgpr_spill_count: int | None = None
    group_segment_fixed_size: int | None = None
    private_segment_fixed_size: int | None = None
    kernarg_segment_size: int | None = None
    max_flat_workgroup_size: int | None = None
    reqd_workgroup_size: tuple[int, int, int] | None = None
    wavefront_size: int | None = None
    uses_dynamic_stack: bool | None = None
    args: list[ArgumentMetadata] = []


class _Note(msgspec.Struct, rename=lambda field: f"amdhsa.{field}"):
    kernels: list[msgspec.Raw] = []


_NOTE = msgspec.msgpack.Decoder(_Note)
_KERNEL = msgspec.msgpack.Decoder(KernelMetadata)


def kernel_code(metadata: KernelMetadata) -> KernelCode:
    """A kernel as its metadata alone states it."""
    return KernelCode(
        name=metadata.name,
        resources=Resources(
            vgprs=metadata.vgpr_count,
            agprs=metadata.agpr_count,
            sgprs=metadata.sgpr_count,
            vgpr_spills=metadata.vgpr_spill_count,
            sgpr_spills=metadata.sgpr_spill_count,
            lds_bytes=metadata.group_segment_fixed_size,
            scratch_bytes=metadata.private_segment_fixed_size,
        ),
        wave_size=metadata.wavefront_size,
        max_block_threads=metadata.max_flat_workgroup_size,
        required_block=metadata.reqd_workgroup_size,
        kernarg_bytes=metadata.kernarg_segment_size,
        dynamic_stack=metadata.uses_dynamic_stack,
        arguments=tuple(
            KernelArgument(
                name=argument.name,
                kind=argument.value_kind,
                offset=argument.offset,
                size_bytes=argument.size,
                value_type=argument.value_type,
                address_space=argument.address_space,
                access=argument.actual_access or argument.access,
            )
            for argument in metadata.args
        ),
    )


def kernel_notes(content: bytes) -> tuple[KernelCode, ...]:
    """The kernels that a code object's metadata lists; none when it is no code object or has no such note."""
    try:
        elf = Elf(content, "the code object")
        return tuple(kernel_code(metadata) for metadata in _metadata(elf)[0])
    except CodeObjectError:
        return ()


def read_code_object(content: bytes, name: str, *, entry: str | None = None) -> CodeObject:
    """Reads one AMD code object.

    Args:
        content: its bytes.
        name: what to call it in messages.
        entry: its id in the bundle that it was found in, or None.

    Returns:
        The code object. Metadata that can't be read is counted in `lost`; a file without any has no kernels.

    Raises:
        CodeObjectError: no ELF file, a broken one, or code for something else than an AMD GPU.
    """
    elf = Elf(content, name)
    if elf.machine == NVIDIA_GPU:
        raise CodeObjectError(
            f"{name} is CUDA code (a cubin), which ktrace does not read",
            expected="an AMD code object",
            hint="give the .ptx beside it",
        )
    if elf.machine != AMD_GPU:
        raise CodeObjectError(
            f"{name} is an ELF file for {elf.machine_name}, and no AMD code object",
            expected=f"e_machine {AMD_GPU} (AMD GPU)",
        )
    metadata, lost = _metadata(elf)
    symbols: dict[str, Symbol] = {}
    try:
        symbols = {symbol.name: symbol for symbol in elf.symbols}
    except CodeObjectError as error:
        lost.append(Lost("symbol tables that can't be read", 1, error.message))
    return CodeObject(
        target=target_of_flags(elf.flags, elf.abi_version),
        kernels=tuple(_with_code(elf, symbols, known) for known in metadata),
        version=elf.abi_version + 2,
        lost=tuple(lost),
        entry=entry,
    )


def _metadata(elf: Elf) -> tuple[list[KernelMetadata], list[Lost]]:
    """The metadata of every kernel that can be read, and what can't."""
    kernels: list[KernelMetadata] = []
    lost: list[Lost] = []
    found = False
    for note in elf.notes():
        if note.number != _METADATA_NUMBER or note.owner != _OWNER:
            continue
        found = True
        try:
            raw = _NOTE.decode(note.content).kernels
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            lost.append(Lost("metadata notes that are no MessagePack map of kernels", 1, str(error)))
            continue
        for entry in raw:
            try:
                kernels.append(_KERNEL.decode(entry))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                lost.append(Lost("kernels whose metadata can't be read", 1, str(error)))
    if not found:
        cut = sum(elf.cut_off(section) for section in elf.sections if section.type == "SHT_NOTE")
        why = f"the file ends {cut} bytes before its notes do" if cut else "the file has no such note"
        lost.append(Lost("metadata notes that are missing", 1, why))
    return kernels, lost


def _with_code(elf: Elf, symbols: dict[str, Symbol], metadata: KernelMetadata) -> KernelCode:
    """A kernel with what its descriptor and its symbol add."""
    kernel = kernel_code(metadata)
    target = target_of_flags(elf.flags, elf.abi_version)
    described = symbols.get(metadata.symbol or f"{metadata.name}.kd")
    descriptor = _descriptor(elf, described) if described is not None else None
    if descriptor is not None:
        kernel = msgspec.structs.replace(
            kernel,
            architectural_vgprs=descriptor.architectural_vgprs(target),
            allocated_vgprs=descriptor.allocated_vgprs(target),
        )
    code = symbols.get(metadata.name)
    if code is None:
        return kernel
    size, note = _code_size(elf, symbols.values(), code)
    return msgspec.structs.replace(kernel, code_address=code.value, code_bytes=size, code_bytes_note=note)


def _section_of(elf: Elf, symbol: Symbol) -> Section | None:
    at = symbol.section
    return elf.sections[at] if at is not None and at < len(elf.sections) else None


def _descriptor(elf: Elf, symbol: Symbol) -> Descriptor | None:
    section = _section_of(elf, symbol)
    if section is None:
        return None
    start = section.offset + symbol.value - section.address
    inside = section.address <= symbol.value < section.address + section.size
    return read_descriptor(elf.content[start : start + SIZE]) if inside else None


def _code_size(elf: Elf, symbols: Iterable[Symbol], code: Symbol) -> tuple[int | None, str | None]:
    """Bytes of a kernel's code: what its symbol states, else up to the next function or the end of its section."""
    if code.size:
        return code.size, None
    section = _section_of(elf, code)
    if section is None or not section.address <= code.value < section.address + section.size:
        return None, None
    end = section.address + section.size
    later = [
        other.value
        for other in symbols
        if other.kind == "STT_FUNC" and other.section == code.section and code.value < other.value < end
    ]
    what = "the next function" if later else f"the end of {section.name}"
    return min([end, *later]) - code.value, f"its symbol states no size: up to {what}"
