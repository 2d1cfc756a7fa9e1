"""One file with compiled code, whatever kind it is of: a path in; code objects, kernels and what was lost out.

The kind is found by what a file holds, never by its name.
"""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import Any

import msgspec

from tracer.codeobjects.amdgcn import is_amdgcn, read_amdgcn
from tracer.codeobjects.bundle import is_bundle
from tracer.codeobjects.elf import AMD_GPU, MAGIC, NVIDIA_GPU, Elf
from tracer.codeobjects.kernel import CodeObject, KernelCode
from tracer.codeobjects.metadata import read_code_object
from tracer.codeobjects.module import BuiltModule, Count, read_bundled, read_module
from tracer.codeobjects.ptx import is_ptx, read_ptx
from tracer.codeobjects.records import code_of_record
from tracer.errors import CodeObjectError
from tracer.model.capture import Lost
from tracer.store import parse_record

_KINDS = (
    "an AMD code object, a bundle of them, a built .so, AMD assembly, PTX, or a record that `ktrace run` or "
    "`ktrace import` wrote"
)


class FileKind(enum.StrEnum):
    """What a file is."""

    CODE_OBJECT = "AMD code object"
    BUNDLE = "offload bundle"
    MODULE = "built module"
    AMD_ASSEMBLY = "AMD assembly"
    PTX = "PTX"
    RECORD = "record"


class CodeFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file.

    Attributes:
        path: as it was given.
        kind: what it is.
        objects: the code in it, an object a target and translation unit.
        module: for a built module, what else it holds.
        lost: what could not be read of the file as such; each object counts its own losses.
    """

    path: str
    kind: FileKind
    objects: tuple[CodeObject, ...]
    module: BuiltModule | None = None
    lost: tuple[Lost, ...] = ()

    @property
    def kernels(self) -> tuple[KernelCode, ...]:
        """The kernels of all objects."""
        return tuple(kernel for code in self.objects for kernel in code.kernels)


def read_code_file(path: Path, count: Count | None = None) -> CodeFile:
    """Reads a file.

    Args:
        path: the file.
        count: called with the bytes of each AMD code object and what was read from them, to count its instructions.

    Raises:
        CodeObjectError: it can't be read, is broken, or is none of the kinds.
        RecordError: it claims to be a record, and is none.
    """
    try:
        content = path.read_bytes()
        modified_ns = path.stat().st_mtime_ns
    except OSError as error:
        raise CodeObjectError(f"{path} can't be read: {error.strerror or error}", expected=_KINDS) from None
    name = str(path)
    if content.startswith(MAGIC):
        return _elf(content, name, modified_ns, count, path)
    if is_bundle(content):
        objects, lost = read_bundled(content, name, count)
        return CodeFile(path=name, kind=FileKind.BUNDLE, objects=tuple(objects), lost=tuple(lost))
    if content.lstrip()[:1] == b"{":
        code = code_of_record(parse_record(content, name))
        return CodeFile(path=name, kind=FileKind.RECORD, objects=(code,))
    text = content.decode("utf-8", "replace")
    if is_amdgcn(text):
        code = _with_triton(read_amdgcn(text), path)
        return CodeFile(path=name, kind=FileKind.AMD_ASSEMBLY, objects=(code,))
    if is_ptx(text):
        return CodeFile(path=name, kind=FileKind.PTX, objects=(_with_triton(read_ptx(text), path),))
    raise CodeObjectError(
        f"{name} is empty"
        if not content
        else f"{name} holds no compiled code that ktrace reads: it begins with {content[:16]!r}",
        expected=_KINDS,
    )


def resources_of(path: Path) -> tuple[KernelCode, ...]:
    """The kernels of a file with their resources, without counting instructions.

    Raises:
        CodeObjectError, RecordError: as read_code_file does.
    """
    return read_code_file(path).kernels


def _elf(content: bytes, name: str, modified_ns: int, count: Count | None, path: Path) -> CodeFile:
    if Elf(content, name).machine in (AMD_GPU, NVIDIA_GPU):
        code = read_code_object(content, name)
        code = _with_triton(count(content, code) if count is not None else code, path)
        return CodeFile(path=name, kind=FileKind.CODE_OBJECT, objects=(code,))
    module = read_module(content, name, modified_ns=modified_ns, count=count)
    return CodeFile(path=name, kind=FileKind.MODULE, objects=module.objects, module=module, lost=module.lost)


def _with_triton(code: CodeObject, path: Path) -> CodeObject:
    """Adds the LDS that a Triton kernel is launched with, where Triton's own metadata lies beside the file.

    Triton passes LDS at launch, so that the code states none; its cache keeps `<kernel>.json` beside each file.
    """
    stated = _triton_metadata(path.with_suffix(".json")) if path.suffix != ".json" else None
    if stated is None:
        return code
    note = f"LDS is what Triton's metadata beside it says ({path.stem}.json: shared={stated['shared']})"
    kernels = tuple(
        msgspec.structs.replace(
            kernel,
            resources=msgspec.structs.replace(kernel.resources, lds_bytes=stated["shared"]),
            lds_is_whole=True,
            notes=(*kernel.notes, note),
        )
        if kernel.name == stated["name"]
        else kernel
        for kernel in code.kernels
    )
    return msgspec.structs.replace(code, kernels=kernels)


def _triton_metadata(path: Path) -> dict[str, Any] | None:
    try:
        stated = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(stated, dict) or not isinstance(stated.get("name"), str):
        return None
    shared = stated.get("shared")
    return stated if isinstance(shared, int) and not isinstance(shared, bool) else None
