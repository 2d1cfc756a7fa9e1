"""SQLite traces: rocprofv3's rocpd (schema 3 and 4) and RPD of rocmProfileData; a file in, a Timeline out.

The schemas moved columns about, so each query asks the table for its columns first. Nothing is written: the file is
opened read-only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tracer.errors import TraceError
from tracer.importers.losses import Losses
from tracer.importers.rows import CallRow, KernelRow, add_call, add_kernel, whole
from tracer.importers.timeline import Producer, SeenDevice, Timeline
from tracer.model.evidence import GridUnit

ROCPD_FORMAT = "rocpd (SQLite)"
RPD_FORMAT = "RPD (SQLite)"

_HEADER_BYTES = 100
#: a cut database is mended in memory up to this size
_LARGEST_REPAIR_BYTES = 1 << 30

_DISPATCHES = "rocpd_kernel_dispatch"
_DAMAGED = "damaged database"
_UNNAMED = "kernels whose symbol is not in the file (named by number)"


class _Database:
    """A database with its tables and their columns."""

    def __init__(self, path: Path, losses: Losses) -> None:
        self.connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            self.tables = self._tables()
        except sqlite3.DatabaseError as error:
            self.connection.close()
            self.connection = _shortened(path, error)
            self.tables = self._tables()
            losses.add("truncated database: its file is shorter than its header says", detail=str(error))
        self.connection.text_factory = lambda raw: raw.decode(errors="replace")

    def _tables(self) -> set[str]:
        rows = self.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {str(name) for (name,) in rows}

    def columns(self, table: str) -> set[str]:
        """The names of a table's columns."""
        return {str(row[1]) for row in self.connection.execute(f"PRAGMA table_info({_quoted(table)})")}

    def rows(self, query: str, losses: Losses, what: str) -> Iterator[Any]:
        """The rows of a query; where the file is damaged, those before the damage."""
        done = 0
        try:
            for row in self.connection.execute(query):
                yield row
                done += 1
        except sqlite3.DatabaseError as error:
            losses.add(f"{_DAMAGED}: {what} could not be read to their end", detail=f"{error}, after {done} rows")


