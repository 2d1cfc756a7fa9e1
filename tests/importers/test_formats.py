"""Any file at all: its format is found by what it holds, and what is no trace is refused in words that help."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.importers.handmade import MI300X, kernel, lost, trace, write
from tests.importers.test_rocpd import COMMON, SCHEMA_3, database
from tests.importers.test_rocprof_csv import HEADER, row
from tests.importers.test_rocprof_json import dispatch, process, symbol
from tracer.errors import TraceError
from tracer.importers.formats import read_timeline

KINETO = trace([kernel("k", 1, 2)], deviceProperties=[MI300X])
ROCPROF = json.dumps(
    {"rocprofiler-sdk-tool": [process(kernel_symbols=[symbol(7, "k")], kernel_dispatch=[dispatch(7, 1, 2)])]}
).encode()
CSV = f"{HEADER}\n{row()}\n".encode()


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz", "trace.csv", "trace.db", "trace"])
@pytest.mark.parametrize(
    ("content", "format_name"),
    [
        (KINETO, "torch.profiler JSON"),
        (gzip.compress(KINETO), "torch.profiler JSON"),
        (json.dumps([kernel("k", 1, 2)]).encode(), "torch.profiler JSON"),
        (b"\xef\xbb\xbf\r\n " + KINETO, "torch.profiler JSON"),
        (ROCPROF, "rocprofv3 JSON"),
        (gzip.compress(ROCPROF), "rocprofv3 JSON"),
        (CSV, "rocprofv3 CSV"),
        (b"\xef\xbb\xbf" + CSV, "rocprofv3 CSV"),
        (gzip.compress(CSV), "rocprofv3 CSV"),
    ],
)
def test_the_format_is_found_by_content(tmp_path: Path, name: str, content: bytes, format_name: str) -> None:
    timeline = read_timeline(write(tmp_path, content, name))
    assert (timeline.format, len(timeline.kernels)) == (format_name, 1)


def test_a_database_is_found_by_content(tmp_path: Path) -> None:
    path = database(tmp_path, (COMMON + SCHEMA_3).format(u=""), "trace.json")
    assert read_timeline(path).format == "rocpd (SQLite)"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"<!DOCTYPE html><html><head><title>Sign in - Files</title>", "is a web page ('Sign in - Files'), no trace"),
        (b"  <html><body>404</body></html>", "is a web page, no trace"),
        (gzip.compress(gzip.compress(KINETO)), "is gzip inside gzip"),
        (b"PK\x03\x04....", "is a ZIP archive"),
        (b"BZh91AY", "is packed with bzip2"),
        (b"\x28\xb5\x2f\xfd....", "is packed with zstd"),
        ("{}".encode("utf-16"), "is UTF-16 text"),
        (b"\x0a\x07perfetto", "is no trace that ktrace knows: it begins with"),
        (b"just text", "is no trace that ktrace knows: it begins with 'just text'"),
        (b"{}", "it holds no events"),
        (b'{"answer": 42}', "it holds no events"),
        (b'{"traceEv', "it holds no events"),
        (b"Name,Value\nx,1\n", "is no trace that ktrace knows"),
        (b'{"schema_version": 1, "mode": "dry"}', "is a record of ktrace, no trace"),
        (gzip.compress(b"", mtime=0)[:12], "its gzip data is damaged from the start"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(TraceError) as refused:
        read_timeline(write(tmp_path, content))
    assert says in refused.value.message
    assert "trace.json" in refused.value.message
    assert refused.value.expected or refused.value.hint


@pytest.mark.parametrize("content", [b"[]", b"  [ ]\n", trace([]), trace([], deviceProperties=[MI300X])])
def test_a_trace_without_events_is_an_answer(tmp_path: Path, content: bytes) -> None:
    timeline = read_timeline(write(tmp_path, content))
    assert lost(timeline) == {"no kernels are in the trace": 1}


def test_metadata_alone_is_an_answer(tmp_path: Path) -> None:
    content = json.dumps({"schemaVersion": 1, "deviceProperties": [MI300X]}).encode()
    timeline = read_timeline(write(tmp_path, content))
    assert timeline.devices[0].name == "AMD Instinct MI300X"
    assert not len(timeline.kernels)


def test_a_trace_of_another_tool_is_not_said_to_lack_gpu_activity_alone(tmp_path: Path) -> None:
    timeline = read_timeline(write(tmp_path, trace([{**kernel("fusion", 1, 2), "cat": "hpu_op"}])))
    told = {loss.what: loss.detail for loss in timeline.losses.entries()}
    assert told["events of categories that are not read"] == "hpu_op (1)"
    assert "stands in events of categories that are not read" in (told["no kernels are in the trace"] or "")


def test_no_device_and_no_distributed_properties_are_no_problem(tmp_path: Path) -> None:
    timeline = read_timeline(write(tmp_path, json.dumps({"traceEvents": [kernel("k", 1, 2)]}).encode()))
    assert (timeline.devices, len(timeline.kernels), lost(timeline)) == ((), 1, {})


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_download_that_broke_off_is_read_as_far_as_it_goes(tmp_path: Path, share: float) -> None:
    content = gzip.compress(trace([kernel(f"k{n * 7919}", n, n % 7) for n in range(3000)]))
    timeline = read_timeline(write(tmp_path, content[: int(len(content) * share)]))
    assert 0 < len(timeline.kernels) < 3000
    assert timeline.total_us() == sum(n % 7 for n in range(len(timeline.kernels)))
    assert "truncated gzip: the file ends inside its packed data" in lost(timeline)


def test_a_bomb_gives_the_events_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracer.importers.bytestream.BOMB_FLOOR_BYTES", 1 << 20)
    monkeypatch.setattr("tracer.importers.arrays.LONGEST_ELEMENT_BYTES", 1 << 20)
    content = (
        b'{"traceEvents": [' + json.dumps(kernel("k", 1, 2)).encode() + b', {"name": "' + b"a" * (64 << 20) + b'"}]}'
    )
    timeline = read_timeline(write(tmp_path, gzip.compress(content)))
    assert len(timeline.kernels) == 1
    assert "gzip bomb: reading was stopped" in lost(timeline)
