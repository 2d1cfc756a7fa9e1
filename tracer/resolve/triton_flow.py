"""The core flow of a Triton kernel: its source in, numbered steps with their lines out.

Steps stand in the order of the text: where a program finds its tile, what it loads, the loops, `tl.dot`, the scales,
the reductions, what is stored. Jitted functions that the kernel calls are read into, one level down.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tracer.model.source import FlowStep, SourceRef
from tracer.resolve.triton_constants import truth

_LOADS = frozenset((
    "load", "buffer_load", "async_copy_global_to_shared", "buffer_load_to_shared", "load_tensor_descriptor",
))  # fmt: skip
_STORES = frozenset((
    "store", "buffer_store", "store_tensor_descriptor",
))  # fmt: skip
_DOTS = frozenset((
    "dot", "dot_scaled", "mfma", "mfma_scaled", "wmma", "wmma_scaled", "warpgroup_mma",
))  # fmt: skip
_REDUCTIONS = frozenset((
    "sum", "max", "min", "argmax", "argmin", "reduce", "associative_scan", "cumsum", "sort", "topk", "xor_sum",
    "softmax",
))  # fmt: skip
_BARRIERS = frozenset((
    "debug_barrier", "barrier", "thread_barrier",
))  # fmt: skip
#: more steps than this are no overview
_MOST = 40

#: a called name -> (source of the jitted function's file, name of that file, the function), or None
Finder = Callable[[str], "tuple[str, str, str] | None"]


class _Raw(msgspec.Struct):
    kind: str
    text: str
    line: int
    file: str


def triton_flow(
    source: str,
    name: str,
    file: str,
    cite: Callable[[str, int], SourceRef | None],
    find: Finder | None = None,
    constants: Mapping[str, Any] | None = None,
) -> tuple[FlowStep, ...]:
    """The steps of a kernel; empty when the source has no such function or can't be parsed.

    Args:
        source: the module's text.
        name: the kernel.
        file: the module's file.
        cite: (file, line) -> a checked citation, or None.
        find: what leads a called name to a jitted function; None follows nothing.
        constants: compile-time arguments of a kernel that was compiled; branches that they rule out are left out.
    """
    raw = _steps(source, name, file, find, 0, constants or {})
    steps = []
    for item in _thinned(raw)[:_MOST]:
        place = cite(item.file, item.line)
        if place is not None:
            steps.append(FlowStep(item.kind, item.text, place))
    return tuple(steps)


def _steps(
    source: str, name: str, file: str, find: Finder | None, depth: int, constants: Mapping[str, Any]
) -> list[_Raw]:
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    functions = (n for n in ast.walk(module) if isinstance(n, ast.FunctionDef) and n.name == name)
    function = next(functions, None)
    if function is None:
        return []
    bound = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    known = {name: value for name, value in constants.items() if name not in bound}
    reader = _Reader(file, find, depth, known)
    reader.body(function.body)
    return reader.steps


class _Reader:
    """Collects the steps of one function in the order of its statements."""

    def __init__(self, file: str, find: Finder | None, depth: int, constants: Mapping[str, Any]) -> None:
        self.file = file
        self.find = find
        self.depth = depth
        self.constants = constants
        self.steps: list[_Raw] = []
        self.after_dot = False

    def body(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, (ast.For, ast.While)):
            self._loop(node)
        elif isinstance(node, ast.If):
            held = truth(node.test, self.constants)
            self._expression(node.test, "")
            if held is not False:
                self.body(node.body)
            if held is not True:
                self.body(node.orelse)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            self._expression(node.value, ", ".join(_short(t) for t in targets))
            self._scale(node)
        elif isinstance(node, (ast.Expr, ast.Return)) and node.value is not None:
            self._expression(node.value, "")
        elif isinstance(node, ast.With):
            self.body(node.body)

    def _loop(self, node: ast.For | ast.While) -> None:
        place = len(self.steps)
        dots = self.after_dot
        self.body(node.body)
        inside = self.steps[place:]
        if not inside:
            return  # arithmetic only
        main = any(step.kind == "dot" for step in inside)
        head = f"{_short(node.target)} in {_short(node.iter)}" if isinstance(node, ast.For) else _short(node.test)
        text = f"{'Main loop' if main else 'Loop'}: {head}."
        self.steps.insert(place, _Raw("loop", text, node.lineno, self.file))
        self.after_dot = dots or main

    def _expression(self, node: ast.expr, target: str) -> None:
        calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
        for call in sorted(calls, key=lambda c: (c.end_lineno or c.lineno, c.end_col_offset or 0)):
            self._call(call, target)

    def _call(self, call: ast.Call, target: str) -> None:
        dotted = _dotted(call.func)
        leaf = dotted.rpartition(".")[2]
        keywords = {k.arg: _short(k.value) for k in call.keywords if k.arg}
        first = _short(call.args[0]) if call.args else keywords.get("ptr", keywords.get("src", ""))
        masked = " under a mask" if any(k.arg == "mask" for k in call.keywords) or _positional_mask(call) else ""
        owner = dotted.rpartition(".")[0]
        named = f" {target}" if target else ""
        if leaf == "program_id":
            self._add("map", f"The program finds its tile from its program id{_axis(call)}.", call)
        elif leaf in _LOADS:
            self._add("load", f"Loads{named} from {first or owner}{masked}.", call)
        elif leaf in _STORES:
            value = f"{_short(call.args[1])} to " if len(call.args) > 1 else ""
            if "stored_value" in keywords:
                value = f"{keywords['stored_value']} to "
            self._add("store", f"Stores {value}{first or owner}{masked}.", call)
        elif leaf.startswith("atomic_"):
            value = f"{_short(call.args[1])} into " if len(call.args) > 1 else ""
            self._add("atomic", f"{leaf}: {value}{first}{masked}.", call)
        elif leaf in _DOTS:
            given = [_short(a) for a in call.args[:2]] or [keywords[k] for k in ("a", "b") if k in keywords]
            operands = " and ".join(text for text in given if text != "None")
            into = f" into {target}" if target else ""
            self._add("dot", f"Multiplies {operands} ({leaf}){into}.", call)
            self.after_dot = True
        elif leaf in _REDUCTIONS and owner.rpartition(".")[2] in ("tl", "gl", "ttgl", "language"):
            self._add("reduce", f"Reduces {first} ({leaf}){f' to{named}' if named else ''}.", call)
        elif leaf in _BARRIERS:
            self._add("barrier", "Waits until all warps of the program are here.", call)
        elif leaf == "to" and self.after_dot and owner and "int" not in first:
            self._add("epilogue", f"Converts {owner} to {first}.", call)
        else:
            self._follow(call, dotted)

    def _follow(self, call: ast.Call, dotted: str) -> None:
        """Reads into a jitted function; only where it has steps of its own."""
        if self.find is None or self.depth > 1 or "." in dotted or not dotted:
            return
        found = self.find(dotted)
        if found is None:
            return
        source, file, name = found
        inner = _steps(source, name, file, self.find, self.depth + 1, {})
        worth = [s for s in inner if s.kind != "map"]
        if worth:
            self._add("call", f"Calls {name}:", call)
            self.steps += inner
            self.after_dot = self.after_dot or any(s.kind == "dot" for s in inner)

    def _scale(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        """A multiplication by something that is called a scale."""
        multiplied = [
            n for n in ast.walk(node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)
        ]  # fmt: skip
        scales = {
            name
            for n in multiplied
            for side in (n.left, n.right)
            for name in _names(side)
            if "scale" in name.lower() and "ptr" not in name.lower() and "offs" not in name.lower()
            and "stride" not in name.lower()
        }  # fmt: skip
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Mult):
            scales |= {name for name in _names(node.value) if "scale" in name.lower()}
        if scales and not _is_address(node):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            self._add("scale", f"Scales {_short(target)} by {', '.join(sorted(scales))}.", node)

    def _add(self, kind: str, text: str, node: ast.AST) -> None:
        self.steps.append(_Raw(kind, text, getattr(node, "lineno", 1), self.file))


def _is_address(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> bool:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return any(word in _short(target).lower() for word in ("ptr", "offs", "idx", "stride", "num_", "mask"))


def _positional_mask(call: ast.Call) -> bool:
    leaf = _dotted(call.func).rpartition(".")[2]
    return leaf in ("load", "store") and len(call.args) > (1 if leaf == "load" else 2)


def _axis(call: ast.Call) -> str:
    value = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "axis"), None)
    return f" (axis {value.value})" if isinstance(value, ast.Constant) and isinstance(value.value, int) else ""


def _names(node: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = _dotted(node.value)
        return f"{head}.{node.attr}" if head else node.attr
    return ""


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 70 else text[:67] + "..."


def _thinned(steps: list[_Raw]) -> list[_Raw]:
    """Steps with repeats at one line, and with later program ids, left out."""
    out: list[_Raw] = []
    seen: set[tuple[str, str, int]] = set()
    mapped: set[str] = set()
    for step in steps:
        key = (step.kind, step.file, step.line)
        if key in seen or (step.kind == "map" and step.text in mapped):
            continue
        seen.add(key)
        if step.kind == "map":
            mapped.add(step.text)
        out.append(step)
    return out
