"""The state of a walk over a mangled symbol: text and position in, sizes of substitutions and open constructs out."""

from __future__ import annotations


class Broken(Exception):
    """The symbol breaks the grammar, or leaves the part of it that is followed, before its end."""


class Ends(Exception):
    """The symbol ends inside a construct."""


class Cursor:
    """Where a walk stands.

    Attributes:
        candidates: the size, in characters of demangled text, of what each substitution stands for, in order.
        largest_argument: the size of the longest template argument list so far, for references to parameters.
        open: the texts that close the constructs in which the walk stands, outermost first.
        safe: the last place where a whole template argument may follow, and what closes all constructs there.
        head: the components of the function's name.
        named: whether the function's name was read to its end.
    """

    def __init__(self, text: str, pos: int, limit: int) -> None:
        self.text = text
        self.pos = pos
        self.limit = limit
        self.size = 0
        self.candidates: list[int] = []
        self.largest_argument = 1
        self.open: list[str] = []
        self.safe: tuple[int, str] | None = None
        self.head: list[str] = []
        self.named = False

    def _add(self, size: int) -> None:
        self.candidates.append(size)
        if size > self.size:
            self.size = size
            if size > self.limit:
                raise Broken

    def _peek(self) -> str:
        if self.pos >= len(self.text):
            raise Ends
        return self.text[self.pos]

    def _at(self, text: str) -> bool:
        return self.text.startswith(text, self.pos)
