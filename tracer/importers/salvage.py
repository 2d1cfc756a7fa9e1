"""Broken JSON objects, as profilers write them: the bytes of one object in, what it says and what was wrong out.

Profilers print names into JSON without escaping them, so quotes, backslashes and control characters end up inside
strings. A repair never invents a value: it only says where a string ends.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

#: a key and the opening quote of its string value
_OPENING = re.compile(r'"[^"\\\n]{1,64}"\s*:\s*"')
#: what may follow the closing quote of a string value: the next key, or the end of the object or list
_AFTER_VALUE = re.compile(r'"(?=\s*(?:,\s*(?:"[^"\\\n]{1,64}"\s*:|\{|$)|\}\s*(?:[,}\]]|$)|\]))')
_BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_CONTROL = re.compile(r"[\x00-\x1f]")

_UTF8 = "invalid UTF-8 in a string (replaced)"

_LENIENT = json.JSONDecoder(strict=False)


class Repaired(msgspec.Struct, frozen=True):
    """One object read from broken text.

    Attributes:
        value: the object; None when nothing could be made of it.
        problems: what was wrong, as kinds of loss; what was read despite it is in `value`.
        used: how many bytes the object takes, where that is certain; None where its quotes had to be mended.
    """

    value: dict[str, Any] | None
    problems: tuple[str, ...] = ()
    used: int | None = None


def _requote(text: str) -> str:
    """Escapes quotes, backslashes and control characters inside string values."""
    parts = []
    at = 0
    while opening := _OPENING.search(text, at):
        closing = _AFTER_VALUE.search(text, opening.end())
        if closing is None:
            break
        inner = text[opening.end() : closing.start()]
        inner = _BAD_ESCAPE.sub(r"\\\\", inner)
        inner = re.sub(r'(?<!\\)((?:\\\\)*)"', r'\1\\"', inner)
        if (len(inner) - len(inner.rstrip("\\"))) % 2:
            inner += "\\"
        inner = _CONTROL.sub(lambda m: f"\\u{ord(m.group()):04x}", inner)
        parts += [text[at : opening.end()], inner]
        at = closing.start()
    parts.append(text[at:])
    return "".join(parts)


def _decode(text: str) -> tuple[dict[str, Any], int] | None:
    """The object at the start of a text, and where it ends."""
    try:
        value, end = _LENIENT.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return (value, end) if isinstance(value, dict) else None


def repair(piece: bytes) -> Repaired:
    """Reads one JSON object from broken text.

    Args:
        piece: from the object's opening brace on; text after its end is ignored.
    """
    problems = []
    try:
        text = piece.decode()
    except UnicodeDecodeError:
        text = piece.decode(errors="replace")
        problems.append(_UTF8)
    found = _decode(text)
    if found is None:
        found = _decode(_requote(text))
        if found is None:
            return Repaired(None)
        problems.append("unescaped quotes or backslashes in a string (repaired)")
        return Repaired(found[0], tuple(problems))
    value, end = found
    if _control_inside(text):
        problems.append("control characters in a string (kept)")
    return Repaired(value, tuple(problems), None if problems[:1] == [_UTF8] else len(text[:end].encode()))


def _control_inside(text: str) -> bool:
    """Whether strict JSON refuses the text where the lenient decoder did not."""
    try:
        json.JSONDecoder().raw_decode(text)
    except ValueError as error:
        return "control character" in str(error)
    except RecursionError:
        return False
    return False
