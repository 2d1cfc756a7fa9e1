"""Expressions of host C++: a syntax node and the names in scope in, a value of tracer.aiter.cpp_values out."""

from __future__ import annotations

import abc
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tracer.aiter.cpp_events import Undecided
from tracer.aiter.cpp_objects import Fields, Lambda, LoadedKernel, Optional, Pair
from tracer.aiter.cpp_operators import apply_binary, convert, literal
from tracer.aiter.cpp_source import CppSource, line_of, text_of
from tracer.aiter.cpp_values import U32, Dim3, InstanceRef, Null, Unknown, scalar_type

if TYPE_CHECKING:
    from tree_sitter import Node

Scope = dict[str, Any]
#: what a variable takes, by what it holds; the first that fits
_KINDS = ((bool, "bool"), (U32, "uint32_t"), (int, "int"), (float, "float"))


class Expressions(abc.ABC):
    """The expressions of one file; what calls do is left to the walk."""

    source: CppSource
    names: Mapping[str, Any]

    def __init__(self) -> None:
        self._stack: list[str] = []
        self._offset = 0  # lines to add to a node's own, inside a macro's body

    @abc.abstractmethod
    def _call(self, node: Node, scope: Scope) -> Any:
        """The value of a call."""

    def evaluate(self, node: Node, scope: Scope) -> Any:
        """The value of an expression; Unknown where nothing here can tell. Raises Undecided as a walk does."""
        match node.type:
            case "number_literal" | "true" | "false" | "string_literal" | "char_literal" | "concatenated_string":
                return literal(text_of(node))
            case "null" | "nullptr":
                return Null()
            case "identifier" | "qualified_identifier" | "template_function" | "type_identifier" | "primitive_type":
                return self._name(node, scope)
            case "parenthesized_expression" | "condition_clause" | "initializer_pair":
                return self.evaluate(node.named_children[-1], scope)
            case "initializer_list":
                return tuple(self.evaluate(child, scope) for child in node.named_children if child.type != "comment")
            case "binary_expression":
                return self._binary(node, scope)
            case "unary_expression" | "pointer_expression":
                return self._unary(node, scope)
            case "conditional_expression":
                condition = node.child_by_field_name("condition")
                assert condition is not None
                value = self.evaluate(condition, scope)
                if isinstance(value, Unknown):
                    return Unknown(text_of(node))
                held = self._truth(value, condition)
                chosen = node.child_by_field_name("consequence" if held else "alternative")
                if chosen is None and held:  # `a ?: b`
                    return value
                return self.evaluate(chosen, scope) if chosen is not None else Unknown(text_of(node))
            case "update_expression":
                return self._update(node, scope)
            case "subscript_expression":
                return self._subscript(node, scope)
            case "lambda_expression":
                return Lambda(node, scope)
            case "this":
                return scope.get("this", Unknown("this"))
            case "assignment_expression":
                return self._assign(node, scope)
            case "call_expression":
                return self._call(node, scope)
            case "field_expression":
                return self._field(node, scope)
            case "compound_literal_expression":
                values = node.child_by_field_name("value")
                kind = text_of(node.child_by_field_name("type"))
                inner = [self.evaluate(c, scope) for c in (values.named_children if values is not None else [])]
                if not inner and "::" in kind and not kind.endswith("string") and "vector<" not in kind:
                    return Unknown(f"{kind}{{}}")  # a tag
                return self._construct(kind, inner)
            case "cast_expression":
                inner_node = node.child_by_field_name("value")
                kind = text_of(node.child_by_field_name("type"))
                return convert(self.evaluate(inner_node, scope), kind) if inner_node is not None else Unknown(kind)
            case _:
                return Unknown(text_of(node)[:120])

    def _name(self, node: Node, scope: Scope) -> Any:
        name = text_of(node)
        if name in scope:
            return scope[name]
        if name in self.names:
            return self.names[name]
        if name in ("std::nullopt", "nullptr", "NULL", "c10::nullopt"):
            return Null()
        dtype = scalar_type(name)
        if dtype is not None:
            return dtype
        tag = re.fullmatch(r"decltype\((\w+)\)::value", name)
        if tag is not None and isinstance(scope.get(tag.group(1)), Unknown):
            word = scope[tag.group(1)].text
            return True if "true_type" in word else False if "false_type" in word else Unknown(name)
        if name in self.source.constants:
            return literal(self.source.constants[name])
        if "is_same_v<" in name or ("is_same<" in name and name.endswith("::value")):
            left, _, right = name[name.index("<") + 1 : name.rindex(">")].partition(",")
            return self._type(left.strip(), scope) == self._type(right.strip(), scope)
        head, bracket, types = name.partition("<")
        if bracket:
            resolved = [str(self._type(part.strip(), scope)) for part in types.rstrip(">").split(",")]
            return Unknown(f"{head}<{', '.join(resolved)}>", name=True)
        return Unknown(name, name=True)

    def _type(self, name: str, scope: Scope) -> str:
        value = scope.get(name, name)
        return value if isinstance(value, str) else str(getattr(value, "text", value))

    def _binary(self, node: Node, scope: Scope) -> Any:
        operator = text_of(node.child_by_field_name("operator"))
        left_node, right_node = node.child_by_field_name("left"), node.child_by_field_name("right")
        assert left_node is not None
        assert right_node is not None
        left = self.evaluate(left_node, scope)
        if operator in ("&&", "||") and not isinstance(left, Unknown):
            decided = self._truth(left, left_node)
            if decided is (operator == "||"):
                return decided
        right = self.evaluate(right_node, scope)
        return apply_binary(operator, left, right, text_of(node))

    def _unary(self, node: Node, scope: Scope) -> Any:
        inner = node.child_by_field_name("argument")
        operator = text_of(node.child_by_field_name("operator"))
        value = self.evaluate(inner, scope) if inner is not None else Unknown(text_of(node))
        if isinstance(value, Unknown):
            return Unknown(text_of(node))
        if operator == "!":
            return not self._truth(value, node)
        if operator == "-" and isinstance(value, int | float):
            return -value
        return value

    def _assign(self, node: Node, scope: Scope) -> Any:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        assert left is not None
        assert right is not None
        operator = text_of(node.child_by_field_name("operator"))
        value = self.evaluate(right, scope)
        if operator != "=":
            value = apply_binary(operator[:-1], self.evaluate(left, scope), value, text_of(node))
        self._store(left, value, scope)
        return value

    def _store(self, left: Node, value: Any, scope: Scope) -> None:
        if left.type == "identifier":
            before = scope.get(text_of(left))
            if isinstance(before, Optional) and isinstance(value, bool | int | float | str):
                value = Optional(value)
            kind = next((name for known, name in _KINDS if isinstance(before, known)), "")
            scope[text_of(left)] = convert(value, kind)
        elif left.type == "field_expression":
            owner = self.evaluate(left.child_by_field_name("argument"), scope)  # type: ignore[arg-type]
            member = text_of(left.child_by_field_name("field"))
            if isinstance(owner, Dim3 | Pair):
                setattr(owner, member, value)
            elif isinstance(owner, Fields):
                owner.values[member] = value
            elif isinstance(owner, LoadedKernel):
                owner.members[member] = value
        elif left.type == "call_expression" and text_of(left.child_by_field_name("function")) == "std::tie":
            targets = left.child_by_field_name("arguments")
            for index, target in enumerate(targets.named_children if targets is not None else []):
                known = isinstance(value, tuple) and index < len(value)
                self._store(target, value[index] if known else Unknown(text_of(target)), scope)

    def _update(self, node: Node, scope: Scope) -> Any:
        """`++i` and `i--`; the value is the one after for both, which no loop of aiter's looks at."""
        target = node.child_by_field_name("argument")
        assert target is not None
        value = self.evaluate(target, scope)
        symbol = text_of(node.child_by_field_name("operator"))
        after = apply_binary(symbol[:1], value, 1, text_of(node))
        self._store(target, after, scope)
        return after

    def _subscript(self, node: Node, scope: Scope) -> Any:
        owner_node, listed = node.child_by_field_name("argument"), node.child_by_field_name("indices")
        owner = self.evaluate(owner_node, scope) if owner_node is not None else Unknown("")
        index = self.evaluate(listed.named_children[0], scope) if listed is not None and listed.named_children else None
        if isinstance(index, int) and isinstance(owner, str) and 0 <= index <= len(owner):
            return ord(owner[index]) if index < len(owner) else 0
        if isinstance(index, int) and isinstance(owner, tuple | list) and 0 <= index < len(owner):
            return owner[index]
        return Unknown(text_of(node)[:120])

    def _field(self, node: Node, scope: Scope) -> Any:
        owner_node, field = node.child_by_field_name("argument"), text_of(node.child_by_field_name("field"))
        owner = self.evaluate(owner_node, scope) if owner_node is not None else Unknown(text_of(node))
        if field == "second" and isinstance(owner, InstanceRef):
            return owner
        if isinstance(owner, Dim3) and field in ("x", "y", "z"):
            return getattr(owner, field)
        if isinstance(owner, Pair) and field in ("first", "second"):
            return getattr(owner, field)
        if field == "multiProcessorCount" and field in self.names:
            return self.names[field]
        if isinstance(owner, Fields):
            return owner.get(field)
        if isinstance(owner, LoadedKernel):
            return owner.members.get(field, Unknown(text_of(node)))
        return Unknown(text_of(node))

    def _math(self, name: str, values: list[Any], text: str) -> Any:
        if name == "move":
            return values[0]
        if len(values) == 1 and isinstance(values[0], tuple):  # std::min({a, b, c})
            values = list(values[0])
        if not values or not all(isinstance(v, int | float) for v in values):
            return Unknown(text)
        return {"pow": math.pow, "ceil": math.ceil, "max": max, "min": min}[name](*values)  # type: ignore[operator]

    def _construct(self, kind: str, values: list[Any]) -> Any:
        if kind.split()[-1:] == ["dim3"] or kind == "dim3":
            return Dim3(*values)
        if "vector<" in kind:
            return tuple(values)
        if kind.endswith("string"):
            return values[0] if values else ""
        return convert(values[0], kind) if len(values) == 1 else tuple(values)

    def _truth(self, value: Any, node: Node) -> bool:
        if isinstance(value, Unknown):
            raise Undecided(self._line(node), text_of(node), self._here)
        if isinstance(value, Null):
            return False
        # a string is only ever tested as a pointer to characters, and an optional for being there
        return bool(value) if isinstance(value, bool | int | float) else True

    @property
    def _here(self) -> str:
        return self._stack[-1] if self._stack else ""

    def _line(self, node: Node) -> int:
        return line_of(node) + self._offset
