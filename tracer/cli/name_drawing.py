"""A decoded name as a drawing: the name with a bracket under each group and a label a bracket, wrapped to a width.

    a8w8_rowwise_64x16x16x128_16x16_1x1_...
                 ├┘ └┘ └┘ └─┘ ├┘ └┘ │ ┴
                 │            │     └─ m_xdl_per_wave x n_xdl_per_wave = 1 x 1
                 │            └─ m_per_xdl x n_per_xdl = 16 x 16
                 └─ block_size x m_per_block x n_per_block x k_per_block = 64 x 16 x 16 x 128

The lines of text, put together, are the name (but for spaces at their ends). Fields joined by `x` are one group. What
the grammar did not understand is labelled so. Fields without a place of their own are not drawn: `parts` tells them.
"""

from __future__ import annotations

import re
import textwrap
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from tracer.cli.name_text import printable, value_text
from tracer.model.kernel import DecodedName, Span

#: columns kept for labels to the right of the text
_LABEL = 44
_NARROWEST = 24
#: characters behind which the text is wrapped
_BREAKS = frozenset("_ <(")


class Leaf(NamedTuple):
    """The smallest piece of the text that states something: its fields, or what is wrong with it."""

    start: int
    end: int
    fields: dict[str, Any]
    problem: str | None = None


class Parts(NamedTuple):
    """What of a decoded name can be drawn, and what cannot.

    Attributes:
        leaves: the pieces to draw, in the order of the text, none inside another.
        wide: fields whose text holds other fields' texts.
        unprinted: fields stated by leaving a token out, or by the family.
    """

    leaves: list[Leaf]
    wide: dict[str, Any]
    unprinted: dict[str, Any]


def parts(decoded: DecodedName) -> Parts:
    """Sorts the fields of `decoded` by how they stand in the text."""
    by_span: dict[Span, dict[str, Any]] = {}
    unprinted: dict[str, Any] = {}
    for key, value in decoded.fields.items():
        span = decoded.spans[key]
        if span[0] == span[1]:
            unprinted[key] = value
            continue
        entries = _entries(decoded.spelled, span, value)
        for place, name in entries.items():
            by_span.setdefault(place, {})[name] = value[name]
        if not entries:
            by_span.setdefault(span, {})[key] = value
    leaves = [Leaf(start, end, fields) for (start, end), fields in by_span.items()]
    leaves += [
        Leaf(piece.start, piece.start + len(piece.text), {}, piece.reason or "no rule explains it")
        for piece in decoded.unparsed
    ]
    leaves.sort(key=lambda leaf: (leaf.start, -leaf.end))
    drawn: list[Leaf] = []
    wide: dict[str, Any] = {}
    for i, leaf in enumerate(leaves):
        if i + 1 < len(leaves) and leaves[i + 1].start < leaf.end:
            wide.update(leaf.fields)
        else:
            drawn.append(leaf)
    return Parts(drawn, wide, unprinted)


def _entries(text: str, span: Span, value: Any) -> dict[Span, str]:
    """Where the entries of a mapping stand: behind their keys (Triton's constants), or as the numbers of the text."""
    if not isinstance(value, dict):
        return {}
    numbers = [m.span() for m in re.compile("[0-9]+").finditer(text, *span)]
    if [text[start:end] for start, end in numbers] == [str(entry) for entry in value.values()]:
        return dict(zip(numbers, value, strict=True))
    begins: list[tuple[int, int]] = []
    at, end = span
    for key in value:
        found = text.find(f"{key}_", at, end)
        if found < 0:
            return {}
        at = found + len(key) + 1
        begins.append((found, at))
    stops = [*(found - 1 for found, _ in begins[1:]), end]
    return {(at, stop): key for (_, at), stop, key in zip(begins, stops, value, strict=True) if at < stop}


class _Group(NamedTuple):
    """Leaves that are joined by an `x`, under one label."""

    start: int
    end: int
    leaves: list[Leaf]


def _groups(text: str, leaves: Sequence[Leaf]) -> list[_Group]:
    groups: list[_Group] = []
    for leaf in leaves:
        last = groups[-1] if groups else None
        if last and not last.leaves[-1].problem and not leaf.problem and text[last.end : leaf.start] == "x":
            groups[-1] = _Group(last.start, leaf.end, [*last.leaves, leaf])
        else:
            groups.append(_Group(leaf.start, leaf.end, [leaf]))
    return groups


