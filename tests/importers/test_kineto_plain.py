"""The compiled reader of plain events: it agrees with the typed decoder, or refuses."""

from __future__ import annotations

import gzip
import json
import math
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.importers.handmade import Event, call, event, frame, kernel, op, read, trace, write
from tracer.importers import kineto_plain
from tracer.importers.joins import Joined, join, stack_names
from tracer.importers.kineto_plain import PlainEvents, PlainReader
from tracer.importers.losses import Losses
from tracer.importers.nesting import NONE
from tracer.importers.spans import SpanStore
from tracer.importers.timeline import Timeline

pytestmark = pytest.mark.skipif(
    kineto_plain.EventReader is None, reason="the compiled reader was not built: there was no C compiler"
)

TRACES = Path(__file__).parent.parent / "data" / "traces"


@contextmanager
def typed_only() -> Iterator[None]:
    with mock.patch.object(kineto_plain, "EventReader", None):
        yield


def plain(events: list[Event] | bytes, timeline: Timeline | None = None) -> PlainEvents | None:
    """A list of events by the compiled reader."""
    text = events if isinstance(events, bytes) else json.dumps(events).encode()
    return PlainReader(timeline or Timeline("", Losses()), 0.0).read(text)


def spans(timeline: Timeline, store: SpanStore) -> dict[Any, list[Any]]:
    """Spans by thread, by start; equal starts stand as in the file."""
    found: dict[Any, list[Any]] = {}
    for block in store.blocks():
        for row, (start, end, name) in enumerate(zip(block.start, block.end, block.name, strict=True)):
            own = found.setdefault(repr(timeline.threads.values_[block.thread]), [])
            own.append((start, end, timeline.names.values_[name], block.extra_of(row)))
    return {thread: sorted(own, key=lambda row: row[0]) for thread, own in found.items()}


def content(timeline: Timeline) -> dict[str, Any]:
    """What a timeline says, without the numbers by which it says it; NaN as a text, to be equal to itself."""
    names, shapes, threads = timeline.names.values_, timeline.shapes.values_, timeline.threads.values_
    own, calls = timeline.kernels, timeline.calls
    copied = [device for device, _, _ in timeline.copies_us]
    places = timeline.places.values_
    device, stream, copied = (
        [places[-2 - n] if -9999 < n < -1 else n for n in ids] for ids in (own.device, own.stream, copied)
    )
    columns = own.start_us, own.duration_us, own.correlation, own.external, device, stream
    times = calls.start_us, calls.duration_us, calls.correlation, calls.external
    made = {
        "kernels": [
            (names[n], shapes[shape], *rest) for n, shape, *rest in zip(own.name, own.shape, *columns, strict=True)
        ],
        "calls": [
            (*rest, names[n], repr(threads[thread]), shapes[shape], names[launched] if launched >= 0 else "")
            for n, thread, shape, launched, *rest in zip(
                calls.name, calls.thread, calls.shape, calls.kernel, *times, strict=True
            )
        ],
        "copies": [(*rest, str(device)) for device, (_, *rest) in zip(copied, timeline.copies_us, strict=True)],
        "ops": spans(timeline, timeline.ops),
        "frames": spans(timeline, timeline.frames),
        "events": dict(sorted(timeline.events.items())),
        "untimed": sorted(timeline.untimed),
        "losses": sorted((loss.what, loss.count, loss.detail or "") for loss in timeline.losses.entries()),
    }
    return json.loads(json.dumps(made).replace("NaN", '"NaN"'))


def links(joined: Joined) -> list[Any]:
    """What every kernel is led back to."""
    timeline = joined.timeline
    names, calls = timeline.names.values_, timeline.calls
    return [
        (
            None if call == NONE else (names[calls.name[call]], calls.start_us[call]),
            stack_names(joined.ops, op, names),
            stack_names(joined.frames, frame, names),
            *by,
        )
        for call, op, frame, *by in zip(joined.call, joined.op, joined.frame, joined.call_by, joined.op_by, strict=True)
    ]


def agree(text: bytes, block: int = 1 << 18) -> None:
    found = []
    for decoder in (nullcontext, typed_only):
        with decoder():
            timeline = read(text, block)
        found.append((content(timeline), links(join(timeline)), content(timeline)["losses"]))
    assert found[0] == found[1]


