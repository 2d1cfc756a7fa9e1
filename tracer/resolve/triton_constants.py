"""Conditions that a Triton kernel's compile-time arguments decide: a condition and the arguments in, its truth out."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
#: what stands for a value that is known when the kernel runs
_OPEN = object()


def truth(condition: ast.expr, constants: Mapping[str, Any]) -> bool | None:
    """Whether a condition holds; None where the constants do not decide it.

    Args:
        condition: names, literals, `not`, `and`, `or` and comparisons are read; anything else is open.
        constants: compile-time arguments by name.
    """
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        inner = truth(condition.operand, constants)
        return None if inner is None else not inner
    if isinstance(condition, ast.BoolOp):
        parts = [truth(part, constants) for part in condition.values]
        decides = isinstance(condition.op, ast.Or)
        if decides in parts:
            return decides
        return None if None in parts else not decides
    if isinstance(condition, ast.Compare):
        return _comparison(condition, constants)
    value = _value(condition, constants)
    return None if value is _OPEN else bool(value)


def _comparison(node: ast.Compare, constants: Mapping[str, Any]) -> bool | None:
    if len(node.ops) != 1 or type(node.ops[0]) not in _COMPARED:
        return None
    left, right = _value(node.left, constants), _value(node.comparators[0], constants)
    if left is _OPEN or right is _OPEN:
        return None
    try:
        return bool(_COMPARED[type(node.ops[0])](left, right))
    except TypeError:
        return None


def _value(node: ast.expr, constants: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id in constants:
        return constants[node.id]
    return _OPEN
