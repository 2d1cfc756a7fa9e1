"""Statements of host C++: a syntax node and the names in scope in, their effects on the scope and the walk out."""

from __future__ import annotations

import abc
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tracer.aiter.cpp_events import Event, Refused, Returned, Undecided
from tracer.aiter.cpp_expressions import Expressions, Scope
from tracer.aiter.cpp_objects import Fields, LoadedKernel, Table, as_parameter, items_of
from tracer.aiter.cpp_operators import convert
from tracer.aiter.cpp_source import declared_name, parse_statements, text_of
from tracer.aiter.cpp_values import Dim3, InstanceRef, Unknown

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_TURNS = 10_000


class _Leave(Exception):
    """break (True) or continue (False)."""

    def __init__(self, stop: bool) -> None:
        self.stop = stop


class Statements(Expressions, abc.ABC):
    """The statements of one file."""

    events: list[Event]

    @abc.abstractmethod
    def load_kernel(self, kind: str, arguments: list[Any], line: int) -> LoadedKernel | None:
        """A kernel that a class of the file (or AiterAsmKernel) loads; None when the class loads none."""

    def _statement(self, node: Node, scope: Scope) -> None:
        match node.type:
            case "compound_statement" | "else_clause" | "ERROR":
                for child in node.named_children:
                    self._statement(child, scope)
            case "if_statement":
                self._if(node, scope)
            case "return_statement":
                self._return(node, scope)
            case "declaration":
                self._declare(node, scope)
            case "alias_declaration":
                self._alias(node, scope)
            case "expression_statement":
                for child in node.named_children:
                    self.evaluate(child, scope)
            case "throw_statement":
                raise Refused(self._line(node), text_of(node))
            case "for_range_loop" | "for_statement" | "while_statement":
                self._loop(node, scope)
            case "switch_statement":
                self._switch(node, scope)
            case "break_statement" | "continue_statement":
                raise _Leave(node.type == "break_statement")
            case "do_statement":
                raise Undecided(self._line(node), text_of(node)[:80], self._here)
            case _:
                pass  # using, static_assert, comment, type definitions: nothing is chosen there

    def _if(self, node: Node, scope: Scope) -> None:
        condition = node.child_by_field_name("condition")
        assert condition is not None
        value = self._truth(self.evaluate(condition, scope), condition)
        self.events.append(Event("condition", self._line(condition), text_of(condition), value))
        branch = node.child_by_field_name("consequence" if value else "alternative")
        if branch is not None:
            self._statement(branch, scope)

    def _switch(self, node: Node, scope: Scope) -> None:
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        assert condition is not None
        assert body is not None
        value = self.evaluate(condition, scope)
        cases = [child for child in body.named_children if child.type == "case_statement"]
        start = None
        for index, case in enumerate(cases):
            label = case.child_by_field_name("value")
            if label is None:
                start = index if start is None else start
                continue
            known = self.evaluate(label, scope)
            if isinstance(known, Unknown) or isinstance(value, Unknown):
                raise Undecided(self._line(node), text_of(condition), self._here)
            if known == value:
                start = index
                self.events.append(Event("condition", self._line(case), f"case {text_of(label)}", True))
                break
        try:
            for case in cases[start:] if start is not None else []:
                for child in case.named_children:
                    if child != case.child_by_field_name("value"):
                        self._statement(child, scope)
        except _Leave as leave:
            if not leave.stop:
                raise

    def _loop(self, node: Node, scope: Scope) -> None:
        body = node.child_by_field_name("body")
        assert body is not None
        for turn, _ in enumerate(self._turns(node, scope)):
            if turn >= _MAX_TURNS:
                raise Undecided(self._line(node), "a loop that does not end", self._here)
            try:
                self._statement(body, scope)
            except _Leave as leave:
                if leave.stop:
                    break

    def _turns(self, node: Node, scope: Scope) -> Iterator[None]:
        """Binds what each turn of a loop binds."""
        if node.type == "for_range_loop":
            right = node.child_by_field_name("right")
            name = declared_name(node.child_by_field_name("declarator") or node)
            assert right is not None
            items = items_of(self.evaluate(right, scope))
            if items is None or name is None:
                raise Undecided(self._line(node), text_of(right)[:80], self._here)
            for item in items:
                scope[name] = item
                yield
            return
        start, condition = node.child_by_field_name("initializer"), node.child_by_field_name("condition")
        step = node.child_by_field_name("update")
        if start is not None:
            self._statement(start, scope)
        while condition is None or self._truth(self.evaluate(condition, scope), condition):
            yield
            if step is not None:
                self.evaluate(step, scope)

    def _return(self, node: Node, scope: Scope) -> None:
        if not node.named_children:
            raise Returned(Unknown("void"))
        value = self.evaluate(node.named_children[0], scope)
        if isinstance(value, Unknown) and value.name:
            name, _, types = value.text.partition("<")
            value = InstanceRef(name, tuple(t for t in types.rstrip(">").split(", ") if t), self._line(node))
        if isinstance(value, InstanceRef):
            self.events.append(Event("return", self._line(node), value.name))
        raise Returned(value)

    def _declare(self, node: Node, scope: Scope) -> None:
        kind = text_of(node.child_by_field_name("type"))
        for part in node.children_by_field_name("declarator"):
            inner = part.child_by_field_name("declarator")
            if inner is not None and inner.type == "structured_binding_declarator":
                self._unpack(part, inner, scope)
                continue
            name = declared_name(part)
            if name is not None:
                scope[name] = self._initial(kind, name, part, scope)

    def _alias(self, node: Node, scope: Scope) -> None:
        """`using T = decltype(x);`: the type of a tag that a generic lambda is called with."""
        named = re.fullmatch(r"decltype\((\w+)\)", text_of(node.child_by_field_name("type")))
        value = scope.get(named.group(1)) if named else None
        if isinstance(value, Unknown):
            scope[text_of(node.child_by_field_name("name"))] = value.text.removesuffix("{}")

    def _initial(self, kind: str, name: str, part: Node, scope: Scope) -> Any:
        """What a declared variable begins as."""
        if part.type == "init_declarator":
            initial = part.child_by_field_name("value")
            if initial is None:
                return Unknown(name)
            if initial.type not in ("argument_list", "initializer_list"):
                return as_parameter(convert(self.evaluate(initial, scope), kind), kind)
            values = [self.evaluate(child, scope) for child in initial.named_children]
            if "unordered_map<" in kind and values:
                return self._table(kind, name, values)
            loaded = self.load_kernel(kind, values, self._line(part))
            if loaded is not None:
                return loaded
            return self._construct(kind, values) if values else Fields(name)
        if part.type == "function_declarator":  # `dim3 grid(rows);` reads like a declaration
            inner = text_of(part.child_by_field_name("parameters"))
            return self.evaluate(parse_statements(f"{kind}{inner};").named_children[0].named_children[0], scope)
        if kind == "dim3":
            return Dim3()
        if kind.endswith("string"):
            return ""
        return Unknown(name) if kind in _PLAIN or part.type == "pointer_declarator" else Fields(name)

    def _table(self, kind: str, name: str, pairs: list[Any]) -> Table:
        """A map that the function itself writes out: keys to structs of the file."""
        members = self.source.structs.get(kind.rstrip("> ").rpartition(",")[2].strip(), ())
        entries = {}
        for pair in pairs:
            if isinstance(pair, tuple) and len(pair) == 2:
                given = pair[1] if isinstance(pair[1], tuple) else (pair[1],)
                entries[pair[0]] = Fields(name, dict(zip(members, given, strict=False)))
        return Table(name, entries, ordered=False)

    def _unpack(self, part: Node, names: Node, scope: Scope) -> None:
        initial = part.child_by_field_name("value")
        values = self.evaluate(initial, scope) if initial is not None else None
        for index, child in enumerate(names.named_children):
            known = isinstance(values, tuple) and index < len(values)
            scope[text_of(child)] = values[index] if known else Unknown(text_of(child))  # type: ignore[index]


_PLAIN = frozenset({"auto", "int", "float", "double", "bool", "char", "size_t", "uint32_t", "int32_t", "unsigned int"})
