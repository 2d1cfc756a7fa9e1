"""Template arguments that a call leaves out: a function and the values that are passed in, the function with them out.

As far as host code needs it: a parameter of a template parameter's type (`T`, `const T&`, a pack of them) takes the
type that is passed, one of a template's type (`Args<A, B>`) the arguments of the type that is passed. Among overloads
the first that fits is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracer.index.cpp_templates import Head
from tracer.resolve.cxx.environment import Function
from tracer.resolve.cxx.tokens import Cursor, tokenize
from tracer.resolve.cxx.values import Constant, Named, Object, Pack, Unknown

if TYPE_CHECKING:
    from tracer.resolve.cxx.evaluate import Evaluator

_LEFT_OUT = {"const", "typename", "class", "&", "&&"}


def deduced(evaluator: Evaluator, function: Function, args: list[Any]) -> Function:
    """A function (template) as a call makes it; itself when all arguments are written, or no overload fits."""
    if len(function.given) >= len(function.name.args or ()):
        return function
    for place in function.overloads:
        known = _from_call(place.head, args)
        if known is not None:
            made = evaluator.function(place, list(function.given), function.env, known)
            if not any(isinstance(value, Unknown) for value in made.name.args or ()):
                return made
    return function


def kinds_fit(head: Head, args: list[Any]) -> bool:
    """Whether template arguments are types where a head takes types, and values where it takes values."""
    for parameter, arg in zip(head.parameters or (), args, strict=False):
        if parameter.pack:
            break
        if isinstance(arg, Constant if not parameter.type else Named):
            return False
    return True


def _from_call(head: Head, args: list[Any]) -> dict[str, Any] | None:
    """What parameters and passed values say of the template parameters; None when they do not fit."""
    packs = {parameter.name: parameter.pack for parameter in head.parameters or ()}
    written = [tokenize(text) for text in head.text.split(";") if text]
    found: dict[str, Any] = {}
    rest = list(args)
    for tokens in written:
        if packs.get(tokens[0]) and len(tokens) == 1:
            found[tokens[0]] = Pack(tuple(_type(arg) for arg in rest))
            return found
        if rest and not _matched(tokens, _type(rest.pop(0)), packs, found):
            return None
    return None if rest else found


def _matched(written: list[str], value: Any, names: dict[str, bool], found: dict[str, Any]) -> bool:
    """Compares a written type with the one that is passed, and notes what its template parameters are."""
    tokens = [token for token in written if token not in _LEFT_OUT]
    if isinstance(value, Unknown) or not tokens or "*" in tokens:
        return True
    if len(tokens) == 1 and tokens[0] in names:
        return bool(found.setdefault(tokens[0], value) == value)
    if "<" not in tokens or not isinstance(value, Named):
        return True
    opens = tokens.index("<")
    arguments = Cursor(tokens[opens:]).split_arguments()
    if tokens[opens - 1] != value.leaf or len(arguments) > len(value.args or ()):
        return False
    return all(_matched(one, arg, names, found) for one, arg in zip(arguments, value.args or (), strict=False))


def _type(value: Any) -> Any:
    """The type of a passed value, or Unknown."""
    if isinstance(value, Object):
        return value.type
    return Named(value.type) if isinstance(value, Constant) else Unknown("the type of an argument")
