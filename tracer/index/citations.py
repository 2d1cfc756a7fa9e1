"""Citations checked before they are given: a file, a line and what must stand there in, a `SourceRef` or None out.

The index says where something stood when the file was read; here the file is read again, so that no answer cites a line
that has changed since.
"""

from __future__ import annotations

import re

from tracer.aiter.tree import AiterTree
from tracer.model.source import SourceRef

#: a declaration may name itself this many lines below its first (macros, templates, long return types)
_REACH = 12


class Citations:
    """Checks citations against one tree, reading each file once an answer."""

    def __init__(self, tree: AiterTree) -> None:
        """Starts with no file read."""
        self.tree = tree
        self._lines: dict[str, list[str] | None] = {}

    def lines(self, file: str) -> list[str] | None:
        """The lines of a file as they stand now; None when it cannot be read."""
        if file not in self._lines:
            try:
                text = self.tree.absolute(file).read_text(encoding="utf-8", errors="replace")
                self._lines[file] = text.split("\n")
            except OSError:
                self._lines[file] = None
        return self._lines[file]

    def line_of(self, file: str, pattern: str, start: int = 1) -> int | None:
        """The first line from `start` on that a regular expression fits."""
        lines = self.lines(file) or []
        wanted = re.compile(pattern)
        return next((i + 1 for i in range(start - 1, len(lines)) if wanted.search(lines[i])), None)

    def ref(self, file: str, line: int, token: str = "", last: int | None = None) -> SourceRef | None:
        """A citation of a line that holds `token` as a word, at `line` or a few lines below; None when it is not there.

        Args:
            file: the file.
            line: where it stood.
            token: what must stand there; "" when any line will do.
            last: last line of the cited range.
        """
        lines = self.lines(file)
        if lines is None or not 1 <= line <= len(lines):
            return None
        if token:
            wanted = re.compile(rf"(?<!\w){re.escape(token)}(?!\w)")
            upto = min(len(lines), line + _REACH)
            found = next((i for i in range(line - 1, upto) if wanted.search(lines[i])), None)
            if found is None:
                return None
            line = found + 1
        end = last if last is not None and last > line else None
        return self.tree.ref(file, line, end)

    def file(self, file: str) -> SourceRef | None:
        """A citation of a whole file (a code object); None when it is not there."""
        return self.tree.ref(file) if self.tree.absolute(file).is_file() else None
