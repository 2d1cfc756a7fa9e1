"""Itanium-mangled C++ names: a symbol in, the demangled text out, or what can still be read from it.

The demangler is LLVM's (`pycxxfilt`): libstdc++'s fails on `DF16b` and on long CK symbols.
"""

from __future__ import annotations

import re

import pycxxfilt

_WRONG_LENGTH = re.compile(r"_ZN5aiter(\d+)([A-Za-z_][A-Za-z0-9_]*)E(?:v\w*)?$")


def is_mangled(name: str) -> bool:
    """Whether `name` claims to be an Itanium-mangled symbol (`_Z...`, also with one more leading underscore)."""
    return name.startswith(("_Z", "__Z"))


def demangle(name: str) -> str | None:
    """The demangled text of `name`, or None when LLVM's demangler refuses it."""
    try:
        text: str = pycxxfilt.demangle(name)
    except (ValueError, RuntimeError):
        return None
    return None if text == name else text


def unwrap_wrong_length(name: str) -> str | None:
    """The identifier inside `_ZN5aiter<number><identifier>E` whose length number is wrong, as 26 aiter asm symbols have it.

    The identifier may itself begin with a digit that belongs to the number or not; the text between the number and the
    final `E` is taken. None when `name` has another form.
    """
    m = _WRONG_LENGTH.match(name)
    return f"aiter::{m.group(2)}" if m else None