ONE_OF_EACH = [
    op("aten::mm", 10.25, 20, 5, dims=[[2, 3], [3, 4]], types=["c10::BFloat16", 'a "quoted" one']),
    frame("a.py(1): f", 5, 30.125),
    call("cudaLaunchKernel", 12, 3, 9, external=5, grid=[4, 2, 1], block=[64, 1, 1], kernel="gemm"),
    call("cudaStreamSynchronize", 13, 3, 9),
    kernel("gemm", 40, 7.5, 9, external=5, grid=[4, 2, 1], block=[128, 1, 1], registers=64, shared_memory=512),
    kernel("gemm", 50, 7.5, 9, occupancy=0, shared_memory=None),
    event("gpu_memcpy", "Memcpy HtoD", 50, 1, pid=0, tid=7, device=0, stream=7, correlation=10),
    event("user_annotation", "step", 50, 1, external=3),
    {"ph": "s", "id": 9, "pid": 1, "tid": 1, "ts": 12, "cat": "ac2g", "name": "ac2g"},
    {"name": "process_name", "ph": "M", "ts": 1, "pid": 1, "tid": 0, "args": {"name": "python"}},
]


def test_without_compiled_modules_a_trace_is_read_alike(tmp_path: Path) -> None:
    """As where ktrace was installed without a C compiler."""
    path = write(tmp_path, trace(ONE_OF_EACH))
    script = "import sys; sys.modules['tracer.importers.kineto_rows'] = None; from tracer.cli.main import main; main()"
    found = [
        subprocess.run(
            [sys.executable, *command, "import", str(path), "--json"], capture_output=True, check=True
        ).stdout
        for command in (["-c", script], ["-m", "tracer"])
    ]
    assert json.loads(found[0])["kernel_count"] == 2
    assert found[0] == found[1]


def test_one_of_each_event_is_plain() -> None:
    found = plain(ONE_OF_EACH)
    assert found is not None
    assert len(found) == len(ONE_OF_EACH)
    assert dict(PlainReader.categories(found)) == {
        "cpu_op": 1,
        "python_function": 1,
        "cuda_runtime": 2,
        "kernel": 2,
        "gpu_memcpy": 1,
        "user_annotation": 1,
        "ac2g": 1,
        "(no category)": 1,
    }


@pytest.mark.parametrize("indent", [None, 0, 1, 4])
@pytest.mark.parametrize("block", [100, 1000, 1 << 18])
def test_one_of_each_event_is_read_alike_however_it_is_written(indent: int | None, block: int) -> None:
    agree(trace(ONE_OF_EACH * 3, indent=indent), block)


@pytest.mark.parametrize(
    "name",
    ["", "a", 'with "quotes" and \\ in it', "\N{MICRO SIGN}s", "\N{GRINNING FACE}", "tab\tand\nline", "x" * 5000],
)
def test_any_name_is_plain(name: str) -> None:
    for ascii_only in (True, False):
        timeline = Timeline("", Losses())
        assert plain(json.dumps([frame(name, 1, 2)], ensure_ascii=ascii_only).encode(), timeline) is not None
        assert timeline.names.values_ == [name]


#: what makes a list of events unusual, each put in the place of a value of a plain one
ODD = {
    "a category that nobody knows": ("cat", b'"no_category"'),
    "a category written with an escape": ("cat", b'"kern\\u0065l"'),
    "a phase without an extent of its own": ("ph", b'"B"'),
    "a name that is no string": ("name", b"5"),
    "a name that is not there": ("name", b"null"),
    "half of a surrogate pair": ("name", b'"\\ud800"'),
    "no UTF-8": ("name", b'"\xff"'),
    "a control character in a name": ("name", b'"a\nb"'),
    "an unknown escape": ("name", b'"\\x"'),
    "a quote in a name": ("name", b'"a"b"'),
    "a time that is a string": ("ts", b'"1"'),
    "a time beyond all reason": ("ts", b"1e300"),
    "a time that begins with a zero": ("ts", b"01"),
    "a time that ends in its point": ("ts", b"1."),
    "a duration without digits": ("dur", b"-"),
    "a duration that is no number": ("dur", b"NaN"),
    "a duration that is not there": ("dur", b"null"),
    "a process that is a fraction": ("pid", b"1.5"),
    "arguments that are a list": ("args", b"[]"),
    "arguments that are not there": ("args", b"null"),
    "an id of more than 64 bits": ("correlation", b"123456789012345678901234567890"),
    "an id that is a fraction": ("correlation", b"5.5"),
    "an id with an exponent": ("correlation", b"1e3"),
    "a device that is a word": ("device", b'"GPU 0"'),
    "a grid that is no list": ("grid", b"4"),
    "a grid of words": ("grid", b'["4"]'),
    "registers that are a fraction": ("registers per thread", b"1.5"),
    "a list that does not end": ("grid", b"[1, 2"),
    "a list with a comma too many": ("grid", b"[1, 2,]"),
    "an unknown word": ("grid", b"nil"),
}


