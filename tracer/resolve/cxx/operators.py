"""Operators and the few functions whose meaning is fixed: known operands in, a value out, or `Unknown`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracer.index.cpp_templates import Head
from tracer.resolve.cxx.values import (
    BUILTINS,
    FALSE,
    INTEGERS,
    TRUE,
    Constant,
    Named,
    Pack,
    Unknown,
    Value,
    flatten,
    integer,
    is_known,
)


def enumerator(head: Head, name: str) -> Value:
    """The constant that an enumerator of an enum is."""
    number = -1
    for item in head.text.split(";"):
        label, _, value = (part.strip() for part in item.partition("="))
        try:
            number = int(value, 0) if value else number + 1
        except ValueError:
            return Unknown(f"{head.leaf}::{name}")
        if label == name:
            return Constant(head.name, number, label)
    return Unknown(f"{head.leaf}::{name}")


def fixed_member(owner: Named, name: str) -> Any:
    """Members whose meaning is fixed: the length of a list of types or numbers, whether two types are one."""
    if owner.name == "std::is_same" and name == "value" and owner.args is not None and len(owner.args) == 2:
        same = same_type(owner.args[0], owner.args[1])
        return Unknown("is_same") if same is None else (TRUE if same else FALSE)
    if name in ("Size", "size") and owner.leaf in ("Tuple", "Sequence", "tuple", "sequence"):
        return integer(len(flatten(owner.args)))
    return None


def builtin(words: list[str]) -> Value:
    """The built-in type that several words spell (`unsigned long`)."""
    joined = " ".join(words)
    normal = {"long long": "long long", "unsigned": "unsigned int", "signed": "int", "long int": "long",
              "unsigned long int": "unsigned long", "short int": "short", "long unsigned int": "unsigned long",
              "signed int": "int"}  # fmt: skip
    name = normal.get(joined, joined)
    return Named(BUILTINS.get(name, name))


def same_type(first: Any, second: Any) -> bool | None:
    """Whether two types or constants are one; None where open arguments decide."""
    if isinstance(first, Constant) and isinstance(second, Constant):
        return first.value == second.value and (first.type == second.type or {first.type, second.type} <= INTEGERS)
    if isinstance(first, (Named, Pack)) and isinstance(second, (Named, Pack)):
        if first == second:
            return True
        return False if is_known(first) and is_known(second) else _differ(first, second)
    return None


def _differ(first: Any, second: Any) -> bool | None:
    """False for types of different templates, None where open arguments decide."""
    if isinstance(first, Named) and isinstance(second, Named) and first.name != second.name:
        return False
    return None


def unary(operator: str, value: Any) -> Any:
    """The value of a prefix operator."""
    if not isinstance(value, Constant):
        return Unknown(getattr(value, "text", "") or "an address")
    if operator == "-":
        return Constant(value.type if value.type != "bool" else "int", -value.value)
    if operator == "!":
        return FALSE if value.value else TRUE
    if operator == "~":
        return Constant(value.type, ~value.value)
    return value if operator == "+" else Unknown(operator)


def binary(operator: str, left: Any, right: Any) -> Any:
    """The value of an infix operator; `&&` and `||` are decided by one known side where that is enough."""
    if operator in ("&&", "||"):
        decided = 0 if operator == "&&" else 1
        for side in (left, right):
            if isinstance(side, Constant) and bool(side.value) == bool(decided):
                return TRUE if decided else FALSE
        if isinstance(left, Constant) and isinstance(right, Constant):
            return FALSE if decided else TRUE
        return Unknown(getattr(left, "text", "") or getattr(right, "text", ""))
    if not isinstance(left, Constant) or not isinstance(right, Constant):
        open_side = left if not isinstance(left, Constant) else right
        return Unknown(getattr(open_side, "text", "") or "a value that a run decides")
    compare = _COMPARE.get(operator)
    if compare is not None:
        return TRUE if compare(left.value, right.value) else FALSE
    compute = _COMPUTE.get(operator)
    if compute is None or (operator in "/%" and right.value == 0):
        return Unknown(operator)
    return Constant(_wider(left.type, right.type), compute(left.value, right.value))


def _wider(first: str, second: str) -> str:
    order = ("unsigned long", "long", "unsigned int")
    return next((t for t in order if t in (first, second)), "int")


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a >= 0) == (b >= 0) else -1)


_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
}  # fmt: skip
_COMPUTE: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": _quotient,
    "%": lambda a, b: a - b * _quotient(a, b), "<<": lambda a, b: a << b, "&": lambda a, b: a & b,
    "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
}  # fmt: skip


def library_function(name: str, args: list[Any]) -> Any:
    """Functions whose meaning is fixed: `math::min`, `math::max`, `math::integer_divide_ceil`."""
    numbers = [arg.value for arg in args if isinstance(arg, Constant)]
    if not numbers or len(numbers) != len(args):
        return Unknown(name)
    if name in ("min", "max"):
        return integer((min if name == "min" else max)(numbers))
    if name in ("integer_divide_ceil", "integer_divide_floor") and len(numbers) == 2 and numbers[1] > 0:
        return integer(-(-numbers[0] // numbers[1]) if name.endswith("ceil") else numbers[0] // numbers[1])
    return Unknown(name)
