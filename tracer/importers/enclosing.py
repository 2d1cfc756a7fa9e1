"""What stands around the lists of events: an ArrayStream that was read to its end in, losses for what is wrong out.

Events are read whatever stands around them, so none of this costs any; it says that a file was cut, or is two in one.
"""

from __future__ import annotations

import json

import msgspec

from tracer.importers.arrays import OUTSIDE_BYTES, ArrayStream
from tracer.importers.losses import Losses

_LENIENT = json.JSONDecoder(strict=False)


def count_text_around(stream: ArrayStream, losses: Losses) -> None:
    """Counts a list that is not closed, a missing end of the text around it, and text after that end."""
    if not stream.complete:
        what = "the list of events is not closed: the file may have ended early"
        losses.add(what, byte=stream.end, detail="the rest was read")
        return
    if len(stream.outside) >= OUTSIDE_BYTES:
        return  # only its beginning was kept
    try:
        msgspec.json.decode(stream.outside)
        return
    except (msgspec.DecodeError, RecursionError):
        pass
    blank = len(stream.outside) - len(stream.outside.lstrip())
    text = stream.outside[blank:].decode(errors="surrogateescape")
    try:
        _, end = _LENIENT.raw_decode(text)
    except RecursionError:
        return
    except ValueError as error:  # no JSON, or an integer of more digits than Python converts
        _count_damage(stream, text, blank, error, losses)
        return
    behind = text[end:].strip()
    if behind:
        rest = len(text[end:].lstrip().encode(errors="surrogateescape"))
        # lists of events in it are not in the text that is kept, so then it begins earlier than that
        place = stream.end - rest if "[]" not in behind else None
        losses.add("text after the end of the trace", byte=place, detail="only lists of events in it were read")


def _count_damage(stream: ArrayStream, text: str, blank: int, error: ValueError, losses: Losses) -> None:
    """Counts what is wrong in the text around the events, `blank` bytes into what was kept, with its place."""
    if _closes(text):
        losses.add("the last } is missing: the file may have ended early", byte=stream.end)
        return
    if not text:
        return
    what = "the text around the events is no JSON; it was read as far as possible"
    if not isinstance(error, json.JSONDecodeError):
        losses.add(what, detail=str(error))
    elif error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        what = "the text around the events stops in the middle: the file may have ended early"
        losses.add(what, byte=stream.end, detail="it was read as far as possible")
    else:
        at = blank + len(text[: error.pos].encode(errors="surrogateescape"))
        losses.add(what, byte=stream.place(at), detail=error.msg)


def _closes(text: str) -> bool:
    try:
        json.loads(text + "}", strict=False)
    except (ValueError, RecursionError):
        return False
    return True
