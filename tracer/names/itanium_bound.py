"""Whether a symbol's demangled text stays within a limit: a symbol and the limit in, a proof (or none) out.

A demangler's output can be exponential in its input: a substitution may stand for text that holds substitutions, and
the pattern of a pack expansion is printed once for every element. There are three ways to a bound, cheapest first: the
letters and references counted, the most common constructs in one loop, and the walk that knows nearly all of them.
"""

from __future__ import annotations

import re
import sys

from tracer.names import itanium_scan
from tracer.names import itanium_tokens as tokens
from tracer.names.itanium_tokens import AROUND, BUILTIN, NAME, Broken, Ends

#: a letter prints at most so many characters: `Ss` before a constructor is written out, 75 for two letters
_LETTER = 40
#: what prints something again: references to candidates and to template parameters, constructors and destructors, and
#: what prints something for every element of a pack
_AGAIN = re.compile("[ST][0-9A-Z]*_|[CD][0-9I]|Dp|s[pPZ]|f[lLrR]")
_FOR_EACH = frozenset(("Dp", "sp", "sP", "sZ", "fl", "fL", "fr", "fR"))
#: longer symbols have too many references for `at_worst` to prove anything
_SHORT = 256
_DIGITS = tokens.DIGIT
_TWO_DIGITS = tokens.TWO_DIGITS
_NUMBERS = tokens.ONE_DIGIT
#: a list of numbers as a type, `Sequence<8, 32, 1>`, of which CK's symbols are full
_NUMBER_LIST = re.compile("NS([0-9A-Z]?)_IJ((?:L[a-z]n?[0-9]+E)*)EEE")
#: the elements of a pack
_EXPANDED = re.compile("DpT[0-9]?_(?!I)")
#: what `K` before it does not qualify alone, or not at all
_WITH_K = frozenset("DFKVr")
_BUILTINS = frozenset("abcdefghijlmnostvwxyz")
#: what the loop stands in: the function's name, `N...E` that is a type, parameters, `I...E`, `J...E`, `L...E`
_OWNER, _NESTED, _PARAMETERS, _TEMPLATE, _PACK, _LITERAL = range(6)
_LISTS = frozenset((_TEMPLATE, _PACK))


def within(symbol: str, limit: int) -> bool:
    """Whether the demangled text of `symbol` has at most `limit` characters, whatever the symbol is."""
    if not symbol.isascii():  # lengths count bytes
        return 4 * at_worst(symbol) <= limit
    if len(symbol) <= _SHORT and at_worst(symbol) <= limit:
        return True
    try:
        return size_of_common(symbol) <= limit
    except (Broken, Ends, IndexError, KeyError):
        found = itanium_scan.scan(symbol, limit)
    if found.size > limit or found.state != "broken":
        return found.size <= limit
    return at_worst(symbol, found.at, found.size) <= limit


def at_worst(symbol: str, at: int = 0, before: int = 0) -> int:
    """How long the text of a symbol can be at most, when the part before `at` counts for `before`.

    A symbol is a tree of letters, and every reference leads to one of its branches once more. So a letter is printed
    once for every set of references that a way to it can take, in the only order in which they can follow each other:
    2 ** references times, and at each expansion of a pack once for every element. References of a conversion
    operator's type to its own template arguments (`cv`) go forward, so there any order counts.
    """
    found = _AGAIN.findall(symbol, at)
    size = before + _LETTER * (len(symbol) - at)
    if not found:
        return size
    again = len(found)
    if again > 40:
        return sys.maxsize
    for_each = sum(token in _FOR_EACH for token in found)
    ways = int((again + 1) ** (again + 1)) if symbol.find("cv", at) >= 0 else 1 << again
    return size * ways * int(len(symbol) ** for_each)


