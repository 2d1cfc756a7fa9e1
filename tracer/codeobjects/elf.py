"""ELF files read without trust: bytes in; header, sections, symbols and notes out, or an error that says what broke.

pyelftools parses; whatever it raises on a broken file becomes a CodeObjectError here, and no size that a file states is
believed before it is held against the file's own length.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, TypeVar

import msgspec
from elftools.common.exceptions import ELFError
from elftools.construct.core import ConstructError
from elftools.elf.elffile import ELFFile

from tracer.errors import CodeObjectError

MAGIC = b"\x7fELF"
#: `e_machine` of AMD GPUs, and of NVIDIA's cubins
AMD_GPU, NVIDIA_GPU = 224, 190
#: what pyelftools lets through on files that are broken in one way or another
_BROKEN = (
    ELFError, ConstructError, ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, TypeError,
    ValueError, struct.error,
)  # fmt: skip
_MACHINE_NAMES = {3: "x86", 62: "x86-64", 183: "AArch64", NVIDIA_GPU: "CUDA", AMD_GPU: "AMD GPU"}
_T = TypeVar("_T")


class Section(msgspec.Struct, frozen=True):
    """One section: where its bytes lie in the file and in memory."""

    index: int
    name: str
    type: str
    offset: int
    size: int
    address: int


class Symbol(msgspec.Struct, frozen=True):
    """One symbol: `kind` is "STT_FUNC", "STT_OBJECT", ...; `section` the index of the section it lies in, or None."""

    name: str
    value: int
    size: int
    kind: str
    section: int | None


class Note(msgspec.Struct, frozen=True):
    """One note: who wrote it, its number, and its bytes."""

    owner: str
    number: int
    content: bytes


class Elf:
    """One ELF file.

    Attributes:
        name: what to call it in messages.
        content: its bytes.
        machine: `e_machine`.
        flags: `e_flags`.
        abi_version: `e_ident[EI_ABIVERSION]`.
    """

    def __init__(self, content: bytes, name: str) -> None:
        """Reads the header.

        Raises:
            CodeObjectError: no ELF file, or one whose header is broken or cut off.
        """
        self.name = name
        self.content = content
        if content[:4] != MAGIC:
            raise CodeObjectError(
                f"{name} is no ELF file: it begins with {content[:4]!r}" if content else f"{name} is empty",
                expected="a file that begins with \\x7fELF",
            )
        self._file: ELFFile = self._guard(lambda: ELFFile(io.BytesIO(content)), "its header or section table")
        header = self._guard(lambda: (_number(content, 18), self._file["e_flags"], content[8]), "its header")
        self.machine, self.flags, self.abi_version = header

    @property
    def machine_name(self) -> str:
        """The machine in words."""
        return _MACHINE_NAMES.get(self.machine, f"machine {self.machine}")

    def _guard(self, read: Callable[[], _T], what: str) -> _T:
        try:
            return read()
        except _BROKEN as error:
            said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise CodeObjectError(
                f"{self.name} ({len(self.content)} bytes) is broken or cut off: {what} can't be read ({said})",
                expected="a whole ELF file",
                hint="copy or build the file again",
            ) from None

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Every section, in the file's order. Raises CodeObjectError when the table is broken."""

        def read() -> tuple[Section, ...]:
            return tuple(
                Section(i, s.name, str(s["sh_type"]), int(s["sh_offset"]), int(s["sh_size"]), int(s["sh_addr"]))
                for i, s in enumerate(self._file.iter_sections())
            )

        return self._guard(read, "its section table")

    def section(self, name: str) -> Section | None:
        """The first section of this name."""
        return next((section for section in self.sections if section.name == name), None)

    def bytes_of(self, section: Section) -> bytes:
        """A section's bytes: none for one that takes no place, and no more than the file has."""
        if section.type in ("SHT_NOBITS", "SHT_NULL"):
            return b""
        return self.content[section.offset : section.offset + section.size]

    def cut_off(self, section: Section) -> int:
        """How many bytes of a section lie behind the file's end."""
        if section.type in ("SHT_NOBITS", "SHT_NULL"):
            return 0
        return min(section.size, max(0, section.offset + section.size - len(self.content)))

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """The symbols of `.symtab`, else of `.dynsym`; none where the file has neither."""
        table = self.section(".symtab") or self.section(".dynsym")
        if table is None or table.size == 0:
            return ()

        def read() -> tuple[Symbol, ...]:
            return tuple(_symbol(entry) for entry in self._file.get_section(table.index).iter_symbols())

        return self._guard(read, f"its symbol table {table.name}")

    def notes(self) -> Iterator[Note]:
        """The notes of all note sections, else (in a file without section table) of the note segments."""
        places = [(s.offset, s.size) for s in self.sections if s.type == "SHT_NOTE"]
        if not places:
            places = self._guard(
                lambda: [
                    (int(s["p_offset"]), int(s["p_filesz"]))
                    for s in self._file.iter_segments()
                    if s["p_type"] == "PT_NOTE"
                ],
                "its segment table",
            )
        for offset, size in places:
            yield from _notes(self.content[offset : offset + size])


def _number(content: bytes, offset: int) -> int:
    """A two-byte number of the header, in the file's byte order."""
    return int(struct.unpack_from(">H" if content[5] == 2 else "<H", content, offset)[0])


def _symbol(entry: Any) -> Symbol:
    at = entry["st_shndx"]
    return Symbol(
        name=entry.name,
        value=int(entry["st_value"]),
        size=int(entry["st_size"]),
        kind=str(entry["st_info"]["type"]),
        section=at if isinstance(at, int) else None,
    )


def _notes(content: bytes) -> Iterator[Note]:
    """Notes packed one behind another, each part padded to four bytes; stops where the bytes end."""
    at = 0
    while at + 12 <= len(content):
        name_size, size, number = struct.unpack_from("<III", content, at)
        name_at = at + 12
        content_at = name_at + -(-name_size // 4) * 4
        end = content_at + size
        if end > len(content):
            return
        owner = content[name_at : name_at + name_size].rstrip(b"\0").decode("latin-1")
        yield Note(owner, number, content[content_at:end])
        at = content_at + -(-size // 4) * 4
