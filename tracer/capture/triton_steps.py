"""The core flow of a Triton kernel that is compiled: its jitted function in, numbered steps with their lines out.

Jitted functions that the kernel calls are those that its own module holds by these names when it is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

from tracer.capture.places import Places
from tracer.model.source import FlowStep
from tracer.resolve.triton_flow import triton_flow

#: a jitted function may be wrapped (autotune, heuristics), each wrapper holding what it wraps as `fn`
_MOST_WRAPPERS = 8


def python_function(value: Any) -> FunctionType | None:
    """The Python function inside a jitted one; None for anything else."""
    for _ in range(_MOST_WRAPPERS):
        if isinstance(value, FunctionType):
            return value
        value = getattr(value, "fn", None)
    return None


def core_flow(kernel: Any, places: Places, constants: Mapping[str, Any]) -> tuple[FlowStep, ...]:
    """The steps of a kernel; empty where its source can't be read.

    Args:
        kernel: the jitted function.
        places: names files as the record does.
        constants: its compile-time arguments; branches that they rule out are left out.
    """
    function = python_function(kernel)
    text = _text(function)
    if function is None or text is None:
        return ()
    file = function.__code__.co_filename

    def find(called: str) -> tuple[str, str, str] | None:
        value = function.__globals__.get(called)
        inner = None if isinstance(value, FunctionType) else python_function(value)
        source = _text(inner)
        if inner is None or source is None:
            return None
        return source, inner.__code__.co_filename, inner.__name__

    return triton_flow(text, function.__name__, file, places.ref, find, constants)


def _text(function: FunctionType | None) -> str | None:
    try:
        return Path(function.__code__.co_filename).read_text(encoding="utf-8") if function is not None else None
    except (OSError, UnicodeDecodeError):
        return None
