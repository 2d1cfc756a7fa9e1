"""A CSV as aiter's reader sees it: a path in, rows out that know the line they stand on.

aiter reads with pandas; what matters of that here is typed columns (`128` equals `128.0`), blank lines that do not
count, and empty fields that are equal to each other.
"""

from __future__ import annotations

import csv
import math
from functools import lru_cache
from pathlib import Path

import msgspec

from tracer.aiter import text
from tracer.model.source import CsvRow

#: a value as keys compare it: numbers as numbers, everything else as the text it is
KeyValue = int | float | str


class CsvFile(msgspec.Struct, frozen=True):
    """One CSV.

    Attributes:
        file: how it is named in answers.
        columns: the header, in order; empty for a file without one.
        rows: the rows that have as many fields as the header.
        malformed: (line, number of fields) of rows that have more fields than the header.
    """

    file: str
    columns: tuple[str, ...]
    rows: tuple[CsvRow, ...]
    malformed: tuple[tuple[int, int], ...] = ()


def read_csv(path: Path, name: str) -> CsvFile:
    """Reads a CSV.

    Args:
        path: the file.
        name: how to name it in the rows.

    Raises:
        SourceTreeError: the file can't be read.
    """
    return _read(text.read(path), name)


@lru_cache(maxsize=64)
def _read(content: str, name: str) -> CsvFile:
    reader = csv.reader(content.splitlines(keepends=True))
    columns: tuple[str, ...] = ()
    rows: list[CsvRow] = []
    malformed: list[tuple[int, int]] = []
    for fields in reader:
        if not fields:
            continue
        if not columns:
            columns = tuple(fields)
        elif len(fields) > len(columns):
            malformed.append((reader.line_num, len(fields)))
        else:
            fields += [""] * (len(columns) - len(fields))
            rows.append(CsvRow(name, reader.line_num, dict(zip(columns, fields, strict=True))))
    return CsvFile(name, columns, tuple(rows), tuple(malformed))


def key_value(value: str) -> KeyValue:
    """A field as keys compare it: `128`, ` 128` and `128.0` are equal, `True` stays text."""
    try:
        return int(value)
    except ValueError:
        pass
    try:
        number = float(value)
    except ValueError:
        return value
    return value if math.isnan(number) else number


def microseconds(row: CsvRow, column: str = "us") -> float | None:
    """The time that a tuner recorded in a row, in µs; None when the column is missing, empty or no number."""
    try:
        number = float(row.values.get(column, ""))
    except ValueError:
        return None
    return None if math.isnan(number) else number
