"""Template heads, aliases and constants of a C++ file: its text in, what a type expression can be evaluated with out.

For Composable Kernel's device operations and aiter's helper aliases: which parameters a template takes and with which
defaults, what an alias stands for, what a `static constexpr` member is, which values an enum has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from tracer.index.cpp_macros import mask
from tracer.index.cpp_parsing import captures, read_nodes

if TYPE_CHECKING:
    from tree_sitter import Node

#: changes whenever the facts mean something else; part of the cache's key
FACTS_VERSION = 8

_NAMESPACE = re.compile(r"\bnamespace\s+([\w:]*)\s*\{")
_ACCESS = re.compile(r"\b(?:public|private|protected|virtual)\b")
_QUERY = """
(class_specifier body: (_)) @scope
(struct_specifier body: (_)) @scope
(struct_specifier name: (_)) @struct
(class_specifier name: (_)) @struct
(alias_declaration) @alias
(function_definition) @function
(enum_specifier body: (_)) @enum
(field_declaration default_value: (_)) @constant
(declaration declarator: (init_declarator)) @constant
"""


_BIT_INT = re.compile(r"=\s*((?:unsigned\s+)?_BitInt\(\d+\))\s*;")
_DECLARATORS = ("pointer_declarator", "reference_declarator")


class Parameter(msgspec.Struct, frozen=True, array_like=True):
    """One template parameter.

    Attributes:
        name: its name.
        type: "" for a type parameter, else the type of the value as written.
        default: as written, or "".
        pack: whether it is a pack.
    """

    name: str
    type: str = ""
    default: str = ""
    pack: bool = False


class Head(msgspec.Struct, frozen=True, array_like=True):
    """One declared thing that may be a template.

    Attributes:
        name: qualified by the namespaces and classes around it.
        kind: "struct", "alias", "function", "constant" or "enum".
        parameters: template parameters; None when it is no template.
        text: what an alias or constant stands for; a function's parameter types, `;` between them; an enum's
            enumerators, `;` between them; the base classes of a struct, `,` between them.
        line: line of its name.
        end_line: its last line.
        special: the arguments of a partial or full specialisation, with their angle brackets; else "".
        local: whether it stands in a function's body, where nothing outside can see it.
    """

    name: str
    kind: str
    parameters: tuple[Parameter, ...] | None = None
    text: str = ""
    line: int = 0
    end_line: int = 0
    special: str = ""
    local: bool = False

    @property
    def leaf(self) -> str:
        """The unqualified name."""
        return self.name.rpartition("::")[2]


class TemplateFacts(msgspec.Struct, frozen=True, array_like=True):
    """The heads of one file, in order."""

    heads: tuple[Head, ...] = ()


def read_templates(source: str) -> TemplateFacts:
    """The heads in a file's text (its bytes decoded as Latin-1)."""
    data, root = read_nodes(source)
    found = captures(_QUERY, root)
    scopes = [
        (n.start_byte, n.end_byte, _text(data, name).split("<")[0].strip())
        for n in found.get("scope", ())
        if (name := n.child_by_field_name("name")) is not None
    ]
    scopes = sorted([*scopes, *_namespaces(data.decode("latin-1"))])
    heads: list[tuple[int, Head]] = []
    for kind in ("struct", "alias", "function", "enum", "constant"):
        for node in found.get(kind, ()):
            head = _head(data, node, kind)
            if head is not None:
                scope = "::".join(s[2] for s in scopes if s[0] < node.start_byte and s[1] > node.start_byte)
                qualified = f"{scope}::{head.name}" if scope else head.name
                end = node.end_point[0] + 1
                head = msgspec.structs.replace(head, name=qualified, end_line=end, local=_is_local(node))
                heads.append((node.start_byte, head))
    heads.sort(key=lambda item: item[0])
    lines = source.split("\n")
    return TemplateFacts(tuple(_with_bit_width(h, lines) for _, h in heads))


def _is_local(node: Node) -> bool:
    around = node.parent
    while around is not None and around.type not in ("compound_statement", "field_declaration_list"):
        around = around.parent
    return around is not None and around.type == "compound_statement"


def _with_bit_width(head: Head, lines: list[str]) -> Head:
    """An alias of `_BitInt(8)`, which the parser is not shown, with what it stands for."""
    written = lines[head.line - 1] if head.kind == "alias" and head.line <= len(lines) else ""
    found = _BIT_INT.search(written)
    return msgspec.structs.replace(head, text=found.group(1)) if found else head


