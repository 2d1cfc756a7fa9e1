"""The glossary of all fields: the keys of every grammar in, one entry a key out, with the grammars that use it.

A key has one meaning wherever it stands; a test holds the grammars to that.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tracer.errors import UsageError
from tracer.names import registry
from tracer.names.base import Grammar


class Entry(msgspec.Struct, frozen=True):
    """One key.

    Attributes:
        key: as it stands in `fields` and `likely`.
        meaning: one sentence.
        unit: what is counted; None for a flag or a label.
        grammars: the grammars that use it.
        sources: grammar -> where the generator stands that defines it (a repository path, or an address).
    """

    key: str
    meaning: str
    unit: str | None
    grammars: tuple[str, ...]
    sources: dict[str, str]


def glossary(grammars: Iterable[Grammar] | None = None) -> tuple[Entry, ...]:
    """Every key of the grammars (all, unless some are given), in alphabetical order."""
    users: dict[str, list[Grammar]] = {}
    for grammar in registry.GRAMMARS if grammars is None else grammars:
        for key in grammar.keys:
            users.setdefault(key, []).append(grammar)
    entries = []
    for key, using in sorted(users.items(), key=lambda item: (item[0].lower(), item[0])):
        first = using[0].keys[key]
        sources = {grammar.name: grammar.keys[key].source or grammar.link for grammar in using}
        entries.append(Entry(key, first.meaning, first.unit, tuple(sources), sources))
    return tuple(entries)


def entries_of(keys: Iterable[str]) -> tuple[Entry, ...]:
    """The entries of some keys, in the order asked for.

    Raises:
        UsageError: there is no such key; the message offers the nearest ones.
    """
    known = {entry.key: entry for entry in glossary()}
    found = []
    for key in keys:
        if key not in known:
            import difflib  # only a mistake needs it

            near = difflib.get_close_matches(key, known, 5, 0.75) or [k for k in known if key.lower() in k.lower()][:5]
            offered = f"did you mean {' or '.join(near)}? " if near else ""
            raise UsageError(
                f"no grammar has a field {key!r}", hint=f"{offered}`ktrace glossary` without a key lists all fields"
            )
        found.append(known[key])
    return tuple(found)
