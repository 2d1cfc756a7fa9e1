"""One stretch of a JSON array: bytes in, decoded elements out, the broken ones repaired or counted one by one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Generator, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from tracer.importers.boundaries import (
    ARRAY_END,
    boundary_before,
    end_of,
    error_position,
    opening_of,
    skip_blanks,
    skip_filler,
)
from tracer.importers.losses import Losses
from tracer.importers.salvage import TOO_DEEP, deep_value_end, other_value, repair

T = TypeVar("T")

#: a list of objects inside an element may look like the next elements; so many of them are tried together
_MERGED_PIECES = 4
#: a list of objects inside an element may look like the array's end; so many places are tried
_ENDS_TRIED = 8
#: an element is seldom longer: so much text is looked at first for where the last one begins
_LAST_ELEMENT_BYTES = 1 << 13
#: where an element is no object, so much text is looked at for its end
_OTHER_VALUE_BYTES = 1 << 16
_NO_EVENT = "elements that are no events"


class Elements(msgspec.Struct, Generic[T], frozen=True):
    """How to read the elements of one array.

    Attributes:
        first_keys: keys by which an element begins; between `}` and one of these the text can be cut.
        decode: the bytes of a JSON array to its elements, which keep no reference to them; raises msgspec.DecodeError.
        decode_one: the same for an array of one element, where `decode` may give something else than elements.
        loosen: an object that is no element as it stands, and its offset, to the nearest element; None when it makes no
            sense. Counts what it leaves out.
    """

    first_keys: tuple[str, ...]
    decode: Callable[[bytes | memoryview], Sequence[T]]
    loosen: Callable[[dict[str, Any], int], T | None]
    decode_one: Callable[[bytes | memoryview], Sequence[T]] | None = None


class Batch(msgspec.Struct, Generic[T], frozen=True):
    """Elements of one array that stand together.

    Attributes:
        key: the array's key; "" for a list at the top of the text.
        array: which array of the text it is, counted from 1.
        offset: of the first element, in bytes of unpacked text.
        items: the elements.
    """

    key: str
    array: int
    offset: int
    items: Sequence[T]


#: (bytes used, whether the array was closed)
Progress = tuple[int, bool]


class SliceReader:
    """Reads stretches of one array."""

    def __init__(self, key: str, array: int, elements: Elements[Any], losses: Losses) -> None:
        self._key = key
        self._array = array
        self._elements = elements
        self._decode = _of_any_depth(elements.decode)
        self._decode_one = _of_any_depth(elements.decode_one or elements.decode)
        self._losses = losses
        self._boundary = boundary_before(elements.first_keys)
        self._opening = opening_of(elements.first_keys)
        self._literal = b""
        self._stuck_at = -1
        #: from the end of the element before a cut to the comma, and to the next element
        self.to_comma = self.to_next = 0

    def last_cut(self, text: bytes | bytearray) -> int | None:
        """Where the last whole element in `text` ends, as far as its ends can be seen; None when none does."""
        cut = text.rfind(self._literal) if self._literal else -1
        if cut < 0:
            near_end = max(0, len(text) - _LAST_ELEMENT_BYTES)
            last = _last_match(self._boundary, text, near_end) or _last_match(self._boundary, text, 0)
            if last is None:
                return None
            cut, self._literal = last.start(), bytes(last.group())
            self.to_comma, self.to_next = self._literal.index(b",") - 1, last.start(1) - cut - 1
        return cut + 1

    def first_start(self, text: bytes | bytearray) -> int | None:
        """Where the first element that begins in `text` behind another one begins."""
        found = self._boundary.search(text)
        return found.start(1) if found else None

    def closing(self, text: bytes | bytearray, at: int, base: int) -> tuple[Batch[Any], int] | None:
        """The elements from `at` to the array's end, and where its bracket is; None when it does not end in `text`."""
        for tried, end in enumerate(ARRAY_END.finditer(text, at)):
            if tried == _ENDS_TRIED:
                break
            items = self._try(bytes(text[at : end.start(1)]), base + at)
            if items is not None:
                return Batch(self._key, self._array, base + at, items), end.start(1)
        return None

    def read(self, text: bytes, base: int, *, final: bool) -> Generator[Batch[Any], None, Progress]:
        """Decodes `text`, which begins with an element.

        Args:
            text: up to the end of an element, or to the end of the file.
            base: offset of `text`.
            final: whether the file ends here.

        Returns:
            How much of `text` was used, and whether the array was closed in it.
        """
        at = 0
        marks: list[re.Match[bytes]] | None = None
        while (at := skip_filler(text, at)) < len(text):
            if text[at : at + 1] == b"]":
                return at, True
            if final and (end := ARRAY_END.search(text, at)) is not None:
                # nearly always the array's end; if it is not, this does not decode and the careful way follows
                items = self._try(text[at : end.start(1)], base + at)
                if items is not None:
                    yield Batch(self._key, self._array, base + at, items)
                    return end.start(1), True
            whole = b"[" + text[at:] if final else b"[" + text[at:] + b"]"
            try:
                yield Batch(self._key, self._array, base + at, self._decode(whole))
                return end_of(text, final), final
            except msgspec.ValidationError:
                items = self._one_by_one(whole, base + at)
                if items is not None:
                    yield Batch(self._key, self._array, base + at, items)
                    return end_of(text, final), final
                position = len(whole)
            except msgspec.DecodeError as error:
                if "trailing characters" in str(error) and (position := error_position(error, whole)) > 1:
                    end_at = text.rindex(b"]", at, at + position - 1)
                    items = self._try(text[at:end_at], base + at)
                    if items is not None:
                        yield Batch(self._key, self._array, base + at, items)
                        return end_at, True
                position = error_position(error, whole)
            if marks is None:
                marks = list(self._boundary.finditer(text))
            lead_at = at
            at, items = self._lead(text, at, at + position - 1, marks, base)
            if items:
                yield Batch(self._key, self._array, base + lead_at, items)
            after = marks[bisect_right(marks, at, key=_start) :][:_MERGED_PIECES]
            if not after and not final and base + at != self._stuck_at:
                self._stuck_at = base + at
                return at, False
            broken_at = at
            at, items = self._mend(text, at, after, base, final)
            if items:
                yield Batch(self._key, self._array, base + broken_at, items)
        return len(text), False

    def _try(self, body: bytes, offset: int) -> Sequence[Any] | None:
        """The elements of `body`, which stands at an offset, or None when it is not a run of whole elements."""
        whole = b"[" + body + b"]"
        try:
            return self._decode(whole)
        except msgspec.ValidationError:
            return self._one_by_one(whole, offset)
        except msgspec.DecodeError:
            return None

    def _one_by_one(self, whole: bytes, offset: int) -> list[Any] | None:
        """Elements of a JSON array in which some have values of unexpected types; the first stands at an offset."""
        try:
            raws = _RAWS(whole)
        except msgspec.DecodeError:
            return None
        items: list[Any] = []
        at = 1
        for raw in raws:
            one = bytes(raw)
            at = whole.index(one, at)  # only white space and a comma stand before it
            try:
                items += self._decode_one(b"[" + one + b"]")
            except msgspec.DecodeError:
                item = self._loosened(one, offset + at - 1)
                if item is not None:
                    items.append(item)
            at += len(one)
        return items

    def _loosened(self, one: bytes, byte: int) -> Any | None:
        value = repair(one).value
        item = self._elements.loosen(value, byte) if value is not None else None
        if item is None:
            self._losses.add(_NO_EVENT, byte=byte)
        return item

    def _lead(
        self, text: bytes, at: int, error_at: int, marks: list[re.Match[bytes]], base: int
    ) -> tuple[int, Sequence[Any]]:
        """Decodes the longest run of whole elements from `at` on, guided by where the error was seen.

        Returns:
            Where the element begins that is broken, and the elements before it.
        """
        low = bisect_right(marks, at, key=_start)
        high = bisect_right(marks, max(at, error_at), key=_start)
        while high > low:
            items = self._try(text[at : marks[high - 1].start() + 1], base + at)
            if items is not None:
                return marks[high - 1].start(1), items
            # the error is further ahead than it was seen: halve
            high = (low + high) // 2
        return at, []

    def _mend(
        self, text: bytes, at: int, after: list[re.Match[bytes]], base: int, final: bool
    ) -> tuple[int, list[Any]]:
        """Repairs the element that begins at `at`, or counts it as lost. Returns where reading goes on."""
        limit = after[0].start() if after else len(text)
        deep = None
        if text.count(b"[", at, limit) + text.count(b"{", at, limit) >= TOO_DEEP:
            deep = deep_value_end(text, at)
        if deep is not None:
            self._losses.add("events that could not be read", byte=base + at, detail="nested too deeply")
            return deep, []
        if text[at : at + 1] != b"{":
            used = other_value(text[at : at + _OTHER_VALUE_BYTES])
            if used is not None:
                self._losses.add(_NO_EVENT, byte=base + at)
                return at + used, []
        nearest = after[0].start(1) if after else len(text)
        ends: list[re.Match[bytes] | None] = [*after] or [None]
        for mark in ends:
            piece = text[at : mark.start() + 1] if mark else text[at:]
            repaired = repair(piece)
            if repaired.value is None:
                continue
            for problem in repaired.problems:
                self._losses.add(problem, byte=base + at)
            item = self._convert(repaired.value, base + at)
            if repaired.used is not None:
                end = self._behind(text, at + repaired.used, mark, base)
            elif mark is not None:
                end = mark.start(1)
            else:
                close = ARRAY_END.search(text, at) if final else None
                end = close.start(1) if close else len(text)
            return end, [item] if item is not None else []
        closed = ARRAY_END.search(text, at) if final and not after else None
        if final and not after and closed is None:
            self._losses.add("truncated: the text ends inside an event", byte=base + at)
        else:
            self._losses.add("events that could not be read", byte=base + at)
        return (closed.start(1) if closed else nearest), []

    def _behind(self, text: bytes, at: int, mark: re.Match[bytes] | None, base: int) -> int:
        """Where reading goes on behind an element that ends at `at`; counts what stands there and should not."""
        limit = mark.start() + 1 if mark else len(text)
        start = skip_blanks(text, at)
        if start >= limit or text[start : start + 1] in (b",", b"]"):
            return at
        if text[start : start + 1] == b"{":
            self._losses.add("a comma is missing between two events (read without it)", byte=base + start)
            return start
        opening = self._opening.search(text, start, limit)
        if opening is None and mark is None:
            return at
        self._losses.add("text between two events that is no event", byte=base + start)
        return opening.start() if opening else limit

    def _convert(self, value: dict[str, Any], byte: int) -> Any | None:
        try:
            return self._decode_one(b"[" + msgspec.json.encode(value) + b"]")[0]
        except (msgspec.MsgspecError, UnicodeError, OverflowError, RecursionError):
            item = self._elements.loosen(value, byte)
            if item is None:
                self._losses.add(_NO_EVENT, byte=byte)
            return item


def _of_any_depth(decode: Callable[[bytes], Sequence[T]]) -> Callable[[bytes], Sequence[T]]:
    """A decoder to which values within values, so deep that it can't follow, are a JSON error like any other."""

    def decoded(text: bytes) -> Sequence[T]:
        try:
            return decode(text)
        except RecursionError:
            raise msgspec.DecodeError("JSON is nested too deeply") from None

    return decoded


_RAWS = _of_any_depth(msgspec.json.Decoder(list[msgspec.Raw]).decode)


def _last_match(pattern: re.Pattern[bytes], text: bytes | bytearray, at: int) -> re.Match[bytes] | None:
    last = None
    for last in pattern.finditer(text, at):  # noqa: B007 - the last match is wanted
        pass
    return last


def _start(mark: re.Match[bytes]) -> int:
    return mark.start()
