"""Rows of tables of kernels (CSV, SQLite): one row's values in, one more row of a Timeline's columns out."""

from __future__ import annotations

from typing import Any

import msgspec

from tracer.importers.timeline import MISSING, NO_DURATION, NO_START, NO_TIME, Timeline
from tracer.model.evidence import GridUnit


class KernelRow(msgspec.Struct, kw_only=True):
    """One kernel execution (or, with `count`, several) as a table states it; None where it does not.

    Attributes:
        name: as it stands; begin_ns, end_ns: on the device.
        duration_ns: where it is stated instead of an end.
        device, stream, correlation: ids.
        grid, block: in x, y, z; unit: what the grid counts, None when the runtime call decides.
        lds_bytes, scratch_bytes, vgprs, agprs, sgprs: resources.
        count: executions that the row stands for; summed: whether it is of a table of sums, which have no start.
    """

    name: str
    begin_ns: int | None = None
    end_ns: int | None = None
    duration_ns: float | None = None
    device: int = 0
    stream: int = 0
    correlation: int | None = None
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    unit: GridUnit | None = GridUnit.WORK_ITEMS
    lds_bytes: int | None = None
    scratch_bytes: int | None = None
    vgprs: int | None = None
    agprs: int | None = None
    sgprs: int | None = None
    count: int = 1
    summed: bool = False


class CallRow(msgspec.Struct, kw_only=True):
    """One runtime call as a table states it."""

    name: str
    begin_ns: int | None
    end_ns: int | None
    process: int = 0
    thread: int = 0
    correlation: int | None = None
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()


def _since_base(timeline: Timeline, nanoseconds: int | None) -> float:
    if nanoseconds is None:
        return NO_TIME
    if not timeline.base_ns:
        timeline.base_ns = nanoseconds
    return (nanoseconds - timeline.base_ns) / 1000


def add_kernel(timeline: Timeline, row: KernelRow) -> None:
    """Adds one row."""
    kernels = timeline.kernels
    duration = row.duration_ns
    if duration is None:
        if row.begin_ns is None or row.end_ns is None:
            timeline.untimed.add(len(kernels))
            timeline.losses.add(NO_DURATION)
            duration = 0.0
        else:
            duration = row.end_ns - row.begin_ns
    if row.begin_ns is None:
        timeline.lacks_starts = True
        timeline.losses.add(NO_START, 0 if row.summed else 1)
    kernels.name.append(timeline.names[row.name])
    kernels.start_us.append(_since_base(timeline, row.begin_ns))
    kernels.duration_us.append(duration / 1000)
    kernels.device.append(timeline.number(row.device))
    kernels.stream.append(timeline.number(row.stream))
    kernels.correlation.append(MISSING if row.correlation is None else timeline.number(row.correlation))
    kernels.external.append(MISSING)
    shape = (row.grid, row.block, row.unit, row.lds_bytes, None, None, row.vgprs, row.agprs, row.sgprs)
    kernels.shape.append(timeline.shapes[*shape, row.scratch_bytes])
    if row.count != 1 and not kernels.count:
        kernels.count.extend([1] * (len(kernels) - 1))
    if row.count != 1 or kernels.count:
        kernels.count.append(row.count)


def add_call(timeline: Timeline, row: CallRow) -> None:
    """Adds one runtime call, when it can start work."""
    if not timeline.starts_work[row.name]:
        return
    calls = timeline.calls
    calls.name.append(timeline.names[row.name])
    calls.start_us.append(_since_base(timeline, row.begin_ns))
    timeline.losses.add(NO_START, int(row.begin_ns is None))
    calls.duration_us.append(0.0 if row.begin_ns is None or row.end_ns is None else (row.end_ns - row.begin_ns) / 1000)
    calls.thread.append(timeline.threads[row.process, row.thread])
    calls.correlation.append(MISSING if row.correlation is None else timeline.number(row.correlation))
    calls.external.append(MISSING)
    calls.kernel.append(-1)
    calls.shape.append(timeline.shapes[row.grid, row.block])


def whole(value: Any) -> int | None:
    """A value of a table as a whole number; None when it is none."""
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    try:
        return int(str(value).strip().strip('"'))
    except ValueError:
        return None
