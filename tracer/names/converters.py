"""How the text of a token becomes a field's value: a printed token in, the value out; most are tables.

A table is looked up without a call of a Python function, which is what reading a name spends most of its time on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tracer.model.kernel import FieldValue

#: a converter: the token's text (None where an optional token is missing) in, the value out
Convert = Callable[[Any], FieldValue]


class NotStated:
    """Marks a field that an absent part leaves open."""


NOT_STATED = NotStated()
#: how many texts a converter remembers: names share few, and memory stays flat over any number of names
_REMEMBERED = 256


class Table(dict[Any, FieldValue]):
    """A converter that is a table: printed text -> value. What it does not hold is a KeyError."""

    def __call__(self, printed: str | None) -> FieldValue:
        return self[printed]


class Numbers(Table):
    """The integers that names print, remembered: names share few numbers, and looking one up is faster than int()."""

    def __missing__(self, digits: str) -> int:
        value = int(digits)
        if len(self) < 4 * _REMEMBERED:
            self[digits] = value
        return value


class Remembered(Table):
    """A converter of texts to plain values: what a text stands for is remembered.

    Args:
        convert: what a text stands for; a list is not remembered, because every name needs its own.
    """

    def __init__(self, convert: Convert) -> None:
        super().__init__()
        self._convert = convert

    def __missing__(self, printed: str) -> FieldValue:
        value = self._convert(printed)
        if len(self) < _REMEMBERED and len(printed) <= 128 and not isinstance(value, (list, dict)):
            self[printed] = value
        return value


class Fresh(dict[str, Any]):
    """A converter to lists or mappings: what a text stands for is remembered, and every name gets a copy of its own.

    Args:
        convert: what a text stands for.
    """

    def __init__(self, convert: Callable[[str], list[Any] | dict[str, Any]]) -> None:
        super().__init__()
        self._convert = convert

    def __missing__(self, printed: str) -> Any:
        value = self._convert(printed)
        if len(self) < _REMEMBERED and len(printed) <= 128:
            self[printed] = value
        return value

    def __call__(self, printed: str) -> FieldValue:
        return self[printed].copy()


class Optional:
    """A converter of a token that may be missing.

    Attributes:
        inner: the converter of the token when it is there.
        missing: the value when it is not.
    """

    def __init__(self, inner: Convert, missing: FieldValue) -> None:
        self.inner = inner
        self.missing = missing

    def __call__(self, printed: str | None) -> FieldValue:
        return self.missing if printed is None else self.inner(printed)


def optional(inner: Convert, missing: FieldValue) -> Convert:
    """`inner` for a token that may be missing: a table stays one, unless it is one that all numbers share."""
    if type(inner) is Table:
        return Table({**inner, None: missing})
    return Optional(inner, missing)


NUMBERS = Numbers()


def table(values: Mapping[str, FieldValue]) -> Table:
    """The converter that `values` describe."""
    return Table(values)
