"""C++ that aiter's Python writes from a template and compiles when it is called (csrc/cpp_itfs): kernels it launches.

Such a function is built by no recipe: its Python fills a Jinja template in and hands it to `compile_template_op`. The
template's own text names the kernels, and the headers that it includes define them.
"""

from __future__ import annotations

import re

import msgspec

from tracer.index.citations import Citations
from tracer.index.tree_index import TreeIndex
from tracer.model.source import Hop, Layer
from tracer.resolve.checked_hops import checked_hop
from tracer.resolve.kernel_names import CppName, Definition, definitions

COMPILER = "compile_template_op"
_JINJA = re.compile(r"(csrc/[\w/.]+\.jinja)")
_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)
_HOLE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)


def templates_named(text: str) -> list[str]:
    """The paths of templates that a Python file's text names, in order."""
    return list(dict.fromkeys(_JINJA.findall(text)))


def is_template(file: str) -> bool:
    """Whether a file is a source template."""
    return file.endswith(".jinja")


class TemplateLaunch(msgspec.Struct, frozen=True):
    """A launch in a template: the kernel's name, the line, and the kernel's definitions."""

    kernel: str
    line: int
    found: tuple[Definition, ...]


class SourceTemplates:
    """Reads the templates of one tree."""

    def __init__(self, index: TreeIndex, citations: Citations) -> None:
        """Reads nothing yet."""
        self.index = index
        self.citations = citations
        self._launches: dict[str, list[TemplateLaunch]] = {}

    def of_python(self, file: str) -> list[str]:
        """The templates that a Python file opens."""
        text = self.index.text(file) or ""
        return [name for name in templates_named(text) if self.index.tree.absolute(name).is_file()]

    def all(self) -> list[str]:
        """Every template of the tree."""
        root = self.index.tree.csrc_root
        return [f"csrc/{path.relative_to(root).as_posix()}" for path in sorted(root.rglob("*.jinja"))]

    def launches(self, template: str) -> list[TemplateLaunch]:
        """The kernels that a template launches with `<<<...>>>`."""
        if template not in self._launches:
            self._launches[template] = self._read(template)
        return self._launches[template]

    def hops(self, template: str, launch: TemplateLaunch) -> list[Hop]:
        """A launch in a template, and its kernel's source."""
        source = self.citations.ref(template, launch.line, launch.kernel.rpartition("::")[2])
        hops = [checked_hop(Layer.LAUNCH, launch.kernel, source, note="in a template that Python compiles")]
        for place in launch.found[:1]:
            function = place.function
            source = self.citations.ref(place.file, function.line, function.leaf, function.last)
            hops.append(checked_hop(Layer.KERNEL, function.name, source))
        return hops

    def launching(self, definition: Definition) -> list[tuple[str, TemplateLaunch]]:
        """(template, launch) of the templates that launch a kernel."""
        return [
            (template, launch)
            for template in self.all()
            for launch in self.launches(template)
            if any(d.file == definition.file and d.function.name == definition.function.name for d in launch.found)
        ]

    def compiled_by(self, template: str) -> tuple[str, int] | None:
        """(Python file, line of its `compile_template_op`) that fills a template in: the file beside it."""
        folder = self.index.tree.absolute(template).parent
        for path in sorted(folder.glob("*.py")):
            file = f"{template.rpartition('/')[0]}/{path.name}"
            if template in self.of_python(file):
                line = self.citations.line_of(file, rf"^(?!\s*from|\s*import).*\b{COMPILER}\(")
                if line is not None:
                    return file, line
        return None

    def _read(self, template: str) -> list[TemplateLaunch]:
        source = self.index.text(template)
        if source is None:
            return []
        text = _HOLE.sub(lambda m: re.sub(r"[^\n]", "_", m.group()), source)
        includes = {name.rpartition("/")[2] for name in _INCLUDE.findall(text)}
        found = []
        for chevrons in re.finditer("<<<", text):
            name = _kernel_before(text, chevrons.start())
            if name is None:
                continue
            at = text.rfind(name, 0, chevrons.start())
            assigned = re.search(rf"\b{name}\s*=\s*(?:&\s*)?([A-Za-z_][\w:]*)", text[: chevrons.start()])
            kernel = assigned.group(1) if assigned else name
            matches = definitions(self.index, CppName(kernel)).found
            here = tuple(d for d in matches if d.file.rpartition("/")[2] in includes)
            line = text.count("\n", 0, assigned.start(1) if assigned else at) + 1
            found.append(TemplateLaunch(kernel, line, here or matches))
        return found


def _kernel_before(text: str, end: int) -> str | None:
    """The name before `<<<`, template arguments passed over."""
    at = end
    while at > 0 and text[at - 1].isspace():
        at -= 1
    if at and text[at - 1] == ">":
        depth = 0
        while at > 0:
            at -= 1
            if text[at] == ">":
                depth += 1
            elif text[at] == "<":
                depth -= 1
                if depth == 0:
                    break
    found = re.search(r"([A-Za-z_][\w:]*)\s*\Z", text[max(0, at - 200) : at])
    return found.group(1) if found else None
