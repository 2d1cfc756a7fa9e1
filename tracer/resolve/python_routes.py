"""From a Python function of aiter to what it can reach: compiled ops and Triton kernels, with the calls on the way.

Calls are followed by imports: a name means what the module imported under it or defines itself. A call of anything else
(a method of an object, a function passed in) is not followed.
"""

from __future__ import annotations

import re

import msgspec

from tracer.index.python_calls import PythonFunction
from tracer.index.tree_index import Op, TreeIndex
from tracer.resolve.source_templates import COMPILER

#: how many functions one search looks at
_LIMIT = 400
_DEPTH = 8


class Step(msgspec.Struct, frozen=True):
    """One function on a route: its file, the function, and the line in it that calls the next."""

    file: str
    function: PythonFunction
    call_line: int


class Route(msgspec.Struct, frozen=True):
    """One way from the start.

    Attributes:
        steps: the functions on the way, the start first.
        op: the compiled op that it ends at, or None.
        triton: (file, function) of the Triton kernel that it ends at, or None.
        compiler: whether it ends at a function that compiles a source template.
    """

    steps: tuple[Step, ...]
    op: Op | None = None
    triton: tuple[str, PythonFunction] | None = None
    compiler: bool = False

    @property
    def name(self) -> str:
        """What it ends at."""
        if self.op is not None:
            return self.op.declaration.name
        if self.triton is not None:
            return self.triton[1].name
        return self.steps[-1].file


class PythonRoutes:
    """Follows Python calls within one tree."""

    def __init__(self, index: TreeIndex) -> None:
        """Parses a file when a call leads there."""
        self.index = index
        self._ops = {(op.file, op.declaration.name): op for op in index.ops}
        self._files = frozenset(index.python_files)
        self._kernels: dict[str, list[str]] | None = None

    def routes(self, file: str, function: PythonFunction) -> list[Route]:
        """The ops and Triton kernels that a function's calls lead to, nearest first, each once."""
        found: dict[tuple[str, str], Route] = {}
        queue: list[tuple[str, PythonFunction, tuple[Step, ...]]] = [(file, function, ())]
        seen = {(file, function.name)}
        while queue and len(seen) < _LIMIT:
            here, caller, steps = queue.pop(0)
            for name, line in caller.calls:
                if name.rpartition(".")[2] == COMPILER and not here.endswith("utils.py"):
                    found.setdefault((here, COMPILER), Route((*steps, Step(here, caller, line)), compiler=True))
                    continue
                for target_file, target in self.meaning(here, name, caller):
                    key = (target_file, target.name)
                    if key in found or key == (here, caller.name):
                        continue
                    way = (*steps, Step(here, caller, line))
                    if key in self._ops:
                        found[key] = Route(way, op=self._ops[key])
                    elif target.triton:
                        found[key] = Route(way, triton=(target_file, target))
                    elif key not in seen and len(way) < _DEPTH:
                        seen.add(key)
                        queue.append((target_file, target, way))
        return list(found.values())

    def callers(self, file: str, function: PythonFunction) -> list[Step]:
        """The functions that call one, each with the line of its first call."""
        leaf = function.name.rpartition(".")[2]
        found = []
        for other in self.index.holding(self.index.python_files, leaf):
            facts = self.index.module(other)
            for caller in facts.functions if facts is not None else ():
                line = next((line for name, line in caller.calls if name.rpartition(".")[2] == leaf), None)
                if line is not None and (file, function) in self.meaning(other, leaf, caller):
                    found.append(Step(other, caller, line))
        return found

    def meaning(self, file: str, name: str, caller: PythonFunction | None = None) -> list[tuple[str, PythonFunction]]:
        """(file, function) that a dotted name in a file means; empty when the text does not say."""
        facts = self.index.module(file)
        if facts is None:
            return []
        if name.endswith(".apply"):  # an autograd function's: it runs `forward`
            forward = self._in_module(file, f"{name.rpartition('.')[0]}.forward", 0)
            if forward:
                return forward
        if caller is not None:
            inner = facts.named(f"{caller.name}.{name}")
            if inner is not None:
                return [(file, inner)]
            if name.startswith(("self.", "cls.")) and "." in caller.name:
                method = facts.named(f"{caller.name.rpartition('.')[0]}.{name.partition('.')[2]}")
                return [(file, method)] if method is not None else []
        return self._in_module(file, name, 0)

    def _in_module(self, file: str, name: str, depth: int) -> list[tuple[str, PythonFunction]]:
        facts = self.index.module(file)
        if facts is None or depth > 6:
            return []
        own = facts.named(name)
        if own is not None:
            return [(file, own)]
        head, _, rest = name.partition(".")
        target = facts.imports.get(head)
        if target is not None:
            return self._dotted(self._absolute(file, target) + (f".{rest}" if rest else ""), depth + 1)
        for star in facts.stars:
            found = self._dotted(f"{self._absolute(file, star)}.{name}", depth + 1)
            if found:
                return found
        return []

    def _dotted(self, name: str, depth: int) -> list[tuple[str, PythonFunction]]:
        """What `package.module.function` means."""
        parts = name.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            file = self.module_file(".".join(parts[:cut]))
            if file is not None:
                return self._in_module(file, ".".join(parts[cut:]), depth)
        return []

    def module_file(self, dotted: str) -> str | None:
        """The file of a module of the package."""
        base = dotted.replace(".", "/")
        files = (f"{base}.py", f"{base}/__init__.py")
        if base.startswith("csrc/"):  # Python beside the C++ that it compiles
            return next((f for f in files if self.index.tree.absolute(f).is_file()), None)
        return next((f for f in files if f in self._files), None)

    @staticmethod
    def _absolute(file: str, dotted: str) -> str:
        """A relative import's name made absolute."""
        if not dotted.startswith("."):
            return dotted
        level = len(dotted) - len(dotted.lstrip("."))
        package = file.removesuffix("/__init__.py").removesuffix(".py").split("/")
        if not file.endswith("/__init__.py"):
            package = package[:-1]
        package = package[: len(package) - (level - 1)]
        return ".".join([*package, dotted.lstrip(".")]).rstrip(".")

    @property
    def triton_kernels(self) -> dict[str, list[str]]:
        """Names of the package's Triton kernels and the files that define them, found in the files' text."""
        if self._kernels is None:
            self._kernels = {}
            for file in self.index.python_files:
                data = self.index.data(file)
                for match in _JITTED.finditer(data) if b"jit" in data else ():
                    files = self._kernels.setdefault(match.group(1).decode(), [])
                    if file not in files:
                        files.append(file)
        return self._kernels


_JITTED = re.compile(
    rb"^[ \t]*@(?:\w+\.)*(?:triton|gluon|tl)\.(?:jit|autotune|heuristics)\b[^\n]*\n"
    rb"(?:(?![ \t]*(?:async\s+)?def\b)[^\n]*\n){0,60}?[ \t]*def\s+(\w+)",
    re.MULTILINE,
)
