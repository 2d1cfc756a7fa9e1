"""A built module of a library (`module_*.so`): its bytes in; the targets, kernels and instance names inside it out.

Device code lies in the section `.hip_fatbin`. Instance names stand in the host's symbols (aiter's generators write one
C++ function an instance) and in its text constants (tables keyed by name).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import msgspec

from tracer.codeobjects.bundle import read_bundles
from tracer.codeobjects.elf import AMD_GPU, Elf
from tracer.codeobjects.kernel import CodeObject
from tracer.codeobjects.metadata import read_code_object
from tracer.codeobjects.targets import TargetId
from tracer.errors import CodeObjectError
from tracer.model.capture import Lost
from tracer.names import registry

Count = Callable[[bytes, CodeObject], CodeObject]

#: grammars of names that aiter's generators give to instances, and of its assembly kernels
_INSTANCES = ("aiter_ck", "aiter_ck_moe", "aiter_cktile", "flydsl", "flydsl_moe", "opus", "opus_moe")
_ASSEMBLY = "aiter_asm"
_FATBIN, _CUDA = ".hip_fatbin", (".nv_fatbin", ".nvFatBinSegment")
_SYMBOL_TEXT, _CONSTANTS = (".strtab", ".dynstr"), (".rodata", ".data.rel.ro", ".data")
#: a constant that could be a name: one word of some length, closed by a zero byte
_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_:]{5,}(?=\0)")


class BuiltModule(msgspec.Struct, frozen=True, kw_only=True):
    """One built module.

    Attributes:
        name: its name without suffixes ("module_gemm_a8w8_blockscale").
        path: where it lies.
        modified_ns: when it was written, nanoseconds since the epoch; None where not known.
        objects: the code objects inside, in their order.
        instances: names of aiter instances inside, sorted.
        assembly_kernels: names of aiter's assembly kernels inside, sorted: it loads those from `.co` files.
        names: every word inside that could be a name, for look-ups.
        stripped: whether its full symbol table is gone: then hidden functions have no names.
        cuda: whether it holds CUDA code, which is not read.
        lost: what could not be read, with counts.
    """

    name: str
    path: str
    modified_ns: int | None = None
    objects: tuple[CodeObject, ...] = ()
    instances: tuple[str, ...] = ()
    assembly_kernels: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    stripped: bool = False
    cuda: bool = False
    lost: tuple[Lost, ...] = ()

    @property
    def targets(self) -> tuple[TargetId, ...]:
        """What its code is for, each once."""
        return tuple(dict.fromkeys(code.target for code in self.objects))


def module_name(path: str | Path) -> str:
    """`.../module_x.cpython-312-x86_64-linux-gnu.so` -> `module_x`."""
    return Path(path).name.split(".", 1)[0]


def read_module(
    content: bytes, path: str, *, modified_ns: int | None = None, count: Count | None = None
) -> BuiltModule:
    """Reads a built module.

    Args:
        content: its bytes.
        path: where it lies, for messages and its name.
        modified_ns: when it was written.
        count: called with the bytes of each code object and what was read from them, to count its instructions.

    Raises:
        CodeObjectError: no ELF file, a broken one, or code for a GPU rather than for the host.
    """
    elf = Elf(content, path)
    if elf.machine == AMD_GPU:
        raise CodeObjectError(f"{path} is a code object, and no module of the host", expected="a shared library")
    objects, lost = _device_code(elf, count)
    names = frozenset(_names(elf))
    decoded = {name: registry.decode(name) for name in names if name.startswith(_heads())}
    cut = sum(elf.cut_off(section) for section in elf.sections)
    if cut:
        lost.append(Lost("bytes of sections behind the end of the file", cut))
    return BuiltModule(
        name=module_name(path),
        path=path,
        modified_ns=modified_ns,
        objects=tuple(objects),
        instances=tuple(sorted(n for n, d in decoded.items() if d.complete and d.grammar in _INSTANCES)),
        assembly_kernels=tuple(sorted(n for n, d in decoded.items() if d.complete and d.grammar == _ASSEMBLY)),
        names=names,
        stripped=elf.section(".symtab") is None,
        cuda=any(elf.section(name) is not None for name in _CUDA),
        lost=tuple(lost),
    )


def _device_code(elf: Elf, count: Count | None) -> tuple[list[CodeObject], list[Lost]]:
    objects: list[CodeObject] = []
    lost: list[Lost] = []
    for section in (section for section in elf.sections if section.name == _FATBIN):
        found, missed = read_bundled(elf.bytes_of(section), elf.name, count)
        objects += found
        lost += missed
    return objects, lost


def read_bundled(content: bytes, name: str, count: Count | None = None) -> tuple[list[CodeObject], list[Lost]]:
    """The AMD code objects of all bundles in a section or file, and what could not be read.

    Args:
        content: bytes of the section or file.
        name: what to call it in messages.
        count: as for read_module.
    """
    objects: list[CodeObject] = []
    found = read_bundles(content)
    lost = list(found.lost)
    for entry in found.entries:
        try:
            code = read_code_object(entry.content, f"{entry.id} in {name}", entry=entry.id)
        except CodeObjectError as error:
            lost.append(Lost("code objects that can't be read", 1, error.message))
        else:
            objects.append(count(entry.content, code) if count is not None else code)
    return objects, lost


@cache
def _heads() -> tuple[str, ...]:
    """Beginnings of the names that the grammars of instances and assembly kernels read."""
    wanted = {*_INSTANCES, _ASSEMBLY}
    plain = [p for grammar in registry.GRAMMARS if grammar.name in wanted for p in grammar.prefixes]
    return (*(prefix for prefix in plain if "::" not in prefix), "_ZN5aiter")


@cache
def _mangled() -> re.Pattern[bytes]:
    """A length and a name, as C++ mangling writes them, for the names of instances."""
    heads = sorted({head for head in _heads() if not head.startswith("_Z")}, key=len, reverse=True)
    return re.compile(rb"(\d+)((?:" + b"|".join(re.escape(head.encode()) for head in heads) + rb")\w*)", re.ASCII)


def _names(elf: Elf) -> Iterator[str]:
    for section in elf.sections:
        if section.name in _SYMBOL_TEXT:
            for length, text in _mangled().findall(elf.bytes_of(section)):
                if len(length) < 5 and int(length) <= len(text):
                    yield text[: int(length)].decode("ascii")
        elif section.name.startswith(_CONSTANTS):
            for word in _WORD.findall(elf.bytes_of(section)):
                text = word.decode("ascii")
                yield text
                at = text.find("_ZN5aiter")
                if at > 0:  # main's tables (2026) put the architecture before the symbol
                    yield text[at:]