def _namespaces(text: str) -> list[tuple[int, int, str]]:
    """(start, end, name) of the namespaces, by their braces: a parse error inside one must not hide it."""
    plain = mask(text, strings=True)
    found: list[tuple[int, int, str]] = []
    waiting: list[tuple[int, str] | None] = []
    starts = {m.end() - 1: (m.start(), m.group(1)) for m in _NAMESPACE.finditer(plain)}
    for brace in re.finditer(r"[{}]", plain):
        if brace.group() == "{":
            waiting.append(starts.get(brace.start()))
        elif waiting and (opened := waiting.pop()) is not None:
            found.append((opened[0], brace.end(), opened[1]))
    found += [(start, len(text), name) for opened in waiting if opened for start, name in [opened]]
    return [item for item in found if item[2]]


def _text(data: bytes, node: Node | None) -> str:
    return " ".join(data[node.start_byte : node.end_byte].decode("latin-1").split()) if node is not None else ""


def _head(data: bytes, node: Node, kind: str) -> Head | None:
    line = node.start_point[0] + 1
    if kind == "struct":
        name = node.child_by_field_name("name")
        declares = node.child_by_field_name("body") is not None or (
            node.parent is not None and node.parent.type == "template_declaration"
        )
        if name is None or not declares:
            return None
        plain = name.child_by_field_name("name") if name.type == "template_type" else name
        special = _text(data, name.child_by_field_name("arguments")) if name.type == "template_type" else ""
        if plain is None or plain.type not in ("type_identifier", "identifier"):
            return None
        bases = next((c for c in node.children if c.type == "base_class_clause"), None)
        text = _ACCESS.sub("", _text(data, bases).removeprefix(":")).strip()
        line = plain.start_point[0] + 1
        return Head(_text(data, plain), kind, _parameters(data, node.parent), text, line, 0, special)
    if kind == "alias":
        name, target = node.child_by_field_name("name"), node.child_by_field_name("type")
        return Head(_text(data, name), kind, _parameters(data, node.parent), _text(data, target), line)
    if kind == "enum":
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            return None
        items = [_text(data, c) for c in body.named_children if c.type == "enumerator"]
        return Head(_text(data, name), kind, None, ";".join(items), line)
    if kind == "constant":
        return _constant(data, node, line)
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    inner = declarator.child_by_field_name("declarator") if declarator is not None else None
    if declarator is None or inner is None or inner.type not in ("identifier", "field_identifier"):
        return None
    listed = declarator.child_by_field_name("parameters")
    types = []
    for parameter in listed.named_children if listed is not None else ():
        if "parameter" in parameter.type:
            name_node = parameter.child_by_field_name("declarator")
            while name_node is not None and name_node.type in _DECLARATORS:  # `*` and `&` are the type's
                name_node = name_node.child_by_field_name("declarator") or next(
                    (c for c in name_node.named_children if c.type in (*_DECLARATORS, "identifier")), None
                )
            text = _text(data, parameter).partition("=")[0].strip()
            types.append(text.removesuffix(_text(data, name_node)).strip() if name_node is not None else text)
    return Head(_text(data, inner), kind, _parameters(data, node.parent), ";".join(types), inner.start_point[0] + 1)


def _constant(data: bytes, node: Node, line: int) -> Head | None:
    start = _text(data, node)[:60]
    around = node.parent.type if node.parent is not None else ""
    # outside of functions and classes a plain `const` of an enum is one too
    plain = start.startswith("const auto ") and around in ("translation_unit", "declaration_list")
    if "constexpr" not in start and not plain:
        return None
    declarator = node.child_by_field_name("declarator")
    value = node.child_by_field_name("default_value")
    if declarator is not None and declarator.type == "init_declarator":
        value = declarator.child_by_field_name("value")
        declarator = declarator.child_by_field_name("declarator")
    if declarator is None or value is None or declarator.type not in ("identifier", "field_identifier"):
        return None
    return Head(_text(data, declarator), "constant", None, _text(data, value), line)


def _parameters(data: bytes, parent: Node | None) -> tuple[Parameter, ...] | None:
    if parent is None or parent.type != "template_declaration":
        return None
    listed = parent.child_by_field_name("parameters")
    out = []
    for child in listed.named_children if listed is not None else ():
        text = _text(data, child)
        pack = "variadic" in child.type
        if "type_parameter" in child.type:
            plain, _, default = text.partition("=")
            name = re.sub(r"^(?:typename|class)\b", "", plain).replace("...", "").strip()
            out.append(Parameter(name, "", default.strip(), pack))
        elif "parameter" in child.type:
            plain, _, default = text.partition("=")
            words = plain.replace("...", " ").split()
            out.append(Parameter(words[-1], " ".join(words[:-1]), default.strip(), pack))
    return tuple(out)
