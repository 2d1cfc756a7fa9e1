"""What a callable takes: a callable and the names of given arguments in, a refusal out where they don't fit.

Python functions have signatures, operators of torch schemas; aiter's guard hides a function's signature behind the
operator that it registers. What has neither is not judged.
"""

from __future__ import annotations

import difflib
import inspect
import types
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from tracer.errors import UsageError

#: the tensor that aiter's guard puts before the arguments of an operator that begins with none
_DUMMY = "dummy"
#: where aiter's guard keeps the name of the operator that it calls
_GUARDED = "loadName"
_BY_NAME = inspect.Parameter.KEYWORD_ONLY
_SPREAD = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Accepted(NamedTuple):
    """One way to call a callable, and how it is written."""

    signature: inspect.Signature
    text: str


def check_arguments(name: str, function: Any, given: Collection[str]) -> None:
    """Refuses arguments, all given by name, that a callable can't take.

    Args:
        name: what the callable is called in messages.
        function: the callable.
        given: the arguments' names.

    Raises:
        UsageError: one is unknown or missing in every way to call it; names it and the signature.
    """
    ways = accepted(function)
    if not ways or any(_fits(way.signature, given) for way in ways):
        return
    first = ways[0].signature.parameters
    unknown = [each for each in given if each not in first]
    missing = [each for each, one in first.items() if one.default is one.empty and one.kind not in _SPREAD]
    missing = [each for each in missing if each not in given]
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in first.values())
    if unknown and not takes_any:
        near = difflib.get_close_matches(unknown[0], [each for each in first if each not in given], n=1, cutoff=0.5)
        problem = f"{name} has no argument {_listed(unknown)}"
        hint = f"did you mean {near[0]}?" if near else None
    else:
        problem = f"{name} lacks the argument{'s' if len(missing) > 1 else ''} {_listed(missing)}"
        hint = "give each with --arg NAME=VALUE"
    raise UsageError(problem, expected=" or ".join(way.text for way in ways), hint=hint)


def accepted(function: Any) -> list[Accepted]:
    """The ways to call a callable; none where nothing states them or they can't be given by name."""
    schemas = list(_schemas(function))
    if schemas:
        return [_from_schema(schema) for schema in schemas]
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    if any(one.kind is inspect.Parameter.POSITIONAL_ONLY for one in signature.parameters.values()):
        return []
    return [Accepted(signature, f"{getattr(function, '__name__', 'the callable')}{signature}")]


def _fits(signature: inspect.Signature, given: Collection[str]) -> bool:
    try:
        signature.bind(**dict.fromkeys(given))
    except TypeError:
        return False
    return True


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _schemas(function: Any) -> Iterable[Any]:
    """The schemas of an operator of torch, of its overloads, or of the operator behind aiter's guard."""
    if isinstance(function, types.FunctionType):
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        if _GUARDED not in cells:
            return
        import torch

        function = getattr(torch.ops.aiter, cells[_GUARDED].cell_contents, None)
    overloads = getattr(function, "overloads", None)
    if type(function).__name__ == "OpOverloadPacket" and overloads is not None:
        for overload in overloads():
            yield getattr(function, overload)._schema
    elif type(function).__name__ == "OpOverload":
        yield function._schema


def _from_schema(schema: Any) -> Accepted:
    arguments = [argument for i, argument in enumerate(schema.arguments) if i or argument.name != _DUMMY]
    parameters = [
        inspect.Parameter(
            argument.name,
            _BY_NAME,
            default=argument.default_value if argument.has_default_value() else inspect.Parameter.empty,
        )
        for argument in arguments
    ]
    text = str(schema).replace(f"(Tensor {_DUMMY}, ", "(", 1).replace(f"(Tensor {_DUMMY})", "()", 1)
    return Accepted(inspect.Signature(parameters), text)
