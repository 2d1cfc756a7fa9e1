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
_AFTER_VALUE = re.compile(r'"(?=\s*(?:,\s*(?:"[^"\\\n]{1,64}"\s*:|\{|$)|\}\s*(?:[,}\]]|$|"[^"\\\n]{1,64}"\s*:)|\]))')
#: inside what looks like one string value: its real end and the next key, without the comma between them
_SWALLOWED_KEY = re.compile(r'"\s*(?="[^"\\\n]{1,64}"\s*:)')
#: between a value that is no string and the next key, without the comma between them
_NO_COMMA = re.compile(r'([0-9}\]]|true|false|null)(\s+)(?="[^"\\\n]{1,64}"\s*:)')
_BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_CONTROL = re.compile(r"[\x00-\x1f]")
#: any escape of JSON; one of 6 characters is half of a surrogate pair whose other half is not beside it
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\.", re.DOTALL
)

_UTF8 = "invalid UTF-8 in a string (replaced)"
_QUOTES = "unescaped quotes or backslashes in a string (repaired)"
_COMMA = "a comma is missing inside an event (repaired)"
_HALF_PAIR = "half of a surrogate pair in a string (replaced)"

#: brackets, and whole strings, in which they are none
_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
#: values nested more deeply may be more than a decoder can follow
TOO_DEEP = 500
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


def _requote(text: str) -> tuple[str, list[str]]:
    """Escapes quotes, backslashes and control characters inside string values, and puts in commas that are missing.

    Returns:
        The text, and which of this was done.
    """
    parts = []
    at = 0
    problems = []
    while opening := _OPENING.search(text, at):
        closing = _AFTER_VALUE.search(text, opening.end())
        swallowed = _SWALLOWED_KEY.search(text, opening.end(), closing.start() if closing else len(text))
        end = swallowed or closing
        if end is None:
            break
        given = inner = text[opening.end() : end.start()]
        inner = _BAD_ESCAPE.sub(r"\\\\", inner)
        inner = re.sub(r'(?<!\\)((?:\\\\)*)"', r'\1\\"', inner)
        if (len(inner) - len(inner.rstrip("\\"))) % 2:
            inner += "\\"
        if inner != given:
            problems.append(_QUOTES)
        inner = _CONTROL.sub(lambda m: f"\\u{ord(m.group()):04x}", inner)
        parts += [text[at : opening.end()], inner]
        at = end.start()
        if swallowed is not None:
            problems.append(_COMMA)
            parts.append('",')
            at = swallowed.end()
    parts.append(text[at:])
    return "".join(parts), problems


def _decode(text: str) -> tuple[dict[str, Any], int] | None:
    """The object at the start of a text, and where it ends."""
    try:
        value, end = _LENIENT.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return (value, end) if isinstance(value, dict) else None


def with_whole_pairs(text: str) -> str:
    """JSON text without halves of surrogate pairs, which stand for no character: no text can hold them."""
    if "\\u" not in text:
        return text
    return _ESCAPE.sub(lambda m: "\\ufffd" if len(m.group()) == 6 else m.group(), text)


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
    given, text = text, with_whole_pairs(text)
    if text != given:
        problems.append(_HALF_PAIR)
    found = _decode(text)
    if found is None:
        mended, done = _requote(text)
        found = _decode(mended)
        if found is None:
            found = _decode(_NO_COMMA.sub(r"\1,\2", mended))
            done.append(_COMMA)
        if found is None:
            return Repaired(None)
        return Repaired(found[0], (*problems, *dict.fromkeys(done)))
    value, end = found
    if _control_inside(text):
        problems.append("control characters in a string (kept)")
    return Repaired(value, tuple(problems), None if problems[:1] == [_UTF8] else len(text[:end].encode()))


def deep_value_end(text: bytes, at: int) -> int | None:
    """Where an object or list that begins at a place ends, if it is nested too deeply to be decoded; else None."""
    depth = deepest = 0
    for found in _BRACKETS.finditer(text, at):
        bracket = found.group()
        if bracket in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif bracket in b"]}":
            depth -= 1
            if depth == 0:
                return found.end() if deepest >= TOO_DEEP else None
    return None


def other_value(piece: bytes) -> int | None:
    """How many bytes the JSON value that a text begins with takes, whatever it is; None where it begins with none."""
    try:
        text = piece.decode()
    except UnicodeDecodeError as error:
        text = piece[: error.start].decode()
    try:
        return len(text[: _LENIENT.raw_decode(text)[1]].encode())
    except (ValueError, RecursionError):
        return None


def _control_inside(text: str) -> bool:
    """Whether strict JSON refuses the text where the lenient decoder did not."""
    try:
        json.JSONDecoder().raw_decode(text)
    except ValueError as error:
        return "control character" in str(error)
    except RecursionError:
        return False
    return False
