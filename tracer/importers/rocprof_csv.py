"""rocprofv3's kernel trace as CSV, and the older tools' likes: unpacked blocks in, a Timeline out.

Columns are found by name, in any order. Names may be mangled, demangled or cut to the function's name; they are kept
as they stand. Grids count work-items.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator

from tracer.importers.losses import Losses
from tracer.importers.rows import KernelRow, add_kernel, whole
from tracer.importers.timeline import Producer, Timeline

FORMAT = "rocprofv3 CSV"

#: field -> columns that hold it. rocprofv3 (ROCm 6.2 to 7), its counter table, its statistics; rocprof 1 and 2.
_COLUMNS: dict[str, tuple[str, ...]] = {
    "name": ("kernel_name", "kernelname", "name"),
    "begin": ("start_timestamp", "beginns", "start"),
    "end": ("end_timestamp", "endns", "end"),
    "duration": ("durationns", "totaldurationns"),
    "count": ("calls",),
    "device": ("agent_id", "gpu-id", "gpu_id", "agent"),
    "stream": ("stream_id",),
    "queue": ("queue_id", "queue-id"),
    "correlation": ("correlation_id",),
    "dispatch": ("dispatch_id", "index"),
    "process": ("process_id", "pid"),
    "grid": ("grid_size", "grd"),
    "grid_x": ("grid_size_x",),
    "grid_y": ("grid_size_y",),
    "grid_z": ("grid_size_z",),
    "block": ("workgroup_size", "wgr"),
    "block_x": ("workgroup_size_x",),
    "block_y": ("workgroup_size_y",),
    "block_z": ("workgroup_size_z",),
    "lds": ("lds_block_size", "group_segment_size", "lds"),
    "scratch": ("scratch_size", "private_segment_size", "scr"),
    "vgprs": ("vgpr_count", "arch_vgpr"),
    "agprs": ("accum_vgpr_count", "accum_vgpr"),
    "sgprs": ("sgpr_count", "sgpr"),
    "counter": ("counter_name",),
}

#: a row without times and with none of these is no execution (a header that is repeated, say)
_NUMBERS = ("correlation", "dispatch", "process", "grid", "grid_x", "count")

_DIGITS = re.compile(r"-?\d{1,40}")
#: no time, size or id is larger, and no count
_LARGEST, _LARGEST_COUNT = 1 << 100, 1 << 62


def columns_of(header: str) -> dict[str, int] | None:
    """Field -> position, for a header line of a table of kernels; None for any other line."""
    titles = next(csv.reader([header.lstrip("\ufeff")]), [])
    if len(titles) < 3:
        return None
    positions = {title.strip().lower(): index for index, title in reversed(list(enumerate(titles)))}
    found = {
        field: next(positions[column] for column in columns if column in positions)
        for field, columns in _COLUMNS.items()
        if any(column in positions for column in columns)
    }
    timed = "duration" in found or ("begin" in found and "end" in found)
    plain_name = "name" in found and titles[found["name"]].strip().lower() == "name"
    if "name" not in found or not timed or (plain_name and "count" not in found):
        return None
    return found


class _Lines:
    """Lines of text; `line` is the one read last, `offset` its first byte, `taken` all since it was emptied."""

    def __init__(self, blocks: Iterable[bytes], losses: Losses) -> None:
        self._blocks = blocks
        self._losses = losses
        self.offset = 0
        self.line = ""
        self.taken: list[tuple[int, str]] = []
        self._iterated = self._lines()

    def __iter__(self) -> Iterator[str]:
        return self._iterated

    def _lines(self) -> Iterator[str]:
        rest = b""
        at = 0
        for block in self._blocks:
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            for line in lines:
                self.offset = at
                at += len(line) + 1
                self.line = self._text(line)
                self.taken.append((self.offset, self.line))
                yield self.line + "\n"
        if rest:
            self.offset = at
            self.line = self._text(rest)
            self.taken.append((self.offset, self.line))
            yield self.line

    def _text(self, line: bytes) -> str:
        try:
            text = line.decode()
        except UnicodeDecodeError:
            self._losses.add("invalid UTF-8 in a string (replaced)", byte=self.offset)
            text = line.decode(errors="replace")
        if "\0" in text:
            self._losses.add("control characters in a string (kept)", byte=self.offset)
            text = text.replace("\0", "\ufffd")
        return text


class _Row:
    """One row, by field."""

    def __init__(self, columns: dict[str, int], values: list[str]) -> None:
        self._columns = columns
        self._values = values

    def text(self, field: str) -> str | None:
        place = self._columns.get(field)
        return self._values[place] if place is not None and place < len(self._values) else None

    def number(self, field: str) -> int | None:
        value = whole(self.text(field) or "")
        return value if value is not None and -_LARGEST < value < _LARGEST else None

    def id(self, field: str) -> int | None:
        """A number, also in words around it ("Agent 4")."""
        found = _DIGITS.search(self.text(field) or "")
        return int(found.group()) if found else None

    def extent(self, field: str) -> tuple[int, ...]:
        """A size in x, y, z; of a table that states only their product, that and two ones."""
        parts = tuple(self.number(f"{field}_{axis}") for axis in "xyz")
        if None not in parts:
            return tuple(part for part in parts if part is not None)
        product = self.number(field)
        return (product, 1, 1) if product is not None else ()


def read_rocprof_csv(blocks: Iterable[bytes], losses: Losses) -> Timeline:
    """Reads a CSV table of kernels."""
    timeline = Timeline(FORMAT, losses)
    timeline.producer = Producer(name="rocprof")
    lines = _Lines(blocks, losses)
    columns: dict[str, int] | None = None
    width = 0
    seen: set[tuple[int | None, ...]] = set()
    table = csv.reader(lines)
    while True:
        lines.taken = []
        try:
            values = next(table)
        except StopIteration:
            break
        except csv.Error:
            values = [lines.line]  # no row of this table
            table = csv.reader(lines)  # what the other one had taken in, it would give again
        if columns is None:
            columns, width = columns_of(_joined(values)), len(values)
            timeline.recognised = columns is not None
            continue
        rows = [(lines.offset, lines.line, values)]
        if len(lines.taken) > 1 and (len(values) != width or _quoted_badly(values[columns["name"]], lines.line)):
            # a quote that is not closed has taken other rows along
            rows = [(offset, line, _values(line)) for offset, line in lines.taken]
        for offset, line, own in rows:
            whole_row = _whole_row(own, line, offset, columns["name"], width, losses)
            if whole_row:
                _add(timeline, _Row(columns, whole_row), seen, offset)
    return timeline


def _values(line: str) -> list[str]:
    """The values of a line that is a row by itself."""
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return [line]


def _whole_row(values: list[str], line: str, offset: int, name: int, width: int, losses: Losses) -> list[str] | None:
    """The values of a row, repaired where its name has quotes of its own; None where it is empty, or lost."""
    if len(values) > width or (len(values) == width and _quoted_badly(values[name], line)):
        repaired = _with_whole_name(line, name, width)
        if repaired is not None:
            losses.add("unescaped quotes or backslashes in a string (repaired)", byte=offset)
            return repaired
    if values and (len(values) != width or _quoted_badly(values[name], line)):
        # cut short, its last number may have lost digits
        losses.add("rows that could not be read", byte=offset, detail=f"{len(values)} of {width} columns")
        return None
    return values


def _quoted_badly(name: str, line: str) -> bool:
    """Whether a name has quotes that its line does not double; a name of several lines has the rest elsewhere."""
    return '"' in name and "\n" not in name and name.replace('"', '""') not in line and f",{name}," not in line


def _with_whole_name(line: str, name: int, width: int) -> list[str] | None:
    """The values of a row whose quoted name has quotes of its own; no other column has commas. None: no such row."""
    parts = line.rstrip("\r").split(",")
    after = len(parts) - (width - name - 1)
    whole_name = ",".join(parts[name:after])
    if len(parts) < width or len(whole_name) < 2 or not (whole_name[0] == whole_name[-1] == '"'):
        return None
    return [*(part.strip('"') for part in parts[:name]), whole_name[1:-1], *(part.strip('"') for part in parts[after:])]


def _joined(values: list[str]) -> str:
    return ",".join('"' + value.replace('"', '""') + '"' for value in values)


def _add(timeline: Timeline, row: _Row, seen: set[tuple[int | None, ...]], offset: int) -> None:
    """Adds one row; counts it as lost when it has no name or no numbers."""
    name, begin, end = row.text("name"), row.number("begin"), row.number("end")
    duration = row.number("duration")
    if begin is end is duration is None and (not name or all(row.number(field) is None for field in _NUMBERS)):
        timeline.losses.add("rows that could not be read", byte=offset, detail="no times, and no name or other numbers")
        return
    events = timeline.events
    events["rows"] = events.get("rows", 0) + 1
    if row.text("counter") is not None:
        # a counter table has a row for every counter of one execution
        key = (row.number("process"), row.id("device"), row.number("dispatch"))
        if key in seen:
            return
        seen.add(key)
    stream, count = row.id("stream"), row.number("count")
    if row.text("count") is not None and not 0 < (count or 0) < _LARGEST_COUNT:
        count = 1
        timeline.losses.add("rows whose number of calls could not be read (counted as 1)", byte=offset)
    add_kernel(
        timeline,
        KernelRow(
            name=name or "",
            begin_ns=begin,
            end_ns=end,
            duration_ns=duration,
            device=row.id("device") or 0,
            stream=stream if stream is not None else row.id("queue") or 0,
            correlation=row.number("correlation"),
            grid=row.extent("grid"),
            block=row.extent("block"),
            lds_bytes=row.number("lds"),
            scratch_bytes=row.number("scratch"),
            vgprs=row.number("vgprs"),
            agprs=row.number("agprs"),
            sgprs=row.number("sgprs"),
            count=count or 1,
            summed=row.text("begin") is None,
        ),
    )
