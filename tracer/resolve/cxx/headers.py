"""The headers behind one source file: names in, their template heads and bodies out.

Headers are followed by their `#include` lines, searched as text, and parsed only when a name of theirs is asked for.
"""

from __future__ import annotations

import re
import zlib

import msgspec

from tracer.index.cpp_templates import FACTS_VERSION, Head, TemplateFacts, read_templates
from tracer.index.cpp_text import prepare
from tracer.index.tree_index import TreeIndex
from tracer.resolve.cxx.preprocess import Preprocessed

_DECLARED = re.compile(
    r"\b(?:struct|class|using|enum(?:\s+(?:class|struct))?)\s+(?:alignas\s*\([^)]*\)\s*)?([A-Za-z_]\w*)"
    r"|\b([A-Za-z_]\w*)\s*\((?=[^;{}]*\)[^;{}]*\{)"
    r"|(?:\bconstexpr\b[^;=(){}]*|^const\s+auto\s+)\b([A-Za-z_]\w*)\s*=",
    re.MULTILINE,
)
_ALONE = re.compile(r"[ \t]*([A-Z][A-Z0-9_]{3,})[ \t]*;?[ \t]*$")


class Place(msgspec.Struct, frozen=True):
    """A head and the file that holds it, relative to the tree."""

    head: Head
    file: str


