"""Any trace file: a path in, its Timeline out. The format is found by what the file holds, never by its name."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from tracer.errors import TraceError
from tracer.importers.bytestream import ByteStream, Progress
from tracer.importers.kineto import UNREAD, read_kineto
from tracer.importers.losses import Losses
from tracer.importers.rocprof_csv import columns_of, read_rocprof_csv
from tracer.importers.rocprof_json import read_rocprof_json
from tracer.importers.timeline import Timeline

EXPECTED = (
    "torch.profiler JSON (plain or gzip), rocprofv3 JSON, a *_kernel_trace.csv of rocprofv3, or a rocpd or RPD database"
)

_RECORD_AGAIN = (
    "name the profiler's own output: what export_chrome_trace of torch.profiler writes, or rocprofv3 with "
    "--output-format json, csv or rocpd"
)
#: what is told of a trace that is read and has none
NO_KERNELS = "no kernels are in the trace"
SQLITE_MAGIC = b"SQLite format 3\0"
_BOM = b"\xef\xbb\xbf"
_HTML = re.compile(rb"\s*<(?:!doctype|html|head|\?xml)", re.IGNORECASE)
_TITLE = re.compile(rb"<title[^>]*>\s*(.{1,120}?)\s*</title>", re.IGNORECASE | re.DOTALL)
#: how much of the unpacked text shows what it is
_HEAD_BYTES = 1 << 16
#: lines before a CSV's header that are passed over
_LINES_TRIED = 20

_OTHER_KINDS = (
    (b"\x1f\x8b", "is gzip inside gzip", "unpack it once (gzip -dc FILE > OTHER), and import what comes out"),
    (b"PK\x03\x04", "is a ZIP archive", "unpack it and import the trace inside"),
    (b"BZh", "is packed with bzip2", "unpack it first"),
    (b"\xfd7zXZ", "is packed with xz", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "is packed with zstd", "unpack it first"),
    (b"\xff\xfe", "is UTF-16 text", "save it as UTF-8"),
    (b"\xfe\xff", "is UTF-16 text", "save it as UTF-8"),
)


def read_timeline(path: Path, losses: Losses | None = None, progress: Progress | None = None) -> Timeline:
    """Reads a trace file.

    Args:
        path: the file.
        losses: where what can't be read is counted; the timeline keeps it.
        progress: called with (bytes read, bytes in all) as reading goes on.

    Raises:
        TraceError: nothing could be read: no such file, or no trace of a known format.
    """
    losses = Losses() if losses is None else losses
    stream = ByteStream(path, losses, progress)
    blocks = stream.blocks()
    first = next(blocks, b"")
    if not first:
        packed = "; its gzip data is damaged from the start" if len(losses) else ""
        raise TraceError(
            f"the trace {path} is empty{packed}",
            expected=EXPECTED,
            hint="copy it again from where it was recorded; a profiler writes its file when the program ends",
        )
    if first.startswith(SQLITE_MAGIC):
        from tracer.importers.rocpd import read_sqlite  # SQLite is loaded only for a database

        return _checked(read_sqlite(path, losses), path)
    head = first[:_HEAD_BYTES].removeprefix(_BOM)
    openings = iter((itertools.chain((first.removeprefix(_BOM),), blocks),))

    def open_blocks() -> Iterator[bytes]:
        """The text from its start: what has been begun, then read anew."""
        yield from next(openings, None) or _without_bom(stream.blocks())

    if head.lstrip()[:1] in (b"{", b"["):
        return _read_json(path, head, open_blocks, losses)
    lines = head.decode(errors="replace").splitlines()[:_LINES_TRIED]
    if any(columns_of(line) for line in lines):
        return _checked(read_rocprof_csv(open_blocks(), losses), path)
    raise _no_trace(path, head)


def _without_bom(blocks: Iterator[bytes]) -> Iterator[bytes]:
    yield next(blocks, b"").removeprefix(_BOM)
    yield from blocks


def _read_json(path: Path, head: bytes, open_blocks: Callable[[], Iterator[bytes]], losses: Losses) -> Timeline:
    if b'"rocprofiler-sdk-tool"' in head:
        return _checked(read_rocprof_json(open_blocks(), losses), path)
    if b'"schema_version"' in head and b'"traceEvents"' not in head and b'"mode"' in head:
        raise TraceError(f"{path} is a record of ktrace, no trace", hint="`ktrace render` writes its page")
    return _checked(read_kineto(open_blocks, losses), path)


def _checked(timeline: Timeline, path: Path) -> Timeline:
    """The timeline, unless the file turned out to hold nothing of a trace."""
    if not timeline.events and not timeline.recognised:
        lost = "; ".join(
            f"{loss.what} ({loss.detail})" if loss.detail else loss.what for loss in timeline.losses.entries()
        )
        raise TraceError(
            f"nothing could be read from {path}: it holds no events" + (f": {lost}" if lost else ""),
            expected=EXPECTED,
            hint=_RECORD_AGAIN,
        )
    if not len(timeline.kernels):
        elsewhere = ", stands in events of categories that are not read" if UNREAD in timeline.losses else ""
        why = f"GPU activity was not recorded{elsewhere}, or all of it was lost; see the counts"
        timeline.losses.add(NO_KERNELS, detail=why)
    return timeline


def _no_trace(path: Path, head: bytes) -> TraceError:
    if _HTML.match(head):
        title = _TITLE.search(head)
        named = f" ({title[1].decode(errors='replace')!r})" if title else ""
        return TraceError(
            f"{path} is a web page{named}, no trace",
            expected=EXPECTED,
            hint="download the file itself; pages like this come when a link needs a login",
        )
    for magic, what, hint in _OTHER_KINDS:
        if head.startswith(magic):
            return TraceError(f"the trace {path} {what}", expected=EXPECTED, hint=hint)
    shown = head[:40].decode(errors="replace")
    return TraceError(
        f"{path} is no trace that ktrace knows: it begins with {shown!r}", expected=EXPECTED, hint=_RECORD_AGAIN
    )
