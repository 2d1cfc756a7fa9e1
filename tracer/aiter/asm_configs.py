"""The tables of assembly kernels that a module is built with: its recipe in, `cfg_...` by name as C++ sees them out.

`hsa/**/codegen.py` writes one `std::unordered_map` a CSV. The wheel's scripts name the columns by position and key a
row by the kernel's symbol; main's one script (2026) takes the CSV's own names and puts the architecture before it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

from tracer.aiter import text
from tracer.aiter.asm_tables import AsmKernel, kernels_of
from tracer.aiter.binding import Recipe
from tracer.aiter.cpp_objects import Fields, Table
from tracer.aiter.csvfile import key_value
from tracer.aiter.hash_order import iteration_order
from tracer.aiter.tree import AiterTree

_WHEEL = re.compile(r"\{get_asm_dir\(\)\}/(\w+)/codegen\.py")
_MAIN = re.compile(r"\{AITER_META_DIR\}/hsa/codegen\.py\s+-m\s+(\w+)")


class Layout(msgspec.Struct, frozen=True):
    """How a script writes rows: struct members in order, and for each the column (by position) it is taken from."""

    members: tuple[str, ...]
    columns: tuple[int, ...]
    line: int


class AsmConfigs(msgspec.Struct, frozen=True):
    """The tables of one module.

    Attributes:
        tables: C++ name -> table, entries in the order in which C++ iterates.
        kernels: key of an entry -> its row.
        script: the script that writes them, relative to the tree.
    """

    tables: dict[str, Table]
    kernels: dict[str, AsmKernel]
    script: str | None


def asm_configs(tree: AiterTree, how: Recipe, arch: str) -> AsmConfigs:
    """The tables that a module's recipe has written for one architecture; empty where it names no such script.

    Raises:
        SourceTreeError: a script or table can't be read.
    """
    tables: dict[str, Table] = {}
    kernels: dict[str, AsmKernel] = {}
    script: str | None = None
    for command in how.commands:
        wheel, main = _WHEEL.search(command), _MAIN.search(command)
        if wheel is None and main is None:
            continue
        kind = (wheel or main).group(1)  # type: ignore[union-attr]
        path = tree.hsa_root / arch / kind / "codegen.py" if wheel else tree.hsa_root / "codegen.py"
        script = tree.relative(path)
        if wheel and not path.is_file():
            continue
        layout = _layout(path, text.read(path)) if wheel else None
        if wheel and layout is None:
            continue  # a script of another kind: what it writes stays unknown to the walk
        folder = tree.hsa_root / arch / kind
        for table in sorted(folder.rglob("*.csv")) if folder.is_dir() else ():
            rows = kernels_of(tree, table)
            entries = {_key(row, arch, layout): row for row in reversed(rows)}  # of equal keys the first counts
            order = iteration_order([_key(row, arch, layout) for row in rows])
            missing = _absent(tree, kind) if layout is None else {}
            name = f"cfg_{table.stem.split('.')[0]}"
            tables[name] = Table(name, {key: _fields(name, entries[key], arch, layout, tree, missing) for key in order})
            kernels.update(entries)
    return AsmConfigs(tables, kernels, script)


def _key(row: AsmKernel, arch: str, layout: Layout | None) -> str:
    return row.name if layout is not None else f"{arch}{row.name}"


def _absent(tree: AiterTree, kind: str) -> dict[str, str | int]:
    """What a column is that a table of this kind does not have: 0 for numbers, else empty text (main's script)."""
    known: dict[str, str | int] = {}
    for table in sorted(tree.hsa_root.glob(f"*/{kind}/**/*.csv")):
        for row in kernels_of(tree, table)[:1]:
            for column, value in row.row.values.items():
                if isinstance(key_value(value), int | float):
                    known[column] = 0
                known.setdefault(column, "")
    return known


def _fields(
    table: str, row: AsmKernel, arch: str, layout: Layout | None, tree: AiterTree, missing: Mapping[str, str | int]
) -> Fields:
    """A row as its C++ struct."""
    folder = (tree.absolute(row.row.file).parent.relative_to(tree.hsa_root / arch)).as_posix()
    code_object = f"{folder}/{row.file_name}"
    values = [key_value(value) if value else 0 for value in row.row.values.values()]
    if layout is None:
        plain = dict(zip(row.row.values, values, strict=True))
        return Fields(table, {**missing, **plain, "knl_name": row.name, "co_name": code_object, "arch": arch})
    first, second, *others = layout.members
    named = {member: values[column] for member, column in zip(others, layout.columns, strict=True)}
    return Fields(table, {first: row.name, second: code_object, **named})


@lru_cache(maxsize=32)
def _layout(path: Path, content: str) -> Layout | None:
    """How a script writes its tables; None for one that writes something else."""
    struct = re.search(r"\nstruct \w+\n\{\n((?:\s+(?:std::string|int) \w+;\n)+)\};", content)
    members = tuple(re.findall(r"(\w+);", struct.group(1))) if struct else ()
    for node in ast.walk(text.python_module(path)):
        if not isinstance(node, ast.ListComp) or ast.unparse(node.generators[0].iter) != "df.values":
            continue
        target, written = node.generators[0].target, node.elt
        if isinstance(target, ast.Tuple) and isinstance(written, ast.JoinedStr):
            columns = [ast.unparse(name) for name in target.elts]
            pieces = [ast.unparse(p.value) for p in written.values if isinstance(p, ast.FormattedValue)]
            order = [columns.index(piece) for piece in pieces if piece in columns]
            # the symbol and the code object are written last and stand first in the struct
            if len(order) == len(members) >= 2:
                return Layout(members, tuple(order[:-2]), node.lineno)
    return None
