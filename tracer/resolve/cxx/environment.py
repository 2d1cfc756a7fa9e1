"""What a piece of C++ can see, and the things that names there can mean besides plain values."""

from __future__ import annotations

from typing import Any

import msgspec

from tracer.resolve.cxx.headers import Place
from tracer.resolve.cxx.values import Named


class Function(msgspec.Struct, frozen=True):
    """A function (template) with its arguments, not yet called.

    Attributes:
        place: where it is defined.
        name: qualified name and template arguments.
        env: what its body can see.
        given: the template arguments that are written; a call may say what the others are.
        overloads: where functions of this name that take such arguments are defined, this one among them.
    """

    place: Place
    name: Named
    env: Any
    given: tuple[Any, ...] = ()
    overloads: tuple[Place, ...] = ()


class Lambda(msgspec.Struct, frozen=True):
    """A lambda expression: its parameters, the tokens of its body, and what it can see."""

    parameters: tuple[str, ...]
    body: tuple[str, ...]
    env: Any


class NamespaceName(msgspec.Struct, frozen=True):
    """A qualifier that is no type."""

    name: str


class Env(msgspec.Struct):
    """What a text can see.

    Attributes:
        scope: qualified name of the namespace or class around it.
        bindings: template arguments and local names.
        owner: the struct whose members are visible, and its place.
        parent: what the text around it can see.
    """

    scope: str
    bindings: dict[str, Any] = {}
    owner: tuple[Named, Place] | None = None
    parent: Env | None = None
