"""Code objects, host modules and bundles made by hand: facts in, the bytes of small files out."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

GFX942, GFX950, GFX90A = 0x4C, 0x4F, 0x3F
ANY_ANY = 0x500
_TEXT, _RODATA = 0x2000, 0x1000
_TYPES = {"note": 7, "symtab": 2, "strtab": 3, "progbits": 1, "nobits": 8}


def elf(
    sections: Sequence[tuple[str, str, int, bytes, int]],
    *,
    machine: int = 224,
    flags: int = 0,
    abi_version: int = 3,
    osabi: int = 64,
) -> bytes:
    """A 64-bit little-endian ELF file.

    Args:
        sections: (name, type, address, content, link) in order; they are numbered from 1.
        machine: e_machine.
        flags: e_flags.
        abi_version: e_ident[EI_ABIVERSION].
        osabi: e_ident[EI_OSABI].
    """
    names = b"\0" + b"".join(f"{name}\0".encode() for name, *_ in sections) + b".shstrtab\0"
    body = bytearray(b"\0" * 64)
    headers = [b"\0" * 64]
    for name, kind, address, content, link in (*sections, (".shstrtab", "strtab", 0, names, 0)):
        body += b"\0" * (-len(body) % 8)
        entry = 24 if kind == "symtab" else 0
        at = names.index(f"\0{name}\0".encode()) + 1
        headers.append(
            struct.pack("<IIQQQQIIQQ", at, _TYPES[kind], 0, address, len(body), len(content), link, 0, 8, entry)
        )
        body += content
    body += b"\0" * (-len(body) % 8)
    ident = b"\x7fELF\x02\x01\x01" + bytes([osabi, abi_version]) + b"\0" * 7
    body[:64] = ident + struct.pack(
        "<HHIQQQIHHHHHH", 3, machine, 1, 0, 0, len(body), flags, 64, 56, 0, 64, len(headers), len(headers) - 1
    )
    return bytes(body) + b"".join(headers)


def note(content: bytes, *, owner: bytes = b"AMDGPU\0", number: int = 32) -> bytes:
    """A note section with one note."""
    padded = owner + b"\0" * (-len(owner) % 4)
    return struct.pack("<III", len(owner), len(content), number) + padded + content + b"\0" * (-len(content) % 4)


def kernel(name: str, **more: Any) -> dict[str, Any]:
    """The metadata of one kernel; `vgpr_count=64` stands for the key `.vgpr_count`."""
    stated = {"symbol": f"{name}.kd", "vgpr_count": 128, "sgpr_count": 32, "wavefront_size": 64, **more}
    return {".name": name, **{f".{key}": value for key, value in stated.items() if value is not None}}


def descriptor(*, vgpr_steps: int = 15, accum_steps: int = 15, lds: int = 0, scratch: int = 0, entry: int = 0) -> bytes:
    """A kernel descriptor: register fields as the hardware has them, one less than the steps they stand for."""
    head = struct.pack("<IIIIq", lds, scratch, 0, 0, entry)
    return head.ljust(44, b"\0") + struct.pack("<III", accum_steps, vgpr_steps, 0).ljust(20, b"\0")


def code_object(
    kernels: Sequence[Mapping[str, Any]],
    *,
    machine: int = GFX942,
    features: int = ANY_ANY,
    abi_version: int = 3,
    sizes: Mapping[str, int] | None = None,
    code_bytes: int = 256,
    metadata: bytes | None = None,
    with_note: bool = True,
) -> bytes:
    """An AMD code object with metadata, a descriptor and symbols for each kernel.

    Args:
        kernels: metadata as `kernel` makes it.
        machine: EF_AMDGPU_MACH.
        features: the other flags.
        abi_version: code object version minus 2.
        sizes: kernel -> size that its symbol states; 0 for those left out.
        code_bytes: bytes of code of each kernel.
        metadata: the note's bytes, instead of those of `kernels`.
        with_note: whether there is a note at all.
    """
    if metadata is None:
        metadata = msgspec.msgpack.encode({"amdhsa.version": [1, 2], "amdhsa.kernels": list(kernels)})
    strings = b"\0"
    symbols = b"\0" * 24
    for i, described in enumerate(kernels):
        name = str(described.get(".name"))
        for text, kind, section, value, size in (
            (name, 0x12, 3, _TEXT + i * code_bytes, (sizes or {}).get(name, 0)),
            (f"{name}.kd", 0x11, 2, _RODATA + i * 64, 64),
        ):
            symbols += struct.pack("<IBBHQQ", len(strings), kind, 0, section, value, size)
            strings += text.encode() + b"\0"
    return elf(
        [
            (".note", "note", 0x200, note(metadata) if with_note else note(b"", owner=b"OTHER\0"), 0),
            (".rodata", "progbits", _RODATA, b"".join(descriptor() for _ in kernels), 0),
            (".text", "progbits", _TEXT, b"\0" * (code_bytes * len(kernels)), 0),
            (".symtab", "symtab", 0, symbols, 5),
            (".strtab", "strtab", 0, strings, 0),
        ],
        flags=machine | features,
        abi_version=abi_version,
    )


def bundle(entries: Sequence[tuple[str, bytes]], *, align: int = 4096) -> bytes:
    """A plain offload bundle; the host's empty entry comes first, as the compiler writes it."""
    named = [("host-x86_64-unknown-linux-gnu-", b""), *entries]
    head = 32 + sum(24 + len(name) for name, _ in named)
    at = -(-head // align) * align
    header = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(named))
    body = b""
    for name, content in named:
        header += struct.pack("<QQQ", at + len(body), len(content), len(name)) + name.encode()
        body += content + b"\0" * (-len(content) % align)
    return header.ljust(at, b"\0") + body


def compressed(plain: bytes, *, version: int = 2, method: int = 0, packed: bytes | None = None) -> bytes:
    """A compressed bundle around a plain one; `packed` is what stands for its data."""
    data = zlib.compress(plain) if packed is None else packed
    if version == 1:
        sizes = struct.pack("<IQ", len(plain), 0)
    else:
        total = 8 + {2: 16, 3: 24}[version] + len(data)
        sizes = struct.pack("<IIQ" if version == 2 else "<QQQ", total, len(plain), 0)
    return b"CCOB" + struct.pack("<HH", version, method) + sizes + data


def mangled(name: str) -> str:
    """The symbol of a function template instance of that name."""
    return f"_Z{len(name)}{name}IfDF16bEN2at6TensorERS1_S2_"


def host_module(
    fatbin: bytes | None = None,
    *,
    functions: Sequence[str] = (),
    constants: Sequence[str] = (),
    stripped: bool = False,
    section: str = ".hip_fatbin",
) -> bytes:
    """A shared library of the host.

    Args:
        fatbin: content of the section with device code; None for none.
        functions: names of functions in its symbol table, written mangled.
        constants: text constants.
        stripped: whether the symbol table is left out.
        section: name of the section with device code.
    """
    strings = b"\0" + b"".join(mangled(name).encode() + b"\0" for name in functions)
    sections = [(".rodata", "progbits", 0x1000, b"".join(c.encode() + b"\0" for c in constants), 0)]
    if not stripped:
        sections += [(".symtab", "symtab", 0, b"\0" * 24, 3), (".strtab", "strtab", 0, strings, 0)]
    if fatbin is not None:
        sections.append((section, "progbits", 0x4000, fatbin, 0))
    return elf(sections, machine=62, osabi=0, abi_version=0)


def wave(name: str) -> str:
    """The id of a bundle's entry for a target."""
    return f"hipv4-amdgcn-amd-amdhsa--{name}"
