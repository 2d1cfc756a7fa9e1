"""A decoded name as coloured HTML: the text and the spans of its fields in, one block out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from markupsafe import Markup

from tracer.model.kernel import DecodedName
from tracer.model.report import FieldRow
from tracer.render.filters import field_value, html_text

#: how many colours the style sheet has for the groups of a name
COLOURS = 8


def _is_frame(row: FieldRow, rows: Sequence[FieldRow]) -> bool:
    """Whether a row's text holds several others': Triton's whole list of constants is no group of its own."""
    inside = [r for r in rows if r is not row and row.start <= r.start < r.end <= row.end]
    return len({(r.start, r.end) for r in inside}) > 1


def _pieces(text: str, rows: Sequence[FieldRow]) -> list[tuple[int, int, list[FieldRow]]]:
    """Cuts a name at the ends of its spans; each piece carries the innermost rows that state it."""
    rows = [row for row in rows if not _is_frame(row, rows)]
    cuts = sorted({0, len(text), *(r.start for r in rows), *(r.end for r in rows)})
    pieces = []
    for start, end in pairwise(cuts):
        inside = [r for r in rows if r.start <= start and end <= r.end and r.start < r.end]
        shortest = min((r.end - r.start for r in inside), default=0)
        pieces.append((start, end, [r for r in inside if r.end - r.start == shortest]))
    return pieces


def coloured_name(decoded: DecodedName, rows: Sequence[FieldRow]) -> Markup:
    """The name with every stated field in a colour of its own group; what was not understood is underlined."""
    text = decoded.spelled
    unparsed = [(piece.start, piece.start + len(piece.text)) for piece in decoded.unparsed]
    colour = -1
    before: tuple[str, ...] = ()
    last_end = -2
    out = []
    for start, end, stated in _pieces(text, rows):
        words = html_text(text[start:end])
        if not stated:
            odd = any(a < end and start < b for a, b in unparsed)
            out.append(f'<span class="kt-unparsed">{words}</span>' if odd else words)
            continue
        keys = tuple(row.key for row in stated)
        if keys != before and not (start - last_end == 1 and text[last_end:start] == "x"):
            colour += 1
        before, last_end = keys, end
        title = html_text("; ".join(f"{row.key} = {field_value(row.value)}" for row in stated))
        out.append(f'<span class="kt-g{colour % COLOURS}" title="{title}">{words}</span>')
    return Markup(f'<div class="kt-name">{"".join(out)}</div>')
