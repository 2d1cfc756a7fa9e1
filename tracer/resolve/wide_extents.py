"""Extents that aiter's C++ can't hold: a shape and the folder of an instance's C++ in, what does not fit where out.

aiter copies the 64-bit sizes of its tensors into variables of type `int` without a check: a wider extent arrives as
another number, so the kernel that would run says nothing about the shape that was asked for.
"""

from __future__ import annotations

import re

from tracer.aiter.ck_launch import Problem
from tracer.index.tree_index import TreeIndex

_WIDEST = 2**31 - 1
#: where the rows of a problem become an `int`: from a tensor's size, or as a parameter
_NARROWED = re.compile(r"\bint\s+(?:M|tokens)\b")


def too_wide(shape: Problem) -> str | None:
    """Which extents of a shape no argument of aiter's C++ can hold, as a sentence; None when all fit."""
    extents = {"B": shape.batch, "M": shape.m, "N": shape.n, "K": shape.k}
    wide = [f"{name} = {extent}" for name, extent in extents.items() if extent > _WIDEST]
    if not wide:
        return None
    return f"{' and '.join(wide)} does not fit: aiter's C++ takes extents as 32-bit int"


def narrowed_at(index: TreeIndex, folder: str) -> str:
    """Where the C++ in a folder takes the rows of a problem as `int`, in brackets; "" when it is not found."""
    for file in index.cpp_files:
        if file.startswith(f"{folder}/"):
            for number, line in enumerate(index.code_lines(file), 1):
                if _NARROWED.search(line):
                    return f" ({file}:{number})"
    return ""
