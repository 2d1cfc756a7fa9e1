"""C++ operators and literals: values of tracer.aiter.cpp_values in, a value out, `Unknown` for what can't be known."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from typing import Any

from tracer.aiter.cpp_objects import LoadedKernel, Optional, Pair
from tracer.aiter.cpp_values import U32, DType, InstanceRef, Null, Tensor, Unknown

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "<": operator.lt, ">": operator.gt, "<=": operator.le,
    ">=": operator.ge, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_, "|": operator.or_,
}  # fmt: skip


_Identity = InstanceRef | Tensor | Pair | LoadedKernel


def literal(text: str) -> Any:
    """A C++ literal's value; Unknown for text that is none."""
    plain = text.strip()
    if plain in ("true", "false"):
        return plain == "true"
    if plain.startswith('"'):
        return plain.strip('"')
    stripped = plain.rstrip("uUlL") if not plain.lower().startswith("0x") else plain
    for read in (lambda t: int(t, 0), lambda t: float(t.rstrip("fF"))):
        try:
            return read(stripped.replace("'", ""))
        except ValueError:
            continue
    return Unknown(text)


def convert(value: Any, kind: str) -> Any:
    """What a declared type makes of a value: floating results become whole numbers in an `int`."""
    if isinstance(value, float) and ("int" in kind or kind in ("size_t", "long")):
        return int(value)
    if isinstance(value, int) and kind in ("uint32_t", "unsigned int", "unsigned", "uint"):
        return U32(value)
    if isinstance(value, U32) and kind in ("int", "int32_t"):
        return int(value) - (1 << 32) if value >> 31 else int(value)
    if isinstance(value, int | float) and kind == "float":
        return float(struct.unpack("f", struct.pack("f", value))[0])
    return bool(value) if kind == "bool" and isinstance(value, int | float) else value


def apply_binary(symbol: str, left: Any, right: Any, text: str) -> Any:
    """A binary operator. Comparisons know null, types and names; arithmetic knows numbers.

    Args:
        symbol: the operator.
        left: the first operand.
        right: the second operand.
        text: the expression, for an answer that is not known.
    """
    left = left.value if isinstance(left, Optional) and not isinstance(right, Null) else left
    right = right.value if isinstance(right, Optional) and not isinstance(left, Null) else right
    if symbol == "+" and isinstance(left, str) and isinstance(right, str):
        return left + right
    if (isinstance(left, U32) and type(right) is int) or (type(left) is int and isinstance(right, U32)):
        left, right = U32(left), U32(right)
    if symbol in ("==", "!="):
        same = _same(left, right)
        return Unknown(text) if same is None else same is (symbol == "==")
    if symbol in ("&&", "||"):
        return _logic(symbol, left, right, text)
    if isinstance(left, int | float) and isinstance(right, int | float):
        if symbol == "/":
            quotient = _divide(left, right, text)
            return U32(quotient) if isinstance(left, U32) and isinstance(quotient, int) else quotient
        if symbol == "%" and isinstance(left, int) and isinstance(right, int) and right:
            rest = abs(left) % abs(right)  # C++ rounds towards zero
            return type(left)(-rest if left < 0 else rest) if not isinstance(left, bool) else rest
        if symbol in _ARITHMETIC:
            result = _ARITHMETIC[symbol](left, right)
            return U32(result) if isinstance(left, U32) and not isinstance(result, bool | float) else result
    return Unknown(text)


def _divide(left: float, right: float, text: str) -> Any:
    if not right:
        return Unknown(text)
    if isinstance(left, int) and isinstance(right, int):
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) == (right < 0) else -quotient
    return left / right


def _same(left: Any, right: Any) -> bool | None:
    """Whether two values are equal; None when that can't be known."""
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return None
    if isinstance(left, Null) or isinstance(right, Null):
        return isinstance(left, Null) and isinstance(right, Null)
    if isinstance(left, _Identity) or isinstance(right, _Identity):
        return left is right
    if isinstance(left, DType) or isinstance(right, DType):
        return bool(left == right)
    return bool(left == right)


def _logic(symbol: str, left: Any, right: Any, text: str) -> Any:
    known = [bool(v) and not isinstance(v, Null) for v in (left, right) if not isinstance(v, Unknown)]
    if symbol == "&&":
        return False if False in known else True if len(known) == 2 else Unknown(text)
    return True if True in known else False if len(known) == 2 else Unknown(text)
