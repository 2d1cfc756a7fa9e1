"""Where elements of a JSON array begin and end: text that may be damaged in, patterns and places in it out.

Nothing here decodes: a place is told by text that can't stand inside a string.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec

_AT_BYTE = re.compile(r"\(byte (\d+)\)")
ARRAY_END = re.compile(rb"\}\s*(\])\s*[,}]")
_FILLER = re.compile(rb"[\s,]*")
_BLANKS = re.compile(rb"\s*")


@cache
def boundary_before(first_keys: tuple[str, ...]) -> re.Pattern[bytes]:
    """Text between two elements, of which the second begins with one of some keys.

    An unescaped quote behind a brace opens a string or closes one; a key and a colon follow only an opening one. So no
    string of well-formed JSON holds such a text.
    """
    first = b"|".join(re.escape(key.encode()) for key in first_keys)
    return re.compile(rb'\}\s*,\s*(\{)\s*"(?:' + first + rb')"\s*:')


@cache
def opening_of(first_keys: tuple[str, ...]) -> re.Pattern[bytes]:
    """The beginning of an element."""
    return re.compile(rb'\{\s*"(?:' + b"|".join(re.escape(key.encode()) for key in first_keys) + rb')"\s*:')


@cache
def opening_behind_bracket(first_keys: tuple[str, ...]) -> re.Pattern[bytes]:
    """A closing bracket with an element behind it, which stands in no well-formed JSON text."""
    return re.compile(rb"\][\s,]*" + opening_of(first_keys).pattern)


def end_of(text: bytes, final: bool) -> int:
    """Where the elements of a text end that holds nothing else: at the array's bracket, where the file ends with it."""
    return text.rindex(b"]") if final else len(text)


def skip_blanks(text: bytes, at: int) -> int:
    """Where the white space at a place ends."""
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def skip_filler(text: bytes, at: int) -> int:
    """Where the white space and commas at a place end."""
    found = _FILLER.match(text, at)
    return found.end() if found else at


def error_position(error: msgspec.DecodeError, whole: bytes) -> int:
    """Where in `whole` the decoder stopped; its end when it does not say."""
    found = _AT_BYTE.search(str(error))
    if found is not None:
        return int(found.group(1))
    if "UTF-8" in str(error):
        try:
            whole.decode()
        except UnicodeDecodeError as place:
            return place.start
    return len(whole)
