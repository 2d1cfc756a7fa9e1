"""Large JSON files as a stream of array elements: unpacked blocks in, decoded batches with their byte offsets out.

Only whole elements are handed to the decoder, some thousands at a time; a cut between two elements is recognised by
text that can't stand inside a JSON string. A batch that does not decode is narrowed down to the element that is broken.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from tracer.importers.boundaries import opening_behind_bracket
from tracer.importers.elements import Batch, Elements, SliceReader
from tracer.importers.losses import Losses

#: an element longer than this is dropped: nothing that a profiler writes about one event comes near it
LONGEST_ELEMENT_BYTES = 8 << 20
#: text outside the wanted arrays (metadata) that is kept
OUTSIDE_BYTES = 4 << 20
#: what may be left of a key that the next block completes
_KEY_TAIL = 256

_FILLER = re.compile(rb"[\s,]*")
_OPEN, _CLOSE, _COMMA = b"[],"


@cache
def array_keys(keys: tuple[str, ...]) -> re.Pattern[bytes]:
    """One of some keys before a list."""
    return re.compile(rb'"(' + b"|".join(re.escape(key.encode()) for key in keys) + rb')"\s*:\s*(?=\[)')


class ArrayStream:
    """Reads the wanted arrays of one JSON text in one pass, with a few blocks of memory.

    Attributes:
        outside: the text around the wanted arrays, as far as it is kept; each array is left in it as "[]".
        complete: whether the last array read was closed.
        end: offset of the text's end, once all of it is read.
    """

    def __init__(self, blocks: Iterable[bytes], wanted: Mapping[str, Elements[Any]], losses: Losses) -> None:
        """Args: the blocks; how to read each array, by key ("" for a list at the top of the text); where losses go."""
        self.outside = bytearray()
        self.complete = True
        self._blocks = iter(blocks)
        self._wanted = wanted
        self._losses = losses
        self._buffer = bytearray()
        self._base = 0
        self._kept: list[tuple[int, int]] = []
        self.end = 0
        self._ended = False
        self._arrays = 0
        self._key = array_keys(tuple(key for key in wanted if key))

    def __iter__(self) -> Iterator[Batch[Any]]:
        """The batches, in file order."""
        self._more()
        if "" in self._wanted and self._buffer.lstrip()[:1] == b"[":
            self._drop(self._buffer.index(b"["))
            self._keep_outside(b"[")
            yield from self._arrays_of("", self._wanted[""])
        while True:
            found = self._key.search(self._buffer)
            if found is not None:
                key, end = found.group(1).decode(), found.end()
                self._keep_outside(self._buffer[:end] + b"[")
                self._drop(end)
                yield from self._arrays_of(key, self._wanted[key])
                continue
            surplus = len(self._buffer) - _KEY_TAIL
            if surplus > 0:
                self._keep_outside(self._buffer[:surplus])
                self._drop(surplus)
            if not self._more():
                self._keep_outside(self._buffer)
                self._drop(len(self._buffer))
                return

    def _more(self) -> bool:
        block = next(self._blocks, None)
        if block is None:
            self._ended = True
            self.end = self._base + len(self._buffer)
            return False
        self._buffer += block
        return True

    def _drop(self, count: int) -> None:
        self._base += count
        del self._buffer[:count]

    def _keep_outside(self, text: bytes | bytearray) -> None:
        room = OUTSIDE_BYTES - len(self.outside)
        if room > 0:
            self._kept.append((len(self.outside), self._base))
            self.outside += text[:room]

    def place(self, kept: int) -> int:
        """Where a byte of `outside` stands in the unpacked text."""
        start, base = self._kept[bisect_right(self._kept, kept, key=lambda piece: piece[0]) - 1]
        return base + kept - start

    def _arrays_of(self, key: str, elements: Elements[Any]) -> Generator[Batch[Any], None, None]:
        """Reads one array, also where brackets close it too early."""
        self._arrays += 1
        yield from self._array(key, elements)
        while self.complete and self._goes_on(elements):
            yield from self._array(key, elements)

    def _goes_on(self, elements: Elements[Any]) -> bool:
        """Whether more elements follow the bracket at which an array was closed; then it becomes a comma."""
        while len(self._buffer) < _KEY_TAIL and self._more():
            pass
        if opening_behind_bracket(elements.first_keys).match(self._buffer) is None:
            return False
        self._losses.add("a ] between two events (read without it)", byte=self._base)
        self._buffer[0] = _COMMA
        return True

    def _array(self, key: str, elements: Elements[Any]) -> Generator[Batch[Any], None, None]:
        """Reads one array, from its opening bracket on; then the buffer begins with its closing bracket, or is empty.

        Between elements the buffer begins with what stands before the next one: the bracket or a comma.
        """
        reader = SliceReader(key, self._arrays, elements, self._losses)
        self.complete = False
        known_start: int | None = None
        while True:
            start, known_start = _filled(self._buffer) if known_start is None else known_start, None
            if start == len(self._buffer):
                self._drop(start - 1)  # one character stays, for the place before the next element
                if self._more():
                    continue
                self._drop(len(self._buffer))
                return
            if self._buffer[start] == _CLOSE:
                self._drop(start)
                self.complete = True
                return
            if self._ended:
                cut = len(self._buffer)
            else:
                seen = reader.last_cut(self._buffer)
                if seen is None:
                    last = reader.closing(self._buffer, start, self._base)
                    if last is not None:
                        batch, closed_at = last
                        yield batch
                        self._drop(closed_at)
                        self.complete = True
                        return
                    if len(self._buffer) > LONGEST_ELEMENT_BYTES:
                        self._skip_element(reader)
                    else:
                        self._more()
                    continue
                cut = seen
                items = self._in_place(elements, start, cut + reader.to_comma)
                if items is not None:
                    yield Batch(key, self._arrays, self._base + start, items)
                    del items
                    self._drop(cut)
                    self._more()
                    known_start = reader.to_next
                    continue
            used, closed = yield from reader.read(bytes(self._buffer[start:cut]), self._base + start, final=self._ended)
            if closed:
                self._drop(start + used)
                self.complete = True
                return
            if self._ended:
                self._drop(len(self._buffer))
                return
            if used < cut - start:  # the cut fell inside an element: it needs the text that follows
                self._drop(start + used - 1)
                self._more()
            else:
                self._drop(cut)

    def _in_place(self, elements: Elements[Any], start: int, comma: int) -> Sequence[Any] | None:
        """Decodes the elements between two separators without copying them: the separators stand in as brackets."""
        buffer = self._buffer
        before, buffer[start - 1] = buffer[start - 1], _OPEN
        buffer[comma] = _CLOSE
        try:
            with memoryview(buffer) as view, view[start - 1 : comma + 1] as text:
                return elements.decode(text)
        except (msgspec.DecodeError, RecursionError):
            return None
        finally:
            buffer[start - 1], buffer[comma] = before, _COMMA

    def _skip_element(self, reader: SliceReader) -> None:
        """Drops text until another element begins, or to the end of the file."""
        why = f"nothing ends it within {LONGEST_ELEMENT_BYTES} bytes"
        self._losses.add("text too long to be an event was dropped", byte=self._base, detail=why)
        while True:
            self._drop(max(0, len(self._buffer) - _KEY_TAIL))
            if not self._more():
                self._drop(len(self._buffer))
                return
            start = reader.first_start(self._buffer)
            if start is not None:
                self._drop(start - 1)
                return


def _filled(buffer: bytearray) -> int:
    """Where the text behind brackets, commas and white space begins; `len(buffer)` when nothing follows."""
    found = _FILLER.match(buffer, 1 if buffer[:1] == b"[" else 0)
    return found.end() if found else 0
