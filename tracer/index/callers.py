"""Which functions can lead to another, by words alone: a function's name in, the names of all that can reach it out.

Far cheaper than following the calls of every function to see where they end, and it never leaves one out: a text that
leads to a function holds its name, or pastes it together (`##`), or holds the name of what does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from tracer.index.cpp_macros import read_macros
from tracer.index.tree_index import TreeIndex

#: with more names than this, nearly everything is reached
_LIMIT = 100
_WORD = re.compile(rb"\w")
_PASTES = re.compile(rb"\w\s*##\s*\w")
_PASTED = re.compile(r"\w+(?:\s*##\s*\w+)+")
_DEFINE = re.compile(rb"[ \t]*#[ \t]*define[ \t]+(\w+)")


def callers(index: TreeIndex, name: str, files: Collection[str]) -> frozenset[str] | None:
    """The unqualified names of the functions, macros and types of some files that can lead to a function.

    Args:
        index: the index.
        name: the function's unqualified name; among the answers itself.
        files: the C++ files to look at.

    Returns:
        The names; None when they are so many that they tell nothing.
    """
    pasting = [pair for file in files if _PASTES.search(index.data(file)) for pair in _pasting(index, file)]
    found, queue = {name}, [name]
    while queue:
        word = queue.pop()
        mentioning = {macro for macro, pattern in pasting if pattern.fullmatch(word)}
        for file in index.holding(files, word):
            mentioning.update(_around(index, file, word))
        queue += mentioning - found
        found |= mentioning
        if len(found) > _LIMIT:
            return None
    return frozenset(found)


def _pasting(index: TreeIndex, file: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The macros of a file that paste names together, each with what such a name looks like."""
    for macro in read_macros("\n".join(index.code_lines(file))):
        for pasted in _PASTED.findall(macro.body):
            words = re.split(r"\s*##\s*", pasted)
            yield macro.name, re.compile("".join(r"\w*" if w in (macro.parameters or ()) else w for w in words))


def _around(index: TreeIndex, file: str, word: str) -> Iterator[str]:
    """The functions, macros and aliases in whose lines a word of a file stands."""
    facts = index.cpp(file)
    if facts is None:
        return
    spans = [(f.first, f.last, f.leaf) for f in facts.functions if f.kind != "fragment"]
    spans += [(alias.line, alias.last, alias.name.rpartition("::")[2]) for alias in facts.types if alias.target]
    data = index.data(file)
    for line in _lines_of(data, word):
        inside = [name for first, last, name in spans if first <= line <= last]
        yield from inside or _defined(data, line)


def _lines_of(data: bytes, word: str) -> Iterator[int]:
    """The lines, counted from 1, on which a word stands."""
    plain = word.encode()
    line, counted, at = 1, 0, data.find(plain)
    while at >= 0:
        end = at + len(plain)
        if not (at and _WORD.match(data, at - 1)) and not _WORD.match(data, end):
            line += data.count(b"\n", counted, at)
            counted = at
            yield line
        at = data.find(plain, end)


def _defined(data: bytes, line: int) -> Iterable[str]:
    """The macro whose `#define` a line belongs to."""
    lines = data.split(b"\n")
    first = line - 1
    while first and lines[first - 1].rstrip().endswith(b"\\"):
        first -= 1
    m = _DEFINE.match(lines[first])
    return (m.group(1).decode("latin-1"),) if m is not None else ()