def _label(group: _Group, text: str) -> tuple[str, str]:
    """What a group's label says: the keys, and the values."""
    first = group.leaves[0]
    if first.problem:
        return f"not understood: {printable(first.problem)}", ""
    if len(group.leaves) > 1 and all(len(leaf.fields) == 1 for leaf in group.leaves):
        pairs = [next(iter(leaf.fields.items())) for leaf in group.leaves]
        return " x ".join(key for key, _ in pairs), " x ".join(value_text(value) for _, value in pairs)
    said = []
    for leaf in group.leaves:
        keys_by_value: dict[str, list[str]] = {}
        for key, value in leaf.fields.items():
            keys_by_value.setdefault(value_text(value), []).append(printable(key))
        said += [(", ".join(keys), value) for value, keys in keys_by_value.items()]
    if len(said) == 1:
        keys, value = said[0]
        return keys, "" if len(value) > _NARROWEST and value == text[first.start : first.end] else value
    return "; ".join(f"{keys} = {value}" for keys, value in said), ""


def _cuts(text: str, columns: Sequence[int], groups: Sequence[_Group], width: int) -> Iterator[Span]:
    """Where the text is wrapped: behind a separator and outside of groups where that can be."""
    ends = [group.end for group in groups]

    def outside(at: int) -> bool:
        i = bisect_right(ends, at)  # the first group that ends behind `at`
        return i == len(groups) or groups[i].start >= at

    start = 0
    while start < len(text):
        limit = max(start + 1, bisect_right(columns, columns[start] + width) - 1)
        if limit >= len(text):
            stop = len(text)
        else:
            free = (a for a in range(limit, start, -1) if (text[a - 1] in _BREAKS or text[a] == "_") and outside(a))
            stop = next(free, limit)
            if text[stop] == "_" and outside(stop + 1):
                stop += 1
        yield start, stop
        start = stop


class Strip(NamedTuple):
    """One line of the name, and the brackets and labels below it."""

    text: str
    below: list[str]


def strips(decoded: DecodedName, width: int) -> Iterator[Strip]:
    """The drawing line by line; the texts, put together, are the name as it is shown."""
    text = decoded.spelled
    cells = [printable(char) for char in text]
    # what is missing at the end has a column of its own
    columns = list(accumulate([*map(len, cells), 1], initial=0))
    groups = _groups(text, parts(decoded).leaves)
    starts, ends = [group.start for group in groups], [group.end for group in groups]
    for start, stop in _cuts(text, columns[:-1], groups, max(_NARROWEST, width - _LABEL)):
        last = len(groups) if stop == len(text) else bisect_left(starts, stop)
        here = groups[bisect_right(ends, start) : last]
        yield Strip("".join(cells[start:stop]), list(_below(text, columns, here, (start, stop), width)))


def draw(decoded: DecodedName, width: int) -> list[str]:
    """The lines of the drawing, none of them wider than `width` where that can be."""
    lines: list[str] = []
    for strip in strips(decoded, width):
        if strip.below and lines and lines[-1]:
            lines.append("")
        lines += [strip.text.rstrip(), *strip.below]
        if strip.below:
            lines.append("")
    return lines[:-1] if lines and not lines[-1] else lines


def _bracket(width: int, leads: bool, opens: bool, closes: bool) -> str:
    """The mark under a piece: `leads` has the label, `opens` and `closes` tell a piece from one cut by the wrapping."""
    if width == 1:
        return "│" if leads else "┴" if opens and closes else "┘" if closes else "─"
    left = "├" if leads else "└" if opens else "─"
    return left + "─" * (width - 2) + ("┘" if closes else "─")


def _below(text: str, columns: Sequence[int], groups: Sequence[_Group], chunk: Span, width: int) -> Iterator[str]:
    """The brackets and labels under one line of text."""
    start, stop = chunk
    marks = ""
    leaders: list[tuple[int, tuple[str, str]]] = []
    for group in groups:
        if group.start >= start:
            leaders.append((columns[group.start] - columns[start], _label(group, text)))
        for leaf in group.leaves:
            first, last = max(leaf.start, start), min(leaf.end, stop)
            if first < last or leaf.start == leaf.end:
                wide = max(columns[last] - columns[first], 1)
                leads = leaf is group.leaves[0] and leaf.start >= start
                marks = marks.ljust(columns[first] - columns[start])
                marks += _bracket(wide, leads, leaf.start >= start, leaf.end <= stop)
    if marks:
        yield marks
    for i in reversed(range(len(leaders))):
        column, (keys, values) = leaders[i]
        stem = ""
        for other, _ in leaders[:i]:
            stem = stem.ljust(other) + "│"
        stem = stem.ljust(column)
        room = max(_NARROWEST, width - column - 3)
        whole = f"{keys} = {values}" if values else keys
        said = [whole] if len(whole) <= room else [keys, *([f"= {values}"] if values else [])]
        pieces = [piece for part in said for piece in textwrap.wrap(part, room, break_on_hyphens=False)]
        for piece, lead in zip(pieces, ["└─ ", *["   "] * len(pieces)], strict=False):
            yield f"{stem}{lead}{piece}"