def _shortened(path: Path, error: sqlite3.DatabaseError) -> sqlite3.Connection:
    """A database that was cut short, in memory, with a header that states the pages that are there.

    Raises:
        sqlite3.DatabaseError: the file is too large for that, or whole (then it is broken otherwise).
    """
    content = bytearray(path.read_bytes() if path.stat().st_size <= _LARGEST_REPAIR_BYTES else b"")
    page = int.from_bytes(content[16:18], "big") if len(content) > _HEADER_BYTES else 0
    page = 65536 if page == 1 else page
    stated = int.from_bytes(content[28:32], "big")
    if page < 512 or len(content) // page == 0 or stated <= len(content) // page:
        raise error
    content[28:32] = (len(content) // page).to_bytes(4, "big")
    connection = sqlite3.connect(":memory:")
    connection.deserialize(bytes(content[: len(content) // page * page]))
    return connection


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def read_sqlite(path: Path, losses: Losses) -> Timeline:
    """Reads a rocpd or RPD database.

    Raises:
        TraceError: it is damaged beyond reading, holds no tables of kernels, or none of them could be read.
    """
    try:
        database = _Database(path, losses)
    except sqlite3.Error as error:
        raise _unreadable(path, str(error)) from None
    try:
        suffixes = sorted(t.removeprefix(_DISPATCHES) for t in database.tables if t.startswith(_DISPATCHES))
        if suffixes:
            return _readable(_read_rocpd(database, suffixes, losses), path)
        if "rocpd_op" in database.tables:
            return _readable(_read_rpd(database, losses), path)
    except sqlite3.DatabaseError as error:  # already what columns a table has could not be read
        raise _unreadable(path, str(error)) from None
    finally:
        database.connection.close()
    raise TraceError(
        f"the database {path} holds no kernels: its tables are {', '.join(sorted(database.tables)) or 'none'}",
        expected=f"tables named {_DISPATCHES}... (rocprofv3) or rocpd_op (rocmProfileData)",
        hint="record with kernels traced (rocprofv3 --kernel-trace), and name the database that it writes",
    )


def _unreadable(path: Path, why: str) -> TraceError:
    return TraceError(
        f"the database {path} can't be read: {why}",
        expected="a rocpd or RPD database",
        hint="copy the file again after its profiler has ended, or export it to another format",
    )


def _readable(timeline: Timeline, path: Path) -> Timeline:
    """The timeline, unless reading failed before the first kernel; a table without rows is no failure."""
    timeline.recognised = True
    if len(timeline.kernels):
        return timeline
    why = [f"{loss.what}: {loss.detail}" for loss in timeline.losses.entries() if loss.what.startswith(_DAMAGED)]
    if why:
        raise _unreadable(path, "; ".join(why))
    return timeline


def _read_rocpd(database: _Database, suffixes: list[str], losses: Losses) -> Timeline:
    timeline = Timeline(ROCPD_FORMAT, losses)
    timeline.producer = Producer(name="rocprofv3")
    for process, suffix in enumerate(suffixes):
        _rocpd_devices(database, suffix, timeline)
        _rocpd_calls(database, suffix, process, timeline)
        _rocpd_kernels(database, suffix, process, timeline)
        _rocpd_copies(database, suffix, timeline)
    return timeline


def _track(database: _Database, suffix: str, table: str, column: str) -> tuple[str, str]:
    """Where a column of a row stands: in the row itself (schema 3) or in its track (4). Returns (column, join)."""
    if column in database.columns(table + suffix):
        return f"r.{column}", ""
    return f"t.{column}", f" LEFT JOIN {_quoted('rocpd_track' + suffix)} t ON t.id = r.track_id"


def _rocpd_kernels(database: _Database, suffix: str, process: int, timeline: Timeline) -> None:
    agent, track = _track(database, suffix, _DISPATCHES, "agent_id")
    stream, _ = _track(database, suffix, _DISPATCHES, "stream_id")
    event = _quoted("rocpd_event" + suffix)
    query = f"""
        SELECT s.display_name, s.kernel_name, r.start, r.end, {agent}, {stream}, e.stack_id,
               r.grid_size_x, r.grid_size_y, r.grid_size_z, r.workgroup_size_x, r.workgroup_size_y, r.workgroup_size_z,
               r.group_segment_size, r.private_segment_size, s.arch_vgpr_count, s.accum_vgpr_count, s.sgpr_count,
               r.kernel_id
        FROM {_quoted(_DISPATCHES + suffix)} r
        LEFT JOIN {_quoted("rocpd_info_kernel_symbol" + suffix)} s ON s.id = r.kernel_id
        LEFT JOIN {event} e ON e.id = r.event_id{track}
    """
    for row in database.rows(query, timeline.losses, "kernels"):
        display, symbol, begin, end, device, stream_id, stack, gx, gy, gz, bx, by, bz, lds, scratch, *rest = row
        vgprs, agprs, sgprs, kernel_id = rest
        if not display and not symbol:
            timeline.losses.add(_UNNAMED)
        add_kernel(
            timeline,
            KernelRow(
                name=str(display or symbol or f"kernel id {kernel_id}"),
                begin_ns=whole(begin),
                end_ns=whole(end),
                device=whole(device) or 0,
                stream=whole(stream_id) or 0,
                correlation=_of_process(whole(stack), process),
                grid=tuple(whole(extent) or 0 for extent in (gx, gy, gz)),
                block=tuple(whole(extent) or 0 for extent in (bx, by, bz)),
                lds_bytes=whole(lds),
                scratch_bytes=whole(scratch),
                vgprs=whole(vgprs),
                agprs=whole(agprs),
                sgprs=whole(sgprs),
            ),
        )
        timeline.events["kernel_dispatch"] = timeline.events.get("kernel_dispatch", 0) + 1


def _of_process(stack: int | None, process: int) -> int | None:
    """A correlation id that is unique across processes; 0 means none."""
    return (stack << 8 | process & 255) if stack else None


def _rocpd_calls(database: _Database, suffix: str, process: int, timeline: Timeline) -> None:
    table = "rocpd_region"
    if table + suffix not in database.tables:
        return
    thread, track = _track(database, suffix, table, "tid")
    query = f"""
        SELECT n.string, r.start, r.end, {thread}, e.stack_id
        FROM {_quoted(table + suffix)} r
        JOIN {_quoted("rocpd_string" + suffix)} n ON n.id = r.name_id
        LEFT JOIN {_quoted("rocpd_event" + suffix)} e ON e.id = r.event_id{track}
    """
    for name, begin, end, tid, stack in database.rows(query, timeline.losses, "runtime calls"):
        first, last = whole(begin), whole(end)
        if first is not None and last is not None and str(name).startswith("hip"):
            add_call(
                timeline,
                CallRow(
                    name=str(name),
                    begin_ns=first,
                    end_ns=last,
                    process=process,
                    thread=whole(tid) or 0,
                    correlation=_of_process(whole(stack), process),
                ),
            )


def _rocpd_copies(database: _Database, suffix: str, timeline: Timeline) -> None:
    table = "rocpd_memory_copy"
    if table + suffix not in database.tables:
        return
    query = f"SELECT r.start, r.end, r.dst_agent_id, r.src_agent_id FROM {_quoted(table + suffix)} r"
    gpus = {device.id for device in timeline.devices}
    for begin, end, *agents in database.rows(query, timeline.losses, "copies"):
        first, last = whole(begin), whole(end)
        if first is not None and last is not None:
            start = (first - timeline.base_ns) / 1000
            timeline.copies_us += [(agent, start, (last - first) / 1000) for agent in {*agents} & gpus]


def _rocpd_devices(database: _Database, suffix: str, timeline: Timeline) -> None:
    table = "rocpd_info_agent" + suffix
    if table not in database.tables:
        return
    query = f"SELECT id, type, name, product_name, extdata FROM {_quoted(table)}"
    found = {device.id: device for device in timeline.devices}
    for number, kind, name, product, extra in database.rows(query, timeline.losses, "agents"):
        if kind != "GPU":
            continue
        try:
            told = json.loads(extra or "{}")
        except ValueError:
            told = {}
        found[number] = SeenDevice(
            id=number,
            name=product or None,
            arch=name if str(name).startswith("gfx") else None,
            compute_units=whole(told.get("cu_count")) if isinstance(told, dict) else None,
            wave_size=whole(told.get("wave_front_size")) if isinstance(told, dict) else None,
        )
    timeline.devices = tuple(found.values())


def _read_rpd(database: _Database, losses: Losses) -> Timeline:
    timeline = Timeline(RPD_FORMAT, losses)
    timeline.producer = Producer(name="rocmProfileData")
    has_api = {"rocpd_api", "rocpd_api_ops", "rocpd_kernelapi"} <= database.tables
    if has_api:
        query = """
            SELECT n.string, a.start, a.end, a.pid, a.tid, o.op_id,
                   k.gridX, k.gridY, k.gridZ, k.workgroupX, k.workgroupY, k.workgroupZ
            FROM rocpd_api_ops o
            JOIN rocpd_api a ON a.id = o.api_id
            JOIN rocpd_string n ON n.id = a.apiName_id
            LEFT JOIN rocpd_kernelapi k ON k.api_ptr_id = a.id
        """
        for name, begin, end, pid, tid, operation, *sizes in database.rows(query, losses, "runtime calls"):
            sizes = [whole(extent) for extent in sizes]
            known = None not in sizes
            add_call(
                timeline,
                CallRow(
                    name=str(name),
                    begin_ns=whole(begin),
                    end_ns=whole(end),
                    process=whole(pid) or 0,
                    thread=whole(tid) or 0,
                    correlation=whole(operation),
                    grid=tuple(sizes[:3]) if known else (),
                    block=tuple(sizes[3:]) if known else (),
                ),
            )
    query = """
        SELECT o.id, o.gpuId, o.queueId, o.start, o.end, d.string, t.string
        FROM rocpd_op o
        LEFT JOIN rocpd_string d ON d.id = o.description_id
        LEFT JOIN rocpd_string t ON t.id = o.opType_id
    """
    for number, gpu, queue, begin, end, name, kind in database.rows(query, losses, "operations"):
        runs_kernel = str(kind).startswith("Kernel")
        if not (name or runs_kernel) or str(kind).startswith(("Copy", "Fill", "Memset", "Marker", "Barrier")):
            first, last = whole(begin), whole(end)
            if first is not None and last is not None and str(kind).startswith(("Copy", "Fill", "Memset")):
                timeline.base_ns = timeline.base_ns or first
                timeline.copies_us.append((whole(gpu) or 0, (first - timeline.base_ns) / 1000, (last - first) / 1000))
            continue
        if not name:
            losses.add(_UNNAMED)
        add_kernel(
            timeline,
            KernelRow(
                name=str(name or f"operation {number}"),
                begin_ns=whole(begin),
                end_ns=whole(end),
                device=whole(gpu) or 0,
                stream=whole(queue) or 0,
                correlation=whole(number),
                unit=None if has_api else GridUnit.WORK_ITEMS,
            ),
        )
    return timeline
