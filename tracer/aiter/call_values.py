"""A call across the JIT boundary as C++ sees it: recorded arguments and a binding in, values for a walk out."""

from __future__ import annotations

import re
from typing import Any

from tracer.aiter.binding import Binding
from tracer.aiter.cpp_operators import literal
from tracer.aiter.cpp_values import DType, Null, Tensor, Unknown
from tracer.model.capture import Argument, ArgumentKind, BoundaryCall

_MEMBER = re.compile(r"\(=(-?\d+)\)\s*$")


def call_values(binding: Binding, boundary: BoundaryCall) -> dict[str, Any]:
    """The C++ function's arguments by the names that the binding states, in its order.

    A recorded argument is taken by its name; those with other names fill what is left, in order; what was not passed
    takes the default that the binding states.
    """
    if not binding.arguments:
        return {argument.name: cpp_value(argument) for argument in boundary.arguments}
    stated = [name for name, _ in binding.arguments]
    by_name = {argument.name: argument for argument in boundary.arguments}
    others = [argument for argument in boundary.arguments if argument.name not in stated]
    values: dict[str, Any] = {}
    for name, default in binding.arguments:
        if name in by_name:
            values[name] = cpp_value(by_name[name])
        elif others and others[0].name in (str(len(values)), *_ALIASES.get(name, ())):
            values[name] = cpp_value(others.pop(0))
        elif default is not None:
            values[name] = Null() if "nullopt" in default else literal(default)
        elif others:
            values[name] = cpp_value(others.pop(0))
        else:
            values[name] = Unknown(name)
    return values


#: Python's name for what the binding names otherwise
_ALIASES = {"Out": ("out", "Y"), "out": ("Out", "Y")}


def cpp_value(argument: Argument) -> Any:
    """A recorded argument as a value of a walk."""
    if argument.tensor is not None:
        return Tensor(argument.tensor)
    match argument.kind:
        case ArgumentKind.NONE:
            return Null()
        case ArgumentKind.SCALAR:
            return argument.value if argument.value is not None else Unknown(argument.name)
        case ArgumentKind.ENUM:
            member = _MEMBER.search(str(argument.value))
            return int(member.group(1)) if member else Unknown(argument.name)
        case ArgumentKind.DTYPE:
            return DType(str(argument.value).removeprefix("torch."))
        case _:
            return Unknown(argument.name)
