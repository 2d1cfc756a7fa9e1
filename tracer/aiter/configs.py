"""aiter's merge of tuned CSVs: a config variable and an environment in, surviving and lost rows out.

The same rules as `update_config_files` in aiter/jit/core.py, but every row keeps the file and line it was shipped
with, and a lost row keeps the one that stands in its place.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

from tracer.aiter.csvfile import CsvFile, KeyValue, key_value, microseconds, read_csv
from tracer.aiter.tree import AiterTree
from tracer.aiter.variables import ConfigVariable, config_variable, config_variables, merge_rules
from tracer.errors import SourceTreeError
from tracer.model.source import CsvRow

#: what main fills in for a column that one of the merged files lacks (other columns: 0)
_GFX_OF_CU_NUM = {"256": "gfx950", "80": "gfx942", "304": "gfx942"}
#: columns that tuners derive from the time or measure beside it: they say nothing about which kernel runs
_DERIVED = frozenset({"us", "tflops", "bw", "errRatio", "err_ratio", "us1", "us2", "err1", "err2"})


class LossReason(enum.StrEnum):
    """Why aiter's merge dropped a row."""

    OTHER_GPU = (
        "other_gpu"  #: the row kept is for another CU count or architecture: the merge's key does not tell them apart
    )
    SLOWER = "slower"  #: the row kept is for the same GPU and recorded a shorter time
    TIE = "tie"  #: both recorded the same time: aiter's sort is not stable, so either could be the one that is kept
    REPEATED = "repeated"  #: the row kept says the same: equal GPU, kernel and time


class LostRow(msgspec.Struct, frozen=True):
    """A shipped row that is not in the merged table.

    Attributes:
        row: the row that was lost.
        kept: the row that aiter's merge keeps in its place.
        reason: why.
    """

    row: CsvRow
    kept: CsvRow
    reason: LossReason


class MergedConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What one config variable leads to.

    Attributes:
        variable: the variable; environment: the variables that decide it and their values (None: not set).
        files: the CSVs that are merged, in order; missing: the ones that are named but not there.
        columns: the columns of the merged table.
        key: the columns by which the merge tells rows apart; empty when nothing is merged or no key is known.
        rows: the rows that survive, in the order of the merged file; lost: the rows that do not.
        filled: values that aiter puts into columns which a row's own file lacks, by (file, line).
        failure: why aiter itself fails on these files, or None. Rows are then empty, or what a second attempt has.
    """

    variable: ConfigVariable
    environment: dict[str, str | None]
    files: tuple[str, ...]
    missing: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    rows: tuple[CsvRow, ...] = ()
    lost: tuple[LostRow, ...] = ()
    filled: dict[tuple[str, int], dict[str, str]] = {}
    failure: str | None = None

    def value(self, row: CsvRow, column: str) -> str:
        """A row's field as the merged table has it."""
        return row.values.get(column) or self.filled.get((row.file, row.line), {}).get(column, "")


def merge(tree: AiterTree, variable: ConfigVariable, environment: Mapping[str, str]) -> MergedConfig:
    """Merges the CSVs of a config variable as aiter does when it is imported.

    Args:
        tree: the aiter.
        variable: one of its config variables.
        environment: the environment it would run in.

    Raises:
        SourceTreeError: a shipped file can't be read.
    """
    paths = _paths(tree, variable, environment)
    return _merge(tree, variable, environment.get(variable.name), tuple((n, p, _stamp(p)) for n, p in paths))


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=32)
def _merge(
    tree: AiterTree,
    variable: ConfigVariable,
    setting: str | None,
    stamped: tuple[tuple[str, Path, tuple[int, int]], ...],
) -> MergedConfig:
    paths = [(name, path) for name, path, _ in stamped]
    stated = {variable.name: setting}
    present = [(name, path) for name, path in paths if path.is_file()]
    missing = tuple(name for name, path in paths if not path.is_file())
    tables = [read_csv(path, name) for name, path in present]
    merged = MergedConfig(
        variable=variable, environment=stated, files=tuple(name for name, _ in present), missing=missing
    )
    if len(paths) <= 1:  # one file: aiter takes it as it is
        return msgspec.structs.replace(
            merged,
            columns=tables[0].columns if tables else (),
            rows=tables[0].rows if tables else (),
            failure=_malformed(tables),
        )
    rules = merge_rules(tree)
    failure = _malformed(tables)
    if not tables or (missing and missing[0] == paths[0][0] and not rules.fills_columns):
        return msgspec.structs.replace(merged, failure=f"{', '.join(missing)} does not exist: aiter's merge raises")
    if not rules.fills_columns:
        odd = next((table for table in tables if table.columns != tables[0].columns), None)
        if odd is not None:
            return msgspec.structs.replace(
                merged, failure=f"the columns of {odd.file} differ from those of {tables[0].file}: aiter's merge raises"
            )
    columns = _all_columns(tables)
    merged = msgspec.structs.replace(merged, columns=columns, filled=_filled(tables, columns))
    key = _key(tree, variable, columns, rules.extra_keys)
    rows = [row for table in tables for row in table.rows]
    if key is None:  # no untuned CSV: everything stays
        return msgspec.structs.replace(merged, rows=tuple(rows), failure=failure)
    absent = [column for column in key if column not in columns]
    if absent:
        return msgspec.structs.replace(
            merged,
            failure=f"{variable.untuned} has columns that no file has ({', '.join(absent)}): aiter's merge raises",
        )
    kept, lost = _fastest(merged, rows, key)
    if not rules.refuses_duplicates:
        kept.sort(key=_time)  # the order in which a generator reads the merged file: of equal keys the last one counts
    if lost and rules.refuses_duplicates:
        failure = (
            f"{len(lost)} rows repeat a key ({', '.join(key)}): the first import raises and rewrites the CSVs "
            "without them, a second one has the rows given here"
        )
    return msgspec.structs.replace(merged, key=key, rows=tuple(kept), lost=tuple(lost), failure=failure)


