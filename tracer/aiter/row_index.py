"""The rows of a merged config by key and by shape: a merged table and key columns in, an index out, made once.

Tables are too large to be hashed by content, so that an index is kept for the very object it was made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from tracer.aiter.configs import LostRow, MergedConfig
from tracer.aiter.csvfile import KeyValue, key_value
from tracer.model.source import CsvRow

#: columns that make up a call's shape
SHAPE = ("B", "M", "N", "K", "token", "model_dim", "inter_dim", "expert", "topk")


class Same:
    """Stands for one object as a key of a cache: equal to itself alone."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value


class RowIndex(msgspec.Struct, frozen=True):
    """Rows by their values.

    Attributes:
        rows: key -> the row that counts; of equal keys the first.
        lost: key -> the row that the merge lost.
        by_shape: extents other than the padded one -> rows, in the table's order.
        repeated: what makes aiter's own look-up raise: equal keys that differ elsewhere; None for nothing.
    """

    rows: dict[tuple[KeyValue, ...], CsvRow]
    lost: dict[tuple[KeyValue, ...], LostRow]
    by_shape: dict[tuple[KeyValue, ...], list[CsvRow]]
    repeated: str | None


def padded_column(columns: Sequence[str]) -> str:
    """The key column that a look-up rounds up."""
    return "token" if "token" in columns else "M"


def shape_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """The key columns of the shape that a look-up takes as they are."""
    padded = padded_column(columns)
    return tuple(column for column in columns if column in SHAPE and column != padded)


def values_of(merged: MergedConfig, row: CsvRow, columns: Sequence[str]) -> tuple[KeyValue, ...]:
    """A row's values in some columns, as keys are compared."""
    return tuple(key_value(merged.value(row, column)) for column in columns)


def row_index(merged: MergedConfig, columns: tuple[str, ...]) -> RowIndex:
    """The index of a table by key columns."""
    return _row_index(Same(merged), columns)


@lru_cache(maxsize=32)
def _row_index(table: Same, columns: tuple[str, ...]) -> RowIndex:
    merged: MergedConfig = table.value
    rows: dict[tuple[KeyValue, ...], CsvRow] = {}
    by_shape: dict[tuple[KeyValue, ...], list[CsvRow]] = {}
    repeated: str | None = None
    shape = shape_columns(columns)
    for row in merged.rows:
        values = values_of(merged, row, columns)
        by_shape.setdefault(tuple(v for c, v in zip(columns, values, strict=True) if c in shape), []).append(row)
        seen = rows.setdefault(values, row)
        if repeated is None and seen is not row and seen.values != row.values:
            repeated = (
                f"{row.file}:{row.line} repeats the key ({', '.join(columns)}) of {seen.file}:{seen.line}: "
                "aiter's look-up raises"
            )
    lost = {values_of(merged, entry.row, columns): entry for entry in merged.lost}
    return RowIndex(rows, lost, by_shape, repeated)
