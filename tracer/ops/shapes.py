"""Shapes as people type them: `128,1536,7168`, `M=128,N=1536,K=7168`, or `@shapes.csv`; text in, named extents out."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from tracer.errors import UsageError
from tracer.ops.base import Op


def _number(op: Op, text: str, whole: str) -> int:
    # not int() alone: it takes 1_28 and the digits of every script
    if re.fullmatch(r"[+-]?[0-9]{1,40}", text.strip()) is None:
        raise UsageError(
            f"{op.name}: {text.strip()!r} in the shape {whole!r} is not a whole number",
            expected=f"{len(op.dims)} whole numbers for {','.join(d.name for d in op.dims)}",
        )
    return int(text)


def parse_shape(op: Op, text: str) -> dict[str, int]:
    """Reads one shape for `op` and checks it.

    Raises:
        UsageError: wrong number of values, not a number, unknown or repeated name, or refused by the op.
    """
    names = [dim.name for dim in op.dims]
    parts = text.replace("x", ",").replace("X", ",").split(",") if "=" not in text else text.split(",")
    if "=" in text:
        given: dict[str, int] = {}
        for part in parts:
            name, _, value = part.partition("=")
            name = name.strip()
            known = {n.lower(): n for n in names}
            if name.lower() not in known or known[name.lower()] in given:
                raise UsageError(
                    f"{op.name}: {name!r} in the shape {text!r} is unknown or stands twice",
                    expected=f"each of {','.join(names)} once",
                )
            given[known[name.lower()]] = _number(op, value, text)
        shape = {n: given[n] for n in names if n in given}
        if len(shape) != len(names):
            missing = ", ".join(n for n in names if n not in given)
            raise UsageError(
                f"{op.name}: the shape {text!r} lacks {missing}", expected=f"each of {','.join(names)} once"
            )
    else:
        if len(parts) != len(names):
            raise UsageError(
                f"{op.name}: the shape {text!r} has {len(parts)} values",
                expected=f"{len(names)} values: {','.join(names)}",
                hint=f"for example --shape {','.join(str(128 * (i + 1)) for i in range(len(names)))}",
            )
        shape = {name: _number(op, part, text) for name, part in zip(names, parts, strict=True)}
    op.check(shape)
    return shape


def read_shapes(
    op: Op, texts: Iterable[str], on_unread: Callable[[Path, list[str]], None] | None = None
) -> list[dict[str, int]]:
    """Reads every shape of a command line; `@file.csv` stands for the rows of a CSV with a column for each dimension.

    Args:
        op: the op that takes the shapes.
        texts: the shapes as typed.
        on_unread: called with a CSV and its columns that are no dimension of the op: a row gives a shape, no more.

    Raises:
        UsageError: as parse_shape, or the file can't be read, or lacks a column; names file and line.
    """
    shapes = []
    for text in texts:
        if text.startswith("@"):
            shapes += _rows(op, Path(text[1:]), on_unread)
        else:
            shapes.append(parse_shape(op, text))
    if not shapes:
        raise UsageError(f"{op.name}: no shape was given", expected=f"--shape {','.join(d.name for d in op.dims)}")
    return shapes


def _rows(op: Op, path: Path, on_unread: Callable[[Path, list[str]], None] | None) -> list[dict[str, int]]:
    """The shapes of a CSV's rows."""
    try:
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the shapes file {path} can't be read: {error}", expected="a CSV file") from None
    rows = csv.reader(content.splitlines())
    header = [name.strip() for name in next(rows, [])]
    columns = [name.lower() for name in header]
    wanted = [dim.name for dim in op.dims]
    expected = f"a header with each of the columns {','.join(wanted)} once"
    missing = [name for name in wanted if name.lower() not in columns]
    if missing:
        raise UsageError(f"the shapes file {path} lacks the column {', '.join(missing)}", expected=expected)
    twice = [name for name in wanted if columns.count(name.lower()) > 1]
    if twice:
        raise UsageError(f"the shapes file {path} has the column {', '.join(twice)} twice", expected=expected)
    unread = [name for name in header if name and name.lower() not in map(str.lower, wanted)]
    if unread and on_unread is not None:
        on_unread(path, unread)
    places = {name: columns.index(name.lower()) for name in wanted}
    shapes = []
    for row in filter(None, rows):
        try:
            if any(cell.strip() for cell in row[len(header) :]):
                raise UsageError(f"the row has {len(row)} values", expected=f"{len(header)}, as the header has columns")
            values = ",".join(f"{name}={row[at] if at < len(row) else ''}" for name, at in places.items())
            shapes.append(parse_shape(op, values))
        except UsageError as error:
            raise UsageError(f"{path}:{rows.line_num}: {error.message}", expected=error.expected) from None
    if not shapes:
        raise UsageError(f"the shapes file {path} has a header and no rows", expected="a row for each shape")
    return shapes
