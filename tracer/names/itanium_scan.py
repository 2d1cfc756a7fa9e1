"""A look over a mangled symbol: a symbol in, the size of its text and, where it breaks off, a mended one out.

A demangler's output can be exponential in its input, because a substitution may stand for text that holds
substitutions; and it recurses without a limit. This scanner follows the grammar of names, types and template arguments
(https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling), counts instead of printing, and stops at a depth.
Expressions it does not follow, except literals and addresses.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from tracer.names.itanium_cursor import Broken, Cursor, Ends

MAX_DEPTH = 100
#: an identifier that no program has: it marks the place of the cut in a mended symbol
MARK = "KTRACE_CUT_HERE"
_MARK_ARGUMENT = f"{len(MARK)}{MARK}"

_NUMBER = re.compile(r"[0-9]+")
_LITERAL = re.compile(r"L[a-z]n?[0-9]+E")
_SEQUENCE = re.compile(r"S([0-9A-Z]{0,9})_")
_PARAMETER = re.compile(r"T(?:L?[0-9]*_)?[0-9]*_")
_VENDOR = re.compile(r"D(?:F[0-9]+[b_x]?|[BU][0-9]+_)_?")
_SPECIAL_STD = frozenset("tabsiod")
_BUILTIN = frozenset("vwbcahstijlmxynofdegz")
_D_BUILTIN = frozenset("nhfdeisuac")
_QUALIFIERS = frozenset("PROCGKVr")


class Scan(msgspec.Struct, frozen=True):
    """What a look over a symbol found.

    Attributes:
        state: "whole", "cut" (the text ends inside a construct) or "broken" (something that the scanner does not
            follow).
        size: about how many characters the demangled text has; a lower bound for a broken symbol.
        at: the offset up to which the symbol was followed.
        mended: for a cut symbol, a whole one with the same beginning and, in place of what is missing, a last template
            argument named MARK; None when not even the first template argument is there.
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
    """Looks over `symbol` until its demangled text would be longer than `limit` characters."""
    start = symbol.find("_Z")
    scanner = _Scanner(symbol, start + 2, limit)
    try:
        scanner.encoding(0)
        state: Literal["whole", "cut", "broken"] = "whole"
    except Ends:
        state = "cut"
    except Broken:
        state = "broken"
    mended = None
    if state == "cut" and scanner.safe is not None:
        at, closers = scanner.safe
        mended = symbol[start:at] + _MARK_ARGUMENT + closers
    return Scan(state, scanner.size, scanner.pos, mended, "::".join(scanner.head), scanner.named)


