"""A decoded name as coloured HTML: the text and the spans of its fields in, one block out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from markupsafe import Markup

from tracer.model.kernel import DecodedName
from tracer.model.report import FieldRow, KernelReport
from tracer.render.filters import field_value, html_text

#: how many colours the style sheet has for the groups of a name
COLOURS = 8


#: a longer demangled name is shown without its template arguments
LONGEST_NAME = 110


def display_name(kernel: KernelReport) -> str:
    """What a page calls a kernel: its instance, else its name, demangled and without parameters."""
    if kernel.launch.instance:
        return kernel.launch.instance
    decoded, seen = kernel.decoded, kernel.launch.kernel or "?"
    if decoded is None or decoded.demangle != "ok":
        return seen if len(seen) <= 4 * LONGEST_NAME else seen[: 4 * LONGEST_NAME] + "…"
    name = _without_parameters(decoded.spelled).removeprefix("void ")
    if len(name) > LONGEST_NAME and "<" in name:
        name = name[: name.index("<")] + "<…>"
    return name


def _without_parameters(signature: str) -> str:
    """A demangled function without its list of parameters."""
    if not signature.endswith(")"):
        return signature
    depth = 0
    for at in range(len(signature) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(signature[at], 0)
        if depth == 0:
            return signature[:at]
    return signature


def _pieces(text: str, rows: Sequence[FieldRow]) -> list[tuple[int, int, list[FieldRow]]]:
    """Cuts a name at the ends of its spans; each piece carries the innermost rows that state it."""
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
