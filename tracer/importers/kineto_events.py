"""Events of torch.profiler's JSON: the bytes of a list of events in, typed events with the few fields needed out."""

from __future__ import annotations

import math
from typing import Any, Literal, Union

import msgspec

from tracer.importers.losses import Losses
from tracer.importers.timeline import MISSING

Number = int | str

#: keys by which Kineto's events begin; torch's own writers and trace filters use the others
FIRST_KEYS = ("ph", "name", "cat", "args", "pid", "ts")

_PYTHON = b'"python_function"'


class Args(msgspec.Struct, gc=False, frozen=True, rename={
    "external": "External id",
    "lds_bytes": "shared memory",
    "registers": "registers per thread",
    "occupancy_percent": "est. achieved occupancy %",
}):  # fmt: skip
    """What is read of an event's arguments."""

    external: int = MISSING
    correlation: int = MISSING
    device: Number | None = None
    stream: Number | None = None
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    kernel: str | None = None
    lds_bytes: int | None = None
    registers: int | None = None
    occupancy_percent: float | None = None


NO_ARGS = Args()


class Event(msgspec.Struct, gc=False, frozen=True):
    """Any event, of whatever category; a duration that is not there is NaN."""

    ph: str = "X"
    cat: str = ""
    name: str = ""
    pid: Number = 0
    tid: Number = 0
    ts: float = 0.0
    dur: float = math.nan
    args: Args = NO_ARGS


class KernelEvent(msgspec.Struct, gc=False, frozen=True, tag_field="cat", tag="kernel"):
    """A kernel execution."""

    ph: Literal["X"] = "X"
    name: str = ""
    pid: Number = 0
    tid: Number = 0
    ts: float = 0.0
    dur: float = math.nan
    args: Args = NO_ARGS


class CallEvent(KernelEvent, gc=False, frozen=True, tag_field="cat", tag="cuda_runtime"):
    """A runtime call; HIP's calls have this category too."""


class DriverEvent(KernelEvent, gc=False, frozen=True, tag_field="cat", tag="cuda_driver"):
    """A driver call."""


class CopyEvent(KernelEvent, gc=False, frozen=True, tag_field="cat", tag="gpu_memcpy"):
    """A copy."""


class FillEvent(KernelEvent, gc=False, frozen=True, tag_field="cat", tag="gpu_memset"):
    """A fill."""


class OpArgs(msgspec.Struct, gc=False, frozen=True, rename={"external": "External id"}):
    """What is read of an operator's arguments."""

    external: int = MISSING


class OpEvent(msgspec.Struct, gc=False, frozen=True, tag_field="cat", tag="cpu_op"):
    """An operator on the CPU."""

    ph: Literal["X"] = "X"
    name: str = ""
    pid: Number = 0
    tid: Number = 0
    ts: float = 0.0
    dur: float = math.nan
    args: OpArgs = OpArgs()


class FrameEvent(msgspec.Struct, gc=False, frozen=True, tag_field="cat", tag="python_function"):
    """A Python function, the bulk of a trace."""

    ts: float  # every Python function has one, so that an object without an event's keys is none
    ph: Literal["X"] = "X"
    name: str = ""
    pid: Number = 0
    tid: Number = 0
    dur: float = 0.0


#: categories of which nothing is needed but their number
_IGNORED = ("ac2g", "fwdbwd", "user_annotation", "gpu_user_annotation", "cpu_instant_event", "overhead", "Trace")
_IGNORED_EVENTS = [
    msgspec.defstruct(f"Ignored_{tag}", [], tag_field="cat", tag=tag, gc=False, frozen=True)
    for tag in (*_IGNORED, "cuda_sync", "external_correlation", "collective_comm", "async_cpu_to_gpu", "user_defined")
]

_TYPED = (KernelEvent, CallEvent, DriverEvent, CopyEvent, FillEvent, OpEvent, FrameEvent, *_IGNORED_EVENTS)
_DECODE_TYPED = msgspec.json.Decoder(list[Union[_TYPED]]).decode  # type: ignore[valid-type]  # noqa: UP007
_DECODE_FRAMES = msgspec.json.Decoder(list[FrameEvent]).decode
_DECODE_EVENTS = msgspec.json.Decoder(list[Event]).decode


def _decode_any(text: bytes | memoryview) -> list[Event]:
    """Decodes events of any category; an object with none of an event's keys makes the array invalid."""
    events = _DECODE_EVENTS(text)
    if any(event.dur != event.dur and not event.name and not event.cat and event.ph == "X" for event in events):
        raise msgspec.ValidationError("an object has none of the keys of an event")
    return events


def decode_events(text: bytes | memoryview) -> list[Any]:
    """Decodes a JSON array of events: runs of Python functions fastest, then known categories, then anything."""
    head = bytes(text[:400])
    try:
        return _DECODE_FRAMES(text) if _PYTHON in head else _DECODE_TYPED(text)
    except msgspec.ValidationError:
        pass  # not all are of one kind
    if _PYTHON in head:
        try:
            return _DECODE_TYPED(text)
        except msgspec.ValidationError:
            pass  # an event without category, or of one that Kineto of 2026 does not write
    return _decode_any(text)


def category_of(kind: type) -> str:
    """The category of a typed event."""
    return str(kind.__struct_config__.tag)  # type: ignore[attr-defined]


def as_event(event: Any) -> Event:
    """A typed event as one of any category."""
    if type(event) is Event:
        return event
    category = category_of(type(event))
    if not hasattr(event, "ts"):
        return Event(ph="", cat=category)
    args = getattr(event, "args", NO_ARGS)
    if type(args) is OpArgs:
        args = Args(external=args.external)
    return Event(cat=category, name=event.name, pid=event.pid, tid=event.tid, ts=event.ts, dur=event.dur, args=args)


def number(value: Any, kind: type) -> Any:
    """`value` as a finite number of a kind; None when it is none."""
    try:
        number = kind(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if kind is not float or math.isfinite(number) else None


def loosen(value: dict[str, Any], losses: Losses, byte: int) -> Event | None:
    """The nearest event to an object, at a byte of the text, whose values have unexpected types."""
    if "ph" not in value and "ts" not in value:
        return None
    phase, category = str(value.get("ph", "X")), str(value.get("cat", ""))
    if phase != "X":
        return Event(ph=phase, cat=category)
    raw = value.get("args")
    raw = raw if isinstance(raw, dict) else {}
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(Args):
        given = raw.get(field.encode_name)
        if given is None:
            continue
        if field.name in ("grid", "block"):
            kept: Any = tuple(given) if isinstance(given, list) and all(type(v) is int for v in given) else None
        elif field.name == "kernel":
            kept = str(given)
        elif field.name in ("device", "stream"):
            kept = given if isinstance(given, int | str) else str(given)
        else:
            kept = number(given, float if field.name == "occupancy_percent" else int)
        if kept is None:
            losses.add("values of an unexpected type in events", byte=byte, detail=f"for example {field.encode_name!r}")
        else:
            fields[field.name] = kept
    ts, duration = number(value.get("ts"), float), number(value.get("dur"), float)
    if ts is None:
        losses.add("events without a readable time (put at 0)", byte=byte)
    return Event(
        cat=category,
        name="" if value.get("name") is None else str(value["name"]),
        pid=_process(value.get("pid")),
        tid=_process(value.get("tid")),
        ts=ts or 0.0,
        dur=math.nan if duration is None else duration,
        args=Args(**fields),
    )


def _process(value: Any) -> Number:
    return value if isinstance(value, int | str) else str(value)
