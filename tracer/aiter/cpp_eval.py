"""Host C++ that chooses a kernel, walked without a compiler: a function and its arguments in, what it launches out.

aiter's dispatching functions are plain: conditions on extents and types, a look-up in a table, a return. They are
walked in their own text, so the rules are those of the aiter at hand; what can't be known stops the walk at its line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracer.aiter.cpp_events import Event, KernelLaunch, Refused, Returned, Undecided
from tracer.aiter.cpp_expressions import Expressions, Scope
from tracer.aiter.cpp_operators import convert, literal
from tracer.aiter.cpp_source import LAUNCH, CppSource, declared_name, expand, line_of, load, parse_statements, text_of
from tracer.aiter.cpp_values import Dim3, DType, InstanceRef, Null, Tensor, Unknown

if TYPE_CHECKING:
    from tree_sitter import Node

#: the element type that aiter's AITER_DISPATCH_* macros bind to scalar_t, and the ones they accept
_DISPATCH_TYPES = {
    "AITER_DISPATCH_FLOATING16_TYPES": ("float16", "bfloat16"),
    "VLLM_DISPATCH_FLOATING_TYPES": ("float32", "float16", "bfloat16"),
}
_MAX_DEPTH = 30


class Walk(Expressions):
    """One walk through a file.

    Attributes:
        events: what was passed, in order.
        chosen: instances that were called, with the arguments of the call.
        launches: kernels that were launched by `<<<>>>`.
    """

    def __init__(
        self,
        source: Path,
        *,
        find: Callable[[tuple[Any, ...]], InstanceRef | None] | None = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        names: Mapping[str, Any] | None = None,
    ) -> None:
        """Prepares a walk.

        Args:
            source: the C++ file.
            find: what the file's look-up tables answer for a key.
            functions: functions of other files (`getPaddedM`), by name; they win over the file's own.
            names: values of names that other files define (`torch_fp8`).

        Raises:
            SourceTreeError: the file can't be read.
        """
        super().__init__()
        self.source: CppSource = load(source)
        self.find = find
        self.given = dict(functions or {})
        self.names = dict(names or {})
        self.events: list[Event] = []
        self.chosen: list[tuple[InstanceRef, tuple[Any, ...]]] = []
        self.launches: list[KernelLaunch] = []

    def call(self, name: str, arguments: Sequence[Any], types: Sequence[str] = ()) -> Any:
        """Walks a function of the file.

        Raises:
            Undecided: the outcome depends on something that can't be known here.
            Refused: the C++ refuses the call.
        """
        node = self.source.functions.get(name)
        if node is None or len(self._stack) > _MAX_DEPTH:
            raise Undecided(0, name, self._stack[-1] if self._stack else name)
        scope: Scope = {**self._template(node, types), **self._parameters(node, arguments)}
        self.events.append(Event("enter", line_of(node) + self._offset, name))
        self._stack.append(name)
        body = node.child_by_field_name("body")
        assert body is not None
        try:
            self._statement(body, scope)
        except Returned as result:
            return result.value
        finally:
            self._stack.pop()
        return Unknown("void")

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
        declarator = node.child_by_field_name("declarator")
        while declarator is not None and declarator.type != "function_declarator":
            declarator = declarator.child_by_field_name("declarator") or next(
                (c for c in declarator.named_children if c.type.endswith("declarator")), None
            )
        listed = declarator.child_by_field_name("parameters") if declarator is not None else None
        bound: Scope = {}
        wanted = [p for p in (listed.named_children if listed is not None else []) if "parameter" in p.type]
        for index, parameter in enumerate(wanted):
            name = declared_name(parameter.child_by_field_name("declarator") or parameter)
            if name is None:
                continue
            default = parameter.child_by_field_name("default_value")
            if index < len(arguments):
                bound[name] = arguments[index]
            else:
                bound[name] = Unknown(name) if default is None else self.evaluate(default, {})
        return bound

    # statements

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
            case "expression_statement":
                for child in node.named_children:
                    self.evaluate(child, scope)
            case "throw_statement":
                raise Refused(self._line(node), text_of(node))
            case "switch_statement" | "for_statement" | "while_statement" | "do_statement" | "for_range_loop":
                raise Undecided(
                    self._line(node), text_of(node.child_by_field_name("condition") or node)[:80], self._here
                )
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
            name = declared_name(part)
            if name is None:
                continue
            value: Any = Unknown(name)
            if part.type == "init_declarator":
                initial = part.child_by_field_name("value")
                if initial is not None and initial.type in ("argument_list", "initializer_list"):
                    value = self._construct(kind, [self.evaluate(c, scope) for c in initial.named_children])
                elif initial is not None:
                    value = convert(self.evaluate(initial, scope), kind)
            elif part.type == "function_declarator":  # `dim3 grid(rows);` reads like a declaration
                inner = text_of(part.child_by_field_name("parameters"))
                value = self.evaluate(parse_statements(f"{kind}{inner};").named_children[0].named_children[0], scope)
            elif kind == "dim3":
                value = Dim3()
            scope[name] = value

    def _call(self, node: Node, scope: Scope) -> Any:
        function, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        assert function is not None
        arguments = [c for c in (listed.named_children if listed is not None else []) if c.type != "comment"]
        name = text_of(function)
        head = name.partition("<")[0].rsplit("::", 1)[-1]
        if head == "TORCH_CHECK" or head.startswith("AITER_CHECK"):
            return self._check(node, arguments, scope)
        if head in _DISPATCH_TYPES and arguments:
            return self._by_type(head, arguments, scope)
        if function.type == "field_expression":
            return self._method(node, function, arguments, scope)
        if head in self.given:
            return self.given[head](*[self.evaluate(a, scope) for a in arguments])
        if head in ("pow", "ceil", "max", "min", "move"):
            return self._math(head, [self.evaluate(a, scope) for a in arguments], name)
        if head in self.source.functions and function.type != "call_expression":
            resolved = text_of(function) if "<" not in name else self._name(function, scope).text
            types = resolved[resolved.index("<") + 1 : resolved.rindex(">")].split(", ") if "<" in resolved else []
            return self.call(head, [self.evaluate(a, scope) for a in arguments], types)
        if head in self.source.macros and function.type == "identifier":
            return self._macro(head, arguments, scope)
        if head == "dim3":
            return Dim3(*[self.evaluate(a, scope) for a in arguments])
        callee = self.evaluate(function, scope)
        if isinstance(callee, InstanceRef):
            self.chosen.append((callee, tuple(self.evaluate(a, scope) for a in arguments)))
            return Unknown(name)
        if isinstance(callee, KernelLaunch):
            self.launches.append(callee)
        return Unknown(text_of(node)[:120])

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
        if method == "find" and self.find is not None:
            key = self.evaluate(arguments[0], scope)
            key = key if isinstance(key, tuple) else (key,)
            found = self.find(key)
            self.events.append(Event("lookup", self._line(node), text_of(arguments[0]), found is not None, key))
            return found if found is not None else Null()
        if method == "end":
            return Null()
        if isinstance(owner, Tensor):
            known = owner.method(method)
            return known(*[self.evaluate(a, scope) for a in arguments]) if known else Unknown(text_of(node))
        if isinstance(owner, Null):
            return False if method in ("has_value", "defined") else Null()
        if isinstance(owner, DType) or method in ("value", "value_or", "toScalarType"):
            return owner
        if isinstance(owner, str) and method == "empty":
            return not owner
        if method == "has_value" and not isinstance(owner, Unknown):
            return True
        return Unknown(text_of(node)[:120])

    def _launch(self, kernel: Node, arguments: list[Node], scope: Scope) -> KernelLaunch:
        extents: list[tuple[int, int, int] | None] = []
        for argument in arguments[:2]:
            value = self.evaluate(argument, scope)
            if isinstance(value, int):
                value = Dim3(value)
            extents.append(value.plain() if isinstance(value, Dim3) else None)
        resolved = self._name(kernel, scope)
        name, _, types = (resolved.text if isinstance(resolved, Unknown) else text_of(kernel)).partition("<")
        return KernelLaunch(
            name.rsplit("::", 1)[-1],
            tuple(t for t in types.rstrip(">").split(", ") if t),
            extents[0] if extents else None,
            extents[1] if len(extents) > 1 else None,
            self._line(kernel),
        )

    def _macro(self, name: str, arguments: list[Node], scope: Scope) -> Any:
        macro = self.source.macros[name]
        block = parse_statements(expand(macro, [text_of(a) for a in arguments]))
        before, self._offset = self._offset, macro.line - 1
        try:
            self._statement(block, scope)
        finally:
            self._offset = before
        return Unknown("void")
