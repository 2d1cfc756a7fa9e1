"""Itanium-mangled C++ names: a symbol in, the demangled text out, or what can still be read from it.

The demangler is LLVM's (`pycxxfilt`): libstdc++'s fails on `DF16b` and on long CK symbols. It is asked only about
symbols that are safe to ask about: its recursion and its output have no limits of their own.
"""

from __future__ import annotations

import re

import pycxxfilt

from tracer.names import itanium_bound, itanium_scan

#: longer symbols are not demangled: LLVM's parser recurses, and 12,000 nested `Z` end an 8 MB stack
MAX_LENGTH = 8192
#: symbols whose demangled text may be longer are not demangled
MAX_OUTPUT = 1_000_000

#: a function without parameters and template arguments, as aiter's assembly kernels are
_PLAIN = re.compile(r"_ZN5aiter([1-9][0-9]?)((?!_GLOBAL__N)[A-Za-z_][A-Za-z0-9_]*)E").fullmatch
_WRONG_LENGTH = re.compile(r"_ZN5aiter([0-9]{1,9})([A-Za-z_][A-Za-z0-9_]*)E(?:v\w*)?$")
_DEEP = "Z" * 64


def is_mangled(name: str) -> bool:
    """Whether `name` claims to be an Itanium-mangled symbol (`_Z...`, also with one more leading underscore)."""
    return name.startswith(("_Z", "__Z"))


def _safe(name: str) -> bool:
    """Whether the demangler can be asked about `name` without exhausting stack or memory."""
    return len(name) <= MAX_LENGTH and _DEEP not in name and itanium_bound.within(name, MAX_OUTPUT)


def demangle(name: str) -> str | None:
    """The demangled text of `name`, or None when LLVM's demangler refuses it or must not be asked."""
    if not _safe(name):
        return None
    try:
        text: str | None = pycxxfilt.itanium_demangle(name)
    except ValueError:
        return None
    return None if text == name else text


def unwrap_wrong_length(name: str) -> str | None:
    """The identifier inside `_ZN5aiter<number><identifier>E` with a wrong number, as 26 aiter asm symbols have it.

    The identifier may itself begin with a digit that belongs to the number or not; the text between the number and the
    final `E` is taken. None when `name` has another form.
    """
    m = _WRONG_LENGTH.match(name)
    return f"aiter::{m.group(2)}" if m else None


def demangle_cut(name: str) -> tuple[str, bool] | None:
    """The demangled text of a symbol that breaks off or is wrong, and whether it ends inside the function's name.

    The text goes up to the last whole template argument and the comma after it. Without one, that of a symbol that
    breaks off has the components of the function's name that are there, of which the last may be incomplete; for one
    that is wrong the answer is None.
    """
    if len(name) > MAX_LENGTH or _DEEP in name or not is_mangled(name):
        return None
    found = itanium_scan.scan(name, MAX_OUTPUT)
    if found.mended is not None:
        text = demangle(found.mended)
        if text is not None:
            before, mark, _ = text.rpartition(itanium_scan.MARK)
            if mark:
                return before, False
    if found.state != "cut":
        return None
    head = found.head.replace("_GLOBAL__N_1", "(anonymous namespace)")
    return (head, not found.named) if head else None


def unwrap(name: str) -> tuple[str, str]:
    """The most that can be read of a mangled name, and how demangling went.

    Returns:
        The text, and "ok", "failed" or "cut" ("failed" too, and the text ends inside the function's name).
    """
    m = _PLAIN(name)
    if m is not None and len(m[2]) == int(m[1]):
        return f"aiter::{m[2]}", "ok"
    plain = demangle(name)
    if plain is not None:
        return plain, "ok"
    text = unwrap_wrong_length(name)
    if text is not None:
        return text, "failed"
    beginning = demangle_cut(name)
    if beginning is not None:
        return beginning[0], "cut" if beginning[1] else "failed"
    return name, "failed"
