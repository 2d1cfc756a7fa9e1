"""Events of torch.profiler's JSON: the bytes of a list of events in, typed events with the few fields needed out."""

from __future__ import annotations

import math
from typing import Any, Literal

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


class Event(msgspec.Struct, gc=False, frozen=True, tag_field="ph", tag="X"):
    """One complete event; a duration that is not there is NaN."""

    cat: str = ""
    name: str = ""
    pid: Number = 0
    tid: Number = 0
    ts: float = 0.0
    dur: float = math.nan
    args: Args = NO_ARGS


class FlowStart(msgspec.Struct, gc=False, frozen=True, tag_field="ph", tag="s"):
    """The tail of an arrow between events; nothing of it is needed."""


class FlowEnd(msgspec.Struct, gc=False, frozen=True, tag_field="ph", tag="f"):
    """The head of an arrow between events."""


class Instant(msgspec.Struct, gc=False, frozen=True, tag_field="ph", tag="i"):
    """A mark without extent (memory use, iterations)."""


class Naming(msgspec.Struct, gc=False, frozen=True, tag_field="ph", tag="M"):
    """The name or place of a process or thread."""


class OtherEvent(msgspec.Struct, frozen=True):
    """An event of a phase that Kineto does not write, or of none."""

    cat: str
    phase: str


class PythonEvent(msgspec.Struct, gc=False, frozen=True):
    """A Python function, the bulk of a trace; decoding fails at any other event."""

    cat: Literal["python_function"]
    name: str = ""
    pid: Number = 0
    tid: Number = 0
    ts: float = 0.0
    dur: float = 0.0


_DECODE_EVENTS = msgspec.json.Decoder(list[Event | FlowStart | FlowEnd | Instant | Naming]).decode
_DECODE_PYTHON = msgspec.json.Decoder(list[PythonEvent]).decode


def decode_events(text: bytes | memoryview) -> list[Any]:
    """Decodes a JSON array of events, fast when all are Python functions."""
    if _PYTHON in bytes(text[:400]):
        try:
            return _DECODE_PYTHON(text)
        except msgspec.ValidationError:
            pass  # other events follow: the general decoder reads them all
    return _DECODE_EVENTS(text)


def number(value: Any, kind: type) -> Any:
    """`value` as a finite number of a kind; None when it is none."""
    try:
        number = kind(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if kind is not float or math.isfinite(number) else None


def loosen(value: dict[str, Any], losses: Losses) -> Event | OtherEvent | None:
    """The nearest event to an object whose values have unexpected types."""
    if "ph" not in value and "ts" not in value:
        return None
    if str(value.get("ph", "X")) != "X":
        return OtherEvent(cat=str(value.get("cat", "")), phase=str(value["ph"]))
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
            losses.add("values of an unexpected type in events", detail=f"for example {field.encode_name!r}")
        else:
            fields[field.name] = kept
    ts, duration = number(value.get("ts"), float), number(value.get("dur"), float)
    if ts is None:
        losses.add("events without a readable time (put at 0)")
    return Event(
        cat=str(value.get("cat", "")),
        name=str(value.get("name", "")),
        pid=_process(value.get("pid")),
        tid=_process(value.get("tid")),
        ts=ts or 0.0,
        dur=math.nan if duration is None else duration,
        args=Args(**fields),
    )


def _process(value: Any) -> Number:
    return value if isinstance(value, int | str) else str(value)
