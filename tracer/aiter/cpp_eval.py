"""Host C++ that chooses a kernel, walked without a compiler: a function and its arguments in, what it launches out.

aiter's dispatching functions are plain: conditions on extents and types, a look-up in a table, a return. They are
walked in their own text, so the rules are those of the aiter at hand; what can't be known stops the walk at its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracer.aiter.cpp_events import Event, KernelLaunch, Refused, Returned, Undecided
from tracer.aiter.cpp_expressions import Scope
from tracer.aiter.cpp_launches import LOADER, Launches
from tracer.aiter.cpp_objects import Fields, Lambda, LoadedKernel, Optional, Pair, Table, as_parameter
from tracer.aiter.cpp_operators import convert, literal
from tracer.aiter.cpp_source import (
    LAUNCH,
    CppSource,
    declared_name,
    expand,
    line_of,
    load,
    parameters_of,
    parse_statements,
    text_of,
)
from tracer.aiter.cpp_values import Dim3, DType, InstanceRef, Null, Tensor, Unknown

if TYPE_CHECKING:
    from tree_sitter import Node

#: the element type that aiter's AITER_DISPATCH_* macros bind to scalar_t, and the ones they accept
_DISPATCH_TYPES = {
    "AITER_DISPATCH_FLOATING16_TYPES": ("float16", "bfloat16"),
    "AITER_DISPATCH_FLOATING16_TYPES_rmTorch": ("float16", "bfloat16"),
    "VLLM_DISPATCH_FLOATING_TYPES": ("float32", "float16", "bfloat16"),
}
_MAX_DEPTH = 30
#: the macro that a generator writes its look-up table as
_TABLE_MACRO = "GENERATE_LOOKUP_TABLE"
_STANDARD = ("static_cast", "make_tuple", "get", "string", "to_string", "make_unique", "tie", "optional")
_MATH = ("pow", "ceil", "max", "min", "move")


class Walk(Launches):
    """One walk through a file.

    Attributes:
        events: what was passed, in order.
        chosen: instances that were called, with the arguments of the call.
        launches: kernels that were launched by `<<<>>>`.
    """

    def __init__(
        self,
        source: Path | CppSource,
        *,
        find: Callable[[tuple[Any, ...]], InstanceRef | None] | None = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        templates: Mapping[str, Callable[[tuple[str, ...], list[Any]], Any]] | None = None,
        names: Mapping[str, Any] | None = None,
    ) -> None:
        """Prepares a walk.

        Args:
            source: the C++ file, or its parsed text.
            find: what the file's look-up tables answer for a key.
            functions: functions of other files (`getPaddedM`), by name; they win over the file's own.
            templates: function templates of other files, and structs with a static function, by name: they are asked
                with the template arguments and the arguments.
            names: values of names that other files define (`torch_fp8`).

        Raises:
            SourceTreeError: the file can't be read.
        """
        super().__init__()
        self.source: CppSource = source if isinstance(source, CppSource) else load(source)
        self.find = find
        self.given = dict(functions or {})
        self.templates = dict(templates or {})
        self.names = dict(names or {})
        self.events: list[Event] = []
        self.chosen: list[tuple[InstanceRef, tuple[Any, ...]]] = []
        self.launches: list[KernelLaunch] = []
        #: each function that is being walked, with its template arguments
        self._walked: list[tuple[Node, Scope]] = []

    def call(
        self, name: str, arguments: Sequence[Any], types: Sequence[str] = (), members: LoadedKernel | None = None
    ) -> Any:
        """Walks a function of the file.

        Args:
            name: the function.
            arguments: its arguments; those that are missing take their defaults.
            types: its template arguments.
            members: the object, for a member function.

        Raises:
            Undecided: the outcome depends on something that can't be known here.
            Refused: the C++ refuses the call.
        """
        node = self._overload(name, len(arguments))
        if node is None or len(self._stack) > _MAX_DEPTH:
            raise Undecided(0, name, self._stack[-1] if self._stack else name)
        own = {**members.members, "this": members} if members is not None else {}
        bound = self._template(node, types)
        scope: Scope = {**own, **bound, **self._parameters(node, arguments)}
        if name not in self.source.classes:  # a constructor chooses nothing
            self.events.append(Event("enter", line_of(node), name))
        before, self._offset = self._offset, 0
        self._stack.append(name)
        self._walked.append((node, bound))
        body = node.child_by_field_name("body")
        assert body is not None
        try:
            self._statement(body, scope)
        except Returned as result:
            return result.value
        finally:
            self.events.append(Event("leave", line_of(node), name))
            self._stack.pop()
            self._walked.pop()
            self._offset = before
        return Unknown("void")

    def _overload(self, name: str, count: int) -> Node | None:
        """The definition that takes this many arguments; the first where none or several do."""
        known = self.source.overloads.get(name, [])
        fitting = [node for node in known if len(parameters_of(node)) == count]
        fitting = fitting or [node for node in known if len(parameters_of(node)) >= count]
        return next(iter((*fitting, *known)), None)

    def _template(self, node: Node, types: Sequence[str]) -> Scope:
        parent = node.parent
        if parent is None or parent.type != "template_declaration":
            return {}
        bound: Scope = {}
        parameters = parent.child_by_field_name("parameters")
        for index, parameter in enumerate(parameters.named_children if parameters is not None else []):
            default = parameter.child_by_field_name("default_type") or parameter.child_by_field_name("default_value")
            given = types[index] if index < len(types) else text_of(default)
            is_type = "type_parameter" in parameter.type
            name = text_of(parameter.child_by_field_name("name")) or declared_name(parameter) or ""
            if not name:
                name = text_of(parameter.named_children[0]) if parameter.named_children else ""
            bound[name] = bound.get(given, given) if is_type else literal(given)
        return bound

    def _parameters(self, node: Node, arguments: Sequence[Any]) -> Scope:
        bound: Scope = {}
        for index, parameter in enumerate(parameters_of(node)):
            name = declared_name(parameter.child_by_field_name("declarator") or parameter)
            if name is None:
                continue
            default = parameter.child_by_field_name("default_value")
            kind = text_of(parameter.child_by_field_name("type"))
            if index < len(arguments):
                bound[name] = as_parameter(arguments[index], kind)
            else:
                bound[name] = Unknown(name) if default is None else as_parameter(self.evaluate(default, {}), kind)
        return bound

    def _call(self, node: Node, scope: Scope) -> Any:
        function, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        assert function is not None
        arguments = [c for c in (listed.named_children if listed is not None else []) if c.type != "comment"]
        name = text_of(function)
        head, bracket, inside = name.partition("<")
        head = head.rsplit("::", 1)[-1]
        if head == "TORCH_CHECK" or head.startswith("AITER_CHECK"):
            return self._check(node, arguments, scope)
        if head in _DISPATCH_TYPES and arguments:
            return self._by_type(head, arguments, scope)
        if function.type == "field_expression":
            return self._method(node, function, arguments, scope)
        if head in self.given:
            return self.given[head](*[self.evaluate(a, scope) for a in arguments])
        if head in self.templates and bracket:
            asked = tuple(self._type(part.strip(), scope) for part in inside.rpartition(">")[0].split(","))
            return self.templates[head](asked, [self.evaluate(a, scope) for a in arguments])
        if head in _MATH:
            return self._math(head, [self.evaluate(a, scope) for a in arguments], name)
        if head in _STANDARD:
            return self._standard(head, inside.rstrip(">"), [self.evaluate(a, scope) for a in arguments], node)
        if head in self.source.functions and function.type != "call_expression" and head not in self.source.classes:
            resolved = name if not bracket else self._name(function, scope).text
            types = resolved[resolved.index("<") + 1 : resolved.rindex(">")].split(", ") if "<" in resolved else []
            return self.call(head, [self.evaluate(a, scope) for a in arguments], types)
        if head in self.source.macros and function.type == "identifier":
            return self._macro(head, arguments, scope)
        if head == "dim3":
            return Dim3(*[self.evaluate(a, scope) for a in arguments])
        if head == "hipModuleLaunchKernel":
            return self._launch_module(scope.get("this"), [self.evaluate(a, scope) for a in arguments][1:7], node)
        if head == LOADER or head in self.source.classes:
            loaded = self.load_kernel(head, [self.evaluate(a, scope) for a in arguments], self._line(node))
            return loaded if loaded is not None else Unknown(name)
        callee = self.evaluate(function, scope)
        if isinstance(callee, InstanceRef):
            self.chosen.append((callee, tuple(self.evaluate(a, scope) for a in arguments)))
            return Unknown(name)
        if isinstance(callee, KernelLaunch):
            self.launches.append(callee)
        if isinstance(callee, Lambda):
            return self._run(callee, [self.evaluate(a, scope) for a in arguments])
        for argument in arguments:  # HIP_CALL(hipModuleLaunchKernel(...)) and its kin
            if argument.type == "call_expression":
                self.evaluate(argument, scope)
        return Unknown(text_of(node)[:120])

    def _standard(self, head: str, inside: str, values: list[Any], node: Node) -> Any:
        """What the standard library's functions make of plain values."""
        if head == "make_unique":
            loaded = self.load_kernel(inside, values, self._line(node))
            return loaded if loaded is not None else Unknown(text_of(node)[:120])
        if head in ("make_tuple", "tie"):
            return tuple(values)
        if head == "optional":
            return as_parameter(values[0], "optional") if values else Null()
        if not values:
            return "" if head == "string" else Unknown(text_of(node)[:120])
        if head == "static_cast":
            return convert(values[0], inside)
        if head == "get":
            known = isinstance(values[0], tuple) and inside.isdigit() and int(inside) < len(values[0])
            return values[0][int(inside)] if known else Unknown(text_of(node)[:120])
        return str(values[0]) if isinstance(values[0], str | int) else Unknown(text_of(node)[:120])

    def _check(self, node: Node, arguments: list[Node], scope: Scope) -> Any:
        value = self.evaluate(arguments[0], scope) if arguments else True
        if value is False:
            message = " ".join(text_of(a) for a in arguments[1:]) or text_of(arguments[0])
            raise Refused(self._line(node), message)
        return Unknown("void")

    def _by_type(self, macro: str, arguments: list[Node], scope: Scope) -> Any:
        dtype = self.evaluate(arguments[0], scope)
        if isinstance(dtype, DType) and dtype.name not in _DISPATCH_TYPES[macro]:
            raise Refused(self._line(arguments[0]), f"{macro} has no case for {dtype.name}")
        inner = next((a for a in arguments if a.type == "lambda_expression"), None)
        body = inner.child_by_field_name("body") if inner is not None else None
        if body is not None:
            bound = dtype.name if isinstance(dtype, DType) else "scalar_t"
            self._statement(body, {**scope, "scalar_t": bound, "input_dtype": bound})
        return Unknown("void")

    def _method(self, node: Node, function: Node, arguments: list[Node], scope: Scope) -> Any:
        owner_node = function.child_by_field_name("argument")
        method = text_of(function.child_by_field_name("field")).partition("<")[0]
        assert owner_node is not None
        if method == LAUNCH:
            return self._launch(owner_node, arguments, scope)
        owner = self.evaluate(owner_node, scope)
        if isinstance(owner, str | Table):
            return self._on_plain(owner, method, [self.evaluate(a, scope) for a in arguments], node)
        if method == "find" and self.find is not None:
            key = self.evaluate(arguments[0], scope)
            key = key if isinstance(key, tuple) else (key,)
            found = self.find(key)
            self.events.append(Event("lookup", self._line(node), text_of(arguments[0]), found is not None, key))
            types = self._table_types()
            if found is not None and types:
                return InstanceRef(found.name, types, found.line, from_table=True)
            return found if found is not None else Null()
        if isinstance(owner, Fields | Unknown) and method in ("find", "emplace", "get_or_create"):
            return self._on_cache(method, [self.evaluate(a, scope) for a in arguments])
        if method == "end":
            return Null()
        if isinstance(owner, Tensor | Optional):
            known = owner.method(method)
            values = [self.evaluate(a, scope) for a in arguments]
            if known is None or len(signature(known).parameters) != len(values):
                return Unknown(text_of(node)[:120])
            return known(*values)
        if isinstance(owner, InstanceRef) and method == "second":  # a function that the look-up table holds
            self.chosen.append((owner, tuple(self.evaluate(a, scope) for a in arguments)))
            return Unknown(text_of(node)[:120])
        if isinstance(owner, Null):
            if method == "value_or" and arguments:
                return self.evaluate(arguments[0], scope)
            if method == "value":
                raise Refused(self._line(node), f"{text_of(node)} of what was not given")
            return False if method in ("has_value", "defined") else Null()
        if isinstance(owner, LoadedKernel):
            return self._on_kernel(owner, function, method, [self.evaluate(a, scope) for a in arguments], scope)
        if isinstance(owner, DType) or method in ("value", "value_or", "toScalarType"):
            return owner
        if method == "has_value" and not isinstance(owner, Unknown):
            return True
        return Unknown(text_of(node)[:120])

    def _table_types(self) -> tuple[str, ...]:
        """The template arguments of the instances in the look-up table of the function that is being walked.

        Its macro writes them; where that stands in branches, one an output type, they are the function's own.
        """
        node, bound = self._walked[-1] if self._walked else (None, {})
        written = re.findall(rf"\b{_TABLE_MACRO}\(([^()]*)\)", text_of(node)) if node is not None else []
        parts = [[part.strip() for part in each.split(",") if part.strip()] for each in written]
        listed = [tuple(self._type(part, bound) for part in each) for each in parts]
        own = tuple(str(value) for value in bound.values())
        return own if own in listed else listed[0] if len(set(listed)) == 1 else ()

    def _on_plain(self, owner: str | Table, method: str, values: list[Any], node: Node) -> Any:
        """Methods of a string, and of a table of configurations."""
        if isinstance(owner, Table):
            if method == "find" and values:
                found = owner.find(values[0])
                hit = isinstance(found, Pair)
                self.events.append(Event("lookup", self._line(node), text_of(node)[:80], hit, (values[0],)))
                return found
            return Null() if method == "end" else not owner.entries if method == "empty" else Unknown(text_of(node))
        if method == "find" and values and isinstance(values[0], str):
            return owner.find(values[0])
        if method == "empty":
            return not owner
        return owner if method in ("c_str", "data") else Unknown(text_of(node)[:120])

    def _on_cache(self, method: str, values: list[Any]) -> Any:
        """A map that the function keeps between calls: empty at the first one, and nothing else depends on it."""
        if method == "find":
            return Null()
        if method == "emplace":
            return Pair(Pair(values[0] if values else Null(), Null()), second=True)
        return self._run(values[-1], []) if values and isinstance(values[-1], Lambda) else Unknown(method)

    def _run(self, function: Lambda, arguments: Sequence[Any]) -> Any:
        """Calls a lambda. It shares the names around it, as one that captures by reference does."""
        body = function.node.child_by_field_name("body")
        assert body is not None
        for parameter, value in zip(parameters_of(function.node), arguments, strict=False):
            name = declared_name(parameter.child_by_field_name("declarator") or parameter)
            if name is not None:
                function.scope[name] = value
        try:
            self._statement(body, function.scope)
        except Returned as result:
            return result.value
        return Unknown("void")

    def _macro(self, name: str, arguments: list[Node], scope: Scope) -> Any:
        macro = self.source.macros[name]
        body = expand(macro, [text_of(a) for a in arguments])
        if macro.parameters[-1:] == ("...",) and len(arguments) < len(macro.parameters):
            self._statement(parse_statements(body.replace("__VA_ARGS__", "")), scope)
            return True  # the statements follow as a block (tracer.aiter.cpp_source)
        block = parse_statements(body)
        before, self._offset = self._offset, macro.line - 1
        try:
            self._statement(block, scope)
        finally:
            self._offset = before
        return Unknown("void")
