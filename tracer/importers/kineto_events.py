"""Events of torch.profiler's JSON: the bytes of a list of events in, typed events with the few fields needed out."""

from __future__ import annotations

import math
from typing import Any, Literal, Union, get_args

import msgspec

from tracer.importers.losses import Losses
from tracer.importers.timeline import MISSING

Number = int | str

#: keys by which Kineto's events begin; torch's own writers and trace filters use the others
FIRST_KEYS = ("ph", "name", "cat", "args", "pid", "ts")


#: categories of which rows are made: of what kind (PyTorch before 1.12 wrote them with a capital letter)
KINDS = {
    "kernel": "kernel",
    "Kernel": "kernel",
    "gpu_memcpy": "copy",
    "gpu_memset": "copy",
    "Memcpy": "copy",
    "Memset": "copy",
    "cuda_runtime": "call",
    "cuda_driver": "call",
    "hip_runtime": "call",
    "hip_driver": "call",
    "xpu_runtime": "call",
    "xpu_driver": "call",
    "mtia_runtime": "call",
    "privateuse1_runtime": "call",
    "privateuse1_driver": "call",
    "Runtime": "call",
    "cpu_op": "op",
    "Operator": "op",
    "python_function": "frame",
}

#: categories of which nothing is needed but the number of events
Counted = Literal[
    "ac2g",
    "fwdbwd",
    "user_annotation",
    "gpu_user_annotation",
    "cpu_instant_event",
    "overhead",
    "Trace",
    "cuda_sync",
    "cuda_event",
    "cuda_profiler_range",
    "gpu_pm_counter",
    "external_correlation",
    "collective_comm",
    "async_cpu_to_gpu",
    "user_defined",
]
COUNTED = get_args(Counted)
_Known = Literal[(*KINDS, *COUNTED)]  # type: ignore[valid-type]

#: stands for the category of events that state none, of phases other than complete events
NO_CATEGORY = "(no category)"
KNOWN_CATEGORIES = ("", *KINDS, *COUNTED, NO_CATEGORY)
#: phases of events that are only counted: flows, instants, metadata, and so on
COUNTED_PHASES = "stfiIMbneC"


class Args(msgspec.Struct, gc=False, frozen=True, rename={
    "external": "External id",
    "lds_bytes": "shared memory",
    "registers": "registers per thread",
    "occupancy_percent": "est. achieved occupancy %",
}):  # fmt: skip
    """What is read of an event's arguments; decoding is fastest where they stand as in the file."""

    external: int = MISSING
    device: Number | None = None
    stream: Number | None = None
    correlation: int = MISSING
    registers: int | None = None
    lds_bytes: int | None = None
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    occupancy_percent: float | None = None
    kernel: str | None = None


NO_ARGS = Args()


class Event(msgspec.Struct, gc=False, frozen=True):
    """Any event, of whatever category; a time or duration that is not there is NaN."""

    ph: str = "X"
    cat: str = ""
    name: str = ""
    pid: Number = 0
    tid: Number = 0
    ts: float = math.nan
    dur: float = math.nan
    args: Args = NO_ARGS


class CompleteEvent(msgspec.Struct, gc=False, frozen=True, tag_field="ph", tag="X"):
    """A complete event, of a known category or of none; a time or duration that is not there is NaN."""

    cat: _Known = ""
    name: str = ""
    pid: Number = 0
    tid: Number = 0
    ts: float = math.nan
    dur: float = math.nan
    args: Args = NO_ARGS


#: events of other phases, of a category whose events are only counted, or of none
_COUNTED_EVENTS = [
    msgspec.defstruct(f"Phase_{tag}", [("cat", Counted, NO_CATEGORY)], tag_field="ph", tag=tag, gc=False, frozen=True)
    for tag in COUNTED_PHASES
]

_DECODE_KNOWN = msgspec.json.Decoder(list[Union[CompleteEvent, *_COUNTED_EVENTS]]).decode  # type: ignore[valid-type]
_DECODE_ANY = msgspec.json.Decoder(list[Event]).decode


class KnownEvents(list[Any]):
    """Events of known categories and phases, of each of which at least the category, `cat`, is there."""


def decode(text: bytes | memoryview) -> KnownEvents | list[Event]:
    """The events of a JSON array: as `Event` where one is of a category or phase that Kineto of 2026 does not write.

    Raises:
        msgspec.DecodeError: it is no array of events; an object with none of an event's keys is no event.
    """
    try:
        return KnownEvents(_DECODE_KNOWN(text))
    except msgspec.ValidationError:
        events = _DECODE_ANY(text)
    if any(event.dur != event.dur and not event.name and not event.cat and event.ph == "X" for event in events):
        raise msgspec.ValidationError("an object has none of the keys of an event")
    return events


def as_event(event: Any) -> Event:
    """A typed event as one of any category."""
    if type(event) is Event:
        return event
    if not hasattr(event, "ts"):
        return Event(ph="", cat=event.cat)
    args = Args(**msgspec.structs.asdict(getattr(event, "args", NO_ARGS)))
    return Event(cat=event.cat, name=event.name, pid=event.pid, tid=event.tid, ts=event.ts, dur=event.dur, args=args)


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
    raw = value.get("args") if category in KINDS else None  # of others nothing is needed, so nothing is lost
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
    return Event(
        cat=category,
        name="" if value.get("name") is None else str(value["name"]),
        pid=_process(value.get("pid")),
        tid=_process(value.get("tid")),
        ts=math.nan if ts is None else ts,
        dur=math.nan if duration is None else duration,
        args=Args(**fields),
    )


def _process(value: Any) -> Number:
    return value if isinstance(value, int | str) else str(value)
