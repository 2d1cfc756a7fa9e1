"""Small traces made here: events in the words of torch.profiler, put together as bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tracer.importers.joins import Joined, join
from tracer.importers.kineto import read_kineto
from tracer.importers.losses import Losses
from tracer.importers.timeline import Timeline

Event = dict[str, Any]

MI300X = {
    "id": 0,
    "name": "AMD Instinct MI300X",
    "totalGlobalMem": 206141652992,
    "computeMajor": 9,
    "computeMinor": 4,
    "warpSize": 64,
    "numSms": 304,
}
H100 = {
    "id": 0,
    "name": "NVIDIA H100 80GB HBM3",
    "totalGlobalMem": 85018279936,
    "computeMajor": 9,
    "computeMinor": 0,
    "warpSize": 32,
    "numSms": 132,
}


def event(category: str, name: str, ts: float, dur: float | None, *, pid: Any = 1, tid: Any = 1, **args: Any) -> Event:
    """One complete event; arguments whose names are no identifiers are given with `_` for blanks."""
    made: Event = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": ts}
    if dur is not None:
        made["dur"] = dur
    if args:
        made["args"] = {_ARGUMENTS.get(key, key): value for key, value in args.items()}
    return made


_ARGUMENTS = {
    "external": "External id",
    "shared_memory": "shared memory",
    "registers": "registers per thread",
    "occupancy": "est. achieved occupancy %",
    "dims": "Input Dims",
    "types": "Input type",
    "strides": "Input Strides",
    "concrete": "Concrete Inputs",
}


def kernel(name: str, ts: float, dur: float | None, correlation: int | None = None, **args: Any) -> Event:
    """A kernel event on device 0, stream 7."""
    given = {"device": 0, "stream": 7, **args}
    if correlation is not None:
        given["correlation"] = correlation
    return event("kernel", name, ts, dur, pid=0, tid=7, **given)


def call(name: str, ts: float, dur: float, correlation: int | None = None, **args: Any) -> Event:
    """A runtime call on thread (1, 1)."""
    if correlation is not None:
        args["correlation"] = correlation
    place = {key: args.pop(key) for key in ("pid", "tid") if key in args}
    return event("cuda_runtime", name, ts, dur, **place, **args)


def op(name: str, ts: float, dur: float, external: int | None = None, **args: Any) -> Event:
    """An operator on thread (1, 1)."""
    if external is not None:
        args["external"] = external
    return event("cpu_op", name, ts, dur, **args)


def frame(name: str, ts: float, dur: float, **place: Any) -> Event:
    """A Python function on thread (1, 1)."""
    return event("python_function", name, ts, dur, **place)


def trace(
    events: Sequence[Event], *, indent: int | None = None, after: dict[str, Any] | None = None, **head: Any
) -> bytes:
    """A whole trace: `head` before the events, `after` behind them."""
    return json.dumps(
        {"schemaVersion": 1, **head, "traceEvents": list(events), **(after or {})}, indent=indent
    ).encode()


def read(content: bytes, block: int = 1 << 18) -> Timeline:
    """The timeline of a trace's text, handed over in blocks."""
    losses = Losses()
    return read_kineto(lambda: (content[at : at + block] for at in range(0, len(content), block)), losses)


def joined(events: Sequence[Event], **head: Any) -> Joined:
    """A trace with its links."""
    return join(read(trace(events, **head)))


def lost(timeline: Timeline) -> dict[str, int]:
    """What was lost, and how many."""
    return {loss.what: loss.count for loss in timeline.losses.entries()}


def kernels(timeline: Timeline) -> list[tuple[str, float, float]]:
    """Name, start and duration of every kernel."""
    own = timeline.kernels
    names = timeline.names.values_
    return [(names[n], s, d) for n, s, d in zip(own.name, own.start_us, own.duration_us, strict=True)]


def write(folder: Path, content: bytes, name: str = "trace.json") -> Path:
    """A file with some content."""
    path = folder / name
    path.write_bytes(content)
    return path
