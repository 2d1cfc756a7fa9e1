"""Untrusted text and field values as they are shown in a terminal: any text or value in, printable text out."""

from __future__ import annotations

from typing import Any


def printable(text: str) -> str:
    """`text` for a terminal: control characters and bytes that are no UTF-8 become escapes, all else stays."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was no UTF-8, by way of surrogateescape
        return f"\\x{code - 0xDC00:02x}"
    return ascii(char)[1:-1]


def value_text(value: Any) -> str:
    """A field's value for people: true, 16x16x1, RowMajor, {bm0: 64, bn0: 128}."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{printable(str(key))}: {value_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        sep = "x" if all(isinstance(item, int) and not isinstance(item, bool) for item in value) else ", "
        inner = sep.join(map(value_text, value))
        return inner if len(value) > 1 else f"[{inner}]"
    return printable(str(value)) or "(empty)"
