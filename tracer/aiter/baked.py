"""The look-up table that is compiled into a module: a generator script and a merged config in, key -> instance out.

aiter's `gen_instances.py` writes the table when the module is built: the wheel by `kernelId` and for the CU count that
is visible then, main by `kernelName` and for architecture and CU count. The rule is read from the script's own text.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from tracer.aiter import text
from tracer.aiter.configs import MergedConfig
from tracer.aiter.csvfile import key_value
from tracer.aiter.instances import Instance, InstanceTable
from tracer.aiter.row_index import Same
from tracer.aiter.tree import AiterTree
from tracer.model.environment import Target
from tracer.model.source import CsvRow

_FUNCTION = "get_tune_dict"


class BakeRule(msgspec.Struct, frozen=True, kw_only=True):
    """How a generator turns rows of the tuned CSV into the table.

    Attributes:
        file, line: the script and its `get_tune_dict`.
        columns: the key of the table; ("kernelName",) where the table is asked by name.
        gpu: the columns that must be the target's.
        by_name: a row names its instance by `kernelName`, else by `kernelId`.
        libtype: only rows of this `libtype` count; None for all.
        without_asm: rows that name an assembly kernel do not count.
        passes_over: a `kernelId` outside the table is passed over (one just past its end still fails).
    """

    file: str
    line: int
    columns: tuple[str, ...]
    gpu: tuple[str, ...]
    by_name: bool
    libtype: str | None
    without_asm: bool
    passes_over: bool


class Baked(msgspec.Struct, frozen=True):
    """One entry of the table: the instance and the row that put it there."""

    instance: Instance
    row: CsvRow


class BakedTable(msgspec.Struct, frozen=True):
    """The table.

    Attributes:
        rule: how it is made.
        entries: key -> entry; values of `rule.columns`.
        failures: rows that make the generator raise, with the reason: the module can't be built with them.
        passed_over: rows that do not reach the table though they are for this GPU.
    """

    rule: BakeRule
    entries: Mapping[tuple[Any, ...], Baked]
    failures: tuple[tuple[CsvRow, str], ...]
    passed_over: tuple[CsvRow, ...]


def bake_rule(tree: AiterTree, generator: str) -> BakeRule | None:
    """The rule of a generator script; None when it reads no tuned CSV in a way that ktrace knows.

    Raises:
        SourceTreeError: the script can't be read.
    """
    path = tree.absolute(generator)
    function = text.python_function(path, _FUNCTION)
    if function is None:
        return None
    call = next(
        (n for n in ast.walk(function) if isinstance(n, ast.Call) and "build_tune_dict" in ast.unparse(n.func)), None
    )
    if call is None:
        return _old_rule(generator, function)
    keywords = {k.arg: k.value for k in call.keywords}
    libtype = keywords.get("libtype")
    batched = ast.unparse(call.func).endswith("_batched")
    named = "write_name_keyed_lookup_header(" in text.read(path).replace("\n", "")
    shape = ("B", "M", "N", "K") if batched else ("M", "N", "K")
    return BakeRule(
        file=generator,
        line=function.lineno,
        columns=("kernelName",) if named else ("gfx", "cu_num", *shape),
        gpu=("gfx", "cu_num"),
        by_name="kernels_by_name" in keywords,
        libtype=str(libtype.value) if isinstance(libtype, ast.Constant) else None,
        without_asm="_ZN" in ast.unparse(function),
        passes_over=False,
    )


def _old_rule(generator: str, function: ast.FunctionDef) -> BakeRule | None:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            key = node.targets[0].slice
            if isinstance(key, ast.Tuple):
                return BakeRule(
                    file=generator,
                    line=function.lineno,
                    columns=tuple(ast.unparse(part) for part in key.elts),
                    gpu=("cu_num",),
                    by_name=False,
                    libtype=None,
                    without_asm=False,
                    passes_over=any(isinstance(part, ast.Continue) for part in ast.walk(function)),
                )
    return None


def bake(rule: BakeRule, merged: MergedConfig, table: InstanceTable, target: Target) -> BakedTable:
    """Makes the table for a target, as the generator would on it.

    Args:
        rule: the generator's rule.
        merged: the tuned config that it is given.
        table: the instances that it knows.
        target: architecture and CU count.
    """
    return _bake(rule, Same(merged), Same(table), target)


@lru_cache(maxsize=32)
def _bake(rule: BakeRule, config: Same, instances: Same, target: Target) -> BakedTable:
    merged: MergedConfig = config.value
    table: InstanceTable = instances.value
    wanted = {"gfx": target.arch, "cu_num": target.compute_units}
    entries: dict[tuple[Any, ...], Baked] = {}
    failures: list[tuple[CsvRow, str]] = []
    passed_over: list[CsvRow] = []
    names = {instance.name: instance for instance in table.by_id.values()}
    for row in merged.rows:
        if any(key_value(merged.value(row, column)) != wanted[column] for column in rule.gpu):
            continue
        if rule.libtype is not None and "libtype" in merged.columns and merged.value(row, "libtype") != rule.libtype:
            continue
        kernel_name = merged.value(row, "kernelName")
        if rule.without_asm and kernel_name.startswith("_ZN"):
            continue
        if rule.by_name and "kernelName" in merged.columns:
            instance, what = names.get(kernel_name), f"kernelName {kernel_name!r}"
        else:
            number = key_value(merged.value(row, "kernelId"))
            instance, what = table.by_id.get(number) if isinstance(number, int) else None, f"kernelId {number}"
            if rule.passes_over and isinstance(number, int) and (number < 0 or number > len(table.by_id)):
                passed_over.append(row)
                continue
        if instance is None:
            failures.append((row, f"{what} is not in {table.file}"))
            continue
        key = (instance.name,) if rule.columns == ("kernelName",) else _key(rule, merged, row)
        entries[key] = Baked(instance, row)
    return BakedTable(rule, entries, tuple(failures), tuple(passed_over))


def _key(rule: BakeRule, merged: MergedConfig, row: CsvRow) -> tuple[Any, ...]:
    return tuple(key_value(merged.value(row, column)) for column in rule.columns)
