"""What compiled code says of its kernels, whatever it was read from: plain values, no reading."""

from __future__ import annotations

import math

import msgspec

from tracer.codeobjects.targets import TargetId
from tracer.model.capture import Lost, Resources


class KernelArgument(msgspec.Struct, frozen=True, kw_only=True):
    """One argument of a kernel, as the metadata states it; None for what it does not.

    Attributes:
        name: as in the source.
        kind: "global_buffer", "by_value", "hidden_block_count_x", ...
        offset: where it lies in the kernel's argument segment, in bytes.
        size_bytes: how much room it takes there.
        value_type: "i32", "f16", ... where stated.
        address_space: "global", "local", ... of a pointer.
        access: "read_only", "read_write", ... of a pointer.
    """

    name: str | None = None
    kind: str | None = None
    offset: int | None = None
    size_bytes: int | None = None
    value_type: str | None = None
    address_space: str | None = None
    access: str | None = None


class KernelCode(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel of compiled code. None means that nothing states it.

    Attributes:
        name: the kernel's name, mangled where the compiler mangled it.
        resources: registers, LDS and scratch. On AMD `vgprs` counts architectural and accumulation registers together
            from gfx90a on, and `lds_bytes` only what the code itself takes: a launch may add more.
        agprs_apart: whether `vgprs` leaves the accumulation registers out, as profilers do.
        lds_is_whole: whether `lds_bytes` is all that a launch takes. Code states only what it takes itself.
        architectural_vgprs: how many of the VGPRs are architectural ones; the others accumulate (gfx90a and later).
        allocated_vgprs: VGPRs that the kernel descriptor asks for, rounded up to what the hardware gives out.
        wave_size: lanes of a wave.
        max_block_threads: the largest block it was compiled for.
        required_block: the only block it can be launched with, in x, y, z.
        launched_block: the block that it was launched with, in x, y, z, where a record says so.
        kernarg_bytes: size of the argument segment.
        arguments: in their order; empty where not stated.
        code_address: where its code begins, in the address space of its file; None for text.
        code_bytes: size of its instructions.
        code_bytes_note: why the size is only inferred; None where the symbol states it.
        dynamic_stack: whether the scratch that it needs is only known when it runs.
        instructions: mnemonic -> how often it stands in the code; None where nobody counted.
        instructions_from: what was counted: "assembly text", "llvm-objdump 19.1.7", "record", ...
        virtual_registers: of PTX, type -> virtual registers; the assembler decides on real ones.
        notes: sentences for the reader.
    """

    name: str
    resources: Resources = Resources()
    agprs_apart: bool = False
    lds_is_whole: bool = False
    architectural_vgprs: int | None = None
    allocated_vgprs: int | None = None
    wave_size: int | None = None
    max_block_threads: int | None = None
    required_block: tuple[int, int, int] | None = None
    launched_block: tuple[int, int, int] | None = None
    kernarg_bytes: int | None = None
    arguments: tuple[KernelArgument, ...] = ()
    code_address: int | None = None
    code_bytes: int | None = None
    code_bytes_note: str | None = None
    dynamic_stack: bool | None = None
    instructions: dict[str, int] | None = None
    instructions_from: str | None = None
    virtual_registers: dict[str, int] = {}
    notes: tuple[str, ...] = ()

    @property
    def threads(self) -> int | None:
        """Threads of a block: as launched, else as required, else the most that it was compiled for."""
        block = self.launched_block or self.required_block
        return math.prod(block) if block else self.max_block_threads


class CodeObject(msgspec.Struct, frozen=True, kw_only=True):
    """Code for one target.

    Attributes:
        target: what it is for.
        kernels: in the order of its metadata.
        version: code object version: 3 to 6 by the ELF header; None for text.
        lost: what could not be read, with counts.
        entry: where in a bundle it was found ("hipv4-amdgcn-amd-amdhsa--gfx942"); None for one on its own.
    """

    target: TargetId
    kernels: tuple[KernelCode, ...]
    version: int | None = None
    lost: tuple[Lost, ...] = ()
    entry: str | None = None
