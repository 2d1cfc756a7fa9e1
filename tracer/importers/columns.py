"""Columns of numbers, eight bytes a value: lists in, arrays out.

The lists are packed in one go, because an array that is given a list converts each value by itself, which takes three
times as long.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

#: raised for a value that is no number of the column's kind, or too large
ColumnError = struct.error


def column(code: str, values: Sequence[Any]) -> array[Any]:
    """A new column.

    Args:
        code: "q" for whole numbers of 64 bits, "d" for floating point.
        values: what is in it.

    Raises:
        ColumnError: a value does not fit.
    """
    made: array[Any] = array(code)
    put(made, values)
    return made


def put(into: array[Any], values: Sequence[Any]) -> None:
    """Adds values to a column.

    Raises:
        ColumnError: a value does not fit; then none is added.
    """
    into.frombytes(_packer(len(values), into.typecode)(*values))


@lru_cache(maxsize=2048)
def _packer(count: int, code: str) -> Callable[..., bytes]:
    return struct.Struct(f"{count}{code}").pack
