"""What profilers, shells and spreadsheets put around a kernel name: text in, the name and what was taken off out."""

from __future__ import annotations

import msgspec

_QUOTES = frozenset("\"'`\u201c\u201d")
_AROUND = " \t\r\n\v\f\0\ufeff\u00a0,;"
_CLONE = " [clone "
#: how far from the end the profiler's suffix may begin
_SUFFIX_LENGTH = 120


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


def may_stand_around(text: str) -> bool:
    """Whether there may be noise around a name: False for most names, at the cost of a look at both ends."""
    if not text[:1].isalpha() and text[:1] != "_":
        return True
    last = text[-1]
    return not (last == ">" or (last == ")" and not text.endswith(".kd)")) or (last.isalnum() and last != "d"))


def clean(text: str) -> Cleaned:
    """Takes white space, quotes, commas, `.kd`, ` [clone .kd]`, `(.kd)` and a final `...` off a name."""
    if text.isidentifier():
        return Cleaned(text)
    notes: list[str] = []
    name = text.strip(_AROUND)
    while len(name) > 1 and name[0] in _QUOTES and name[-1] in _QUOTES:
        name = name[1:-1].replace('""', '"').strip(_AROUND)
        if not notes:
            notes.append("quotation marks around the name were taken off")
    bare = _without_suffix(name)
    if bare != name:
        notes.append(f"the profiler's suffix {name[len(bare) :].strip()!r} was taken off")
        name = bare
    for dots in ("...", "\u2026"):
        if name.endswith(dots):
            notes.append("the name was cut off: what follows the cut is not known")
            return Cleaned(name[: -len(dots)], tuple(notes), cut=True)
    return Cleaned(name, tuple(notes))


def _without_suffix(name: str) -> str:
    """`name` without ` [clone .kd]`, `(.kd)` and `.kd`, in any order and number."""
    end = len(name)
    while True:
        bare = end
        if name.endswith("]", 0, end):
            at = name.rfind(_CLONE, max(0, end - _SUFFIX_LENGTH), end)
            bare = at if at >= 0 and "]" not in name[at : end - 1] else end
        elif name.endswith("(.kd)", 0, end):
            bare = end - 5
        elif name.endswith(".kd", 0, end):
            bare = end - 3
        if bare == end:
            return name[:end]
        end = bare
        while name.endswith(" ", 0, end):
            end -= 1
