"""Types and constants of C++ templates: their text and what is bound in, a value out, or `Unknown`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tracer.index.cpp_templates import Head, Parameter
from tracer.resolve.cxx.deduce import kinds_fit
from tracer.resolve.cxx.environment import Env, Function, Lambda, NamespaceName
from tracer.resolve.cxx.headers import Headers, Place
from tracer.resolve.cxx.operators import fixed_member, same_type
from tracer.resolve.cxx.reader import Reader
from tracer.resolve.cxx.tokens import tokenize
from tracer.resolve.cxx.values import Constant, Named, Object, Pack, Unknown, flatten

#: how many instantiations may be open at once before the text is taken for circular
_DEEPEST = 60
_ENABLE_IF = re.compile(r"(?:std::)?enable_if_t<(.+),\s*void>$")


class Evaluator:
    """Evaluates what one source file's headers define."""

    def __init__(self, headers: Headers) -> None:
        """Takes the headers to look names up in."""
        self.headers = headers
        self.in_decltype = False
        self._depth = 0
        self._members: dict[tuple[Named, str], Any] = {}

    # ---- entry points -----------------------------------------------------------------------------------------------

    def evaluate(self, text: str, env: Env) -> Any:
        """The value of an expression or type that is written in `env`."""
        reader = Reader(self, tokenize(text), env)
        return reader.expression()

    def member(self, owner: Named, name: str) -> Any:
        """A member of a type: an alias' type, a constant's value, a function; Unknown when it has none."""
        key = (owner, name)
        if key not in self._members:
            self._members[key] = Unknown(f"{owner.leaf}::{name}")  # for members that lead to themselves
            self._members[key] = self._member(owner, name)
        return self._members[key]

    def apply(self, places: list[Place], args: list[Any] | None, env: Env) -> Any:
        """What a found name stands for with these template arguments."""
        plain = [p for p in places if not p.head.special and p.head.kind != "function"]
        place = max(plain, key=_completeness, default=places[0])
        head = place.head
        outer = self._outer(place, env)
        if head.kind == "function":
            fitting = [p for p in places if args is None or len(p.head.parameters or ()) >= len(args)]
            fitting = fitting or places
            # of several those whose other parameters have defaults, and so need not be deduced
            count = len(args or ())
            given = [p for p in fitting if all(q.default or q.pack for q in (p.head.parameters or ())[count:])]
            chosen = [p for p in given or fitting if kinds_fit(p.head, args or [])] or given or fitting
            if len(chosen) > 1:
                chosen = [p for p in chosen if self._enabled(p, args, outer)] or chosen
            made = self.function(chosen[0], args or [], outer)
            return msgspec.structs.replace(made, given=tuple(args or ()), overloads=tuple(fitting))
        if head.kind == "enum":
            return Named(head.name)
        if head.parameters is not None and args is None and head.kind != "constant":
            return Unknown(f"{head.leaf} without its template arguments")
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                return Unknown(f"{head.leaf}: nested too deep")
            if _too_many(head.parameters, args):
                return Unknown(f"{head.leaf} with more template arguments than it takes")
            bound = self.bind(head.parameters or (), args or [], outer)
            if head.kind == "struct":
                args_ = tuple(bound[p.name] for p in head.parameters) if head.parameters else None
                return Named(head.name, args_, _instance_around(outer, head))
            inner = Env(outer.scope, {**outer.bindings, **bound}, outer.owner, outer.parent)
            return self.evaluate(head.text, inner)
        finally:
            self._depth -= 1

    def function(self, place: Place, args: list[Any], outer: Env, known: Mapping[str, Any] | None = None) -> Function:
        """A function with its template arguments: those that are written, and those known by name."""
        head = place.head
        bound = self.bind(head.parameters or (), args, outer, known)
        values = tuple(bound[p.name] for p in head.parameters or ())
        inner = msgspec.structs.replace(outer, bindings={**outer.bindings, **bound})
        return Function(place, Named(head.name, values if head.parameters else None), inner)

    def _enabled(self, place: Place, args: list[Any] | None, outer: Env) -> bool:
        """Whether nothing in a function's result type, where that is an `enable_if_t`, rules these arguments out."""
        condition = _ENABLE_IF.match(self.headers.result_type(place))
        if condition is None:
            return True
        bound = self.bind(place.head.parameters or (), args or [], outer)
        inner = Env(outer.scope, {**outer.bindings, **bound}, outer.owner, outer.parent)
        held = self.evaluate(condition.group(1), inner)
        return not isinstance(held, Constant) or bool(held.value)

    def bind(
        self,
        parameters: tuple[Parameter, ...],
        args: list[Any],
        outer: Env,
        known: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Template parameters and the arguments that they take: written ones, those known by name, and defaults."""
        bound: dict[str, Any] = {}
        inner = Env(outer.scope, {**outer.bindings}, outer.owner, outer.parent)
        rest = [item for arg in args for item in (arg.values if isinstance(arg, Pack) else (arg,))]
        for parameter in parameters:
            value: Any
            if known is not None and parameter.name in known and not rest:
                value = known[parameter.name]
            elif parameter.pack:
                value = Pack(tuple(self._converted(item, parameter, inner) for item in rest))
                rest = []
            elif rest:
                value = self._converted(rest.pop(0), parameter, inner)
            elif parameter.default:
                value = self._converted(self.evaluate(parameter.default, inner), parameter, inner)
            else:
                value = Unknown(parameter.name)
            bound[parameter.name] = value
            inner.bindings[parameter.name] = value
        return bound

    def passed(self, function: Function | Lambda) -> None:
        """Is told of a function that is handed to a call."""

    def construct(self, type_: Named, args: list[Any]) -> Object:
        """An object of a type; what its constructor sets is the walker's part."""
        return Object(type_)

    def call(self, function: Any, args: list[Any]) -> Any:
        """The value of a call; what a function's body gives is the walker's part."""
        return Unknown(getattr(function, "text", "") or "a call")

    # ---- names ------------------------------------------------------------------------------------------------------

    def look_up(self, name: str, env: Env) -> Any:
        """What an unqualified name means: a value, a list of places, or a NamespaceName."""
        around: Env | None = env
        while around is not None:
            if name in around.bindings:
                return around.bindings[name]
            if around.owner is not None:
                owner, place = around.owner
                if owner.leaf == name:  # the injected class name
                    return owner
                found = self.headers.members(place, name)
                if found and found[0].head.parameters is None and found[0].head.kind in ("alias", "constant"):
                    return self.member(owner, name)
                if found:
                    return found
                inherited = self._inherited(owner, name)
                if inherited is not None:
                    return inherited
            around = around.parent
        places = self.headers.find(name, env.scope)
        return places or NamespaceName(name)

    def struct_of(self, type_: Named) -> Place | None:
        """The struct, or the partial specialisation of it, that a type instantiates."""
        places = self.headers.find(type_.name, "")
        places = [p for p in places if p.head.name == type_.name and p.head.kind == "struct"]
        primary = next((p for p in places if not p.head.special and p.head.end_line > p.head.line), None)
        for place in places:
            if place.head.special and self._matched(place, type_) is not None:
                return place
        return primary or next((p for p in places if not p.head.special), None)

    def env_of(self, type_: Named) -> Env | None:
        """What the text inside a struct can see."""
        place = self.struct_of(type_)
        if place is None:
            return None
        parameters = place.head.parameters or ()
        if place.head.special:
            bound = self._matched(place, type_) or {}
        else:
            args = list(type_.args or ())
            bound = dict(zip((p.name for p in parameters), args, strict=False))
        return Env(place.head.name, bound, (type_, place), None)

    def _matched(self, place: Place, type_: Named) -> dict[str, Any] | None:
        """The parameters of a partial specialisation that make it the given type; None when it doesn't fit."""
        names = {p.name for p in place.head.parameters or ()}
        written = Reader(self, tokenize(place.head.special), Env(place.head.name.rpartition("::")[0])).split_arguments()
        values = list(type_.args or ())
        if len(written) != len(values):
            return None
        bound: dict[str, Any] = {}
        for tokens, value in zip(written, values, strict=True):
            if len(tokens) == 1 and tokens[0] in names:
                if bound.setdefault(tokens[0], value) != value:
                    return None
            elif isinstance(value, Unknown):
                return None
            else:
                scope = Env(place.head.name.rpartition("::")[0], bound)
                fixed = Reader(self, tokens, scope).expression()
                if same_type(fixed, value) is not True:
                    return None
        return bound

    def _member(self, owner: Named, name: str) -> Any:
        special = fixed_member(owner, name)
        if special is not None:
            return special
        env = self.env_of(owner)
        if env is None or env.owner is None:
            return Unknown(f"{owner.leaf}::{name}")
        if name in env.bindings:
            return Unknown(f"{owner.leaf}::{name}")
        found = self.headers.members(env.owner[1], name)
        if not found:
            inherited = self._inherited(owner, name)
            return Unknown(f"{owner.leaf}::{name}") if inherited is None else inherited
        if found[0].head.kind in ("alias", "constant") and found[0].head.parameters is None:
            return self.apply(found, None, env)
        if found[0].head.kind == "struct" and found[0].head.parameters is None:
            return Named(found[0].head.name, None, owner if owner.args is not None else None)
        return found

    def _inherited(self, owner: Named, name: str) -> Any:
        place = self.struct_of(owner)
        if place is None or not place.head.text or self._depth > _DEEPEST:
            return None
        self._depth += 1
        try:
            for base in self.bases(place, self.env_of(owner) or Env("")):
                if base != owner:
                    value = self.member(base, name)
                    if not isinstance(value, Unknown):
                        return value
        finally:
            self._depth -= 1
        return None

    def bases(self, place: Place, inside: Env) -> Iterator[Named]:
        """The base classes of a struct, whose own text can see `inside`."""
        env = Env(place.head.name.rpartition("::")[0], inside.bindings)
        for tokens in Reader(self, ["<", *tokenize(place.head.text), ">"], env).split_arguments():
            base = Reader(self, tokens, env).expression()
            if isinstance(base, Named):
                yield base

    def _outer(self, place: Place, env: Env) -> Env:
        """What the text of a found head can see: its own namespace, or the struct that it is a member of."""
        scope = place.head.name.rpartition("::")[0]
        around: Env | None = env
        while around is not None:
            if around.owner is not None and around.owner[1].head.name == scope:
                return around
            around = around.parent
        return Env(scope)

    def _converted(self, value: Any, parameter: Parameter, env: Env) -> Any:
        if not isinstance(value, Constant) or not parameter.type or parameter.type.split()[-1] == "auto":
            return value
        type_ = self.evaluate(parameter.type, env)
        if isinstance(type_, Named) and type_.args is None:
            if type_.name == "bool":
                return Constant("bool", int(bool(value.value)))
            return Constant(type_.name, value.value, value.label)
        return value


def _completeness(place: Place) -> tuple[int, bool]:
    """How much a declaration says: one that is only announced may name no parameter, but state their defaults."""
    head = place.head
    return sum(bool(parameter.default) for parameter in head.parameters or ()), head.end_line > head.line


def _too_many(parameters: tuple[Parameter, ...] | None, args: list[Any] | None) -> bool:
    if parameters is None or any(parameter.pack for parameter in parameters):
        return False
    return len(flatten(tuple(args or ()))) > len(parameters)


def _instance_around(outer: Env, head: Head) -> Named | None:
    """The class template instance that a found struct is a member of."""
    if outer.owner is None:
        return None
    owner = outer.owner[0]
    return owner if owner.args is not None and head.name.rpartition("::")[0] == owner.name else None
