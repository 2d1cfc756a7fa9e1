"""One C++ file, ready to be walked: its text in, the syntax trees of its functions and the bodies of its macros out.

Lines stay where they are. Kernel launches `k<<<grid, block>>>(...)` become calls that the parser knows. Of conditional
compilation the branch stays that the file's own definitions decide; where they don't, the first, which is the one for
ROCm in aiter's host code.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tracer.aiter import text
from tracer.aiter.conditionals import live_text
from tracer.aiter.cpp_parser import parse

if TYPE_CHECKING:
    from tree_sitter import Node

#: the name that a launch configuration becomes
LAUNCH = "ktrace_launch"
#: main's macro for a function that is called through ctypes: (name, (parameters), (arguments)), then the body
ENTRY = re.compile(r"\bAITER_CTYPES_DEFINE_ENTRYPOINT_VOID\(\s*(\w+)\s*,\s*\(([^()]*)\)\s*,\s*\([^()]*\)\s*\)")
_MARKER = "AITER_CTYPES_ERROR_DEF"
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([^)]*)\)((?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)
_STRUCT = re.compile(r"\bstruct\s+(\w+)\s*\{((?:\s*[\w:]+\s+\w+;)+)\s*\}")
_VALUE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n\\]+)$", re.MULTILINE)
_CONSTANT = re.compile(r"^[ \t]*(?:static\s+)?(?:const\s+|constexpr\s+)+[\w:]+\s+(\w+)\s*=\s*([^;\n]+);", re.MULTILINE)


class Macro(msgspec.Struct, frozen=True):
    """A function-like macro: its parameters, its body with the line ends kept, the line it begins on."""

    parameters: tuple[str, ...]
    body: str
    line: int


class CppSource:
    """A parsed C++ file.

    Attributes:
        path: the file.
        functions: name -> its `function_definition` node; of overloads the first.
        overloads: name -> all of its definitions, in order.
        macros: function-like macros by name.
        constants: object-like macros and namespace-level constants, name -> text of the value.
        classes: classes with a constructor, name -> member -> the node that declares it.
        structs: plain structs, name -> members in order.
    """

    def __init__(self, path: Path, content: str) -> None:
        self.path = path
        self.macros = {
            found.group(1): Macro(
                tuple(p.strip() for p in found.group(2).split(",") if p.strip()),
                found.group(3).replace("\\\n", "\n"),
                content.count("\n", 0, found.start()) + 1,
            )
            for found in _DEFINE.finditer(content)
        }
        self.constants = {f.group(1): f.group(2).strip() for f in (*_VALUE.finditer(content),)}
        self.constants.update({f.group(1): f.group(2).strip() for f in _CONSTANT.finditer(content)})
        self.structs = {
            found.group(1): tuple(re.findall(r"(\w+);", found.group(2))) for found in _STRUCT.finditer(content)
        }
        self.root = parse(prepare(content).encode())
        self.functions: dict[str, Node] = {}
        self.overloads: dict[str, list[Node]] = {}
        self.classes: dict[str, dict[str, Node]] = {}
        self._collect(self.root)
        self.classes = {name: members for name, members in self.classes.items() if name in self.functions}

    def _collect(self, node: Node) -> None:
        if node.type == "function_definition":
            name = declared_name(node)
            if name is not None:
                self.functions.setdefault(name, node)
                self.overloads.setdefault(name, []).append(node)
            return
        if node.type == "class_specifier" and node.child_by_field_name("body") is not None:
            self._class(node)
        for child in node.children:
            self._collect(child)

    def _class(self, node: Node) -> None:
        members: dict[str, Node] = {}
        body = node.child_by_field_name("body")
        for part in body.named_children if body is not None else []:
            declared = part.child_by_field_name("declarator") if part.type == "field_declaration" else None
            name = declared_name(declared) if declared is not None else None
            if name is not None:
                members[name] = part
        self.classes[text_of(node.child_by_field_name("name"))] = members


def load(path: Path) -> CppSource:
    """A file, parsed once as long as it does not change. Raises SourceTreeError when it can't be read."""
    return _load(path, text.read(path))


@lru_cache(maxsize=64)
def _load(path: Path, content: str) -> CppSource:
    return CppSource(path, content)


def text_of(node: Node | None) -> str:
    """A node's text, with runs of blanks made one."""
    return " ".join(node.text.decode().split()) if node is not None and node.text is not None else ""


def line_of(node: Node) -> int:
    """The 1-based line a node begins on."""
    return int(node.start_point[0]) + 1


def declared_name(node: Node) -> str | None:
    """The unqualified name that a function definition or declarator declares; None for an operator or lambda."""
    part: Node | None = node
    while part is not None and part.type not in ("identifier", "qualified_identifier", "field_identifier"):
        part = part.child_by_field_name("declarator") or next(
            (c for c in part.named_children if c.type.endswith("declarator") or c.type == "identifier"), None
        )
    return None if part is None else text_of(part).rsplit("::", 1)[-1]


