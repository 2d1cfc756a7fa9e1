"""What the build of one JIT module reads: its recipe in, the facts of its C++ files and generator scripts out.

Read are the recipe's sources, what they include from aiter and from CK's examples, and the generators that write
further sources, with what these import and list. CK's own headers are noted, not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tracer.index.cpp_facts import CppFacts
from tracer.index.generated import ScriptFacts
from tracer.index.recipes import CK, Recipe
from tracer.index.tree_index import TreeIndex

#: CK's headers proper: parsed only when asked for
_CK_HEADERS = (f"{CK}/include/", f"{CK}/library/", "3rdparty/ck_helper/")
_COMMON_INCLUDES = ("csrc/include", "csrc/include/torch", "gradlib/include")
#: `pkgutil.iter_modules(codegen.ops.__path__)`, and the option by which CK's examples choose among those modules
_LISTED = re.compile(r"iter_modules\(\s*([\w.]+)\.__path__")
_API = re.compile(r"(?:^|\s)(?:-d|--direction|--api)[ =]([\w,]+)")


class BuildFiles:
    """The files of one module's build.

    Attributes:
        files: the C++ files, in the order in which they were reached.
        scripts: the generator scripts and what they import from beside them.
        ck_includes: CK headers that are included, as included.
        ck_missing: whether something of CK was wanted and this tree lacks CK.
    """

    def __init__(self, index: TreeIndex, recipe: Recipe) -> None:
        """Reads the sources of `recipe` and what they include."""
        self.index = index
        self.recipe = recipe
        self.files: dict[str, CppFacts] = {}
        self.scripts: dict[str, ScriptFacts] = {}
        self.ck_includes: set[str] = set()
        self.ck_missing = index.tree.ck_root is None and any(m.startswith(CK) for m in recipe.missing)
        self._read_scripts()
        self._read_sources([*recipe.sources, *self._generated_includes()])

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
            self.scripts[name] = facts
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
        for script, facts in self.scripts.items():
            folder = script.rpartition("/")[0]
            folders = [*self.recipe.includes, folder, f"{folder}/include", *_COMMON_INCLUDES]
            for written in facts.includes:
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
            self.files[name] = facts
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
        return None


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
