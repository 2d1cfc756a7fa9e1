"""What one C++ file states, as plain values: functions, calls, launches, types, includes, with their lines."""

from __future__ import annotations

import msgspec

#: changes whenever the facts below mean something else; part of the cache's key
FACTS_VERSION = 9


class Call(msgspec.Struct, frozen=True, array_like=True):
    """One call, or one mention of a function by name.

    Attributes:
        name: what is called, as written and without template arguments (`aiter::mha_fwd`, or `Run` for a method).
        line: 1-based line of the call.
        receiver: for a method, the text before `.` or `->`; else "".
        template: template arguments as written, without the brackets; "" when there are none.
        arguments: number of arguments; -1 for a mention without a call.
        text: the arguments as written, kept for calls that launch, bind or load; else "".
    """

    name: str
    line: int
    receiver: str = ""
    template: str = ""
    arguments: int = -1
    text: str = ""


class LaunchSite(msgspec.Struct, frozen=True, array_like=True):
    """One `kernel<<<...>>>`: the kernel expression, the launch configuration as written, the line."""

    kernel: str
    line: int
    configuration: str = ""


class Function(msgspec.Struct, frozen=True, array_like=True):
    """A function, or a macro seen as one.

    Attributes:
        name: qualified by namespaces and classes as the text states them.
        line: line of its name.
        first: line on which the declaration begins.
        last: line on which it ends.
        kind: "definition", "declaration", "macro", or "fragment" (code outside any function).
        kernel: whether it is marked `__global__`.
        device: whether it is marked `__device__` and not `__host__`.
        extern_c: whether it has C linkage.
        parameters: how many parameters it takes; -1 when not known.
        names: for a macro, its parameters; for a function, ().
        calls: what it calls or mentions.
        launches: the triple-chevron launches in it.
        template: whether it is a template.
        via: the macro that its text comes from, or "".
    """

    name: str
    line: int
    first: int
    last: int
    kind: str
    kernel: bool = False
    device: bool = False
    extern_c: bool = False
    parameters: int = -1
    names: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    launches: tuple[LaunchSite, ...] = ()
    template: bool = False
    via: str = ""

    @property
    def leaf(self) -> str:
        """The unqualified name."""
        return self.name.rpartition("::")[2]


class TypeAlias(msgspec.Struct, frozen=True, array_like=True):
    """`using name = target;`, or a class's definition (then `target` is "")."""

    name: str
    line: int
    target: str = ""
    last: int = 0


class CppFacts(msgspec.Struct, frozen=True, array_like=True):
    """All facts of one file.

    Attributes:
        includes: (as written, line, whether in quotes).
        functions: definitions, declarations, macros with code, and one fragment for code outside functions.
        types: classes and aliases.
        errors: how many places the parser could not read.
    """

    includes: tuple[tuple[str, int, bool], ...] = ()
    functions: tuple[Function, ...] = ()
    types: tuple[TypeAlias, ...] = ()
    errors: int = 0
