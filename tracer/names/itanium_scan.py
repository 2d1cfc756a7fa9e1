"""A look over a mangled symbol: a symbol in, a bound on its text and, where it breaks off, a mended one out.

The walk (`itanium_walk`) adds up sizes instead of printing. Every construct counts for no less than the text that it
is printed as, whatever refers to what:

- a letter for a type or a qualifier, and what a construct puts around its parts: a constant;
- `S..._`: the size of the candidate of that number, which was complete before;
- `T..._`: the largest template argument so far (a parameter never stands for one that follows);
- `Dp`: the size of its pattern times the length of the longest pack.

What the walk does not follow makes the symbol count as broken; `itanium_bound` then takes the worst for the rest.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from tracer.names.itanium_tokens import Broken, Ends
from tracer.names.itanium_walk import Walk

#: an identifier that no program has: it marks the place of the cut in a mended symbol
MARK = "KTRACE_CUT_HERE"
_MARK_ARGUMENT = f"{len(MARK)}{MARK}"


class Scan(msgspec.Struct, frozen=True):
    """What a look over a symbol found.

    Attributes:
        state: "whole", "cut" (the text ends inside a construct) or "broken" (something that the walk does not follow,
            or a text longer than the limit).
        size: an upper bound for the characters of the demangled text; in a broken symbol, of what was followed.
        at: the offset up to which the symbol was followed.
        mended: for a symbol that is not whole, one with the same beginning and, in place of what is missing or was not
            followed, a last template argument named MARK; None when not even the first template argument is there.
        head: the components of the function's name that were read, joined by `::`.
        named: whether the function's name was read to its end.
    """

    state: Literal["whole", "cut", "broken"]
    size: int
    at: int
    mended: str | None = None
    head: str = ""
    named: bool = False


def scan(symbol: str, limit: int) -> Scan:
    """Looks over `symbol` until its demangled text may be longer than `limit` characters."""
    start = symbol.find("_Z")
    walk = Walk(symbol, start + 2, limit)
    state: Literal["whole", "cut", "broken"] = "whole"
    try:
        walk.run()
    except Ends:
        state = "cut"
    except Broken:
        state = "broken"
    mended = None
    if state != "whole" and walk.safe is not None:
        at, brackets = walk.safe
        mended = symbol[start:at] + _MARK_ARGUMENT + "E" * brackets
    return Scan(state, walk.total(), walk.at, mended, "::".join(walk.head), walk.named)
