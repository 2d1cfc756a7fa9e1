"""What the build of one JIT module sees: its recipe in, the functions, macros and types of its sources by name out.

Seen are the recipe's sources, what they include from aiter and from CK's examples, and the templates of the generators
that write further sources. CK's own headers are noted, not read. A name found here is found by the build's own rules;
a name found elsewhere in the tree would be a guess.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

import msgspec

from tracer.index.cpp_facts import Call, Function, TypeAlias
from tracer.index.cpp_macros import mask
from tracer.index.generated import HOLE
from tracer.index.recipes import CK, Recipe
from tracer.index.tree_index import TreeIndex

#: CK's headers proper: parsed only when asked for
_CK_HEADERS = (f"{CK}/include/", f"{CK}/library/", "3rdparty/ck_helper/")
_COMMON_INCLUDES = ("csrc/include", "csrc/include/torch", "gradlib/include")
#: names of functions that no source of aiter defines
_EXTERNAL = re.compile(r"(?:std|at|torch|c10|py|pybind11|hip|rocprim|hipcub|__\w+)(?:::|\b)|hip[A-Z]|TORCH_|AT_|C10_")
#: `pkgutil.iter_modules(codegen.ops.__path__)`, and the option by which CK's examples choose among those modules
_LISTED = re.compile(r"iter_modules\(\s*([\w.]+)\.__path__")
_API = re.compile(r"(?:^|\s)(?:-d|--direction|--api)[ =]([\w,]+)")


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
        absent: includes that neither the tree holds nor a generator writes (those of other libraries among them).
        ck_includes: CK headers that are included, as included.
        ck_missing: whether something of CK was wanted and this tree lacks CK.
    """

    def __init__(self, index: TreeIndex, recipe: Recipe) -> None:
        """Reads the sources of `recipe` and what they include."""
        self.index = index
        self.recipe = recipe
        self.module = recipe.module
        self.files: list[str] = []
        self.scripts: list[str] = []
        self.absent: set[str] = set()
        self.ck_includes: set[str] = set()
        self.ck_missing = index.tree.ck_root is None and any(m.startswith(CK) for m in recipe.missing)
        self._definitions: dict[str, list[Place]] = defaultdict(list)
        self._declarations: dict[str, list[Place]] = defaultdict(list)
        self._macros: dict[str, list[Place]] = defaultdict(list)
        self._types: dict[str, list[tuple[str, TypeAlias]]] = defaultdict(list)
        self._holes: list[tuple[re.Pattern[str], Place]] = []
        self.fragments: dict[str, list[Place]] = defaultdict(list)
        self._lines: dict[str, list[str]] = {}
        self._words: set[str] = set()
        self._capitals: dict[str, tuple[str, ...]] = {}
        self._generated_names: set[str] = set()
        self._read_scripts()
        self._read_sources([*recipe.sources, *self._generated_includes()])

    # -- reading ------------------------------------------------------------------------------------------------

    def _read_scripts(self) -> None:
        queue: list[str] = []
        for generator in self.recipe.generators:
            found = self._expand_arch(generator.script)
            queue += found
            if not found and generator.script.startswith(CK):
                self.ck_missing = self.ck_missing or self.index.tree.ck_root is None
        while queue:
            name = queue.pop(0)
            if name in self.scripts:
                continue
            facts = self.index.script(name)
            if facts is None:
                continue
            self.scripts.append(name)
            self._generated_names.update(facts.names)
            self._words.update(facts.words)
            self._capitals[name] = facts.capitals
            for function in facts.functions:
                self._add(name, function, generated=True)
            for alias in facts.types:
                self._types[alias.name.rpartition("::")[2]].append((name, alias))
            queue += self._script_imports(name, facts.imports)

    def _script_imports(self, name: str, imports: Iterable[str]) -> list[str]:
        folder = name.rpartition("/")[0]
        found = self._listed_modules(name)
        for dotted in imports:
            relative = dotted.lstrip(".").replace(".", "/")
            bases = [folder]
            if dotted.startswith("."):
                up = folder
                for _ in range(len(dotted) - len(dotted.lstrip(".")) - 1):
                    up = up.rpartition("/")[0]
                bases = [up]
            else:
                bases.append(folder.rpartition("/")[0])
                bases.append(folder.rpartition("/")[0].rpartition("/")[0])
            for base in bases:
                candidate = f"{base}/{relative}.py"
                if relative and self.index.tree.absolute(candidate).is_file():
                    found.append(candidate)
                    break
        return found

    def _listed_modules(self, name: str) -> list[str]:
        """The modules that a script imports by listing their package; those that its command line asks for."""
        text = self.index.text(name) or ""
        found = []
        for package in _LISTED.findall(text) if "iter_modules" in text else ():
            folder = f"{name.rpartition('/')[0]}/{package.replace('.', '/')}"
            path = self.index.tree.absolute(folder)
            modules = sorted(p.stem for p in path.glob("*.py") if p.stem != "__init__") if path.is_dir() else []
            asked = {
                word
                for generator in self.recipe.generators
                if generator.script == name
                for word in _API.findall(generator.arguments)
            }
            wanted = {word for words in asked for word in words.split(",")}
            chosen = [m for m in modules if m in wanted or m.partition("_")[2] in wanted]
            found += [f"{folder}/{m}.py" for m in (chosen or modules)]
        return found

    def _expand_arch(self, name: str) -> list[str]:
        if "{arch}" not in name:
            return [name] if self.index.tree.absolute(name).is_file() else []
        head, _, tail = name.partition("{arch}")
        root = self.index.tree.absolute(head.rstrip("/"))
        if not root.is_dir():
            return []
        return sorted(f"{head}{p.name}{tail}" for p in root.iterdir() if (p / tail.lstrip("/")).is_file())

    def _generated_includes(self) -> list[str]:
        """The tree's own headers that only generated sources include."""
        found: dict[str, None] = {}
        for script in self.scripts:
            facts = self.index.script(script)
            folder = script.rpartition("/")[0]
            folders = [*self.recipe.includes, folder, f"{folder}/include", *_COMMON_INCLUDES]
            for written in facts.includes if facts is not None else ():
                if written.startswith(("ck/", "ck_tile/")):
                    self.ck_includes.add(written)
                    continue
                for candidate in folders:
                    names = self._fitting(candidate, written)
                    found.update(dict.fromkeys(names))
                    if names:
                        break
        return list(found)

    def _fitting(self, folder: str, written: str) -> list[str]:
        """The files of a folder that an include with placeholders can mean."""
        head, _, leaf = written.rpartition("/")
        if "{" in head:
            return []
        place = _normal(f"{folder}/{head}")
        if place.startswith(_CK_HEADERS):
            return []
        if "{" not in leaf:
            return [f"{place}/{leaf}"] if self.index.tree.absolute(f"{place}/{leaf}").is_file() else []
        if leaf.startswith("{"):
            return []  # no fixed beginning: it would fit everything
        path = self.index.tree.absolute(place)
        if not path.is_dir():
            return []
        return sorted(f"{place}/{p.name}" for p in path.iterdir() if _matches(leaf, p.name))

    def _read_sources(self, queue: list[str]) -> None:
        seen: set[str] = set()
        while queue:
            name = queue.pop(0)
            if name in seen:
                continue
            seen.add(name)
            facts = self.index.cpp(name)
            if facts is None:
                continue
            self.files.append(name)
            for function in facts.functions:
                self._add(name, function)
            for alias in facts.types:
                self._types[alias.name.rpartition("::")[2]].append((name, alias))
            for written, _, quoted in facts.includes:
                target = self._include(name, written, quoted)
                if target is not None:
                    queue.append(target)

    def _include(self, name: str, written: str, quoted: bool) -> str | None:
        """The file that an include names; None for CK's headers, generated files and other libraries."""
        if written.startswith(("ck/", "ck_tile/")) and not written.startswith("ck_tile/vec_convert"):
            self.ck_includes.add(written)
            self.ck_missing = self.ck_missing or self.index.tree.ck_root is None
            return None
        folders = [name.rpartition("/")[0]] if quoted else []
        folders += [*self.recipe.includes, *_COMMON_INCLUDES]
        for folder in folders:
            candidate = _normal(f"{folder}/{written}")
            if candidate.startswith(_CK_HEADERS):
                continue
            if self.index.tree.absolute(candidate).is_file():
                return candidate
        leaf = written.rpartition("/")[2]
        if not any(_matches(pattern, leaf) for pattern in self._generated_names):
            self.absent.add(written)
        return None

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

    def macros(self, name: str) -> list[Place]:
        """The macros of that name."""
        return self._macros.get(name, [])

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
        found = []
        for pattern, place in self._holes:
            bare = pattern.pattern == r"\w+"
            if pattern.fullmatch(leaf) and (not bare or any(leaf.startswith(w) for w in self._words) or HOLE in leaf):
                found.append(place)
        return found

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
        if file not in self._lines:
            self._lines[file] = mask(self.index.text(file) or "").split("\n")
        return "\n".join(self._lines[file][first - 1 : last])

    def kernels(self, name: str) -> list[Place]:
        """The `__global__` functions that a name can mean; a declaration when nothing here defines it."""
        leaf = name.rpartition("::")[2]
        for table in (self._definitions, self._declarations):
            found = [p for p in table.get(leaf, []) if p.function.kernel]
            if found:
                return _closest(found, name) or found
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


def _normal(path: str) -> str:
    """A path without `.` and `..`."""
    out: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if out:
                out.pop()
        elif part not in ("", "."):
            out.append(part)
    return "/".join(out)


def _matches(pattern: str, name: str) -> bool:
    """Whether a file name fits one that a generator's text mentions (`{k.name}.cuh`)."""
    if "{" not in pattern:
        return pattern == name
    return bool(re.fullmatch(r"\w*".join(map(re.escape, re.split(r"\{[^{}]*\}", pattern))), name))
