"""`sizeof` of a type: built in, or a struct of one member."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracer.resolve.cxx.values import BIT_INT, SIZES, Constant, Named, Object, Unknown, Value

if TYPE_CHECKING:
    from tracer.resolve.cxx.evaluate import Evaluator


def size_of(evaluator: Evaluator, value: Any) -> Value:
    """`sizeof` of a type: built in, or that of a struct with one `data` member of a known type."""
    type_ = value.type if isinstance(value, Object) else value
    if not isinstance(type_, Named):
        return Unknown("sizeof")
    if type_.name in SIZES:
        return Constant("unsigned long", SIZES[type_.name])
    bits = BIT_INT.fullmatch(type_.name)
    if bits is not None:
        size = -(-int(bits.group(2)) // 8)
        return Constant("unsigned long", 1 << (size - 1).bit_length())
    for alias in ("type", "data_type"):
        inner = evaluator.member(type_, alias)
        if isinstance(inner, Named) and inner.name in SIZES:
            return Constant("unsigned long", SIZES[inner.name])
    return Unknown(f"sizeof({type_.leaf})")
