"""aiter's assembly kernels: the folder `hsa` in, code objects by name and the CSV rows that name their symbols out."""

from __future__ import annotations

import csv
import io
from functools import cached_property

import msgspec

from tracer.index.tree_index import TreeIndex

#: columns that name a kernel symbol and its code object; the wheel and main spell them differently
_SYMBOLS = ("knl_name", "kernelName", "name")
_OBJECTS = ("co_name", "knl_file")


class AssemblyRow(msgspec.Struct, frozen=True):
    """One row of a table under hsa/.

    Attributes:
        symbol: the kernel's symbol.
        object: the code object, as a path of the repository.
        file: the table.
        line: its 1-based line there.
        arch: the target, from the folder.
    """

    symbol: str
    object: str
    file: str
    line: int
    arch: str


class Assembly:
    """The code objects and tables of one tree."""

    def __init__(self, index: TreeIndex) -> None:
        """Looks at the folder when asked."""
        self.tree = index.tree

    @cached_property
    def objects(self) -> dict[str, list[str]]:
        """File name -> the code objects of that name, as paths of the repository."""
        found: dict[str, list[str]] = {}
        root = self.tree.hsa_root
        for path in sorted([*root.rglob("*.co"), *root.rglob("*.hsaco")]):
            found.setdefault(path.name, []).append(f"hsa/{path.relative_to(root).as_posix()}")
        return found

    @cached_property
    def tables(self) -> dict[str, list[str]]:
        """Table name without suffix -> the CSVs of that name (aiter's `cfg_<name>`)."""
        found: dict[str, list[str]] = {}
        root = self.tree.hsa_root
        for path in sorted(root.rglob("*.csv")):
            found.setdefault(path.stem, []).append(f"hsa/{path.relative_to(root).as_posix()}")
        return found

    def rows(self, file: str) -> list[AssemblyRow]:
        """The rows of one table; lines that begin with `#` are comments."""
        try:
            text = self.tree.absolute(file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        numbered = [(i + 1, line) for i, line in enumerate(text.splitlines()) if line.strip() and line[0] != "#"]
        if not numbered:
            return []
        header = next(csv.reader(io.StringIO(numbered[0][1])))
        names = [h.strip() for h in header]
        symbol_at = next((names.index(c) for c in _SYMBOLS if c in names), None)
        object_at = next((names.index(c) for c in _OBJECTS if c in names), None)
        if symbol_at is None or object_at is None:
            return []
        folder = file.rpartition("/")[0]
        arch = file.split("/")[1] if file.count("/") > 1 else ""
        out = []
        for line, text_line in numbered[1:]:
            values = next(csv.reader(io.StringIO(text_line)))
            if len(values) > max(symbol_at, object_at):
                out.append(
                    AssemblyRow(values[symbol_at].strip(), f"{folder}/{values[object_at].strip()}", file, line, arch)
                )
        return out

    def holding(self, symbol: str) -> list[str]:
        """The code objects whose symbol table holds a kernel of that name; reads all of them."""
        wanted = f"\0{symbol}.kd\0".encode()
        found = []
        for files in self.objects.values():
            for file in files:
                try:
                    if wanted in self.tree.absolute(file).read_bytes():
                        found.append(file)
                except OSError:
                    continue
        return sorted(found)

    @cached_property
    def by_symbol(self) -> dict[str, list[AssemblyRow]]:
        """Symbol -> the rows that name it, over all tables."""
        found: dict[str, list[AssemblyRow]] = {}
        for files in self.tables.values():
            for file in files:
                for row in self.rows(file):
                    found.setdefault(row.symbol, []).append(row)
        return found
