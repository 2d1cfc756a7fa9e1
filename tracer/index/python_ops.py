"""aiter's Python declarations of compiled ops: a module's source in, its `compile_ops` and guarded functions out.

Read with libcst and its positions. Declared are functions under `@compile_ops(module, ...)` (bound to C++ by pybind or
ctypes) and under `@torch_compile_guard(...)` (Python bodies registered as `aiter::name`).
"""

from __future__ import annotations

import libcst as cst
import msgspec
from libcst.metadata import MetadataWrapper, PositionProvider

#: changes whenever the facts mean something else; part of the cache's key
FACTS_VERSION = 2

#: a file without these bytes declares nothing
MARKERS = (b"compile_ops", b"torch_compile_guard")


class OpDeclaration(msgspec.Struct, frozen=True, array_like=True):
    """One function under `@compile_ops`.

    Attributes:
        name: the Python function's name.
        line: line of its `def`.
        last: its last line.
        module: the JIT module; None when the text does not state it as a literal or module constant.
        module_text: the argument as written.
        symbol: what is looked up in the module (`fc_name`, else the function's own name).
        ffi: "pybind" or "ctypes".
        gen_func: the function that builds the recipe for a call, or None.
        parameters: names of its parameters.
    """

    name: str
    line: int
    last: int
    module: str | None
    module_text: str
    symbol: str
    ffi: str = "pybind"
    gen_func: str | None = None
    parameters: tuple[str, ...] = ()


class GuardedFunction(msgspec.Struct, frozen=True, array_like=True):
    """One function under `@torch_compile_guard`: the op `aiter::name` runs this Python body."""

    name: str
    line: int
    last: int


class OpFacts(msgspec.Struct, frozen=True, array_like=True):
    """The declarations of one file.

    Attributes:
        ops: under `compile_ops`.
        guarded: under `torch_compile_guard`.
        error: why the file could not be parsed, or "".
    """

    ops: tuple[OpDeclaration, ...] = ()
    guarded: tuple[GuardedFunction, ...] = ()
    error: str = ""


def read_declarations(data: bytes) -> OpFacts:
    """The declarations in a Python file's bytes."""
    if not any(marker in data for marker in MARKERS):
        return OpFacts()
    try:
        module = cst.parse_module(data)
    except (cst.ParserSyntaxError, UnicodeDecodeError, ValueError) as error:
        return OpFacts(error=str(error).splitlines()[0])
    visitor = _Declarations()
    MetadataWrapper(module, unsafe_skip_copy=True).visit(visitor)
    return OpFacts(tuple(visitor.ops), tuple(visitor.guarded))


class _Declarations(cst.CSTVisitor):
    """Collects decorated functions and the module's string constants, which decorators may name."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.ops: list[OpDeclaration] = []
        self.guarded: list[GuardedFunction] = []
        self.constants: dict[str, str] = {}
        self.aliases = {"compile_ops": "compile_ops", "torch_compile_guard": "torch_compile_guard"}

    def visit_ImportFrom(self, node: cst.ImportFrom) -> None:
        if isinstance(node.names, cst.ImportStar):
            return
        for alias in node.names:
            if alias.evaluated_name in ("compile_ops", "torch_compile_guard") and alias.evaluated_alias:
                self.aliases[alias.evaluated_alias] = alias.evaluated_name

    def visit_Assign(self, node: cst.Assign) -> None:
        value = _literal(node.value)
        if value is not None:
            for target in node.targets:
                if isinstance(target.target, cst.Name):
                    self.constants[target.target.value] = value  # a decorator sees the assignment above it

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        for decorator in node.decorators:
            call = decorator.decorator
            if not isinstance(call, cst.Call):
                continue
            name = _dotted(call.func).rpartition(".")[2]
            kind = self.aliases.get(name)
            if kind == "compile_ops":
                self.ops.append(self._op(node, call))
            elif kind == "torch_compile_guard":
                self.guarded.append(GuardedFunction(node.name.value, self._line(node.name), self._last(node)))

    def _op(self, node: cst.FunctionDef, call: cst.Call) -> OpDeclaration:
        named = {a.keyword.value: a.value for a in call.args if a.keyword is not None}
        order = ("_md_name", "fc_name", "gen_func", "gen_fake", "ffi_type")
        named.update(zip(order, (a.value for a in call.args if a.keyword is None), strict=False))
        module = named.get("_md_name")
        symbol = named.get("fc_name")
        ffi = named.get("ffi_type")
        return OpDeclaration(
            node.name.value,
            self._line(node.name),
            self._last(node),
            None if module is None else self._value(module),
            "" if module is None else cst.Module([]).code_for_node(module),
            (self._value(symbol) if symbol is not None else None) or node.name.value,
            (self._value(ffi) if ffi is not None else None) or "pybind",
            _dotted(named["gen_func"]) if "gen_func" in named else None,
            tuple(p.name.value for p in node.params.params),
        )

    def _value(self, node: cst.BaseExpression) -> str | None:
        literal = _literal(node)
        return literal if literal is not None else self.constants.get(_dotted(node))

    def _line(self, node: cst.CSTNode) -> int:
        return int(self.get_metadata(PositionProvider, node).start.line)

    def _last(self, node: cst.CSTNode) -> int:
        return int(self.get_metadata(PositionProvider, node).end.line)


def _literal(node: cst.BaseExpression) -> str | None:
    if isinstance(node, cst.SimpleString | cst.ConcatenatedString):
        value = node.evaluated_value
        return value if isinstance(value, str) else None
    return None


def _dotted(node: cst.BaseExpression) -> str:
    """`a.b.c` of names and attributes; "" for anything else."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        head = _dotted(node.value)
        return f"{head}.{node.attr.value}" if head else ""
    return ""
