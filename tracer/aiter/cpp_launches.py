"""What host C++ launches: a launch in the text, and the values around it, in; the kernel with its grid and block out.

A kernel is one of the file, `k<<<grid, block>>>`, or one of a code object that an object of AiterAsmKernel loaded.
"""

from __future__ import annotations

import abc
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tracer.aiter.cpp_events import KernelLaunch, Refused, Undecided
from tracer.aiter.cpp_expressions import Scope
from tracer.aiter.cpp_objects import LoadedKernel, Optional
from tracer.aiter.cpp_source import CppSource, text_of
from tracer.aiter.cpp_statements import Statements
from tracer.aiter.cpp_values import Dim3, Unknown

if TYPE_CHECKING:
    from tree_sitter import Node

#: the class that loads a code object (csrc/include/aiter_hip_common.h)
LOADER = "AiterAsmKernel"


def split_types(text: str) -> list[str]:
    """`A, f<B, C>>` -> [`A`, `f<B, C>`]: a template's arguments, without the bracket that closes them."""
    parts, depth, start = [], 0, 0
    for at, c in enumerate(text):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(c, 0)
        if depth < 0 or (c == "," and depth == 0):
            parts.append(text[start:at].strip())
            start = at + 1
        if depth < 0:
            break
    else:
        parts.append(text[start:].strip())
    return parts if parts != [""] else []


def _filled(written: str, scope: Scope) -> str:
    """A template argument with the types put in that the walk knows."""
    return re.sub(
        r"\w+", lambda m: str(known) if isinstance(known := scope.get(m.group()), str) else m.group(), written
    )


class Launches(Statements):
    """The launches of one file."""

    source: CppSource
    launches: list[KernelLaunch]

    @abc.abstractmethod
    def call(
        self, name: str, arguments: Sequence[Any], types: Sequence[str] = (), members: LoadedKernel | None = None
    ) -> Any:
        """Walks a function of the file."""

    def load_kernel(self, kind: str, arguments: list[Any], line: int) -> LoadedKernel | None:
        """A kernel that AiterAsmKernel, or a class of the file with a constructor like its, loads."""
        if kind != LOADER and kind not in self.source.classes:
            return None
        given = [a.value if isinstance(a, Optional) else a for a in (*arguments[:2], Unknown(kind), Unknown(kind))]
        loaded = LoadedKernel(kind, given[0], given[1], line)
        for member, declared in self.source.classes.get(kind, {}).items():
            default = declared.child_by_field_name("default_value")
            loaded.members[member] = Unknown(member) if default is None else self.evaluate(default, {})
            if text_of(declared.child_by_field_name("type")) == LOADER:
                loaded.members[member] = LoadedKernel(LOADER, given[0], given[1], line)
        if kind in self.source.functions:
            self.call(kind, arguments, members=loaded)
        return loaded

    def _on_kernel(self, owner: LoadedKernel, function: Node, method: str, values: list[Any], scope: Scope) -> Any:
        if method == "get":
            return owner
        if owner.kind != LOADER and method in self.source.functions:
            named = function.child_by_field_name("field")
            types = text_of(named).partition("<")[2].rstrip(">").split(", ") if named is not None else []
            return self.call(method, values, [self._type(t, scope) for t in types if t], members=owner)
        if method == "launch_kernel" and values and isinstance(values[0], tuple):
            return self._launch_module(owner, list(values[0][2:8]), function)
        return Unknown(method)

    def _launch_module(self, kernel: Any, extents: list[Any], node: Node) -> Any:
        """A kernel of a code object is launched: three extents of the grid, three of the block."""
        if not isinstance(kernel, LoadedKernel) or not isinstance(kernel.name, str):
            raise Undecided(self._line(node), "which code object is launched", self._here)
        if any(isinstance(extent, int) and extent <= 0 for extent in extents):
            raise Refused(self._line(node), f"the launch's extents are {', '.join(map(str, extents))}")
        parts = [Dim3(*part).plain() if len(part) == 3 else None for part in (extents[:3], extents[3:6])]
        code_object = kernel.code_object if isinstance(kernel.code_object, str) else None
        self.launches.append(
            KernelLaunch(
                kernel.name, (), parts[0], parts[1], self._line(node), code_object, kernel.line, tuple(self._stack)
            )
        )
        return Unknown("void")

    def _launch(self, kernel: Node, arguments: list[Node], scope: Scope) -> KernelLaunch:
        extents: list[tuple[int, int, int] | None] = []
        for argument in arguments[:2]:
            value = self.evaluate(argument, scope)
            if isinstance(value, int):
                value = Dim3(value)
            extents.append(value.plain() if isinstance(value, Dim3) else None)
        resolved = self._name(kernel, scope)
        name, _, types = (resolved.text if isinstance(resolved, Unknown) else text_of(kernel)).partition("<")
        return KernelLaunch(
            name.rsplit("::", 1)[-1],
            tuple(_filled(part, scope) for part in split_types(types)),
            extents[0] if extents else None,
            extents[1] if len(extents) > 1 else None,
            self._line(kernel),
            stack=tuple(self._stack),
        )
