"""What one C++ file states: its text in, its functions, calls, launches, macros, aliases and includes out, with lines.

Parsing is tree-sitter-cpp's, on the text that `cpp_text` prepared. A definition is a function with a body; a
declaration has none. Comments and strings are no code. Calls inside device-only functions are
left out: no chain runs through them.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from tracer.aiter.cpp_parser import parse
from tracer.index.cpp_facts import Call, CppFacts, Function, LaunchSite, TypeAlias
from tracer.index.cpp_macros import Macro, line_at, line_starts, mask, split_arguments
from tracer.index.cpp_nodes import (
    CAST_NAMES,
    PLAIN_TYPES,
    between,
    count,
    function_declarator,
    split_template,
    without_template,
)
from tracer.index.cpp_parsing import captures
from tracer.index.cpp_text import Prepared, prepare

if TYPE_CHECKING:
    from tree_sitter import Node

#: calls whose arguments are kept: they name kernels, bindings or code objects
_KEEP_ARGUMENTS = re.compile(
    r"(?:.*(?:aunch|kernel|Kernel|Run|init|emplace|get_or_create|make_unique)\w*|def|enum_|class_|value|hip[A-Z]\w*|roc\w*|[A-Z][A-Z0-9_]{3,}\w*)\Z"
)
_MAX_ARGUMENTS = 600
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)
_QUERY = """
(function_definition) @definition
(declaration declarator: (_) @declared)
(field_declaration declarator: (_) @declared)
(call_expression) @call
(namespace_definition) @namespace
(class_specifier body: (_)) @class
(struct_specifier body: (_)) @class
(union_specifier body: (_)) @class
(enum_specifier body: (_)) @enum
(alias_declaration) @alias
(template_function) @reference
(pointer_expression argument: [(identifier) (qualified_identifier)] @address)
(declaration type: (_) @declared_type)
(compound_literal_expression type: (_) @constructed)
(new_expression type: (_) @constructed)
"""
_SCOPES = ("namespace", "class")


def read_file(
    source: str, macros: Mapping[str, Macro] | None = None, attributes: Mapping[str, Macro] | None = None
) -> CppFacts:
    """The facts of one file's text (its bytes decoded as Latin-1).

    Args:
        source: the text.
        macros: macros of other files that may be used at namespace scope here.
        attributes: macros of other files that only decorate declarations.
    """
    prepared = prepare(source, macros, attributes)
    masked = mask(source)
    starts = line_starts(masked)
    includes = tuple((m.group(2), line_at(starts, m.start()), m.group(1) == '"') for m in _INCLUDE.finditer(masked))
    reader = _Reader(prepared)
    functions = reader.functions()
    for macro in prepared.macros:
        if not macro.is_attribute and "(" in macro.body:
            functions.append(_macro_function(macro, prepared.macros, attributes))
    return CppFacts(
        includes,
        tuple(functions),
        tuple(reader.types()),
        reader.errors,
    )


def read_fragment(text: str, line: int, name: str) -> tuple[list[Function], list[TypeAlias]]:
    """The functions and types in a piece of code that starts on `line`; what stands outside is a fragment `name`."""
    prepared = prepare(text)
    reader = _Reader(prepared, line - 1, name)
    functions = reader.functions()
    functions += [
        msgspec.structs.replace(f, line=f.line + line - 1, first=f.first + line - 1, last=f.last + line - 1)
        for f in (_macro_function(m, prepared.macros, None) for m in prepared.macros if m.body.strip())
    ]
    return functions, reader.types()


def _macro_function(macro: Macro, beside: Iterable[Macro], attributes: Mapping[str, Macro] | None) -> Function:
    """A macro's body read as a function body; it may use the macros `beside` it."""
    known = {m.name: m for m in beside}
    prepared = prepare("void ktrace_macro() {" + macro.body + "\n;}", known, attributes)
    reader = _Reader(prepared, macro.body_line - 1)
    inside = reader.functions()
    calls = tuple(c for f in inside for c in f.calls)
    launches = tuple(s for f in inside for s in f.launches)
    return Function(
        macro.name,
        macro.line,
        macro.line,
        macro.end_line,
        "macro",
        parameters=-1 if macro.parameters is None else len(macro.parameters),
        names=macro.parameters or (),
        calls=calls,
        launches=launches,
    )


