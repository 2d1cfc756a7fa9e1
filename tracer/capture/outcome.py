"""What a call came to, in the record's terms: a request, an op and maybe an exception in, parts of the record out."""

from __future__ import annotations

import datetime
import traceback

from tracer.capture.frames import FrameRecorder
from tracer.capture.places import OWN_TREE, Places
from tracer.capture.protocol import CallRequest
from tracer.model.capture import Call, ExceptionInfo
from tracer.ops.base import Op

#: characters kept of a long message: its beginning, and its end, where Triton's compiler gives the reason
_MESSAGE_HEAD, _MESSAGE_TAIL = 300, 400


def utc_now() -> str:
    """The time, in UTC and ISO form, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def call_of(request: CallRequest, op: Op) -> Call:
    """What was called."""
    return Call(
        op=request.op,
        shape=request.shape,
        options=request.options | dict(a.partition("=")[::2] for a in request.arguments),
        config=request.config,
        command=request.command,
        entry=op.entry,
    )


def shorten(error: BaseException) -> str:
    """An exception's message, its middle left out when it is long."""
    text = str(error).strip()
    if len(text) <= _MESSAGE_HEAD + _MESSAGE_TAIL:
        return text
    return f"{text[:_MESSAGE_HEAD]} … {text[-_MESSAGE_TAIL:]}"


def exception_info(
    error: BaseException, places: Places, recorder: FrameRecorder, message: str | None = None
) -> ExceptionInfo:
    """An exception without absolute paths and without ktrace's own frames.

    Args:
        error: what the call raised.
        places: names files relative to their trees.
        recorder: knows which recorded frame raised it.
        message: says it better than the exception does.
    """
    lines = []
    for step in traceback.extract_tb(error.__traceback__):
        tree, file = places.locate(step.filename)
        if tree != OWN_TREE:
            lines.append(f"{file}:{step.lineno} in {step.name}")
    text = places.relative_text(message or shorten(error))
    return ExceptionInfo(type(error).__qualname__, text, recorder.raised_in(error.__traceback__), tuple(lines))