class Headers:
    """The names that one source file can see through its includes."""

    def __init__(self, index: TreeIndex, file: str, folders: tuple[str, ...], generated: str | None = None) -> None:
        """Follows the includes.

        Args:
            index: the tree.
            file: the source file, relative to the tree.
            folders: include folders, relative to the tree.
            generated: the file's text, where it is in no tree because a generator writes it.
        """
        self.index = index
        self.file = file
        self._folders = folders
        self._declared: dict[str, list[str]] = {}
        self._heads: dict[str, tuple[Head, ...]] = {}
        self._prepared: dict[str, list[str]] = {}
        self._macro_heads: dict[tuple[str, int], list[Place]] = {}
        self._member_places: dict[tuple[str, int, str], list[Place]] = {}
        self._found: dict[tuple[str, str], list[Place]] = {}
        self._generated = generated
        self.preprocessed = Preprocessed(file, self._read, self._find_header)
        self._texts = self.preprocessed.texts
        for name, text in self._texts.items():
            for match in _DECLARED.finditer(text):
                files = self._declared.setdefault(match.group(1) or match.group(2) or match.group(3), [])
                if name not in files:
                    files.append(name)

    def _read(self, file: str) -> str | None:
        return self._generated if file == self.file and self._generated is not None else self.index.latin1(file)

    def _find_header(self, name: str, file: str) -> str | None:
        for folder in (file.rpartition("/")[0], *self._folders):
            if self.index.tree.absolute(f"{folder}/{name}").is_file():
                return f"{folder}/{name}"
        return None

    @property
    def files(self) -> tuple[str, ...]:
        """All files that were followed."""
        return tuple(self._texts)

    def heads(self, file: str) -> tuple[Head, ...]:
        """The heads of one file."""
        if file not in self._heads:
            path, text = self.index.tree.absolute(file), self._texts.get(file, "")
            kind = f"templates{FACTS_VERSION}-{zlib.crc32(text.encode('latin-1', 'replace')):08x}"
            if file == self.file and self._generated is not None:
                facts: TemplateFacts | None = read_templates(text)
            else:
                facts = self.index.cache.get(path, kind, TemplateFacts, lambda data: read_templates(text))
            self._heads[file] = facts.heads if facts is not None else ()
        return self._heads[file]

    def find(self, name: str, scope: str) -> list[Place]:
        """What a name that is written in a scope means, the closest first.

        Args:
            name: as written, perhaps qualified, without template arguments.
            scope: the namespaces and classes around it.
        """
        key = (name, scope)
        if key not in self._found:
            self._found[key] = self._search(name.removeprefix("::"), scope)
        return self._found[key]

    def _search(self, name: str, scope: str) -> list[Place]:
        leaf = name.rpartition("::")[2]
        places = [
            Place(head, file)
            for file in self._declared.get(leaf, ())
            for head in self.heads(file)
            if head.leaf == leaf and (head.name == name or head.name.endswith(f"::{name}"))
        ]
        around = scope
        while True:
            wanted = f"{around}::{name}" if around else name
            exact = [place for place in places if place.head.name == wanted]
            if exact:
                return sorted(exact, key=lambda place: place.head.local)
            if not around:
                break
            around = around.rpartition("::")[0]
        # `using namespace` is not followed: a single place of that name anywhere in the headers is taken for it
        names = {place.head.name for place in places}
        return places if len(names) == 1 else []

    def members(self, owner: Place, name: str) -> list[Place]:
        """The members of that name in one struct, those that macros add included."""
        key = (owner.file, owner.head.line, name)
        if key not in self._member_places:
            wanted = f"{owner.head.name}::{name}"
            found = [
                Place(head, owner.file)
                for head in self.heads(owner.file)
                if head.name == wanted and owner.head.line <= head.line <= owner.head.end_line
            ]
            self._member_places[key] = found or self._by_macro(owner, name)
        return self._member_places[key]

    def _by_macro(self, owner: Place, name: str) -> list[Place]:
        key = (owner.file, owner.head.line)
        if key not in self._macro_heads:
            self._macro_heads[key] = self._expanded(owner)
        wanted = f"{owner.head.name}::{name}"
        return [place for place in self._macro_heads[key] if place.head.name == wanted]

    def _expanded(self, owner: Place) -> list[Place]:
        """What the macros that stand alone on a line of a struct add to it."""
        lines = self._texts.get(owner.file, "").splitlines()[owner.head.line - 1 : owner.head.end_line]
        found: list[Place] = []
        for macro in dict.fromkeys(m.group(1) for line in lines if (m := _ALONE.match(line))):
            text = self.preprocessed.macros.get(macro)
            if not text:
                continue
            leaf = owner.head.leaf
            plain = f"struct {leaf} {{\n{text}\n}};"
            synthetic = f"{owner.file}#{macro}#{owner.head.name}"
            self._prepared[synthetic] = plain.splitlines()
            scope = owner.head.name.removesuffix(leaf)
            found += [
                Place(msgspec.structs.replace(head, name=scope + head.name), synthetic)
                for head in read_templates(plain).heads
            ]
        return found

    def body(self, place: Place) -> str:
        """The text of a function from its name on, up to its last line."""
        if place.file not in self._prepared:
            self._prepared[place.file] = prepare(self._texts.get(place.file, "")).text.splitlines()
        lines = self._prepared[place.file][place.head.line - 1 : place.head.end_line]
        text = "\n".join(lines)
        match = re.search(rf"\b{place.head.leaf}\s*\(", text)
        return text[match.start() :] if match else text

    def is_kernel(self, place: Place) -> bool:
        """Whether a function is marked `__global__`."""
        return "__global__" in self._before_name(place)

    def result_type(self, place: Place) -> str:
        """The type that a kernel returns, as written: `void`, or an `enable_if_t` of it."""
        text = self._before_name(place).rpartition("__global__")[2]
        text = re.sub(r"//[^\n]*|^\s*#[^\n]*", "", text, flags=re.MULTILINE)
        text = re.sub(r"__launch_bounds__\s*\([^()]*\)|__attribute__\s*\(\(.*?\)\)", "", text)
        return " ".join(text.split())

    def _before_name(self, place: Place) -> str:
        """The text of a function's declaration before its name."""
        lines = self._texts.get(place.file, "").splitlines()[max(0, place.head.line - 14) : place.head.line]
        before = "\n".join(lines).rpartition(f"{place.head.leaf}(")[0] or "\n".join(lines)
        return re.split(r"[;}]", before)[-1]
