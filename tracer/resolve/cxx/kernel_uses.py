"""Kernels that host code hands to a launcher: a function in, what is needed to write its symbol out."""

from __future__ import annotations

import msgspec

from tracer.resolve.cxx.environment import Function
from tracer.resolve.cxx.headers import Headers
from tracer.resolve.cxx.values import Named


class KernelUse(msgspec.Struct, frozen=True):
    """A kernel that a walked function hands to a launcher.

    Attributes:
        kernel: qualified name and template arguments.
        parameters: the names of its template parameters.
        types: the types of its function parameters, those of a pack with `...`.
        result: the type that it returns, as written.
        file: where it is defined, relative to the tree.
        line: its line there.
    """

    kernel: Named
    parameters: tuple[str, ...]
    types: tuple[str, ...]
    result: str
    file: str
    line: int


def kernel_use(headers: Headers, function: Function) -> KernelUse | None:
    """The use of a function, or None where it is no kernel."""
    place, head = function.place, function.place.head
    if not headers.is_kernel(place):
        return None
    packs = {parameter.name for parameter in head.parameters or () if parameter.pack}
    return KernelUse(
        function.name,
        tuple(parameter.name for parameter in head.parameters or ()),
        tuple(f"{text}..." if text in packs else text for text in head.text.split(";") if text),
        headers.result_type(place),
        place.file,
        head.line,
    )
