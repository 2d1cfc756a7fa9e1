"""What an evaluated module is made of: records of its dataclasses, what stays opaque, the names that are given.

Plain Python values stand for themselves. Everything here is harmless: no file, process or module can be reached by it.
"""

from __future__ import annotations

import ast
import copy
import operator
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any


class Opaque:
    """Something that this evaluator does not look into (an import, a call with effects)."""

    def __init__(self, what: str) -> None:
        self.what = what


class Unsupported(Exception):
    """A construct outside the part of Python that is evaluated here."""


class Record:
    """An instance of a dataclass of the module.

    Attributes:
        kind: the class.
        fields: name -> value, in declaration order.
        line: where it is constructed in the file.
    """

    def __init__(self, kind: RecordType, fields: dict[str, Any], line: int) -> None:
        self.kind = kind
        self.fields = fields
        self.line = line

    def get(self, name: str) -> Any:
        """A field, or a property evaluated now. Raises AttributeError for neither."""
        if name in self.fields:
            return self.fields[name]
        if name in self.kind.properties:
            return self.kind.properties[name](self)
        if name in self.kind.methods:
            return partial(self.kind.methods[name], self)
        raise AttributeError(f"{self.kind.name} has no {name}")


class RecordType:
    """A dataclass of the module, or a plain class whose `__init__` sets its fields."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.declared: list[str] = []
        self.defaults: dict[str, Any] = {}
        self.properties: dict[str, Callable[..., Any]] = {}
        self.methods: dict[str, Callable[..., Any]] = {}

    def make(self, args: list[Any], keywords: Mapping[str, Any], line: int) -> Record:
        """Constructs an instance. Raises Unsupported when the arguments do not fit."""
        if "__init__" in self.methods:
            made = Record(self, {}, line)
            self.methods["__init__"](made, *args, **keywords)
            return made
        given = {**dict(zip(self.declared, args, strict=False)), **keywords}
        missing = [name for name in self.declared if name not in given and name not in self.defaults]
        if missing or len(args) > len(self.declared) or set(keywords) - set(self.declared):
            raise Unsupported(f"{self.name}(...) in line {line} does not fit its fields")
        return Record(self, {n: given[n] if n in given else copy.copy(self.defaults[n]) for n in self.declared}, line)


class Namespace:
    """A module's names that a caller gives (`os.path.join`)."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = dict(values)


class WrittenFile:
    """A file that the evaluated code writes: kept in memory, never on disk."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    def write(self, piece: str) -> None:
        """Takes a piece of text."""
        self.pieces.append(piece)

    def writelines(self, pieces: Iterable[str]) -> None:
        """Takes several pieces."""
        self.pieces.extend(pieces)

    def write_text(self, piece: str) -> None:
        """Takes the whole text, as a `pathlib.Path` does."""
        self.pieces = [piece]


def copied(value: Any) -> Any:
    """A shallow copy, as `copy.copy` makes it."""
    if isinstance(value, Record):
        return Record(value.kind, dict(value.fields), value.line)
    return copy.copy(value)


def get_attribute(value: Any, name: str, *default: Any) -> Any:
    """An attribute of a record, or a harmless method of a plain value. Raises AttributeError as `getattr` does."""
    try:
        if isinstance(value, Record):
            return value.get(name)
        if isinstance(value, Namespace) and name in value.values:
            return value.values[name]
        if isinstance(value, WrittenFile) and name in ("write", "writelines", "write_text"):
            return getattr(value, name)
        return plain_method(value, name)
    except AttributeError:
        if default:
            return default[0]
        raise


def set_attribute(value: Any, name: str, to: Any) -> None:
    """Sets an attribute of a record. Raises Unsupported for anything else."""
    if not isinstance(value, Record):
        raise Unsupported(f"setting {name} of a {type(value).__name__}")
    value.fields[name] = to


_METHODS = frozenset({
    "join", "lower", "upper", "strip", "lstrip", "rstrip", "split", "startswith", "endswith", "replace",
    "items", "values", "keys", "get", "setdefault", "update", "copy", "append", "extend", "index", "count", "add",
    "pop", "insert", "sort", "title", "removeprefix", "removesuffix", "format",
})  # fmt: skip


def plain_method(value: Any, name: str) -> Any:
    """A method of a plain value that can do no harm. Raises AttributeError for any other."""
    if type(value) in (str, dict, list, tuple, set, frozenset) and name in _METHODS:
        return getattr(value, name)
    if type(value) is int and name == "bit_length":
        return value.bit_length
    if isinstance(value, Opaque):
        return Opaque(f"{value.what}.{name}")
    raise AttributeError(f"{type(value).__name__} has no {name} here")


BUILTINS: dict[str, Any] = {
    **{f.__name__: f for f in (str, int, float, bool, list, dict, tuple, set, frozenset, len, max, min, range, sorted)},
    **{f.__name__: f for f in (map, filter, zip, enumerate, next, iter, sum, any, all, abs, reversed, round)},
    "vars": lambda record: dict(record.fields),
    "getattr": get_attribute,
    "setattr": set_attribute,
    "property": lambda function: function,
    "print": lambda *_: None,
}
KNOWN_IMPORTS: dict[str, Any] = {"copy": copied, "deepcopy": copied}
BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}  # fmt: skip
COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b, ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}  # fmt: skip
UNARY: dict[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.inv
}  # fmt: skip
