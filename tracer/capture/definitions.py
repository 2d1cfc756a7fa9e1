"""Where a function is defined: a code object in, the line of its `def` and the decorators that lead to kernels out.

A code object states the line of its first decorator (CPython 3.8 and later); its `def` stands below, in the source.
"""

from __future__ import annotations

import linecache
import re
from functools import cache
from types import CodeType

import msgspec

from tracer.model.source import Decorator

#: aiter's, that turn a Python function into a call across its JIT layers
_TOLD = frozenset({"compile_ops", "torch_compile_guard"})
_DECORATOR = re.compile(r"\s*@\s*([\w.]+)")


class Definition(msgspec.Struct, frozen=True):
    """Where a function is defined.

    Attributes:
        line: of its `def` (or `class`), 1-based; of its first decorator where the source is not at hand.
        decorators: those that turn it into a call across a JIT layer.
    """

    line: int
    decorators: tuple[Decorator, ...] = ()


def definition_of(code: CodeType) -> Definition:
    """Where the function of a code object is defined."""
    return _definition(code.co_filename, code.co_firstlineno, code.co_name)


@cache
def _definition(file: str, first: int, name: str) -> Definition:
    lines = linecache.getlines(file)[first - 1 :]
    if not lines or not lines[0].lstrip().startswith("@"):
        return Definition(first)
    defined = re.compile(rf"\s*(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b")
    told: list[Decorator] = []
    for line, text in enumerate(lines, start=first):
        if defined.match(text):
            return Definition(line, tuple(told))
        decorator = _DECORATOR.match(text)
        if decorator is not None and (called := decorator[1].rpartition(".")[2]) in _TOLD:
            told.append(Decorator(called, line))
    return Definition(first)  # the file is another one than the one that was imported
