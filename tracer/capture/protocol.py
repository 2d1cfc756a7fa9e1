"""What a capture's parent and child say to each other: a job goes in as one JSON file, framed JSON messages come back.

Each message is four bytes of length (little-endian) and as many bytes of JSON, on a pipe of its own, so that whatever
libraries print can never be mistaken for a record.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec

from tracer.model.capture import CaptureRecord
from tracer.model.environment import Target
from tracer.ops.base import Op
from tracer.ops.callable import CallableOp, is_callable_path
from tracer.ops.registry import get_op


class CallRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One call to capture.

    Attributes:
        op: an op's name, or a callable as `pkg.mod:fn`.
        shape: the op's dimensions; empty for a callable.
        options: the op's options; None values stand for defaults that the op fills.
        config: an explicit kernel configuration, or None.
        arguments: for a callable, its arguments as typed on the command line (`x=bf16[128,7168]`).
        command: the command line that makes this record again.
    """

    op: str
    shape: dict[str, int] = {}
    options: dict[str, str] = {}
    config: dict[str, Any] | None = None
    arguments: tuple[str, ...] = ()
    command: str | None = None


def op_of(request: CallRequest) -> Op:
    """The op that a request names.

    Raises:
        UsageError: there is none, or a callable's arguments can't be read.
    """
    if is_callable_path(request.op):
        return CallableOp(request.op, request.arguments)
    return get_op(request.op)


class TargetFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What libraries may ask of the GPU that is not there.

    Attributes:
        target: as the record states it.
        lds_bytes_per_block: the most LDS that one block may take, in bytes.
        memory_bytes: device memory; None where not known (a question for it then fails as on a broken driver).
        device_name: what the runtime would call the device, or None.
    """

    target: Target
    lds_bytes_per_block: int
    memory_bytes: int | None = None
    device_name: str | None = None


class AiterPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The aiter to import, as `tracer.aiter.tree` found it."""

    layout: str
    version: str | None
    commit: str | None
    python_root: str
    meta_root: str
    repository: str | None = None


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the child needs.

    Attributes:
        folder: the only folder that the child may write to.
        facts: the target.
        aiter: the tree, or None when no request needs aiter.
        enums: C++ enum name -> member -> value, from the tree's headers.
        requests: the calls, in order.
        frame_cap: the most frames kept for one call.
        aiter_needed: whether the job fails when aiter can't be imported.
        device: for a live capture, the device key that the user named, or None.
    """

    folder: str
    facts: TargetFacts
    aiter: AiterPlace | None
    enums: dict[str, dict[str, int]]
    requests: tuple[CallRequest, ...]
    frame_cap: int
    aiter_needed: bool = True
    device: str | None = None


class Doing(msgspec.Struct, frozen=True, tag="doing"):
    """The child starts on something; repeated in the error when it never ends.

    Attributes:
        what: a few words.
        patience_s: seconds it may take, however short the timeout: imports are slow on a cold disk.
    """

    what: str
    patience_s: float = 0.0


class Recorded(msgspec.Struct, frozen=True, tag="recorded"):
    """A finished record of the request with that index."""

    index: int
    record: CaptureRecord


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """The child can't go on; `error` names a class of tracer.errors."""

    error: str
    message: str
    expected: str | None = None
    hint: str | None = None


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """Every request is done; peak_bytes is the child's largest resident size."""

    peak_bytes: int


Message = Doing | Recorded | Refused | Finished

_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)


def send(handle: int, message: Message) -> None:
    """Writes one message to a pipe."""
    body = _ENCODER.encode(message)
    data = memoryview(len(body).to_bytes(4, "little") + body)
    while data:
        data = data[os.write(handle, data) :]


class Receiver:
    """Puts messages together from pieces as they arrive."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, piece: bytes) -> Iterator[Message]:
        """Yields the messages that `piece` completes."""
        self._buffer += piece
        while len(self._buffer) >= 4:
            size = int.from_bytes(self._buffer[:4], "little")
            if len(self._buffer) < 4 + size:
                return
            body = bytes(self._buffer[4 : 4 + size])
            del self._buffer[: 4 + size]
            yield _DECODER.decode(body)
