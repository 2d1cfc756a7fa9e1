"""What Python functions call: a module's source in, its functions, Triton kernels, imports and calls out, with lines.

Read with the standard library's parser, for any file of the package on demand; the declarations of compiled ops, which
need positions of decorators and literals, are `python_ops`' business.
"""

from __future__ import annotations

import ast

import msgspec

#: changes whenever the facts mean something else; part of the cache's key
FACTS_VERSION = 3

_JIT = ("jit", "autotune", "heuristics")


class PythonFunction(msgspec.Struct, frozen=True, array_like=True):
    """One function.

    Attributes:
        name: its name, with the classes around it (`Cls.method`).
        line: line of its `def`.
        last: its last line.
        triton: whether a decorator makes it a Triton (or Gluon) kernel.
        calls: (dotted name, line) of what it calls; for `kernel[grid](...)` the kernel, for `partial(f, ...)` also f.
        decorators: the decorators as written.
        parameters: its parameters.
    """

    name: str
    line: int
    last: int
    triton: bool = False
    calls: tuple[tuple[str, int], ...] = ()
    decorators: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()


class ModuleFacts(msgspec.Struct, frozen=True, array_like=True):
    """The facts of one module.

    Attributes:
        functions: its functions.
        imports: local name -> dotted name, relative ones with their leading dots.
        stars: modules of which everything is imported.
        error: why it could not be parsed, or "".
    """

    functions: tuple[PythonFunction, ...] = ()
    imports: dict[str, str] = {}
    stars: tuple[str, ...] = ()
    error: str = ""

    def named(self, name: str) -> PythonFunction | None:
        """The function of that name."""
        return next((f for f in self.functions if f.name == name), None)


def module_name(file: str) -> str:
    """The dotted name of the module that a file of the repository is (`aiter/ops/norm.py`: `aiter.ops.norm`)."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def read_module(data: bytes) -> ModuleFacts:
    """The facts of a module's bytes."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError) as error:
        return ModuleFacts(error=str(error))
    functions: list[PythonFunction] = []
    imports: dict[str, str] = {}
    stars: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports.update(
                (a.asname or a.name.partition(".")[0], a.name if a.asname else a.name.partition(".")[0])
                for a in node.names
            )
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            for alias in node.names:
                if alias.name == "*":
                    stars.append(base)
                else:
                    joined = base + alias.name if base.endswith(".") or not base else f"{base}.{alias.name}"
                    imports[alias.asname or alias.name] = joined
    _functions(tree.body, "", functions)
    return ModuleFacts(tuple(functions), imports, tuple(stars))


def _functions(body: list[ast.stmt], prefix: str, out: list[PythonFunction]) -> None:
    stack: list[tuple[str, ast.stmt]] = [(prefix, s) for s in reversed(body)]
    while stack:
        scope, node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            name = f"{scope}{node.name}"
            decorators = tuple(ast.unparse(d) for d in node.decorator_list)
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            out.append(
                PythonFunction(
                    name,
                    node.lineno,
                    node.end_lineno or node.lineno,
                    any(_is_jit(d) for d in decorators),
                    tuple(_calls(node)),
                    decorators,
                    tuple(a.arg for a in arguments),
                )
            )
            stack += [(f"{name}.", s) for s in reversed(node.body)]
        elif isinstance(node, ast.ClassDef):
            stack += [(f"{scope}{node.name}.", s) for s in reversed(node.body)]
        elif isinstance(node, ast.If | ast.Try | ast.With):
            inner = [*node.body, *getattr(node, "orelse", [])]
            for handler in getattr(node, "handlers", []):
                inner += handler.body
            stack += [(scope, s) for s in reversed(inner)]


def _is_jit(decorator: str) -> bool:
    head = decorator.split("(")[0]
    module, _, name = head.rpartition(".")
    return name in _JIT and module.rpartition(".")[2] in ("triton", "gluon", "tl", "ttgl")


def _calls(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for node in (inner for statement in function.body for inner in ast.walk(statement)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.value if isinstance(node.func, ast.Subscript) else node.func
        name = _dotted(called)
        if name:
            found.append((name, node.lineno))
        if name.rpartition(".")[2] == "partial" and node.args:
            wrapped = _dotted(node.args[0])
            if wrapped:
                found.append((wrapped, node.lineno))
    return sorted(found, key=lambda item: item[1])


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = _dotted(node.value)
        return f"{head}.{node.attr}" if head else ""
    return ""