class _Reader:
    """Reads the functions out of one prepared text."""

    def __init__(self, prepared: Prepared, line_offset: int = 0, fragment: str = "") -> None:
        self.prepared = prepared
        self.data = prepared.text.encode("latin-1")
        self.offset = line_offset
        self.fragment = fragment
        self.root = parse(self.data)
        self.found = captures(_QUERY, self.root)
        self.errors = sum(1 for c in self.root.children if c.has_error)
        self.scopes = sorted(
            (
                (n.start_byte, n.end_byte, self.text(name) if (name := n.child_by_field_name("name")) else "")
                for kind in _SCOPES
                for n in self.found.get(kind, ())
            ),
            key=lambda s: (s[0], -s[1]),
        )

    def text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("latin-1")

    def line(self, node: Node) -> int:
        return node.start_point[0] + 1 + self.offset

    def last(self, node: Node) -> int:
        return node.end_point[0] + 1 + self.offset

    def scope(self, offset: int) -> str:
        """Namespaces and classes around an offset, joined by `::`; anonymous ones are left out."""
        names = []
        for start, end, name in self.scopes:
            if start >= offset:
                break
            if end > offset and name:
                names.append(re.sub(r"<.*", "", name, flags=re.DOTALL).strip())
        return "::".join(names)

    def functions(self) -> list[Function]:
        """All functions, and one fragment with the code outside them."""
        bodies: list[tuple[int, int, Function]] = []
        for node in self.found.get("definition", ()):
            function = self._function(node, node.child_by_field_name("declarator"), "definition")
            if function is not None:
                bodies.append((node.start_byte, node.end_byte, function))
        declared = []
        for node in self.found.get("declared", ()):
            inner = function_declarator(node)
            if inner is not None and node.parent is not None:
                function = self._function(node.parent, node, "declaration")
                if function is not None:
                    declared.append((node.start_byte, function))
        bodies.sort(key=lambda b: (b[0], -b[1]))
        calls, launches = self._inside(bodies)
        out = [
            msgspec.structs.replace(f, calls=tuple(calls[i]), launches=tuple(launches[i]))
            for i, (_, _, f) in enumerate(bodies)
        ]
        begins = [b[0] for b in bodies]
        for at, function in declared:
            i = bisect.bisect_right(begins, at) - 1
            if i < 0 or at > bodies[i][1]:  # not inside a function's body, where it is a variable
                out.append(function)
        outside = len(bodies)
        if calls[outside] or launches[outside]:
            last = self.prepared.text.count("\n") + 1 + self.offset
            first = 1 + self.offset
            out.append(
                Function(
                    self.fragment,
                    first,
                    first,
                    last,
                    "fragment",
                    calls=tuple(calls[outside]),
                    launches=tuple(launches[outside]),
                )
            )
        return out

    def types(self) -> list[TypeAlias]:
        """Classes and aliases."""
        out = []
        for node in [*self.found.get("class", ()), *self.found.get("enum", ())]:
            name = node.child_by_field_name("name")
            if name is not None:
                scope = self.scope(node.start_byte)
                leaf = self.text(name)
                out.append(TypeAlias(f"{scope}::{leaf}" if scope else leaf, self.line(name), "", self.last(node)))
        for node in self.found.get("alias", ()):
            name, target = node.child_by_field_name("name"), node.child_by_field_name("type")
            if name is not None and target is not None:
                scope = self.scope(node.start_byte)
                leaf = self.text(name)
                out.append(
                    TypeAlias(
                        f"{scope}::{leaf}" if scope else leaf,
                        self.line(name),
                        " ".join(self.text(target).split())[:2000],
                        self.last(node),
                    )
                )
        return out

    def _function(self, node: Node, declarator: Node | None, kind: str) -> Function | None:
        inner = function_declarator(declarator)
        if inner is None:
            return None
        name_node = inner.child_by_field_name("declarator")
        if name_node is None or name_node.type in ("parenthesized_declarator", "pointer_declarator"):
            return None
        name = re.sub(r"\s+", "", without_template(self.text(name_node)))
        if not name or name in ("if", "for", "while", "switch", "return"):
            return None
        scope = self.scope(node.start_byte)
        parent = node.parent
        templated = parent is not None and parent.type == "template_declaration"
        begin = parent.start_byte if templated and parent is not None else node.start_byte
        head = self.data.rfind(b";", 0, begin), self.data.rfind(b"}", 0, begin), self.data.rfind(b"{", 0, begin)
        since = max(head)
        name_at = name_node.start_byte
        marks = self.prepared
        device = between(marks.device_marks, since, name_at)
        parameters = inner.child_by_field_name("parameters")
        return Function(
            f"{scope}::{name}" if scope else name,
            self.line(name_node),
            (parent if templated and parent is not None else node).start_point[0] + 1 + self.offset,
            self.last(node),
            kind,
            kernel=between(marks.global_marks, since, name_at),
            device=device and not between(marks.host_marks, since, name_at),
            extern_c=between(marks.extern_c_marks, since, name_at),
            parameters=-1 if parameters is None else count(parameters),
            template=templated,
            via=self._macro_at(name_node),
        )

    def _macro_at(self, node: Node) -> str:
        """The macro whose expansion a node stands in: expansions begin on their use's line, in the use's place."""
        line = node.start_point[0] + 1
        for name, _, use_line, offset in self.prepared.macro_uses:
            if use_line == line and offset <= node.start_byte and not self.data.startswith(name.encode(), offset):
                return name
        return ""

    def _inside(self, bodies: list[tuple[int, int, Function]]) -> tuple[list[list[Call]], list[list[LaunchSite]]]:
        """Sorts calls and launches into the function that holds them; the last list holds what is outside."""
        begins = [b[0] for b in bodies]
        calls: list[list[Call]] = [[] for _ in range(len(bodies) + 1)]
        launches: list[list[LaunchSite]] = [[] for _ in range(len(bodies) + 1)]

        def owner(at: int) -> int:
            i = bisect.bisect_right(begins, at) - 1
            while i >= 0 and bodies[i][1] <= at:
                i -= 1
            return i if i >= 0 else len(bodies)

        noted = {
            (name, line) for name, _, line, at in self.prepared.macro_uses if self.data.startswith(name.encode(), at)
        }
        for node in self.found.get("call", ()):
            i = owner(node.start_byte)
            if i < len(bodies) and (bodies[i][2].device or bodies[i][2].kernel):
                continue
            call = self._call(node)
            if call is not None and (call.name, call.line - self.offset) not in noted:
                calls[i].append(call)
        for capture in ("reference", "address", "declared_type", "constructed"):
            for node in self.found.get(capture, ()):
                i = owner(node.start_byte)
                if i < len(bodies) and (bodies[i][2].device or bodies[i][2].kernel):
                    continue
                if capture in ("declared_type", "constructed") and i == len(bodies) and not self.fragment:
                    continue
                mention = self._mention(node, capture)
                if mention is not None:
                    calls[i].append(mention)
        for name, argument, line, at in self.prepared.macro_uses:
            if self.data.startswith(name.encode(), at):
                i = owner(at)
                parts = split_arguments(argument)
                calls[i].append(Call(name, line + self.offset, "", "", len(parts), argument[:_MAX_ARGUMENTS]))
        starts = line_starts(self.prepared.text)
        for launch in self.prepared.launches:
            i = owner(launch.offset)
            launches[i].append(
                LaunchSite(launch.kernel, line_at(starts, launch.offset) + self.offset, launch.configuration)
            )
        for found in calls:
            found.sort(key=lambda c: c.line)
        return calls, launches

    def _call(self, node: Node) -> Call | None:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is None:
            return None
        receiver = ""
        if function.type == "field_expression":
            argument, field = function.child_by_field_name("argument"), function.child_by_field_name("field")
            if field is None:
                return None
            receiver = " ".join(self.text(argument).split())[:120] if argument is not None else ""
            name, template = split_template(self.text(field))
        elif function.type in ("identifier", "qualified_identifier", "template_function", "dependent_name"):
            name, template = split_template(self.text(function))
        else:
            return None
        if not name or name.startswith("std::") or name in CAST_NAMES:
            return None
        passed = count(arguments) if arguments is not None else 0
        text = ""
        if arguments is not None and _KEEP_ARGUMENTS.match(name.rpartition("::")[2]):
            text = " ".join(self.text(arguments)[1:-1].split())[:_MAX_ARGUMENTS]
        return Call(name, self.line(node), receiver, template[:_MAX_ARGUMENTS], passed, text)

    def _mention(self, node: Node, capture: str) -> Call | None:
        parent = node.parent
        if capture == "reference" and parent is not None:
            outer: Node | None = parent
            while outer is not None and outer.type in ("qualified_identifier", "dependent_name"):
                node, outer = outer, outer.parent
            if outer is not None and outer.type == "call_expression" and outer.child_by_field_name("function") == node:
                return None
        name, template = split_template(self.text(node))
        if not name or name.startswith("std::") or name in CAST_NAMES or name in PLAIN_TYPES:
            return None
        text = ""
        if (
            capture in ("declared_type", "constructed")
            and parent is not None
            and _KEEP_ARGUMENTS.match(name.rpartition("::")[2])
        ):
            text = " ".join(self.text(parent).split())[:_MAX_ARGUMENTS]
        return Call(name, self.line(node), "", template[:_MAX_ARGUMENTS], -1, text)
