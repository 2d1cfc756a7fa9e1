"""Functors of PyTorch's element-wise kernels: a functor's place in a demangled name in, what it computes out."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from tracer.model.kernel import Span
from tracer.names import cpp, cpp_types

LAUNCHER = "type_specialized_broadcast_kernel_launcher"
#: functors that only hand on the operation, their first template argument
_WRAPPERS = ("gpu_kernel_impl", "gpu_kernel_impl_nocast", "gpu_index_kernel", LAUNCHER)
#: functors that apply the operation, their last template argument -> how many operands' types they begin with
_APPLIERS = {"BinaryFunctor": 2, "AUnaryFunctor": 2, "BUnaryFunctor": 2, "func_wrapper_t": 1}
#: a qualified name; before a function template, LLVM prints the return type too
_QUALIFIED = re.compile(r"(?:[\w:]+ (?!const|\*|&))?((?:\(anonymous namespace\)|[\w:]++)+)")
#: a lambda as GNU and as LLVM print it
_LAMBDA = re.compile(r"(?:\{lambda\(([^{}()]*)\)#[0-9]+\}|'lambda[0-9]*'\(([^{}()]*)\))(?: const)?$")


class Operation(msgspec.Struct, frozen=True):
    """What a functor computes.

    Attributes:
        name: unqualified name of a function or functor; of a lambda, that of the function that it stands in.
        span: where it stands.
        types: the types of its operands, or none when they are not stated as plain element types.
        types_span: where they stand.
    """

    name: str
    span: Span
    types: list[str] = []
    types_span: Span = (0, 0)


def functor_name(item: str) -> str:
    """The unqualified name of a functor. Raises ValueError for a value."""
    m = _QUALIFIED.match(item)
    name = m[1].rpartition("::")[2] if m is not None else ""
    if not name or item[0].isdigit() or item in ("true", "false"):
        raise ValueError(item)
    return name


def operation(text: str, span: Span) -> Operation | None:
    """What the functor at `span` computes, taken out of wrappers; None where a cut leaves that open."""
    types: list[str] = []
    types_span: Span = (0, 0)
    for _ in range(8):
        start, end = span
        m = _QUALIFIED.match(text, start, end)
        name = m[1].rpartition("::")[2] if m is not None else ""
        if m is None or not name or text[start].isdigit() or m.end() == len(text):
            return None
        place = (m.end() - len(name), m.end())
        args = cpp.arguments(text, m.end()) if m.end() < end and text[m.end()] == "<" else None
        if args is not None and name == LAUNCHER:
            opening = text.find("<", args.end, end)
            args = cpp.arguments(text, opening) if opening > 0 else None
        if name not in _WRAPPERS and name not in _APPLIERS:
            break
        if args is None or not len(args) or (args.cut and name in _APPLIERS):
            return None
        if name in _WRAPPERS:
            span = args.span(0)
        else:
            operands = min(_APPLIERS[name], len(args))
            types, types_span = _types(args.items[:operands]), (args.starts[0], args.span(operands - 1)[1])
            span = args.span(len(args) - 1)
    if types:
        return Operation(name, place, types, types_span)
    found = _LAMBDA.search(text, start, end)
    if found is not None:
        group = found.lastindex or 0
        return Operation(name, place, _types(found[group].split(", ")), found.span(group))
    if args is not None and not args.cut and args.end == end and len(args) == 1:
        return Operation(name, place, _types(args.items), args.span(0))
    return Operation(name, place)


def _types(items: Sequence[str]) -> list[str]:
    """The items as element types; none when one of them is something else."""
    types = [cpp_types.TYPES.get(item, "") for item in items]
    return types if all(types) else []
