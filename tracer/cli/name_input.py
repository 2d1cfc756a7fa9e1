r"""Kernel names from files: bytes in (plain lines, CSV, JSON lines), one text a name out, in order, memory flat.

Nothing is dropped: an empty line, an empty cell and a line that cannot be read are answered too. Bytes that are no
UTF-8 stay in the text as Python's surrogate escapes (\udc80 to \udcff), from which they can be written back.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO

import msgspec

from tracer.errors import UsageError

_CHUNK = 1 << 16
#: a CSV cell longer than this is an error: one unclosed quotation mark would take the rest of the file into memory
_LONGEST_CELL = 1 << 24
#: what the column (or key) that holds kernel names is called, likeliest first; compared without case and punctuation
_NAME_COLUMNS = tuple(map(re.compile, (r"kernelname\d*", r"knlname", r"kernel", r"name")))
_CSV_ENDINGS = (".csv", ".tsv")
_JSON_ENDINGS = (".jsonl", ".ndjson")


class Unreadable(msgspec.Struct, frozen=True):
    """A piece of the input in which no name could be found.

    Attributes:
        text: the piece as it came, or "" where that is not known.
        reason: one sentence: where it stands and what is wrong with it.
    """

    text: str
    reason: str


Entry = str | Unreadable


def lines(file: BinaryIO, idle: Callable[[], object] = lambda: None) -> Iterator[bytes]:
    """The lines of `file` without their ends (LF or CR LF); `idle` is called before each read, which may wait."""
    begun: list[bytes] = []
    while True:
        idle()
        chunk = file.read1(_CHUNK) if hasattr(file, "read1") else file.read(_CHUNK)
        if not chunk:
            break
        first, *rest = chunk.split(b"\n")
        begun.append(first)
        if rest:
            yield b"".join(begun).removesuffix(b"\r")
            for line in rest[:-1]:
                yield line.removesuffix(b"\r")
            begun = [rest[-1]]
    last = b"".join(begun)
    if last:
        yield last.removesuffix(b"\r")


def text_of(line: bytes) -> str:
    """A line as text; bytes that are no UTF-8 become surrogate escapes."""
    return line.decode("utf-8", "surrogateescape")


def _without_mark(source: Iterable[bytes]) -> Iterator[bytes]:
    """The lines without the byte-order mark that the first may begin with."""
    found = iter(source)
    for line in found:
        yield line.removeprefix(b"\xef\xbb\xbf")
        break
    yield from found


def names(
    file: BinaryIO, *, columns: Sequence[str] = (), key: str | None = None, idle: Callable[[], object] = lambda: None
) -> Iterator[Entry]:
    """The names in `file`.

    Args:
        file: the input, in binary; its name's ending (.csv, .tsv, .jsonl, .ndjson) or `columns` or `key` says how it is
            to be read, else it is plain text, a name a line.
        columns: CSV columns that hold names.
        key: the key that holds the name in each JSON object.
        idle: called before each read that may have to wait.

    Raises:
        UsageError: the file has no such column or key, or none that looks like a kernel's name.
    """
    where = str(getattr(file, "name", "input"))
    source = _without_mark(lines(file, idle))
    if columns or (key is None and where.lower().endswith(_CSV_ENDINGS)):
        return _from_csv(source, columns, where)
    if key is not None or where.lower().endswith(_JSON_ENDINGS):
        return _from_json_lines(source, key, where)
    return map(text_of, source)


def _likely(candidates: Sequence[str], where: str, kind: str, option: str) -> list[str]:
    """The columns or keys that look as if they held kernel names: all of the likeliest spelling."""
    for pattern in _NAME_COLUMNS:
        found = [c for c in candidates if pattern.fullmatch(re.sub("[^a-z0-9]", "", c.lower()))]
        if found:
            return found
    raise UsageError(
        f"{where}: no {kind} looks like a kernel's name",
        expected=f"{option} with one of {', '.join(map(repr, candidates[:40])) or f'its {kind}s (it has none)'}",
    )


def _from_csv(source: Iterator[bytes], columns: Sequence[str], where: str) -> Iterator[Entry]:
    header = b""
    for header in source:
        # some of aiter's tables open with comments
        if header.strip() and not header.startswith((b"#", b"//")):
            break
    delimiter = max("\t;,", key=lambda sign: header.count(sign.encode()))
    found = [name.strip() for name in next(csv.reader([text_of(header)], delimiter=delimiter), [])]
    missing = [column for column in columns if column not in found]
    if missing:
        raise UsageError(
            f"{where}: no column {missing[0]!r}", expected=f"one of {', '.join(map(repr, found[:40])) or 'no columns'}"
        )
    wanted = [found.index(column) for column in columns or _likely(found, where, "column", "--column")]
    rows = csv.reader((f"{text_of(line)}\n" for line in source), delimiter=delimiter)
    limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        while True:
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield Unreadable("", f"{where}: row {rows.line_num} below the header is not CSV: {error}")
                continue
            if row:
                yield from (row[i] if i < len(row) else "" for i in wanted)
    finally:
        csv.field_size_limit(limit)


def _from_json_lines(source: Iterator[bytes], key: str | None, where: str) -> Iterator[Entry]:
    for number, line in enumerate(source, 1):
        value = _json(line)
        if not isinstance(value, dict):
            yield Unreadable(text_of(line), f"{where}: line {number} is no JSON object")
            continue
        if key is None:
            (key, *_) = _likely(list(value), where, "key", "--key")
        name = value.get(key)
        if isinstance(name, str):
            yield name
        else:
            problem = "has no key" if key not in value else "has no text under"
            yield Unreadable(text_of(line), f"{where}: line {number} {problem} {key!r}")


def _json(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    import json  # accepts what strict JSON does not: lone surrogates and, in text, bytes that are no UTF-8

    try:
        return json.loads(text_of(line))
    except (ValueError, RecursionError):
        return None
