"""Values of C++ at compile time: types, constants, packs, functions; and `Unknown` for what only a run decides."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import msgspec

#: built-in types, and what the C library's names for them stand for on x86-64 Linux
BUILTINS = {
    "void": "void", "bool": "bool", "char": "char", "signed char": "signed char", "unsigned char": "unsigned char",
    "short": "short", "unsigned short": "unsigned short", "int": "int", "unsigned int": "unsigned int", "long": "long",
    "unsigned long": "unsigned long", "long long": "long long", "unsigned long long": "unsigned long long",
    "float": "float", "double": "double", "_Float16": "_Float16", "__bf16": "__bf16", "unsigned": "unsigned int",
    "ushort": "unsigned short", "uint": "unsigned int", "int8_t": "signed char", "uint8_t": "unsigned char",
    "int16_t": "short", "uint16_t": "unsigned short", "int32_t": "int", "uint32_t": "unsigned int", "int64_t": "long",
    "uint64_t": "unsigned long", "size_t": "unsigned long", "ptrdiff_t": "long", "long int": "long",
    "uintptr_t": "unsigned long", "intptr_t": "long",
}  # fmt: skip
SIZES = {
    "bool": 1, "char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "int": 4,
    "unsigned int": 4, "long": 8, "unsigned long": 8, "float": 4, "double": 8, "_Float16": 2, "__bf16": 2,
}  # fmt: skip
#: `_BitInt(8)`, with or without a sign
BIT_INT = re.compile(r"(unsigned )?_BitInt\((\d+)\)")
INTEGERS = frozenset(SIZES) - {"float", "double", "_Float16", "__bf16"}


class Named(msgspec.Struct, frozen=True):
    """A type, or a function template with its arguments.

    Attributes:
        name: qualified name, or the spelling of a built-in type.
        args: template arguments, defaults filled in; None when it is no template.
        owner: the class template instance that it is a member of, or None.
    """

    name: str
    args: tuple[Value, ...] | None = None
    owner: Named | None = None

    @property
    def leaf(self) -> str:
        """The unqualified name."""
        return self.name.rpartition("::")[2]


class Constant(msgspec.Struct, frozen=True):
    """A value of an integer type or an enum.

    Attributes:
        type: built-in type, or the enum's qualified name.
        value: its number.
        label: the enumerator's name, else "".
    """

    type: str
    value: int
    label: str = ""


class Pack(msgspec.Struct, frozen=True):
    """The arguments that a parameter pack stands for."""

    values: tuple[Value, ...] = ()


class Unknown(msgspec.Struct, frozen=True):
    """What the text at hand doesn't decide; `text` says what was asked."""

    text: str = ""


class Object(msgspec.Struct, frozen=True):
    """An object of a type; its members where they are known."""

    type: Named
    fields: tuple[tuple[str, Any], ...] = ()

    def field(self, name: str) -> Any:
        """A member's value, or None."""
        return dict(self.fields).get(name)


Value: TypeAlias = Named | Constant | Pack | Unknown | Object

TRUE, FALSE = Constant("bool", 1), Constant("bool", 0)


def integer(value: int) -> Constant:
    """An `int`."""
    return Constant("int", value)


def flatten(args: tuple[Value, ...] | None) -> tuple[Value, ...]:
    """Template arguments with packs opened."""
    out: list[Value] = []
    for value in args or ():
        out.extend(value.values if isinstance(value, Pack) else (value,))
    return tuple(out)


def is_known(value: Value) -> bool:
    """Whether nothing in a value is left open."""
    if isinstance(value, Named):
        return all(is_known(arg) for arg in value.args or ()) and (value.owner is None or is_known(value.owner))
    if isinstance(value, Pack):
        return all(is_known(item) for item in value.values)
    return isinstance(value, Constant)