def size_of_common(symbol: str) -> int:
    """What `itanium_walk.Walk` counts for a symbol, in a third of the time, of the constructs of most kernel symbols.

    They are: a nested name of the function; as arguments and parameters nested and plain names, templates, packs,
    literals, substitutions, letters, pointers and constants to these. A test holds it against the walk.

    Raises:
        Broken, Ends, IndexError, KeyError: there is something else in the symbol, or it breaks off.
    """
    if not symbol.startswith("_ZN"):
        raise Broken
    at, end = 3, len(symbol)
    kind, size, extra, pending = _OWNER, 0, 0, 0
    outer: list[tuple[int, int, int, int]] = []
    candidates: list[int] = []
    largest, packed = BUILTIN, 1
    while at < end:
        c = symbol[at]
        if kind <= _NESTED:
            if c in _DIGITS:
                length = _TWO_DIGITS.get(symbol[at : at + 2])
                if length is None:
                    length = int(c)
                    at -= 1
                at += 2 + length
                size += length + NAME
                candidates.append(size)
                continue
            if c == "S" and not size:
                number = 0
                if symbol[at + 1] == "_":
                    at += 2
                elif symbol[at + 2] == "_":
                    number = _NUMBERS[symbol[at + 1]]
                    at += 3
                else:
                    number, at = tokens.sequence(symbol, at)
                size = candidates[number] if number >= 0 else tokens.STD_SIZES[number]
                if symbol[at] == "E":
                    raise Broken
                continue
            if c == "T" and not size:
                at = tokens.parameter(symbol, at)
                size = largest
                candidates.append(size)
                continue
            if c == "I" and size:
                at += 1
                outer.append((kind, size, extra, pending))
                kind, size, extra, pending = _TEMPLATE, 0, 0, 0
                continue
            if c != "E" or not size:
                raise Broken
            at += 1
            if kind == _OWNER:
                candidates.pop()
                kind = _PARAMETERS
                continue
            item = size
            kind, size, extra, pending = outer.pop()
        elif c == "L":
            m = tokens.LITERALS.match(symbol, at)
            if kind not in _LISTS or (m is None and symbol[at + 1] != "N"):
                raise Broken
            if m is None:
                at += 1
                outer.append((kind, size, extra, pending))
                kind, size, extra, pending = _LITERAL, 0, 0, 0
                continue
            item = 6 * (m.end() - at)
            if kind == _PACK:
                extra += (m.end() - at) >> 2
            at = m.end()
        elif c == "S" or c in _DIGITS:
            number = 0
            if c == "S":
                if symbol[at + 1] == "_":
                    at += 2
                elif symbol[at + 2] == "_":
                    number = _NUMBERS[symbol[at + 1]]
                    at += 3
                else:
                    number, at = tokens.sequence(symbol, at)
                item = candidates[number] if number >= 0 else tokens.STD_SIZES[number]
            if number == tokens.STD or c != "S":
                start, at = tokens.identifier(symbol, at)
                item = at - start + NAME
                candidates.append(item)
            if symbol.startswith("I", at):
                at += 1
                outer.append((kind, size, extra, pending))
                kind, size, extra, pending = _TEMPLATE, 0, item, 0
                continue
        elif c == "E":
            at += 1
            item = size
            if kind == _TEMPLATE:
                item += extra + 2
                kind, size, extra, pending = outer.pop()
                if kind <= _NESTED:
                    size += item
                    candidates.append(size)
                    continue
                candidates.append(item)
            elif kind == _PACK:
                packed = max(packed, extra)
                kind, size, extra, pending = outer.pop()
            else:
                raise Broken
        elif c in _BUILTINS:
            at += 1
            item = BUILTIN
        elif c == "N":
            m = _NUMBER_LIST.match(symbol, at)
            if m is None:
                at += 1
                outer.append((kind, size, extra, pending))
                kind, size, extra, pending = _NESTED, 0, 0, 0
                continue
            at = m.end()
            of, literals = m.groups()
            item = 6 * len(literals) + 2 if literals else 0
            if item > largest:
                largest = item
            if len(literals) >> 2 >= packed:
                packed = (len(literals) >> 2) + 1
            item += candidates[_NUMBERS[of] if of else 0] + 4
            candidates.append(item)
        elif c == "J" and kind in _LISTS:
            at += 1
            outer.append((kind, size, extra, pending))
            kind, size, extra, pending = _PACK, 0, 0, 0
            continue
        elif c == "T":
            at = tokens.parameter(symbol, at)
            if symbol.startswith("I", at):
                raise Broken
            item = largest
            candidates.append(item)
        elif c == "D":
            m = tokens.D_BUILTIN.match(symbol, at)
            item = BUILTIN
            if m is None:
                m = _EXPANDED.match(symbol, at)
                if m is None or pending:
                    raise Broken
                candidates.append(largest)
                item = (largest + 2) * packed + AROUND
                candidates.append(item)
            at = m.end()
        elif c == "P" or c == "R" or (c == "K" and symbol[at + 1] not in _WITH_K):
            at += 1
            pending += 1
            continue
        else:
            raise Broken
        while True:
            while pending:
                pending -= 1
                item += AROUND
                candidates.append(item)
            size += item + 2
            if kind != _LITERAL:
                break
            m = tokens.VALUE.match(symbol, at)
            if m is None:
                raise Broken
            item = size + m.end() - at + AROUND
            at = m.end()
            kind, size, extra, pending = outer.pop()
        if kind in _LISTS:
            if item > largest:
                largest = item
            extra += kind == _PACK
    if kind != _PARAMETERS or outer:
        raise Ends
    return size
