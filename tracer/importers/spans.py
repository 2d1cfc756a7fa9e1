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

from tracer.importers.columns import column, put

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
    name: list[int]
    extra: array[int]

    def __len__(self) -> int:
        return len(self.start)

    def extra_of(self, row: int) -> int:
        """The extra id of one span."""
        return self.extra[row] if self.extra else 0

    def takes(self, thread: int, start: float, with_extra: bool) -> bool:
        """Whether a span of a thread may stand behind these."""
        alike = thread == self.thread and with_extra == bool(self.extra)
        return alike and start >= self.start[-1] and len(self.start) < FULL_BLOCK


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
        self, thread: int, start: list[float], end: list[float], name: list[int], extra: array[int] | None = None
    ) -> None:
        """Adds spans of one thread; sorts them by start where they are not."""
        if not start:
            return
        if start != sorted(start):
            order = sorted(range(len(start)), key=start.__getitem__)
            start, end = [start[i] for i in order], [end[i] for i in order]
            name, extra = [name[i] for i in order], extra and column("q", [extra[i] for i in order])
        if not (self._held and self._held[-1].takes(thread, start[0], extra is not None)):
            self._held.append(Block(thread, array("d"), array("d"), [], array("q")))
        block = self._held[-1]
        put(block.start, start)
        put(block.end, end)
        block.name.extend(name)
        block.extra.extend(extra or ())
        self._held_count += len(start)
        self.count += len(start)
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
                for values in (block.start, block.end, column("q", block.name), block.extra or _ZERO * len(block)):
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
                values: list[array[Any]] = [array(code) for code in _COLUMNS]
                for own in values:
                    own.fromfile(self._file, count)
                start, end, name, extra = values
                yield Block(thread, start, end, name.tolist(), extra)
        yield from self._held