def parameters_of(function: Node) -> list[Node]:
    """The parameters of a function definition or lambda, in order."""
    declarator = function.child_by_field_name("declarator")
    while declarator is not None and not declarator.type.endswith("function_declarator"):
        declarator = declarator.child_by_field_name("declarator") or next(
            (c for c in declarator.named_children if c.type.endswith("declarator")), None
        )
    listed = declarator.child_by_field_name("parameters") if declarator is not None else None
    return [p for p in (listed.named_children if listed is not None else []) if "parameter" in p.type]


def prepare(content: str) -> str:
    """The text that is parsed: one branch of each conditional, launches as calls; every line keeps its number."""
    kept: list[str] = []
    taken: list[bool] = []  # per nesting level: whether the branch that is being read counts
    continued = False
    for line in live_text(content).split("\n"):
        stripped = line.lstrip()
        if continued:  # the rest of a multi-line directive
            kept.append("")
            continued = line.endswith("\\")
            continue
        if stripped.startswith("#"):
            word = stripped[1:].split(None, 1)[0] if stripped[1:].split() else ""
            if word in ("if", "ifdef", "ifndef"):
                taken.append(True)
            elif word in ("else", "elif") and taken:
                taken[-1] = False
            elif word == "endif" and taken:
                taken.pop()
            kept.append("")
            continued = line.endswith("\\")
            continue
        kept.append(line if all(taken) else "")
    joined = _as_blocks(_as_functions("\n".join(kept)), content)
    return as_calls(joined.replace(_MARKER, " " * len(_MARKER)))


def _as_blocks(content: str, whole: str) -> str:
    """`MACRO(x, statements)` of a macro that puts them into branches, as `if(MACRO(x)) {statements}`: lines stay."""
    for found in _DEFINE.finditer(whole):
        name, parameters = found.group(1), found.group(2)
        if "..." not in parameters or not re.search(r"\{[^{}]*\b__VA_ARGS__\s*\}", found.group(3)):
            continue
        for use in reversed(list(re.finditer(rf"\b{name}\(([\w.]+),(?!\s*\[)", content))):
            end = _closing(content, content.index("(", use.start()))
            if end is not None and ";" in content[use.end() : end]:
                head = f"if({name}({use.group(1)})) {{"
                content = f"{content[: use.start()]}{head}{content[use.end() : end]}}}{content[end + 1 :]}"
    return content


def _closing(content: str, opening: int) -> int | None:
    """Where the parenthesis that opens at a place closes."""
    depth = 0
    for at in range(opening, len(content)):
        depth += {"(": 1, ")": -1}.get(content[at], 0)
        if depth == 0:
            return at
    return None


def _as_functions(content: str) -> str:
    """Entry points for ctypes, which a macro writes, as plain functions."""
    if "AITER_CTYPES_DEFINE_ENTRYPOINT_VOID" not in content:
        return content
    pieces, at = [], 0
    for found in ENTRY.finditer(text.blank_comments(content)):
        pieces += [content[at : found.start()], _as_function(found)]
        at = found.end()
    return "".join([*pieces, content[at:]])


def _as_function(found: re.Match[str]) -> str:
    """The head of the function that the macro writes; its lines are kept."""
    before, whole = found.start(), found.group(0)
    lead = "\n" * whole[: found.start(1) - before].count("\n")
    between = "\n" * whole[found.end(1) - before : found.start(2) - before].count("\n")
    rest = "\n" * whole[found.end(2) - before :].count("\n")
    return f"void {lead}{found.group(1)}({between}{found.group(2)}){rest}"


def as_calls(piece: str) -> str:
    """`k<<<a, b>>>(c)` written as `k.ktrace_launch(a, b)(c)`."""
    return piece.replace("<<<", f".{LAUNCH}(").replace(">>>", ")")


def parse_statements(body: str) -> Node:
    """The compound statement that holds some statements."""
    root = parse(f"void ktrace_body() {{ {as_calls(body)} ;}}".encode())
    function = next(child for child in root.children if child.type == "function_definition")
    block = function.child_by_field_name("body")
    assert block is not None
    return block


def expand(macro: Macro, arguments: list[str]) -> str:
    """A macro's body with its parameters replaced; `##` joins, `#x` is left to be text."""
    bound = dict(zip(macro.parameters, arguments, strict=False))
    if not bound:
        return macro.body
    names = "|".join(re.escape(name) for name in bound)
    body = re.sub(rf"(?<![\w#])({names})\b", lambda found: bound[found.group(1)], macro.body)
    return body.replace("##", "")
