"""Reads `{kernel}_{KEY}_{VALUE}...` without a fitting declaration: in come a name and keys to look for, out come pairs.

A known key starts wherever it stands between underscores with a value behind it. With the kernel's own keys a value
runs to the next key; with keys of other kernels an integer ends at its token, and what follows it is taken for a key
that is not known. What fits no pair is handed back as unparsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

import msgspec

from tracer.model.kernel import Span, Unparsed
from tracer.names.triton_keys import known_keys

_INTEGER = re.compile(r"-?[0-9]+")
#: the keys that most tunable Triton kernels have, with a value; bounded, so that no text makes the search slow
_PAIR = re.compile(
    r"_(?:(?:BLOCK|GROUP|TILE)(?:_SIZE)?(?:_[A-Z0-9]{1,8})?|HEAD_(?:DIM|SIZE|SZ)|num_warps|num_stages|waves_per_eu"
    r"|(?:NUM|HAS|USE|IS|EVEN|ENABLE|MAX)_[A-Z0-9_]{1,32}?)_(?:[0-9]+|NONE)(?=_|\Z)"
)


class Pairs(msgspec.Struct, frozen=True):
    """The pairs of one name.

    Attributes:
        base_end: length of the kernel's base name.
        keys: the keys, in the order printed.
        values: the printed values.
        spans: where the values stand in the name.
        rest: what fits no pair.
    """

    base_end: int
    keys: tuple[str, ...]
    values: tuple[str, ...]
    spans: Sequence[Span]
    rest: tuple[Unparsed, ...] = ()


def looks_like_pairs(name: str) -> bool:
    """Whether `name` ends like a value and shows at least two pairs that Triton kernels commonly have."""
    if name[-1:].islower():
        return False
    first = _PAIR.search(name)
    return first is not None and _PAIR.search(name, first.end()) is not None


def _finder(keys: Iterable[str]) -> re.Pattern[str]:
    # a value follows: a digit, a sign, or a capital
    longest_first = sorted(set(keys), key=lambda key: (-len(key), key))
    return re.compile(f"_({'|'.join(map(re.escape, longest_first))})(?=_[-0-9A-Z])")


@cache
def _known() -> re.Pattern[str]:
    return _finder(known_keys())


def guess(name: str, base_end: int | None, own_keys: Sequence[str] | None = None) -> Pairs | None:
    """Looks for pairs in `name`.

    Args:
        name: the whole name.
        base_end: length of the base name where it is known; None to let it end before the first key.
        own_keys: the kernel's own keys; then no other key is taken for one.

    Returns:
        The pairs, or None when there is none.
    """
    finder = _finder(own_keys) if own_keys else _known()
    starts = [(m.start(), m.end()) for m in finder.finditer(name, base_end or 1)]
    if not starts:
        return None
    if base_end is None:
        base_end = starts[0][0]
    key_end = dict(starts)
    following = [start for start, _ in starts] + [len(name)]
    keys: list[str] = []
    values: list[str] = []
    spans: list[Span] = []
    at, nth = base_end, 0
    while at < len(name):
        while following[nth] <= at < len(name) and nth < len(starts):
            nth += 1
        limit = following[nth]
        end = key_end.get(at)
        if end is not None:
            key, begin = name[at + 1 : end], end + 1
        elif own_keys is None and (found := _unknown_key(name, at + 1, limit)) is not None:
            key, begin = found
        else:
            break
        stop = _value_end(name, begin, limit, own_keys is not None)
        if stop == begin or key in keys:
            break
        keys.append(key)
        values.append(name[begin:stop])
        spans.append((begin, stop))
        at = stop
    if not keys:
        return None
    rest = (Unparsed(name[at + 1 :], at + 1, "expected KEY_VALUE"),) if at < len(name) else ()
    return Pairs(base_end, tuple(keys), tuple(values), spans, rest)


def _unknown_key(name: str, begin: int, limit: int) -> tuple[str, int] | None:
    """A key that is not known and where its value begins: the tokens before the first integer or NONE."""
    at = begin
    while at < limit:
        end = name.find("_", at, limit)
        end = limit if end < 0 else end
        token = name[at:end]
        if token == "NONE" or _INTEGER.fullmatch(token):
            return (name[begin : at - 1], at) if at > begin and name[begin].isalpha() else None
        at = end + 1
    return None


def _value_end(name: str, begin: int, limit: int, whole: bool) -> int:
    """Where the value that begins at `begin` ends: `begin` itself when there is none."""
    first = name.find("_", begin, limit)
    first = limit if first < 0 else first
    if not whole and _INTEGER.fullmatch(name, begin, first):
        return first
    segment = name[begin:limit]
    if segment and segment == segment.upper():
        return limit
    return first if name[begin:first] and name[begin:first] == name[begin:first].upper() else begin