@pytest.mark.parametrize("what", ODD)
def test_an_unusual_event_makes_the_list_refused_and_read_as_without_the_compiled_reader(what: str) -> None:
    key, value = ODD[what]
    own = kernel("k", 1, 2, 5, grid=[1, 1, 1], block=[64, 1, 1], registers=32)
    for odd_first in (True, False):
        # also where the plain ones before it have the same layout
        text = json.dumps([own, own] if odd_first else [own, own, own]).encode()
        stated = b'"%s": %s' % (key.encode(), json.dumps(own.get(key, own["args"].get(key))).encode())
        place = text.index(stated) if odd_first else text.rindex(stated)
        odd = text[:place] + b'"%s": %s' % (key.encode(), value) + text[place + len(stated) :]
        assert odd != text
        assert plain(text) is not None
        assert plain(odd) is None
        agree(b'{"traceEvents": ' + odd + b"}")


@pytest.mark.parametrize("key", ["name", "ts", "dur", "ph", "device", "stream"])
def test_a_kernel_without_what_a_row_needs_is_refused(key: str) -> None:
    own = kernel("k", 1, 2, 5)
    (own if key in own else own["args"]).pop(key)
    assert plain([own]) is None
    agree(trace([kernel("j", 1, 1), own, kernel("k", 1, 1)]))


@pytest.mark.parametrize(
    "twice", ['"name": "other"', '"cat": "cpu_op"', '"args": {"correlation": 7}', '"na\\u006de": "x"']
)
def test_a_key_that_stands_there_twice_is_refused(twice: str) -> None:
    text = json.dumps([kernel("k", 1, 2, 5)])
    odd = f"{text[:-2]}, {twice}}}]".encode()
    assert plain(odd) is None
    agree(b'{"traceEvents": ' + odd + b"}")


@pytest.mark.parametrize(
    "text", [b"", b" ", b"[", b"]", b"[]", b"[1]", b"[{}]", b"{}", b"[{]", b'[{"ph"', b"\0", b'["']
)
def test_what_is_no_list_of_events_is_refused(text: bytes) -> None:
    assert plain(text) is None


@pytest.mark.parametrize("rest", [b",", b",]", b"]]", b"] x", b"", b", 5]", b"\0]", b"}]"])
def test_a_list_that_ends_otherwise_is_refused(rest: bytes) -> None:
    text = json.dumps([kernel("k", 1, 2, 5)]).encode()[:-1]
    assert plain(text + b" ]\n") is not None
    assert plain(text + rest) is None


def test_every_cut_of_a_list_is_refused() -> None:
    text = json.dumps(ONE_OF_EACH, indent=1).encode()
    reader = PlainReader(Timeline("", Losses()), 0.0)
    assert reader.read(text) is not None
    for end in range(len(text)):
        assert reader.read(text[:end]) is None
    assert reader.read(text) is not None


def test_lists_within_lists_have_a_limit_and_no_stack_to_overflow() -> None:
    for depth, known in ((50, True), (70, False), (100_000, False)):
        own = op("aten::mm", 1, 2, dims="DEEP")
        text = json.dumps([own]).encode().replace(b'"DEEP"', b"[" * depth + b"]" * depth)
        assert (plain(text) is not None) is known


NUMBERS = st.one_of(
    st.floats(-1e20, 1e20).map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.tuples(st.integers(0, 10**18), st.integers(0, 10**9)).map(lambda parts: f"{parts[0]}.{parts[1]:09}"),
    st.tuples(st.integers(-(10**6), 10**6), st.integers(-30, 12)).map(lambda parts: f"{parts[0]}e{parts[1]}"),
    st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
)


@given(NUMBERS, NUMBERS)
@example("9007199254740993", "9007199254740993.0")
@example("0.1", "1365627862814.773")
@example("-0", "-0.0")
@example("12345678901234567890", "0.12345678901234567890123")
@settings(deadline=None, max_examples=400)
def test_numbers_are_those_that_python_reads(start: str, duration: str) -> None:
    timeline = Timeline("", Losses())
    text = json.dumps([kernel("k", "START", "DURATION", 5)])  # type: ignore[arg-type]
    text = text.replace('"START"', start).replace('"DURATION"', duration).encode()
    found = plain(text, timeline)
    stated = [float(start), float(duration)]
    if found is None:  # beyond all reason
        assert max(map(abs, stated)) >= 1e24 or max(len(start), len(duration)) > 60
        return
    read_kernels = kineto_plain.columns([found])[0]
    assert read_kernels is not None
    got = [read_kernels[1][0], read_kernels[2][0]]
    assert [(value, math.copysign(1, value)) for value in got] == [(v, math.copysign(1, v)) for v in stated]


