"""aiter's tables of instances are Python: a module's syntax tree in, the values of its names out, nothing run.

The small part of Python that those modules are written in is evaluated here: literals, dataclasses with properties,
loops and comprehensions over tables, functions. What is outside it stays `Opaque` and raises only where it is needed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tracer.aiter import text
from tracer.aiter.records import (
    BINARY,
    BUILTINS,
    COMPARE,
    KNOWN_IMPORTS,
    UNARY,
    Opaque,
    Record,
    RecordType,
    Unsupported,
    copied,
    get_attribute,
    set_attribute,
)
from tracer.errors import SourceTreeError


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Leave(Exception):
    """break (True) or continue (False)."""

    def __init__(self, stop: bool) -> None:
        self.stop = stop


_LIMIT = 20_000_000

Scope = dict[str, Any]


class Evaluator:
    """One module, evaluated.

    Attributes:
        scope: the module's names and their values; a name whose value could not be had is Opaque.
    """

    def __init__(self, path: Path, given: Mapping[str, Any]) -> None:
        """Evaluates a module.

        Args:
            path: the Python file.
            given: values for names that the module imports (`get_gfx`: a function that answers with the target).

        Raises:
            SourceTreeError: the file can't be read or parsed.
        """
        self.path = path
        self.given = given
        self.steps = 0
        self.scope: Scope = {}
        for statement in text.python_module(path).body:
            try:
                self._statement(statement, self.scope)
            except (Unsupported, LookupError, AttributeError, TypeError, ValueError, StopIteration) as error:
                for name in _bound(statement):
                    self.scope[name] = Opaque(f"{name} in line {statement.lineno} ({error})")

    def value(self, name: str) -> Any:
        """The value of a module-level name.

        Raises:
            SourceTreeError: there is no such name, or it could not be evaluated.
        """
        found = self.scope.get(name)
        if found is None or isinstance(found, Opaque):
            why = found.what if isinstance(found, Opaque) else f"it defines no {name}"
            raise SourceTreeError(f"{self.path}: {name} can't be read: {why}", hint="this aiter is not supported here")
        return found

    def call(self, name: str, *args: Any, **keywords: Any) -> Any:
        """Calls a function of the module.

        Raises:
            SourceTreeError: it can't be evaluated.
            ValueError: the function itself raises.
        """
        function = self.value(name)
        try:
            return function(*args, **keywords)
        except (Unsupported, LookupError, AttributeError, TypeError, StopIteration) as error:
            raise SourceTreeError(f"{self.path}: {name}(...) can't be evaluated: {error}") from None

    def _block(self, body: list[ast.stmt], scope: Scope) -> None:
        for statement in body:
            self._statement(statement, scope)

    def _statement(self, node: ast.stmt, scope: Scope) -> None:
        self._count()
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for alias in names:
                    name = alias.asname or alias.name.split(".")[0]
                    scope[name] = self.given.get(name, KNOWN_IMPORTS.get(name, Opaque(name)))
            case ast.ClassDef():
                scope[node.name] = self._class(node, scope)
            case ast.FunctionDef():
                scope[node.name] = self._function(node.args, node.body, scope)
            case ast.Assign(targets=targets, value=value):
                result = self._eval(value, scope)
                for target in targets:
                    self._assign(target, result, scope)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self._eval(value, scope), scope)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                scope[name] = BINARY[type(op)](scope[name], self._eval(value, scope))
            case ast.If(test=test, body=body, orelse=orelse):
                self._block(body if self._truth(self._eval(test, scope)) else orelse, scope)
            case ast.For(target=target, iter=iterable, body=body):
                self._loop(target, self._eval(iterable, scope), body, scope)
            case ast.Return(value=value):
                raise _Return(None if value is None else self._eval(value, scope))
            case ast.Raise(exc=exc):
                raise ValueError(self._message(exc, scope) if exc else "raise")
            case ast.Assert(test=test):
                if not self._truth(self._eval(test, scope)):
                    raise ValueError(ast.unparse(node))
            case ast.Expr(value=value):
                self._eval(value, scope)
            case ast.With(items=items, body=body):
                for item in items:
                    opened = self._eval(item.context_expr, scope)
                    if item.optional_vars is not None:
                        self._assign(item.optional_vars, opened, scope)
                self._block(body, scope)
            case ast.Pass() | ast.Global() | ast.Nonlocal() | ast.AnnAssign():
                pass
            case ast.Break() | ast.Continue():
                raise _Leave(isinstance(node, ast.Break))
            case _:
                raise Unsupported(f"{type(node).__name__} in line {node.lineno}")

    def _message(self, raised: ast.expr, scope: Scope) -> str:
        """What a raised exception says, where its message can be evaluated; else its text."""
        if isinstance(raised, ast.Call) and len(raised.args) == 1:
            try:
                return str(self._eval(raised.args[0], scope))
            except (Unsupported, LookupError, AttributeError, TypeError, ValueError):
                pass
        return ast.unparse(raised)

    def _loop(self, target: ast.expr, values: Any, body: list[ast.stmt], scope: Scope) -> None:
        for value in list(values):
            self._assign(target, value, scope)
            try:
                self._block(body, scope)
            except _Leave as leave:
                if leave.stop:
                    break

    def _class(self, node: ast.ClassDef, scope: Scope) -> RecordType | Opaque:
        if not any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list):
            return self._plain_class(node, scope)
        kind = RecordType(node.name)
        for part in node.body:
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                kind.declared.append(part.target.id)
                if part.value is not None:
                    kind.defaults[part.target.id] = self._eval(part.value, scope)
            elif isinstance(part, ast.FunctionDef):
                function = self._function(part.args, part.body, scope)
                if any(ast.unparse(decorator) in ("property", "cached_property") for decorator in part.decorator_list):
                    kind.properties[part.name] = function
        return kind

    def _plain_class(self, node: ast.ClassDef, scope: Scope) -> RecordType | Opaque:
        """A class that is nothing but methods, one of which sets its fields."""
        kind = RecordType(node.name)
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and not part.decorator_list:
                kind.methods[part.name] = self._function(part.args, part.body, scope)
        return kind if "__init__" in kind.methods and not node.bases else Opaque(f"class {node.name}")

    def _function(self, parameters: ast.arguments, body: list[ast.stmt] | ast.expr, scope: Scope) -> Callable[..., Any]:
        names = [a.arg for a in (*parameters.posonlyargs, *parameters.args)]
        values = [self._eval(default, scope) for default in parameters.defaults]
        defaults = dict(zip(names[len(names) - len(values) :], values, strict=True))

        def call(*args: Any, **keywords: Any) -> Any:
            inner = _Layered(scope, {**defaults, **dict(zip(names, args, strict=False)), **keywords})
            if isinstance(body, ast.expr):
                return self._eval(body, inner)
            try:
                self._block(body, inner)
            except _Return as result:
                return result.value
            return None

        return call

    def _assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                scope[name] = value
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                for part, item in zip(elts, list(value), strict=True):
                    self._assign(part, item, scope)
            case ast.Attribute(value=owner, attr=attr):
                set_attribute(self._eval(owner, scope), attr, value)
            case ast.Subscript(value=owner, slice=key):
                self._eval(owner, scope)[self._eval(key, scope)] = value
            case _:
                raise Unsupported(f"assignment to {ast.unparse(target)}")

    def _count(self) -> None:
        self.steps += 1
        if self.steps > _LIMIT:
            raise Unsupported("too long")

    def _truth(self, value: Any) -> bool:
        if isinstance(value, Opaque):
            raise Unsupported(f"the outcome of {value.what}")
        return bool(value)

    def _eval(self, node: ast.expr, scope: Scope) -> Any:
        self._count()
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._name(name, scope)
            case ast.Attribute(value=owner, attr=attr):
                value = self._eval(owner, scope)
                if value is copied:  # `copy.copy`, `copy.deepcopy`
                    return copied
                return get_attribute(value, attr)
            case ast.Call():
                return self._call(node, scope)
            case ast.List(elts=elts):
                return [self._eval(e, scope) for e in elts]
            case ast.Tuple(elts=elts):
                return tuple(self._eval(e, scope) for e in elts)
            case ast.Set(elts=elts):
                return {self._eval(e, scope) for e in elts}
            case ast.Dict(keys=keys, values=values):
                made: dict[Any, Any] = {}
                for key, item in zip(keys, values, strict=True):
                    if key is None:
                        made.update(self._eval(item, scope))
                    else:
                        made[self._eval(key, scope)] = self._eval(item, scope)
                return made
            case ast.JoinedStr(values=values):
                return "".join(self._piece(v, scope) for v in values)
            case ast.BinOp(left=left, op=op, right=right):
                return BINARY[type(op)](self._eval(left, scope), self._eval(right, scope))
            case ast.UnaryOp(op=op, operand=operand):
                return UNARY[type(op)](self._eval(operand, scope))
            case ast.BoolOp(op=op, values=values):
                result: Any = None
                for part in values:
                    result = self._eval(part, scope)
                    if self._truth(result) is isinstance(op, ast.Or):
                        break
                return result
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                value = self._eval(left, scope)
                for compare, other_node in zip(ops, comparators, strict=True):
                    other = self._eval(other_node, scope)
                    if not COMPARE[type(compare)](value, other):
                        return False
                    value = other
                return True
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._eval(body if self._truth(self._eval(test, scope)) else orelse, scope)
            case ast.Subscript(value=owner, slice=key):
                return self._eval(owner, scope)[self._eval(key, scope)]
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(*(None if part is None else self._eval(part, scope) for part in (lower, upper, step)))
            case ast.Lambda(args=args, body=body):
                return self._function(args, body, scope)
            case ast.ListComp(elt=elt, generators=generators) | ast.GeneratorExp(elt=elt, generators=generators):
                return [self._eval(elt, inner) for inner in self._each(generators, scope)]
            case ast.SetComp(elt=elt, generators=generators):
                return {self._eval(elt, inner) for inner in self._each(generators, scope)}
            case ast.DictComp(key=key, value=item, generators=generators):
                return {self._eval(key, s): self._eval(item, s) for s in self._each(generators, scope)}
            case _:
                raise Unsupported(f"{type(node).__name__} in line {node.lineno}")

    def _name(self, name: str, scope: Scope) -> Any:
        if name in scope:
            return scope[name]
        if name in BUILTINS:
            return BUILTINS[name]
        if name in self.given:
            return self.given[name]
        raise Unsupported(f"the name {name}")

    def _piece(self, node: ast.expr, scope: Scope) -> str:
        if isinstance(node, ast.FormattedValue):
            spec = self._piece(node.format_spec, scope) if node.format_spec is not None else ""
            value = self._eval(node.value, scope)
            if isinstance(value, Opaque | Record):
                raise Unsupported(f"the text of {ast.unparse(node.value)}")
            return format(repr(value) if node.conversion == ord("r") else value, spec)
        return str(self._eval(node, scope))

    def _each(self, generators: list[ast.comprehension], scope: Scope) -> Iterator[Scope]:
        if not generators:
            yield scope
            return
        first, *rest = generators
        for value in list(self._eval(first.iter, scope)):
            inner: Scope = _Layered(scope, {})
            self._assign(first.target, value, inner)
            if all(self._truth(self._eval(condition, inner)) for condition in first.ifs):
                yield from self._each(rest, inner)

    def _call(self, node: ast.Call, scope: Scope) -> Any:
        function = self._eval(node.func, scope)
        args: list[Any] = []
        for arg in node.args:
            args += self._eval(arg.value, scope) if isinstance(arg, ast.Starred) else [self._eval(arg, scope)]
        keywords: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self._eval(keyword.value, scope)
            keywords.update(value if keyword.arg is None else {keyword.arg: value})
        if isinstance(function, RecordType):
            return function.make(args, keywords, node.lineno)
        if isinstance(function, Opaque):
            return Opaque(f"{function.what}(...)")
        if not callable(function):
            raise Unsupported(f"calling {ast.unparse(node.func)}")
        return function(*args, **keywords)


class _Layered(dict[str, Any]):
    """A function's or comprehension's names, on top of the names around it."""

    def __init__(self, outer: Scope, own: Scope) -> None:
        super().__init__(own)
        self._outer = outer

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._outer

    def __missing__(self, name: str) -> Any:
        return self._outer[name]


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement would have bound."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        yield node.name
        return
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
