"""What a function leaves out when it is called with null pointers: texts in, parameters and the last line run out.

A common form in these sources: called without a buffer, a function only says how large a buffer it needs, and returns
before it launches anything.
"""

from __future__ import annotations

import re
from collections.abc import Set

from tracer.index.cpp_macros import closing, mask, split_arguments

_NULL = re.compile(
    r"(?:nullptr|NULL|(?:static_cast|reinterpret_cast)\s*<[^<>]*(?:<[^<>]*>)?[^<>]*>\s*\(\s*nullptr\s*\))\Z"
)
#: what a statement of its own stands behind
_STATEMENT = re.compile(r"[{};]\s*\Z")
_RETURN_LAST = re.compile(r"(?:\A|[;{}])\s*return\b[^;{}]*;\s*\Z")
#: a call's name stands on its line; its arguments may follow for some more
_CALL_LINES = 40


def null_arguments(lines: str, name: str, null: Set[str]) -> frozenset[int]:
    """Which arguments of a call are null.

    Args:
        lines: the text from the call's line on, comments blanked.
        name: the function's unqualified name.
        null: variables around the call that are known to be null.

    Returns:
        Positions, counted from 0.
    """
    text = "\n".join(lines.split("\n")[:_CALL_LINES])
    arguments = _arguments(text, name)
    return frozenset(i for i, written in enumerate(arguments) if written in null or _NULL.match(written))


def parameters_at(text: str, name: str, places: Set[int]) -> frozenset[str]:
    """The names of a function's parameters at some positions; `text` begins with its declaration."""
    written = _arguments(text, name)
    named = (re.search(r"(\w+)\s*\Z", part.partition("=")[0]) for i, part in enumerate(written) if i in places)
    return frozenset(m.group(1) for m in named if m is not None)


def returns_at(text: str, null: Set[str]) -> int | None:
    """The line of a function's text behind which nothing runs when some of its parameters are null.

    Args:
        text: the function, comments blanked.
        null: the parameters.

    Returns:
        The line, counted from 0, of an early return that is surely taken; None when there is none.
    """
    masked = mask(text, strings=True)
    for name in null:
        word = re.escape(name)
        tests = rf"!\s*{word}|{word}\s*==\s*(?:nullptr|NULL)|(?:nullptr|NULL)\s*==\s*{word}"
        for m in re.finditer(rf"\bif\s*\(\s*(?:{tests})\s*\)\s*", masked):
            end = _returning(masked, m.end())
            if end is not None and _always_reached(masked, m.start()):
                return masked.count("\n", 0, end)
    return None


def _arguments(text: str, name: str) -> list[str]:
    """What stands in the brackets behind a name and its template arguments."""
    masked = mask(text, strings=True)
    for m in re.finditer(rf"\b{re.escape(name)}\s*", masked):
        at = _behind_template(masked, m.end())
        if masked[at : at + 1] == "(" and (end := closing(masked, at)) > 0:
            return [" ".join(part.split()) for part in split_arguments(masked[at + 1 : end])]
    return []


def _behind_template(masked: str, at: int) -> int:
    """The offset behind `<...>` and its blanks, where one begins at `at`."""
    if masked[at : at + 1] != "<":
        return at
    depth = 0
    for m in re.compile(r"[<;{}]|>\s*").finditer(masked, at):
        if m.group() in ";{}":
            break
        depth += 1 if m.group() == "<" else -1
        if depth == 0:
            return m.end()
    return at


def _returning(masked: str, at: int) -> int | None:
    """The end of the statement at `at`, when it returns; else None."""
    if masked[at : at + 1] == "{":
        end = closing(masked, at)
        return end if end > 0 and _RETURN_LAST.search(masked[at + 1 : end]) else None
    m = re.compile(r"return\b[^;{}]*;").match(masked, at)
    return m.end() if m else None


def _always_reached(masked: str, at: int) -> bool:
    """Whether only plain blocks of the function stand around an offset, so that it is reached whatever the input."""
    opened: list[int] = []
    for m in re.finditer(r"[{}]", masked[:at]):
        if m.group() == "{":
            opened.append(m.start())
        elif opened:
            opened.pop()
    return bool(opened) and all(_STATEMENT.search(masked[:start]) for start in (*opened[1:], at))
