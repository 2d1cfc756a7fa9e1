"""What a local variable is made from: a function's text, a variable and where it is used in, expressions out.

Assignments and declarations are followed back through the variables in them. A declaration hides those of outer blocks,
as the language has it; what a container is searched with (`table->find(key)`) says nothing of where the value lies, so
it is not followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from tracer.index.cpp_macros import closing, mask

_WORD = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
_LOOK_UP = re.compile(r"(?:\.|->)\s*(?:find|at|count|contains)\s*\(|(?<=\w)\s*\[")
#: what stands before a variable that is declared: a type, after the end of something else
_TYPE_BEFORE = re.compile(
    r"[;{}()]\s*(?!(?:return|else|case|throw|new|delete|goto)\b)[\w:]+(?:\s*<[^;{}]*>)?[\s*&\w]*\Z"
)
_LIMIT = 60


class _Definition(msgspec.Struct, frozen=True):
    """One place that gives a variable a value: its offset, the value's text, whether it declares the variable."""

    at: int
    value: str
    declares: bool


def origins(text: str, name: str, at: int) -> tuple[str, ...]:
    """The expressions that a variable's value can come from.

    Args:
        text: a function as it stands in its file, comments blanked.
        name: the variable.
        at: offset of its use in `text`.

    Returns:
        The right-hand sides, nearest first; empty when the text gives the variable no value.
    """
    masked = mask(text, strings=True)
    blocks = _blocks(masked)
    found: dict[int, str] = {}
    uses = [(name, at)]
    seen: set[tuple[str, int]] = set()
    while uses and len(seen) < _LIMIT:
        word, place = uses.pop(0)
        for definition in _reaching(text, masked, blocks, word, place):
            if definition.at not in found:
                found[definition.at] = definition.value
                for inner in _words(definition.value):
                    if (inner, definition.at) not in seen:
                        seen.add((inner, definition.at))
                        uses.append((inner, definition.at))
    return tuple(found.values())


def _reaching(text: str, masked: str, blocks: list[tuple[int, int]], word: str, place: int) -> Iterator[_Definition]:
    """The definitions of a variable that a use can see."""
    before = [d for d in _definitions(text, masked, word) if d.at < place]
    visible = [d for d in before if (block := _around(blocks, d.at)) is None or _inside(block, place)]
    declared = max((d.at for d in visible if d.declares), default=-1)
    for definition in before:
        if definition.at == declared or (definition.at > declared and not definition.declares):
            yield definition


def _definitions(text: str, masked: str, word: str) -> list[_Definition]:
    found = []
    for m in re.finditer(rf"(?<![\w.])(?<!->){re.escape(word)}\s*(=(?!=)|[({{])", masked):
        declares = _TYPE_BEFORE.search(masked[max(0, m.start() - 200) : m.start()]) is not None
        if m.group(1) == "=":
            found.append(_Definition(m.start(), text[m.end() : _end(masked, m.end())], declares))
        elif declares and (end := closing(masked, m.end() - 1)) > 0:
            found.append(_Definition(m.start(), text[m.end() : end], True))
    bound = re.finditer(rf"\[[^\[\]=;]*\b{re.escape(word)}\b[^\[\]=;]*\]\s*=(?!=)", masked)
    found += [_Definition(m.start(), text[m.end() : _end(masked, m.end())], True) for m in bound]
    return sorted(found, key=lambda d: d.at)


def _end(masked: str, start: int) -> int:
    """Where the expression that begins at an offset ends: at a `;`, or a bracket that it did not open."""
    depth = 0
    for m in re.compile(r"[()\[\]{};]").finditer(masked, start):
        c = m.group()
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        if depth < 0 or (c == ";" and depth == 0):
            return m.start()
    return len(masked)


def _blocks(masked: str) -> list[tuple[int, int]]:
    """The start and end of every `{...}`."""
    found = []
    opened: list[int] = []
    for m in re.finditer(r"[{}]", masked):
        if m.group() == "{":
            opened.append(m.start())
        elif opened:
            found.append((opened.pop(), m.start()))
    return found


def _around(blocks: list[tuple[int, int]], at: int) -> tuple[int, int] | None:
    """The innermost block around an offset."""
    return max((block for block in blocks if _inside(block, at)), default=None)


def _inside(block: tuple[int, int], at: int) -> bool:
    return block[0] < at < block[1]


def _words(value: str) -> list[str]:
    """The variables in an expression, without what a container is searched with."""
    masked = mask(value, strings=True)
    while (m := _LOOK_UP.search(masked)) is not None:
        end = closing(masked, m.end() - 1)
        end = len(masked) if end < 0 else end + 1
        masked = masked[: m.start()] + " " * (end - m.start()) + masked[end:]
    return list(dict.fromkeys(_WORD.findall(masked)))
