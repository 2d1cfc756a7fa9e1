"""Spans of time on CPU threads (operators, Python functions): stored in columns, spilled to disk past a limit.

Spans come in long before the launches that decide which of them matter, so all are kept for a while: in memory, and
beyond a limit in a temporary file (32 bytes each) that has no name and vanishes with the process.
"""

from __future__ import annotations

import tempfile
import weakref
from array import array
from collections.abc import Iterator
from typing import IO, Any

import msgspec

#: spans held in memory, where they take some 32 bytes each, before they go to the temporary file
HELD_SPANS = 1 << 17
#: a block to which no more spans are added, so that it seldom has to be moved as it grows
FULL_BLOCK = 1 << 11

#: the index of no span
NONE = -1

_COLUMNS = "ddqq"
_ZERO = array("q", [0])


class Block(msgspec.Struct, frozen=True, gc=False):
    """Some spans of one thread.

    Attributes:
        thread: the thread's number.
        start, end: microseconds; `start` ascends.
        name: the name's number.
        extra: one more id (an operator's external id); empty where no span has one, which counts as 0.
    """

    thread: int
    start: array[float]
    end: array[float]
    name: array[int]
    extra: array[int]

    def __len__(self) -> int:
        return len(self.start)

    def extra_of(self, row: int) -> int:
        """The extra id of one span."""
        return self.extra[row] if self.extra else 0

    def takes(self, other: Block) -> bool:
        """Whether the spans of another block may stand behind these."""
        alike = other.thread == self.thread and bool(other.extra) == bool(self.extra)
        return alike and other.start[0] >= self.start[-1] and len(self) < FULL_BLOCK

    def extend(self, other: Block) -> None:
        """Adds the spans of another block."""
        self.start.extend(other.start)
        self.end.extend(other.end)
        self.name.extend(other.name)
        self.extra.extend(other.extra)

    def sorted(self) -> Block:
        """The same spans by start."""
        rows = sorted(range(len(self)), key=self.start.__getitem__)
        columns = [array(own.typecode, [own[row] for row in rows] if own else ()) for own in self._columns()]
        return Block(self.thread, *columns)

    def _columns(self) -> tuple[array[Any], ...]:
        return self.start, self.end, self.name, self.extra


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

    def add(self, spans: Block, *, ascending: bool) -> None:
        """Adds spans, which are the store's from then on; sorts them by start unless they are `ascending`."""
        if not spans.start:
            return
        if not ascending:
            spans = spans.sorted()
        if self._held and self._held[-1].takes(spans):
            self._held[-1].extend(spans)
        else:
            self._held.append(spans)
        self._held_count += len(spans)
        self.count += len(spans)
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
                for values in (block.start, block.end, block.name, block.extra or _ZERO * len(block)):
                    values.tofile(self._file)
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
                columns: list[array[Any]] = [array(code) for code in _COLUMNS]
                for own in columns:
                    own.fromfile(self._file, count)
                yield Block(thread, *columns)
        yield from self._held
