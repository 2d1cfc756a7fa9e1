"""What `ktrace decode --explain` prints: a decoded name and a glossary in, a drawing and what every field means out."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tracer.cli.name_drawing import draw, parts
from tracer.cli.name_text import printable, value_text
from tracer.model.kernel import DecodedName
from tracer.names.base import Key

_KEY = 26
_VALUE = 12


def explain(decoded: DecodedName, glossary: Mapping[str, Key], width: int = 100) -> str:
    """The name drawn with its groups labelled, then each field with value, unit and meaning, in the name's order.

    Args:
        decoded: the name, read.
        glossary: the entries of the grammar that read it; empty when none did.
        width: columns of the drawing.
    """
    lines = []
    if decoded.spelled != decoded.text:
        lines += [printable(decoded.text), ""]
    lines += draw(decoded, width)
    lines += ["", f"family: {decoded.family or 'unknown'}"]
    sorted_out = parts(decoded)
    apart = {*sorted_out.wide, *sorted_out.unprinted}
    printed = {
        key: decoded.fields[key] for key in sorted(decoded.fields, key=decoded.spans.__getitem__) if key not in apart
    }
    sections = (
        ("the name prints", printed.items()),
        ("over several groups", sorted_out.wide.items()),
        ("the name says by what it leaves out, or by its family", sorted_out.unprinted.items()),
        ("likely; no public generator confirms it", decoded.likely.items()),
    )
    for title, fields in sections:
        if fields:
            lines += ["", f"{title}:"]
            lines += [line for key, value in fields for line in _row(key, value, glossary.get(key), width)]
    lines += _paragraphs("not understood", (_piece(p.text, p.reason) for p in decoded.unparsed), width)
    lines += _paragraphs("note", map(printable, decoded.notes), width)
    return "\n".join(lines) + "\n"


def _row(key: str, value: Any, entry: Key | None, width: int) -> Iterator[str]:
    meaning = "" if entry is None else entry.meaning
    if entry is not None and entry.unit and entry.unit.lower() not in meaning.lower():
        meaning += f" ({entry.unit})"
    left = f"  {printable(key):{_KEY}} "
    values = textwrap.wrap(value_text(value), max(24, width - _KEY - 3), break_on_hyphens=False)
    margin = " " * (_KEY + 3 + _VALUE + 1)
    meanings = textwrap.wrap(meaning, max(24, width - len(margin)), break_on_hyphens=False)
    if len(values) == 1 and len(left) + len(values[0]) <= len(margin) - 1:
        first = meanings.pop(0) if meanings else ""
        yield f"{left + values[0]:{len(margin)}}{first}".rstrip()
    else:
        yield f"{left}{values[0]}"
        yield from (f"{' ' * (_KEY + 3)}{more}" for more in values[1:])
    yield from (f"{margin}{more}" for more in meanings)


def _piece(text: str, reason: str | None) -> str:
    shown = printable(text) if len(text) <= 400 else f"{printable(text[:400])}... ({len(text)} characters)"
    return f"{shown or 'the end'}{f': {printable(reason)}' if reason else ''}"


def _paragraphs(title: str, texts: Iterable[str], width: int) -> list[str]:
    lines: list[str] = []
    for text in texts:
        wrapped = textwrap.wrap(f"{title}: {text}", width, subsequent_indent="  ", break_on_hyphens=False)
        lines += ["", *wrapped]
    return lines
