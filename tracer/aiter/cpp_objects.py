"""Objects that host C++ keeps while it chooses a kernel: optionals, pairs, tables of configurations, loaded kernels.

Only what aiter's dispatching code does with them is here: members by name, `find`, `value_or`, `emplace`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tracer.aiter.cpp_values import Null, Unknown

if TYPE_CHECKING:
    from tree_sitter import Node


class Optional:
    """A `std::optional` of a plain value: tested, it says whether there is one (also for `false` and 0)."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def method(self, name: str) -> Any:
        """A method by name; None for one that is not known."""
        known = {
            "has_value": lambda: True,
            "value": lambda: self.value,
            "value_or": lambda _: self.value,
            "empty": lambda: not self.value,
            "c_str": lambda: self.value,
        }
        return known.get(name)


class Pair:
    """A `std::pair`, or what an iterator of a map points to."""

    def __init__(self, first: Any, second: Any) -> None:
        self.first = first
        self.second = second


class Fields:
    """A struct: members by name, the ones that were set."""

    def __init__(self, name: str, values: Mapping[str, Any] | None = None) -> None:
        self.name = name
        self.values = dict(values or {})

    def get(self, member: str) -> Any:
        """A member's value; Unknown for one that was never set."""
        return self.values.get(member, Unknown(f"{self.name}.{member}"))


class Table:
    """A map that is written when a module is built, or by the function itself.

    Attributes:
        name: the C++ name.
        entries: key -> value, in the order in which C++ iterates over it.
        ordered: whether that order is known.
    """

    def __init__(self, name: str, entries: Mapping[Any, Fields], *, ordered: bool = True) -> None:
        self.name = name
        self.entries = dict(entries)
        self.ordered = ordered

    def pairs(self) -> list[Pair]:
        """What a range-based loop meets."""
        return [Pair(key, value) for key, value in self.entries.items()]

    def find(self, key: Any) -> Pair | Null:
        """The entry of a key, or the end."""
        key = key.value if isinstance(key, Optional) else key
        return Pair(key, self.entries[key]) if key in self.entries else Null()


class LoadedKernel:
    """A kernel of a code object that the host code loads.

    Attributes:
        kind: the class that loads it (`AiterAsmKernel`, `FMoeKernel`).
        name: the kernel's symbol.
        code_object: path of the code object as it is passed, below `AITER_ASM_DIR`.
        members: other members, as the constructor sets them.
        line: where it is loaded.
    """

    def __init__(self, kind: str, name: Any, code_object: Any, line: int) -> None:
        self.kind = kind
        self.name = name
        self.code_object = code_object
        self.line = line
        self.members: dict[str, Any] = {}


class Lambda:
    """A lambda and the names around it."""

    def __init__(self, node: Node, scope: dict[str, Any]) -> None:
        self.node = node
        self.scope = scope


def items_of(value: Any) -> Sequence[Any] | None:
    """What a range-based loop over a value meets, in order; None when that can't be known."""
    if isinstance(value, Table):
        return value.pairs() if value.ordered else None
    return value if isinstance(value, tuple | list) else None


def as_parameter(value: Any, kind: str) -> Any:
    """An argument as its parameter holds it: a plain value in a `std::optional` is tested for being there."""
    if "optional" in kind:
        return Optional(value) if isinstance(value, bool | int | float | str) else value
    return value.value if isinstance(value, Optional) and "auto" not in kind else value
