"""Several decoded names beside each other: what differs between two, and the common GEMM view of many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tracer.cli.name_text import printable, value_text
from tracer.model.kernel import DecodedName, GemmView
from tracer.names import registry

_ABSENT = "(not stated)"


class NameDiff(msgspec.Struct):
    """The documented object of `decode --diff --json`.

    Attributes:
        a, b: the names as they came.
        family: the family of each.
        differ: key -> values, for what both state and state differently; an entry of a mapping is `key.entry`.
        only_a, only_b: what one of them states alone.
        same: keys that both state alike.
        view: key -> values of the common view that both have and that differ.
        unparsed: the pieces of each that were not understood.
    """

    a: str
    b: str
    family: tuple[str | None, str | None]
    differ: dict[str, tuple[Any, Any]]
    only_a: dict[str, Any]
    only_b: dict[str, Any]
    same: list[str]
    view: dict[str, tuple[Any, Any]]
    unparsed: tuple[list[str], list[str]]


def _flat(fields: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in fields.items():
        if isinstance(value, dict):
            flat.update({f"{key}.{entry}": inner for entry, inner in value.items()})
        else:
            flat[key] = value
    return flat


def _alike(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def compare(a: DecodedName, b: DecodedName) -> NameDiff:
    """What two names state differently."""
    one, other = _flat(a.fields), _flat(b.fields)
    both = [key for key in one if key in other]
    views = [registry.view(name) for name in (a, b)]
    seen: tuple[dict[str, Any], ...] = tuple({} if v is None else msgspec.structs.asdict(v) for v in views)
    return NameDiff(
        a.text,
        b.text,
        (a.family, b.family),
        {key: (one[key], other[key]) for key in both if not _alike(one[key], other[key])},
        {key: value for key, value in one.items() if key not in other},
        {key: value for key, value in other.items() if key not in one},
        [key for key in both if _alike(one[key], other[key])],
        {
            key: (value, seen[1][key])
            for key, value in seen[0].items()
            if key != "likely" and None not in (value, seen[1].get(key)) and value != seen[1][key]
        },
        ([piece.text for piece in a.unparsed], [piece.text for piece in b.unparsed]),
    )


def diff_text(diff: NameDiff) -> str:
    """The differences as a table."""
    lines = [f"A  {printable(diff.a)}", f"B  {printable(diff.b)}", ""]
    rows = [("family", *(family or "unknown" for family in diff.family))] if len(set(diff.family)) > 1 else []
    rows += [(key, value_text(a), value_text(b)) for key, (a, b) in diff.differ.items()]
    rows += [(key, value_text(value), _ABSENT) for key, value in diff.only_a.items()]
    rows += [(key, _ABSENT, value_text(value)) for key, value in diff.only_b.items()]
    if len(set(diff.family)) > 1:
        rows += [(f"view: {key}", value_text(a), value_text(b)) for key, (a, b) in diff.view.items()]
    for name, pieces in zip("AB", diff.unparsed, strict=True):
        rows += [(f"not understood in {name}", printable(piece) or "(the end)", "") for piece in pieces]
    lines += _columns([("", "A", "B"), *rows]) if rows else ["no field differs"]
    family = diff.family[0] if len(set(diff.family)) == 1 else None
    same = f"{len(diff.same)} field{' is' if len(diff.same) == 1 else 's are'} the same"
    lines += ["", f"{same}; both are {family}" if family else same]
    return "\n".join(lines) + "\n"


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows with their cells under each other."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


_HEAD = ("", "family", "op", "tile", "wave tile", "instruction", "waves", "threads", "A", "B", "C", "acc", "layout",
         "split-K", "stages", "pipeline")  # fmt: skip


def _extents(view: GemmView, prefix: str, axes: str = "mnk") -> str:
    """`128x64x?`, or `-` where no extent is known."""
    values = [getattr(view, f"{prefix}_{axis}") for axis in axes]
    if all(value is None for value in values):
        return "-"
    likely = "~" if any(f"{prefix}_{axis}" in view.likely for axis in axes) else ""
    return likely + "x".join("?" if value is None else str(value) for value in values)


def _one(view: GemmView, key: str) -> str:
    value = getattr(view, key)
    return "-" if value is None else f"{'~' if key in view.likely else ''}{printable(str(value))}"


def _layouts(view: GemmView) -> str:
    values = [getattr(view, f"layout_{operand}") for operand in "abc"]
    if all(value is None for value in values):
        return "-"
    likely = "~" if any(f"layout_{operand}" in view.likely for operand in "abc") else ""
    return likely + " ".join("?" if value is None else printable(value) for value in values)


def _row(number: str, decoded: DecodedName) -> tuple[str, ...]:
    view = registry.view(decoded)
    head = (number, decoded.family or "unknown")
    if view is None:
        return (*head, *["-"] * (len(_HEAD) - 2))
    return (
        *head,
        _one(view, "op"),
        _extents(view, "tile"),
        _extents(view, "wave_tile", "mn"),
        _extents(view, "instruction"),
        _extents(view, "waves"),
        _one(view, "threads_per_block"),
        *(_one(view, f"dtype_{operand}") for operand in ("a", "b", "c", "acc")),
        _layouts(view),
        _one(view, "split_k"),
        _one(view, "stages"),
        _one(view, "pipeline"),
    )


def view_table(names: Iterable[DecodedName]) -> str:
    """The common GEMM view, a row a name, and the names below. Holds all rows in memory, to align them."""
    rows: list[tuple[str, ...]] = []
    texts: list[str] = []
    for number, decoded in enumerate(names, 1):
        rows.append(_row(str(number), decoded))
        texts.append(f"{number}  {printable(decoded.text)}")
    marked = any("~" in cell for row in rows for cell in row[2:])
    legend = ["", "~ likely: no public generator confirms it"] if marked else []
    return "\n".join([*_columns([_HEAD, *rows]), "", *texts, *legend]) + "\n"