def _paths(tree: AiterTree, variable: ConfigVariable, environment: Mapping[str, str]) -> list[tuple[str, Path]]:
    """(name in answers, path) of every file that aiter reads, in its order; globbed ones sorted by name."""
    stated = environment.get(variable.name)
    if stated:
        return [_named(tree, part) for part in stated.split(os.pathsep)]
    rules = merge_rules(tree)
    default = [(variable.default, tree.absolute(variable.default))]
    found = []
    for path in sorted((tree.configs_root / "model_configs").glob(f"*{variable.merge_name}{rules.pattern_end}")):
        judged = str(path) if rules.untuned_in_path else path.name
        if path.is_file() and "untuned" not in judged:
            found.append((tree.relative(path) or path.as_posix(), path))
    return default + found


def _named(tree: AiterTree, part: str) -> tuple[str, Path]:
    path = Path(part)
    return tree.relative(path) or part, path


def _malformed(tables: list[CsvFile]) -> str | None:
    for table in tables:
        if table.malformed:
            line, count = table.malformed[0]
            return f"{table.file}:{line} has {count} fields, its header {len(table.columns)}: aiter's reader raises"
        if not table.columns:
            return f"{table.file} has no header: aiter's reader raises"
    return None


def _all_columns(tables: list[CsvFile]) -> tuple[str, ...]:
    columns = list(tables[0].columns)
    for table in tables[1:]:
        for column in table.columns:
            if column not in columns:
                before = "tflops" if "tflops" in columns else columns[-1]
                columns.insert(columns.index(before), column)
    return tuple(columns)


def _filled(tables: list[CsvFile], columns: tuple[str, ...]) -> dict[tuple[str, int], dict[str, str]]:
    filled = {}
    for table in tables:
        lacking = [column for column in columns if column not in table.columns]
        for row in table.rows if lacking else ():
            filled[row.file, row.line] = {
                column: _GFX_OF_CU_NUM.get(row.values.get("cu_num", "").strip(), "")
                if column == "gfx" and "cu_num" in table.columns
                else "0"
                for column in lacking
            }
    return filled


def _key(
    tree: AiterTree, variable: ConfigVariable, columns: tuple[str, ...], extra: tuple[str, ...]
) -> tuple[str, ...] | None:
    """The key columns of the merge, or None when there is no untuned CSV to take them from."""
    path = tree.absolute(variable.untuned)
    if not path.is_file():
        return None
    untuned = read_csv(path, variable.untuned).columns
    key = [*untuned, *(column for column in extra if column in columns and column not in untuned)]
    return tuple(column for column in key if column in columns) if extra else tuple(key)


def _fastest(merged: MergedConfig, rows: list[CsvRow], key: tuple[str, ...]) -> tuple[list[CsvRow], list[LostRow]]:
    """Splits rows into those with the shortest time of their key, and the others. A row without a time comes last."""
    groups: dict[tuple[KeyValue, ...], list[CsvRow]] = {}
    for row in rows:
        groups.setdefault(tuple(key_value(merged.value(row, column)) for column in key), []).append(row)
    best_of = {id(row): min(group, key=_time) for group in groups.values() for row in group}  # the first of equals
    kept = [row for row in rows if best_of[id(row)] is row]
    lost = [LostRow(row, best, _loss(merged, row, best)) for row in rows if (best := best_of[id(row)]) is not row]
    return kept, lost


def _time(row: CsvRow) -> float:
    us = microseconds(row)
    return float("inf") if us is None else us


def _loss(merged: MergedConfig, row: CsvRow, kept: CsvRow) -> LossReason:
    if _time(row) == _time(kept):
        same = all(merged.value(row, c) == merged.value(kept, c) for c in merged.columns if c not in _DERIVED)
        return LossReason.REPEATED if same else LossReason.TIE
    gpu = [c for c in ("gfx", "cu_num") if c in merged.columns]
    if any(key_value(merged.value(row, c)) != key_value(merged.value(kept, c)) for c in gpu):
        return LossReason.OTHER_GPU
    return LossReason.SLOWER


def require(tree: AiterTree, name: str) -> ConfigVariable:
    """The config variable of this name.

    Raises:
        SourceTreeError: this aiter does not know it.
    """
    variable = config_variable(tree, name)
    if variable is None:
        raise SourceTreeError(
            f"this aiter knows no config variable {name}",
            expected=", ".join(v.name for v in config_variables(tree)),
        )
    return variable
