"""Which ops lead to a source file or a kernel: the chains turned round, with no more of them made than can matter.

A module can only lead to a file that one of its sources or generators includes, directly or not; includes are read as
text for that, and the chains of the ops of those modules are then searched.
"""

from __future__ import annotations

import re

from tracer.index.callers import callers
from tracer.index.cpp_facts import Function
from tracer.index.recipes import CK, Recipe
from tracer.index.scope import Scope
from tracer.index.tree_index import Op
from tracer.resolve.chain import Chains, OpChain

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
#: in a script, what its templates include stands in string literals
_WRITTEN_INCLUDE = re.compile(rb'#[ \t]*include[ \t]*["<]([^">\n]+)[">]')


class Users:
    """Finds the ops that lead somewhere, for one tree."""

    def __init__(self, chains: Chains) -> None:
        """Reads includes when first asked."""
        self.chains = chains
        self.index = chains.index
        self._including: dict[str, set[str]] | None = None
        self._writing: dict[tuple[str, frozenset[str]], bool] = {}

    def recipes_of(self, file: str) -> list[Recipe]:
        """The modules whose sources or generators include a file, directly or not."""
        reached, queue = {file}, [file]
        while queue:
            leaf = queue.pop().rpartition("/")[2]
            for other in self._includers.get(leaf, ()):
                if other not in reached:
                    reached.add(other)
                    queue.append(other)
        return [
            recipe
            for recipe in self.index.recipes.values()
            if not reached.isdisjoint(recipe.sources) or any(g.script in reached for g in recipe.generators)
        ]

    def scopes_of(self, file: str) -> list[Scope]:
        """The scopes of the modules that see a file."""
        scopes = [self.chains.scope(recipe) for recipe in self.recipes_of(file)]
        return [scope for scope in scopes if file in scope.files or file in scope.scripts]

    def ops_in(self, modules: list[str]) -> list[Op]:
        """The ops of some modules."""
        wanted = set(modules)
        return [op for op in self.index.ops if op.declaration.module in wanted]

    def launching(self, file: str, kernel: Function) -> list[OpChain]:
        """The chains that launch a kernel that a file defines."""
        scopes = self.scopes_of(file)
        names = callers(self.index, kernel.leaf, dict.fromkeys(f for scope in scopes for f in scope.files))
        ops = self.ops_in([scope.module for scope in scopes])
        return [self.chains.chain(op) for op in ops if self._starts(op, file, kernel, names)]

    def calling(self, file: str, line: int) -> list[OpChain]:
        """The chains whose bound C++ function stands on a line."""
        ops = self.ops_in([scope.module for scope in self.scopes_of(file)])
        return [self.chains.chain(op) for op in ops if self._is_bound(op, file, line)]

    def _starts(self, op: Op, file: str, kernel: Function, names: frozenset[str] | None) -> bool:
        """Whether an op launches a kernel; `names` are those of the functions that can lead to it."""
        bound = self.chains.bound(op)
        if bound is None:
            return False
        scope, place = bound
        if names is not None and place.function.leaf not in names and not self._written(scope, names):
            return False
        targets = (target for launch in self.chains.search(scope, place).launches for target in launch.targets)
        return any(t.file == file and kernel.first <= t.function.line <= kernel.last for t in targets)

    def _written(self, scope: Scope, names: frozenset[str]) -> bool:
        """Whether what a module's generators write, or the headers of CK that it includes, hold one of some names."""
        key = (scope.module, names)
        if key not in self._writing:
            headers = (f"{CK}/include/{written}" for written in scope.ck_includes)
            texts = [self.index.data(file) for file in (*scope.scripts, *headers)]
            self._writing[key] = any(name.encode() in data for name in names for data in texts)
        return self._writing[key]

    def _is_bound(self, op: Op, file: str, line: int) -> bool:
        bound = self.chains.bound(op)
        return bound is not None and (bound[1].file, bound[1].function.line) == (file, line)

    def naming(self, word: str) -> list[Scope]:
        """The scopes whose sources or generators hold a word: for kernel classes that only templates name."""
        found = []
        known: dict[str, bool] = {}
        for recipe in self.index.recipes.values():
            scripts = self.chains.scope(recipe).scripts if recipe.generators else ()
            for file in (*recipe.sources, *scripts):
                if file not in known:
                    known[file] = bool(self.index.holding((file,), word))
                if known[file]:
                    found.append(self.chains.scope(recipe))
                    break
        return found

    @property
    def _includers(self) -> dict[str, set[str]]:
        """File name -> the files that include a file of that name."""
        if self._including is None:
            self._including = {}
            for file in self.index.cpp_files:
                self._note(_INCLUDE, file, file)
            for script in sorted({g.script for recipe in self.index.recipes.values() for g in recipe.generators}):
                folder = self.index.tree.absolute(script).parent
                for path in sorted(folder.rglob("*.py")):  # a generator is a script and the modules beside it
                    beside = f"{script.rpartition('/')[0]}/{path.relative_to(folder).as_posix()}"
                    self._note(_WRITTEN_INCLUDE, beside, script)
        return self._including

    def _note(self, pattern: re.Pattern[bytes], file: str, includer: str) -> None:
        """Notes what the text of a file includes, as included by another that it is a part of."""
        assert self._including is not None
        for written in pattern.findall(self.index.data(file)):
            self._including.setdefault(written.rpartition(b"/")[2].decode("utf-8", "replace"), set()).add(includer)
