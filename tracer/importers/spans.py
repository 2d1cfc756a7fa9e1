"""Spans of time on CPU threads (operators, Python functions): stored in columns, spilled to disk past a limit.

Spans come in long before the launches that decide which of them matter, so all are kept for a while: in memory, and
beyond a limit in a temporary file (32 bytes each) that has no name and vanishes with the process.
"""

from __future__ import annotations

import tempfile
import weakref
from array import array
from collections.abc import Iterator, Sequence
from typing import IO, Any

import msgspec

#: spans held in memory, where they take some 80 bytes each, before they go to the temporary file
HELD_SPANS = 1 << 17

_COLUMNS = "ddqq"
_NO_EXTRA = array("q", [0])


class Block(msgspec.Struct, frozen=True, gc=False):
    """Some spans of one thread.

    Attributes:
        thread: the thread's number.
        start, end: microseconds; `start` ascends.
        name: the name's number.
        extra: one more id (an operator's external id).
    """

    thread: int
    start: Sequence[float]
    end: Sequence[float]
    name: Sequence[int]
    extra: Sequence[int]

    def __len__(self) -> int:
        return len(self.start)


class SpanStore:
    """Spans of all threads, in the order in which they came.

    Attributes:
        count: how many were added.
        unspillable: whether nothing can be written to the temporary folder (then all stays in memory).
    """

    def __init__(self, held: int | None = None) -> None:
        """Args: how many spans are held in memory."""
        self._held_limit = HELD_SPANS if held is None else held
        self._held: list[Block] = []
        self._held_count = 0
        self._file: IO[bytes] | None = None
        self._spilled: list[tuple[int, int]] = []
        self.count = 0
        self.unspillable = False

    def __len__(self) -> int:
        return self.count

    def add(
        self, thread: int, start: list[float], end: list[float], name: list[int], extra: Sequence[int] | None = None
    ) -> None:
        """Adds spans of one thread; sorts them by start where they are not."""
        if not start:
            return
        if start != sorted(start):
            order = sorted(range(len(start)), key=start.__getitem__)
            start, end = [start[i] for i in order], [end[i] for i in order]
            name, extra = [name[i] for i in order], None if extra is None else [extra[i] for i in order]
        block = Block(thread, start, end, name, _NO_EXTRA * len(start) if extra is None else extra)
        self._held.append(block)
        self._held_count += len(block)
        self.count += len(block)
        if self._held_count > self._held_limit and not self.unspillable:
            self._spill()

    def _spill(self) -> None:
        written = 0
        try:
            if self._file is None:
                # unbuffered, so that a full disk is seen here
                self._file = tempfile.TemporaryFile(prefix="ktrace-spans-", buffering=0)  # noqa: SIM115
                weakref.finalize(self, self._file.close)
            for block in self._held:
                for code, column in zip(_COLUMNS, (block.start, block.end, block.name, block.extra), strict=True):
                    array(code, column).tofile(self._file)
                self._spilled.append((block.thread, len(block)))
                written += 1
        except OSError:
            self.unspillable = True
        self._held_count -= sum(len(block) for block in self._held[:written])
        del self._held[:written]

    def release(self) -> None:
        """Lets the spans go; `count` stays."""
        self._held.clear()
        self._spilled.clear()
        self._held_count = 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def blocks(self) -> Iterator[Block]:
        """All spans, in the order in which they came."""
        if self._file is not None:
            self._file.seek(0)
            for thread, count in self._spilled:
                columns = []
                for code in _COLUMNS:
                    column: array[Any] = array(code)
                    column.fromfile(self._file, count)
                    columns.append(column)
                yield Block(thread, *columns)
        yield from self._held
