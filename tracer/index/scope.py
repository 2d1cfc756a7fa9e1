"""What the build of one JIT module sees: its recipe in, the functions, macros and types of its sources by name out.

A name found here is found by the build's own rules; a name found elsewhere in the tree would be a guess.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

import msgspec

from tracer.index.build_files import BuildFiles
from tracer.index.cpp_facts import Call, CppFacts, Function, TypeAlias
from tracer.index.generated import HOLE, ScriptFacts
from tracer.index.recipes import CK, Recipe
from tracer.index.tree_index import TreeIndex

#: names of functions that no source of aiter defines
_EXTERNAL = re.compile(r"(?:std|at|torch|c10|py|pybind11|hip|rocprim|hipcub|__\w+)(?:::|\b)|hip[A-Z]|TORCH_|AT_|C10_")
_EMPTY_BODY = re.compile(r"\)\s*\{\s*(?:UNREACHABLE_CODE\s*;?|assert\s*\(\s*false\s*\)\s*;)?\s*\}\s*\Z")


class Place(msgspec.Struct, frozen=True):
    """A function and the file that it stands in."""

    file: str
    function: Function

    @property
    def key(self) -> tuple[str, int, str]:
        """What tells two places apart."""
        return self.file, self.function.line, self.function.name


class Scope:
    """Names as one module's build sees them.

    Attributes:
        module: the JIT module.
        files: the C++ files, in the order in which they were reached.
        scripts: the generator scripts and what they import from beside them.
        ck_includes: CK headers that are included, as included.
        ck_missing: whether something of CK was wanted and this tree lacks CK.
    """

    def __init__(self, index: TreeIndex, recipe: Recipe) -> None:
        """Reads the sources of `recipe` and what they include."""
        self.index = index
        self.recipe = recipe
        self.module = recipe.module
        build = BuildFiles(index, recipe)
        self.files = list(build.files)
        self.scripts = tuple(build.scripts)
        self.ck_includes = build.ck_includes
        self.ck_missing = build.ck_missing
        self._definitions: dict[str, list[Place]] = defaultdict(list)
        self._declarations: dict[str, list[Place]] = defaultdict(list)
        self._macros: dict[str, list[Place]] = defaultdict(list)
        self._types: dict[str, list[tuple[str, TypeAlias]]] = defaultdict(list)
        self._holes: list[tuple[re.Pattern[str], Place]] = []
        self.fragments: dict[str, list[Place]] = defaultdict(list)
        self._words: set[str] = set()
        self._capitals: dict[str, tuple[str, ...]] = {}
        for script, facts in build.scripts.items():
            self._words.update(facts.words)
            self._capitals[script] = facts.capitals
            self._add_all(script, facts, generated=True)
        for file, stated in build.files.items():
            self._add_all(file, stated)

    def _add_all(self, file: str, facts: CppFacts | ScriptFacts, generated: bool = False) -> None:
        for function in facts.functions:
            self._add(file, function, generated)
        for alias in facts.types:
            self._types[alias.name.rpartition("::")[2]].append((file, alias))

    def _add(self, file: str, function: Function, generated: bool = False) -> None:
        place = Place(file, function)
        if function.kind == "fragment":
            self.fragments[file].append(place)
        elif function.kind == "macro":
            self._macros[function.name].append(place)
        elif function.kind == "declaration":
            self._declarations[function.leaf].append(place)
        else:
            self._definitions[function.leaf].append(place)
        if generated and HOLE in function.name and function.kind == "definition":
            parts = re.split(rf"{HOLE}[a-z0-9]*(?:_[A-Za-z0-9]+)*", function.leaf)
            self._holes.append((re.compile(r"\w+".join(map(re.escape, parts))), place))

    # -- looking up ---------------------------------------------------------------------------------------------

    def macros(self, name: str, uses: Iterable[tuple[str, int]] = ()) -> list[Place]:
        """The macros of that name.

        Args:
            name: the macro's name.
            uses: (file, line) of the use and of what it stands in, innermost first. Of several definitions, those
                that are live on the first of these lines whose file has any are meant.
        """
        found = self._macros.get(name, [])
        if len(found) > 1:
            for file, line in uses:
                here = sorted((p for p in found if p.file == file), key=lambda p: p.function.first)
                if here:
                    return self._live([p for p in here if p.function.first <= line] or here)
        return found

    def _live(self, here: list[Place]) -> list[Place]:
        """Of one file's definitions of a macro in order, the last and those that no `#undef` parts from it."""
        undef = re.compile(rf"^[ \t]*#[ \t]*undef[ \t]+{re.escape(here[-1].function.name)}\b", re.MULTILINE)
        first = len(here) - 1
        while first and not undef.search(
            self.lines(here[first].file, here[first - 1].function.last, here[first].function.first)
        ):
            first -= 1
        return here[first:]

    def definitions(self, name: str, around: str = "", arguments: int = -1) -> list[Place]:
        """The definitions that a name can mean.

        Args:
            name: as written, perhaps qualified.
            around: the qualified name of the function it is written in; its namespaces are searched first.
            arguments: how many arguments it is called with; -1 when it is only mentioned.

        Returns:
            The best matches: of the innermost namespace that has any, and taking that many arguments if some do.
        """
        qualifier, _, leaf = name.rpartition("::")
        found = self._definitions.get(leaf, [])
        if qualifier:
            found = _closest(found, name)
        if len(found) > 1:
            found = _nearest(found, around) if not qualifier else found
        if len(found) > 1 and arguments >= 0:
            exact = [p for p in found if p.function.parameters == arguments]
            enough = exact or [p for p in found if p.function.parameters >= arguments or p.function.parameters < 0]
            found = enough or found
        return found

    def declarations(self, name: str) -> list[Place]:
        """The declarations that a name can mean."""
        return [
            p for p in self._declarations.get(name.rpartition("::")[2], []) if _qualified_match(p.function.name, name)
        ]

    def generated(self, name: str) -> list[Place]:
        """The generated functions whose name pattern a name fits, where the generator's own words begin it."""
        leaf = name.rpartition("::")[2]
        found = [(pattern, place) for pattern, place in self._holes if pattern.fullmatch(leaf)]
        if not found or HOLE in leaf or leaf.startswith(tuple(self._words)):
            return [place for _, place in found]
        return [place for pattern, place in found if pattern.pattern != r"\w+"]

    def writers(self, macro: str) -> list[str]:
        """The generator scripts whose text writes a macro of that name."""
        return [
            script
            for script, capitals in self._capitals.items()
            if any(macro == c or (c.endswith("{") and macro.startswith(c[:-1])) for c in capitals)
        ]

    def in_ck(self, name: str) -> list[Place]:
        """The definitions of a name in the CK headers that this module's sources include directly."""
        leaf = name.rpartition("::")[2]
        found = []
        for written in sorted(self.ck_includes):
            file = f"{CK}/include/{written}"
            if leaf not in self.index.words(file):
                continue
            facts = self.index.cpp(file)
            functions = facts.functions if facts is not None else ()
            found += [Place(file, f) for f in functions if f.kind == "definition" and f.leaf == leaf]
            if found and file not in self.files:  # from here on, names are as in this header
                self.files.append(file)
                for function in facts.functions if facts is not None else ():
                    self._add(file, function)
        return _closest(found, name)

    def hole_places(self, file: str) -> list[Place]:
        """The generated functions with placeholders in their names that a script writes."""
        return [place for _, place in self._holes if place.file == file]

    def body(self, place: Place) -> str:
        """The text of a function as it stands in its file, comments blanked."""
        return self.lines(place.file, place.function.first, place.function.last)

    def lines(self, file: str, first: int, last: int) -> str:
        """Lines of a file, comments blanked."""
        return "\n".join(self.index.code_lines(file)[first - 1 : last])

    def kernels(self, name: str) -> list[Place]:
        """The `__global__` functions that a name can mean; a declaration when nothing here defines it.

        Beside one that does something, an empty definition is a stub: for the host's pass, or for targets that lack it.
        """
        leaf = name.rpartition("::")[2]
        for table in (self._definitions, self._declarations):
            found = [p for p in table.get(leaf, []) if p.function.kernel]
            if found:
                meant = _closest(found, name) or found
                return [p for p in meant if not _EMPTY_BODY.search(self.body(p))] or meant
        return []

    def types(self, name: str) -> list[tuple[str, TypeAlias]]:
        """(file, type) for the classes and aliases of that name."""
        return self._types.get(name.rpartition("::")[2], [])

    def external(self, call: Call) -> bool:
        """Whether a name plainly belongs to another library."""
        return bool(_EXTERNAL.match(call.name))


def _closest(found: list[Place], name: str) -> list[Place]:
    """The places that a qualified name can mean: those of that name, else those that it ends, else the reverse."""
    exact = [p for p in found if p.function.name == name]
    inner = exact or [p for p in found if p.function.name.endswith("::" + name)]
    return inner or [p for p in found if name.endswith("::" + p.function.name)]


def _qualified_match(full: str, written: str) -> bool:
    """Whether `written` (`aiter::f`, `f`) can name `full` (`aiter::detail::f`): it must end it at a component."""
    return full == written or full.endswith("::" + written) or written.endswith("::" + full)


def _nearest(found: list[Place], around: str) -> list[Place]:
    """The places of the innermost enclosing namespace of `around` that holds any; all when none does."""
    parts = around.split("::")[:-1]
    for depth in range(len(parts), -1, -1):
        prefix = "::".join(parts[:depth])
        same = [p for p in found if p.function.name.rpartition("::")[0] == prefix]
        if same:
            return same
    return found
