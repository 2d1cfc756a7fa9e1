"""What profilers, shells and spreadsheets put around a kernel name: text in, the name and what was taken off out."""

from __future__ import annotations

import re

import msgspec

_SUFFIX = re.compile(r"(?:\s*\[clone [^\]]*\]|\s*\(\.kd\)|\.kd)+$")
_QUOTES = "\"'`\u201c\u201d"


class Cleaned(msgspec.Struct, frozen=True):
    """A name without its noise.

    Attributes:
        name: the name itself.
        notes: one sentence a kind of noise removed.
        cut: whether the text says that it was cut off (it ends in `...`).
    """

    name: str
    notes: tuple[str, ...] = ()
    cut: bool = False


def clean(text: str) -> Cleaned:
    """Takes white space, quotes, trailing commas, `.kd`, ` [clone .kd]`, `(.kd)` and a final `...` off a name."""
    if text.isidentifier():
        return Cleaned(text)
    notes = []
    name = text.strip().rstrip(",;")
    while len(name) > 1 and name[0] in _QUOTES and name[-1] in _QUOTES:
        name = name[1:-1].replace('""', '"').strip()
        notes.append("quotation marks around the name were taken off")
    bare = _SUFFIX.sub("", name)
    if bare != name:
        notes.append(f"the profiler's suffix {name[len(bare) :].strip()!r} was taken off")
        name = bare
    cut = False
    for dots in ("...", "\u2026"):
        if name.endswith(dots):
            name = name[: -len(dots)]
            cut = True
            notes.append("the name was cut off: what follows the cut is not known")
    return Cleaned(name, tuple(notes), cut)