_TIMES = st.integers(0, 4_000_000).map(lambda n: n / 1000)
_LANES = st.sampled_from([1, 2, "Spans", -1])
_NAMES = st.sampled_from(["k", "f", "aten::mm", "cudaLaunchKernel", "cudaEventRecord", "hipMemcpyAsync", "\N{SNOWMAN}"])
_ANY = st.one_of(st.none(), st.integers(-3, 1 << 70), st.floats(), st.text(max_size=4), st.lists(st.integers(0, 9)))
_ARGUMENTS = st.dictionaries(
    st.sampled_from(
        ["External id", "correlation", "device", "stream", "grid", "block", "kernel", "shared memory", "other"]
    ),
    st.one_of(st.integers(0, 30), st.sampled_from([[1, 2, 3], "text", None, 1 << 66])),
)
_EVENTS = st.builds(
    lambda cat, name, ts, dur, pid, tid, args, more: {
        "ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args, **more,
    },
    st.sampled_from(["kernel", "cpu_op", "python_function", "cuda_runtime", "gpu_memcpy", "ac2g", "overhead"]),
    _NAMES,
    _TIMES,
    _TIMES,
    _LANES,
    _LANES,
    _ARGUMENTS,
    st.one_of(
        st.just({}),
        st.dictionaries(st.sampled_from(["ph", "cat", "name", "ts", "dur", "pid", "args", "x"]), _ANY, max_size=1),
    ),
)  # fmt: skip


@given(
    st.lists(_EVENTS, max_size=12), st.sampled_from([None, 0, 2]), st.sampled_from([64, 700, 1 << 18]), st.booleans()
)
@settings(deadline=None, max_examples=300)
def test_any_events_are_read_alike(events: list[Event], indent: int | None, block: int, runs: bool) -> None:
    agree(trace(events * 5 if runs else events, indent=indent), block)


@given(st.integers(0, 1 << 60))
@settings(deadline=None, max_examples=150)
def test_damaged_traces_are_read_alike(seed: int) -> None:
    chance = random.Random(seed)
    path = chance.choice(sorted(TRACES.glob("*.gz")))
    text = bytearray(gzip.decompress(path.read_bytes()))
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(text))
        piece = chance.choice([b"", b"", b'"', b"\\", b"}", b"{", b",", b"0", b"\n", b"\xff", b"1e9", b'{"ph": "X"}'])
        text[at : at + chance.randint(0, 4)] = piece
    agree(bytes(text), chance.choice([3000, 56 << 10, 1 << 18]))


def test_a_list_with_so_many_layouts_that_they_cost_more_than_they_save_is_refused_and_read_alike() -> None:
    events = [op("aten::mm", n, 1, n % 7, **{f"key {n % 50}": n}) for n in range(500)]
    assert plain(events) is None
    assert plain([op("aten::mm", n, 1, n % 7, **{f"key {n % 20}": n}) for n in range(500)]) is not None
    agree(trace(events))
    agree(trace(events), 3000)


@pytest.mark.parametrize("lanes", [3, 200])
def test_kernels_of_many_streams_are_plain(lanes: int) -> None:
    events = [{**kernel("k", n, 1, n, stream=n % lanes), "tid": n % lanes} for n in range(1000)]
    assert plain(events) is not None
    agree(trace(events))


def test_operators_of_many_threads_stay_apart() -> None:
    agree(trace([op("aten::mm", n, 2, tid=n % 97) for n in range(3000)]), 4000)


@pytest.mark.parametrize("text", ['"\\ud800"', '"\\udfff"', '["\\uDC00"]'])
def test_half_of_a_surrogate_pair_is_refused_wherever_it_stands(text: str) -> None:
    for own in (op("aten::mm", 1, 2, x="HALF"), kernel("k", 1, 2, x="HALF")):
        half = json.dumps([own]).replace('"HALF"', text).encode()
        assert plain(half) is None
        agree(b'{"traceEvents": ' + half + b"}")


def test_tables_are_emptied_before_they_get_large() -> None:
    with mock.patch.object(kineto_plain, "_LARGEST_TABLE", 4):
        agree(trace([kernel(f"k{n % 9}", n, 1, n, grid=[n % 7, 1, 1]) for n in range(100)]))


@pytest.mark.data
def test_public_traces_are_read_alike(ktrace_data: Path) -> None:
    for path in sorted((ktrace_data / "traces").glob("*.json.gz")):
        if "rocprof" not in path.name:
            agree(gzip.decompress(path.read_bytes()), 56 << 10)
