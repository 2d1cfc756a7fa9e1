"""The tables of instances in a generator's Python module: its lines in, the tables that no other holds out."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

_TABLE = re.compile(r"^(?!default_)(\w*(?:kernels_list|kernels_dict|kernels_cktile_dict)\w*)\s*(?::[^=]*)?=\s*\{")
_ENTRY = re.compile(r"\s*\(?-?\d+\)?\s*:\s*\w+\(")


class InstanceTable(msgspec.Struct, frozen=True):
    """One table.

    Attributes:
        name: its variable.
        line: 1-based line of the assignment.
        count: how many instances its text shows, one a line; None when it shows none (loops or other tables fill it).
    """

    name: str
    line: int
    count: int | None


def instance_tables(lines: Sequence[str]) -> list[InstanceTable]:
    """The tables of a module that stand in no other table of it, in their order."""
    found: list[InstanceTable] = []
    held: set[str] = set()
    names = [m.group(1) for m in map(_TABLE.match, lines) if m is not None]
    for number, line in enumerate(lines, 1):
        m = _TABLE.match(line)
        if m is None:
            continue
        body = _body(line[m.end() :], lines[number:])
        words = {word for part in body for word in re.findall(r"\w+", part)}
        held.update(name for name in names if name in words and name != m.group(1))
        count = sum(1 for part in body if _ENTRY.match(part))
        found.append(InstanceTable(m.group(1), number, count or None))
    return [table for table in found if table.name not in held]


def _body(first: str, rest: Sequence[str]) -> list[str]:
    """The lines of a dict literal, up to its closing bracket at the start of a line."""
    body = [first]
    if "}" not in first:
        for line in rest:
            if line.startswith("}"):
                break
            body.append(line)
    return body
