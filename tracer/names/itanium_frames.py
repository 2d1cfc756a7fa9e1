"""Where a walk over a mangled symbol stands: parts of known size in, sizes of candidates and of the whole out.

The parts are put in by `itanium_walk`, which reads them.
"""

from __future__ import annotations

from tracer.names import itanium_tokens as tokens
from tracer.names.itanium_tokens import AROUND, BUILTIN, NAME, Broken, Ends

#: more constructs inside each other than any compiler prints
MAX_DEPTH = 200

#: what the walk can stand in: where a function's name comes (`_Z`, or `Z` and `L_Z` inside), or the name of something
#: local to a function; `N...E` that is such a name, or a type; and places where types come: parameters, `I...E`,
#: `J...E`, `F...E`, `L...E` with a type, `L_Z...E`, `X...E`, `Ul...E`, the two types of `M`, the type in `Tn`
FUNCTION, ENTITY, OWNER, NESTED, PARAMETERS, TEMPLATE, PACK, SIGNATURE = range(8)
LITERAL, ADDRESS, EXPRESSION, LAMBDA, CLASS, MEMBER, DECLARATION = range(8, 15)
#: an `E` alone makes these whole
_MENDABLE = frozenset((OWNER, NESTED, TEMPLATE, PACK, SIGNATURE))
#: what a qualifier does: it makes a candidate, it makes none, it stands for every element of a pack
QUALIFIES, WITHIN, FOR_EACH = 1, 0, 2


class Frames:
    """The constructs that a walk stands in; `kind`, `size`, `pending`, `extra` and `whole` describe the innermost one.

    Args:
        text: the symbol.
        at: the offset behind its `_Z`.
        limit: the size at which the walk is given up.

    Attributes:
        kind: what the construct is.
        size: what its parts count for so far, in characters of demangled text.
        pending: qualifiers of the type that comes next, outermost first.
        extra: of `I...E` what the name before it counts for, of `J...E` the number of its parts.
        whole: whether an `E` for each open construct makes the symbol whole.
        outer: the same of the constructs around it.
        candidates: what each candidate for a substitution counts for.
        largest: what the largest template argument counts for.
        packed: the number of parts of the longest pack.
        safe: the last place where a whole template argument may follow, and the number of constructs open there.
        head: the components of the function's name.
        named: whether the function's name was read to its end.
    """

    def __init__(self, text: str, at: int, limit: int) -> None:
        self.text = text
        self.at = at
        self.end = len(text)
        self.limit = limit
        self.kind, self.size, self.extra, self.whole = FUNCTION, 0, 0, True
        self.pending: list[int] = []
        self.outer: list[tuple[int, int, list[int], int, bool]] = []
        self.candidates: list[int] = []
        self.largest = BUILTIN
        self.packed = 1
        self.safe: tuple[int, int] | None = None
        self.head: list[str] = []
        self.named = False
        self._head_depth: int | None = None

    def total(self) -> int:
        """What everything so far counts for."""
        return self.size + self.extra + sum(size + extra for _, size, _, extra, _ in self.outer)

    def open(self, kind: int, extra: int = 0) -> None:
        """Enters a construct."""
        if len(self.outer) > MAX_DEPTH:
            raise Broken
        self.outer.append((self.kind, self.size, self.pending, self.extra, self.whole))
        self.kind, self.size, self.pending, self.extra = kind, 0, [], extra
        self.whole = self.whole and kind in _MENDABLE

    def open_arguments(self, before: int = 0) -> None:
        """Enters `I...E` behind a name that counts for `before`."""
        self.at += 1
        self.open(TEMPLATE, before)
        if self.whole:
            self.safe = (self.at, len(self.outer))

    def close(self) -> int:
        """Leaves the construct; answers what its parts count for."""
        size = self.size
        self.kind, self.size, self.pending, self.extra, self.whole = self.outer.pop()
        return size

    def follows(self, c: str) -> bool:
        """Whether the text goes on with `c`."""
        return self.text.startswith(c, self.at)

    def complete(self, size: int) -> None:
        """A type or argument of this size stands here."""
        while True:
            if self.pending:
                size = self._qualify(size)
            self.size += size + 2
            if self.size > self.limit:
                raise Broken
            kind = self.kind
            if kind in (TEMPLATE, PACK):
                self.extra += kind == PACK
                if size > self.largest:
                    self.largest = size
                if self.whole:
                    self.safe = (self.at, len(self.outer))
                return
            if kind == LITERAL:
                m = tokens.VALUE.match(self.text, self.at)
                if m is None:
                    raise Ends if tokens.VALUE_BEGINS.fullmatch(self.text, self.at) else Broken
                size = self.close() + m.end() - self.at + AROUND
                self.at = m.end()
            elif kind == CLASS:
                self.kind = MEMBER
                return
            elif kind == MEMBER:
                size = self.close() + AROUND
                self.candidates.append(size)
            elif kind == DECLARATION:
                self.close()
                return
            else:
                return

    def type(self, size: int) -> None:
        """A type of this size stands here, which is a candidate."""
        self.candidates.append(size)
        self.complete(size)

    def _qualify(self, size: int) -> int:
        for qualifier in reversed(self.pending):
            size = size * self.packed + 2 * self.packed + AROUND if qualifier == FOR_EACH else size + AROUND
            if qualifier != WITHIN:
                self.candidates.append(size)
        self.pending = []
        return size

    def name(self, size: int) -> None:
        """The name of a function, or of something local to one, ends here."""
        while True:
            self.size += size
            if self.kind == FUNCTION:
                self.kind = PARAMETERS
                self.named = self.named or not self.outer
                self._head_depth = -1
                return None
            m = tokens.DISCRIMINATOR.match(self.text, self.at)
            if m is not None:
                self.at = m.end()
            size = self.close()
            if self.kind > NESTED:
                return self.type(size)
            if self.kind > ENTITY:
                raise Broken

    def unqualified(self, size: int) -> None:
        """A component of a name of this size; outside of `N...E` it is the name, or the name of a template."""
        if self.kind > ENTITY:
            self.size += size
            self.candidates.append(self.size)
        elif self.follows("I"):
            self.candidates.append(size)
            self.open_arguments(size)
        else:
            self.name(size)

    def identifier(self) -> int:
        """Reads a source name with its ABI tags; answers what it counts for."""
        size = NAME
        while True:
            start, stop = tokens.identifier(self.text, self.at)
            if size == NAME and self.kind in (FUNCTION, OWNER) and self._head_depth in (None, len(self.outer)):
                self._head_depth = len(self.outer)
                self.head.append(self.text[start:stop])
            if stop > self.end:
                raise Ends
            self.at = stop
            size += stop - start
            if not self.follows("B"):
                return size
            self.at += 1
            size += NAME
            if not self.next_is_digit():
                self.break_or_end()

    def candidate(self, number: int) -> int:
        """What the candidate of this number counts for. Raises Broken when there is none."""
        if number < 0:
            return tokens.STD_SIZES[number]
        if number >= len(self.candidates):
            raise Broken
        return self.candidates[number]

    def next_is_digit(self) -> bool:
        """Whether a source name follows."""
        return self.text[self.at : self.at + 1] in tokens.DIGIT

    def break_or_end(self) -> None:
        """Raises Ends at the end of the text, Broken before it."""
        raise Ends if self.at >= self.end else Broken
