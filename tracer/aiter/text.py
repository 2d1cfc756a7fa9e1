"""Lines of source files: a path and a piece of text in, the line where that text stands out.

Every citation that `tracer.aiter` makes is found here at run time, in the text of the file that is cited.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path

from tracer.errors import SourceTreeError


@lru_cache(maxsize=512)
def _read(path: str, stamp: tuple[int, int]) -> str:
    del stamp  # part of the cache's key: a file that changed is read again
    return Path(path).read_text(encoding="utf-8", errors="replace")


def read(path: Path) -> str:
    """The text of a file; read once as long as it does not change.

    Raises:
        SourceTreeError: the file can't be read.
    """
    try:
        status = path.stat()
        return _read(str(path), (status.st_mtime_ns, status.st_size))
    except OSError as error:
        raise SourceTreeError(
            f"{path} can't be read: {error.strerror or error}",
            expected="a file of aiter's tree",
            hint="check that the tree is complete",
        ) from None


@lru_cache(maxsize=512)
def _split(text: str) -> tuple[str, ...]:
    return tuple(text.splitlines())


def lines(path: Path) -> tuple[str, ...]:
    """The lines of a file, without their ends. Raises SourceTreeError when it can't be read."""
    return _split(read(path))


def find_line(path: Path, pattern: str, *, start: int = 1, end: int | None = None) -> int | None:
    """The first line that a regular expression matches.

    Args:
        path: the file.
        pattern: searched in one line at a time, so `^` and `$` are a line's ends.
        start: 1-based line to begin at.
        end: last line to look at, or None for all.

    Returns:
        The 1-based line, or None when no line matches or the file is not there.
    """
    if not path.is_file():
        return None
    wanted = re.compile(pattern)
    for number, line in enumerate(lines(path)[start - 1 : end], start):
        if wanted.search(line):
            return number
    return None


def block_end(path: Path, line: int) -> int | None:
    """The line of the brace that closes the first block opened at or after `line`; None when none does."""
    text = blank_comments(read(path))
    offset = len("".join(text.splitlines(keepends=True)[: line - 1]))
    opening = text.find("{", offset)
    if opening < 0:
        return None
    close = _matching(text, opening)
    return None if close is None else text.count("\n", 0, close) + 1


def _matching(text: str, opening: int) -> int | None:
    pairs = {"(": ")", "{": "}", "[": "]"}
    closing, depth, start = pairs[text[opening]], 0, text[opening]
    for found in re.compile(r"[(){}\[\]]").finditer(text, opening):
        if found.group() == start:
            depth += 1
        elif found.group() == closing:
            depth -= 1
            if depth == 0:
                return found.start()
    return None


_NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


@lru_cache(maxsize=256)
def blank_comments(text: str) -> str:
    """C++ text with comments and string contents blanked, line for line and column for column."""

    def blank(found: re.Match[str]) -> str:
        piece = found.group()
        if piece.startswith('"'):
            return '"' + " " * (len(piece) - 2) + '"'
        return re.sub(r"[^\n]", " ", piece)

    return _NOISE.sub(blank, text)


@lru_cache(maxsize=64)
def _parse(text: str, name: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise SourceTreeError(
            f"{name} is no Python that this interpreter reads: line {error.lineno}: {error.msg}",
            hint="check the tree, or run ktrace with a newer Python",
        ) from None


def python_module(path: Path) -> ast.Module:
    """The syntax tree of a Python file. Raises SourceTreeError when it can't be read or parsed."""
    return _parse(read(path), str(path))


def python_function(path: Path, name: str) -> ast.FunctionDef | None:
    """The first function of this name in a Python file, at any depth; None when there is none."""
    for node in ast.walk(python_module(path)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    return None
