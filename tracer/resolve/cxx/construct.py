"""Objects that a constructor fills: a type and the arguments in, the object with the members that they set out.

Members are read off the constructor's list of initialisers, its base classes' and delegated ones included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tracer.resolve.cxx.environment import Env
from tracer.resolve.cxx.headers import Place
from tracer.resolve.cxx.reader import Reader
from tracer.resolve.cxx.tokens import Cursor, tokenize
from tracer.resolve.cxx.values import Named, Object

if TYPE_CHECKING:
    from tracer.resolve.cxx.evaluate import Evaluator


class _Constructor(msgspec.Struct):
    """A constructor's parameters, the number of them that have no default, and its initialisers."""

    parameters: list[str]
    required: int
    initialisers: list[list[str]]


def constructed(evaluator: Evaluator, type_: Named, args: list[Any]) -> Object:
    """The object; without members where no constructor takes that many arguments."""
    place, env = evaluator.struct_of(type_), evaluator.env_of(type_)
    if not args or place is None or env is None:
        return Object(type_)
    made = [_read(evaluator.headers.body(found)) for found in evaluator.headers.members(place, type_.leaf)]
    fitting = [one for one in made if one is not None and one.required <= len(args) <= len(one.parameters)]
    if not fitting:
        return Object(type_)
    bound = {**env.bindings, **dict(zip(fitting[0].parameters, args, strict=False))}
    inner = msgspec.structs.replace(env, bindings=bound)
    fields: dict[str, Any] = {}
    for initialiser in fitting[0].initialisers:
        name, opens = initialiser[0], next(i for i, token in enumerate(initialiser) if token in ("(", "{"))
        reader = Reader(evaluator, initialiser, inner)
        reader.at = opens
        values = reader.call_arguments()
        whole = type_ if name == type_.leaf else _base(evaluator, place, inner, name)
        if whole is not None:
            fields.update(constructed(evaluator, whole, values).fields)
        elif len(values) == 1:
            fields[name] = values[0]
    return Object(type_, tuple(fields.items()))


def _read(body: str) -> _Constructor | None:
    """A constructor from its name on; None where it has no list of initialisers."""
    cursor = Cursor(tokenize(body))
    opens = cursor.tokens.index("(") if "(" in cursor.tokens else len(cursor.tokens)
    closes = cursor.closing(opens) if opens < len(cursor.tokens) else opens
    if cursor.tokens[closes + 1 : closes + 2] != [":"]:
        return None
    written = Cursor(cursor.tokens[opens : closes + 1]).split_arguments()
    parameters = [(tokens[: tokens.index("=")] if "=" in tokens else tokens)[-1] for tokens in written]
    cursor.at = closes + 2
    initialisers: list[list[str]] = []
    while cursor.peek().isidentifier():
        start = cursor.at
        while cursor.peek() not in ("(", ""):
            cursor.take()
        if not cursor.peek():
            break
        cursor.at = cursor.closing(cursor.at) + 1
        initialisers.append(cursor.tokens[start : cursor.at])
        if cursor.peek() == ",":
            cursor.take()
    return _Constructor(parameters, sum("=" not in tokens for tokens in written), initialisers)


def _base(evaluator: Evaluator, place: Place, env: Env, name: str) -> Named | None:
    """The base class of a name that a struct has, or None."""
    return next((base for base in evaluator.bases(place, env) if base.leaf == name), None)
