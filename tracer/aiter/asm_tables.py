"""aiter's tables of assembly kernels: a target in, kernels of `hsa/<arch>/**.csv` out, with code object and line."""

from __future__ import annotations

import csv
from functools import lru_cache
from pathlib import Path

import msgspec

from tracer.aiter import text
from tracer.aiter.tree import AiterTree
from tracer.model.source import CsvRow

_FILE_COLUMNS = ("co_name", "knl_file")


class AsmKernel(msgspec.Struct, frozen=True):
    """One row of a table of assembly kernels.

    Attributes:
        name: the kernel's symbol (`_ZN5aiter...E`, or plain).
        code_object: the `.co` file, relative to the tree; None when the row names none.
        shipped: whether that file is there.
        row: the row, where it stands.
        file_name: the code object's name as the row has it; empty for none.
    """

    name: str
    code_object: str | None
    shipped: bool
    row: CsvRow
    file_name: str = ""


def asm_kernels(tree: AiterTree, arch: str, kind: str | None = None) -> dict[str, tuple[AsmKernel, ...]]:
    """Assembly kernels of a target by name (a name may stand in several tables).

    Args:
        tree: the aiter.
        arch: the target; one that has no folder under hsa/ has no kernels.
        kind: only tables below this folder (`bf16gemm`, `fmoe`); None for all.

    Raises:
        SourceTreeError: a table can't be read.
    """
    folder = tree.hsa_root / arch / kind if kind else tree.hsa_root / arch
    found: dict[str, tuple[AsmKernel, ...]] = {}
    for path in sorted(folder.rglob("*.csv")) if folder.is_dir() else ():
        for kernel in kernels_of(tree, path):
            found[kernel.name] = (*found.get(kernel.name, ()), kernel)
    return found


def kernels_of(tree: AiterTree, table: Path) -> tuple[AsmKernel, ...]:
    """The rows of one table, in its order. Raises SourceTreeError when it can't be read."""
    return _table(tree, table, text.read(table))


@lru_cache(maxsize=512)
def _table(tree: AiterTree, path: Path, content: str) -> tuple[AsmKernel, ...]:
    file = tree.relative(path) or path.as_posix()
    # one table begins with comment lines (gfx950 mla_v4, 2026): aiter's own reader strips them
    numbered = [
        (number, line)
        for number, line in enumerate(content.lstrip("\ufeff").splitlines(), 1)
        if line.strip() and not line.lstrip().startswith(("#", "//", ";"))
    ]
    if not numbered:
        return ()
    columns = next(csv.reader([numbered[0][1]]))
    kernels = []
    for number, line in numbered[1:]:
        fields = [field.strip() for field in next(csv.reader([line]))]
        values = dict(zip(columns, fields, strict=False))
        name = values.get("knl_name")
        if not name:
            continue
        named = next((values[column] for column in _FILE_COLUMNS if values.get(column)), None)
        there = _code_object(path.parent, named) if named else None
        shown = there or (path.parent / named if named else None)
        kernels.append(
            AsmKernel(
                name,
                tree.relative(shown) if shown is not None else None,
                there is not None,
                CsvRow(file, number, values),
                named or "",
            )
        )
    return tuple(kernels)


def _code_object(folder: Path, name: str) -> Path | None:
    """The code object beside its table, or in a folder for one part (`MI300/`) below it."""
    beside = folder / name
    if beside.is_file():
        return beside
    return next((path for path in sorted(folder.glob(f"*/{name}")) if path.is_file()), None)