class _Scanner(Cursor):
    """Follows a symbol; sizes are characters of demangled text."""

    def encoding(self, depth: int) -> int:
        """`name parameter-types`, up to the end or an `E` that belongs to who asked."""
        if depth > MAX_DEPTH:
            raise Broken
        size = self.name(depth + 1, function=True)
        self.named = self.named or depth == 0
        while self.pos < len(self.text) and self.text[self.pos] not in "E.@":
            size += 2 + self.type(depth + 1)
        self.size = max(self.size, size)
        return size

    def name(self, depth: int, function: bool = False) -> int:
        if depth > MAX_DEPTH:
            raise Broken
        c = self._peek()
        if c == "N":
            return self._nested(depth, function)
        if c == "Z":
            return self._local(depth)
        if c == "S" and self.text[self.pos + 1 : self.pos + 2] != "t":
            size = self._substitution()
        else:
            if c == "S":
                self.pos += 2
            size = self._unqualified(depth, function and not self.head)
            if self._at("I") or not function:
                self._add(size)
        if self._at("I"):
            size += self._template_arguments(depth)
            if not function:
                self._add(size)
        return size

    def _nested(self, depth: int, function: bool) -> int:
        self.pos += 1
        while self._peek() in "KVrRO":
            self.pos += 1
        self.open.append("E")
        first = function and not self.head
        size = 0
        last_is_substitution = True
        while True:
            c = self._peek()
            if c == "E":
                self.pos += 1
                break
            if c == "S" and self.text[self.pos + 1 : self.pos + 2] != "t":
                size = self._substitution()
                last_is_substitution = True
                continue
            if c == "S":
                self.pos += 2
                size = 3
                continue
            if c == "I":
                size += self._template_arguments(depth)
            elif c == "T":
                size += self._parameter()
            elif c == "M":
                self.pos += 1
                continue
            elif c == "D" and self.text[self.pos + 1 : self.pos + 2] in ("t", "T"):
                raise Broken
            else:
                size += 2 + self._unqualified(depth, first)
            self._add(size)
            last_is_substitution = False
        self.open.pop()
        if function and not last_is_substitution and self.candidates:
            self.candidates.pop()
        return size

    def _local(self, depth: int) -> int:
        self.pos += 1
        kept, self.safe = self.safe, None
        open_before, self.open = self.open, []
        size = self.encoding(depth + 1)
        if self._peek() != "E":
            raise Broken
        self.pos += 1
        self.safe, self.open = kept, open_before
        c = self._peek()
        if c == "s":
            self.pos += 1
        elif c == "d":
            self.pos += 1
            self._digits_to_underscore()
            size += self.name(depth + 1, function=True)
        else:
            size += self.name(depth + 1, function=True)
        if self._at("_"):
            self._digits_to_underscore()
        self._add(size)
        self.candidates.pop()
        return size

    def _digits_to_underscore(self) -> None:
        m = re.compile(r"_?[0-9]*_?").match(self.text, self.pos)
        if m is not None:
            self.pos = m.end()

    def _unqualified(self, depth: int, keep: bool) -> int:
        c = self._peek()
        if c == "L":
            self.pos += 1
            c = self._peek()
        m = _NUMBER.match(self.text, self.pos)
        if m is not None:
            length = int(m.group()) if len(m.group()) < 7 else self.limit
            self.pos = m.end() + length
            if keep:
                self.head.append(self.text[m.end() : self.pos])
            if self.pos > len(self.text):
                self.pos = m.start()
                raise Ends
            while self._at("B"):
                self.pos += 1
                length += 7 + self._unqualified(depth, False)
            return length
        if c == "U" and self.text[self.pos + 1 : self.pos + 2] in ("l", "t"):
            size = 12
            lambda_ = self.text[self.pos + 1] == "l"
            self.pos += 2
            if lambda_:
                while self._peek() != "E":
                    size += 2 + self.type(depth + 1)
                self.pos += 1
            self._digits_to_underscore()
            return size
        if c in "CD" and self.text[self.pos + 1 : self.pos + 2].isdigit():
            self.pos += 2
            return 20
        if c.islower() and self.text[self.pos + 1 : self.pos + 2].isalpha():
            operator = self.text[self.pos : self.pos + 2]
            self.pos += 2
            return 10 + (self.type(depth + 1) if operator == "cv" else 0)
        raise Broken

    def _substitution(self) -> int:
        m = _SEQUENCE.match(self.text, self.pos)
        if m is not None:
            self.pos = m.end()
            index = int(m.group(1), 36) + 1 if m.group(1) else 0
            if index >= len(self.candidates):
                raise Broken
            return self.candidates[index]
        if self.pos + 1 >= len(self.text) or "_" not in self.text[self.pos :]:
            if self.text[self.pos + 1 : self.pos + 2] in _SPECIAL_STD:
                self.pos += 2
                return 15
            raise Ends
        if self.text[self.pos + 1] in _SPECIAL_STD:
            self.pos += 2
            return 15
        raise Broken

    def _parameter(self) -> int:
        m = _PARAMETER.match(self.text, self.pos)
        if m is None:
            if len(self.text) - self.pos < 4:
                raise Ends
            raise Broken
        self.pos = m.end()
        return self.largest_argument

    def _template_arguments(self, depth: int) -> int:
        size = 2 + self._arguments(depth)
        self.largest_argument = max(self.largest_argument, size)
        return size

    def _arguments(self, depth: int) -> int:
        """`I arguments E` or `J arguments E`."""
        if depth > MAX_DEPTH:
            raise Broken
        self.pos += 1
        self.open.append("E")
        size = 0
        self._mark()
        while self._peek() != "E":
            size += 2 + self._argument(depth + 1)
            self._mark()
        self.pos += 1
        self.open.pop()
        return size

    def _mark(self) -> None:
        """Here a whole argument may follow: the symbol can be mended from here."""
        self.safe = (self.pos, "".join(self.open))

    def _argument(self, depth: int) -> int:
        m = _LITERAL.match(self.text, self.pos)
        if m is not None:
            self.pos = m.end()
            return m.end() - m.start()
        c = self._peek()
        if c == "J":
            return self._arguments(depth)
        if c == "L":
            return self._literal(depth)
        if c == "X":
            self.pos += 1
            if self.text.startswith("ad", self.pos):
                self.pos += 2
            size = self._literal(depth)
            if self._peek() != "E":
                raise Broken
            self.pos += 1
            return size
        if c == "T" and self.text[self.pos + 1 : self.pos + 2] == "n":
            self.pos += 2
            self.type(depth)
            return self._argument(depth + 1)
        return self.type(depth)

    def _literal(self, depth: int) -> int:
        if self._peek() != "L":
            raise Broken
        self.pos += 1
        if self.text.startswith("_Z", self.pos):
            self.pos += 2
            kept, self.safe = self.safe, None
            open_before, self.open = self.open, []
            size = self.encoding(depth + 1)
            self.safe, self.open = kept, open_before
        else:
            size = self.type(depth + 1)
            end = self.text.find("E", self.pos)
            if end < 0:
                raise Ends
            size += end - self.pos
            self.pos = end
        if self._peek() != "E":
            raise Broken
        self.pos += 1
        return size

    def type(self, depth: int) -> int:
        """A type. Compound types are substitution candidates; builtin ones and substitutions are not."""
        if depth > MAX_DEPTH:
            raise Broken
        c = self._peek()
        if c in _BUILTIN:
            self.pos += 1
            return 13
        if c in _QUALIFIERS:
            start = self.pos
            while self._peek() in _QUALIFIERS:
                self.pos += 1
            size = self.type(depth + 1)
            # cv-qualifiers that stand together make one candidate, every other qualifier its own
            for group in re.findall(r"[KVr]+|.", self.text[start : self.pos])[: self.pos - start]:
                if group[0] not in "PROCGKVr":
                    break
                size += 8
                self._add(size)
            return size
        if c == "D":
            return self._d_type(depth)
        if c == "T":
            size = self._parameter()
            self._add(size)
            if self._at("I"):
                size += self._template_arguments(depth)
                self._add(size)
            return size
        if c == "F":
            self.pos += 1
            self.open.append("E")
            size = 4
            while self._peek() != "E":
                size += 2 + self.type(depth + 1)
            self.pos += 1
            self.open.pop()
            self._add(size)
            return size
        if c == "A":
            end = self.text.find("_", self.pos)
            if end < 0:
                raise Ends
            self.pos = end + 1
            size = 8 + self.type(depth + 1)
            self._add(size)
            return size
        if c == "M":
            self.pos += 1
            size = 4 + self.type(depth + 1) + self.type(depth + 1)
            self._add(size)
            return size
        if c == "u":
            self.pos += 1
            size = self._unqualified(depth, False)
            self._add(size)
            return size
        return self.name(depth + 1)

    def _d_type(self, depth: int) -> int:
        if self.pos + 1 >= len(self.text):
            raise Ends
        following = self.text[self.pos + 1]
        if following in _D_BUILTIN:
            self.pos += 2
            return 17
        m = _VENDOR.match(self.text, self.pos)
        if m is not None:
            self.pos = m.end()
            return 16
        if following == "p":
            self.pos += 2
            size = self.type(depth + 1)
        elif following == "v":
            end = self.text.find("_", self.pos)
            if end < 0:
                raise Ends
            self.pos = end + 1
            size = 12 + self.type(depth + 1)
        else:
            raise Broken
        self._add(size)
        return size
