"""torch.profiler's JSON: every event that matters is read, whatever is wrong around it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.importers.handmade import H100, MI300X, call, event, frame, kernel, kernels, lost, op, read, trace, write
from tracer.importers.imported import open_trace
from tracer.importers.joins import join
from tracer.importers.launches import why_no_stack
from tracer.importers.summary import summarise
from tracer.importers.timeline import MISSING, NO_START, NO_TIME, stated_id

pytestmark = pytest.mark.usefixtures("either_reader")


def test_a_kernel_whose_name_is_null_has_no_name_rather_than_one_of_four_letters() -> None:
    timeline = read(trace([{**kernel("k", 40, 7.5, 9), "name": None}]))
    assert kernels(timeline) == [("", 40.0, 7.5)]


@pytest.mark.parametrize("name", ["", None, "absent"])
def test_kernels_without_a_name_are_kept_and_counted(name: str | None) -> None:
    own = {**kernel("k", 40, 7.5, 9), "name": name}
    if name == "absent":
        del own["name"]
    timeline = read(trace([own, kernel("k", 50, 1)]))
    assert kernels(timeline) == [("", 40.0, 7.5), ("k", 50.0, 1.0)]
    assert lost(join(timeline).timeline) == {"kernels without a name": 1, "kernels without a runtime call": 2}


@pytest.mark.parametrize("thing", ["{}", "null", '"text"', "7"])
def test_events_that_are_no_list_are_told_with_their_byte(thing: str) -> None:
    content = b'{"schemaVersion": 1, "traceEvents": ' + thing.encode() + b"}"
    (loss,) = read(content).losses.entries()
    assert loss.what == '"traceEvents" is no list of events'
    assert loss.detail == f"first at byte {content.index(b': ' + thing.encode()) + 2} of the unpacked text"


def test_one_of_each_event_is_read() -> None:
    timeline = read(
        trace(
            [
                op("aten::mm", 10, 20, 5),
                frame("a.py(1): f", 5, 30),
                call("cudaLaunchKernel", 12, 3, 9, external=5),
                kernel(
                    "gemm", 40, 7.5, 9, external=5, grid=[4, 2, 1], block=[128, 1, 1], registers=64, shared_memory=512
                ),
                event("gpu_memcpy", "Memcpy HtoD", 50, 1, pid=0, tid=7, device=0, stream=7, correlation=10),
                {"ph": "s", "id": 9, "pid": 1, "tid": 1, "ts": 12, "cat": "ac2g", "name": "ac2g"},
                {"name": "process_name", "ph": "M", "ts": 1, "pid": 1, "tid": 0, "args": {"name": "python"}},
            ],
            deviceProperties=[H100],
            baseTimeNanoseconds=1_700_000_000_000_000_000,
            cuda_runtime_version=12040,
        )
    )
    assert kernels(timeline) == [("gemm", 40.0, 7.5)]
    shape = timeline.shape(timeline.kernels.shape[0])
    assert (shape.grid, shape.block, shape.registers, shape.lds_bytes) == ((4, 2, 1), (128, 1, 1), 64, 512)
    assert (len(timeline.calls), len(timeline.ops), len(timeline.frames), timeline.copies_us) == (
        1,
        1,
        1,
        [(0, 50.0, 1.0)],
    )
    assert timeline.devices[0].compute_capability == "9.0"
    assert (timeline.producer.cuda, timeline.base_ns) == ("12.4", 1_700_000_000_000_000_000)
    assert not lost(timeline)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("place", ["head", "after"])
def test_metadata_is_read_before_and_behind_the_events(indent: int | None, place: str) -> None:
    told: dict[str, Any] = {"deviceProperties": [MI300X], "hip_runtime_version": 70253211}
    content = trace([kernel("k", 1, 1)] * 3, indent=indent, **({"after": told} if place == "after" else told))
    timeline = read(content, 64)
    assert (timeline.devices[0].name, timeline.producer.rocm) == ("AMD Instinct MI300X", "7.2.53211")


def test_metadata_that_is_cut_off_is_read_as_far_as_it_goes() -> None:
    content = trace([kernel("k", 1, 1)], deviceProperties=[MI300X], traceName="x")
    timeline = read(content[: content.index(b'"k"')])
    assert timeline.devices[0].compute_units == 304


METADATA = {"schemaVersion": 1, "deviceProperties": [MI300X], "traceName": "a \N{MICRO SIGN}s trace"}
CUT = "the text around the events stops in the middle: the file may have ended early"
NO_JSON = "the text around the events is no JSON; it was read as far as possible"


@pytest.mark.parametrize("size", [16, 1 << 20])
@pytest.mark.parametrize("end", [b'"AMD Inst', b'"computeMajor"', b'"warpSize": ', b'"deviceProperties": ['])
@pytest.mark.parametrize("events", ["before", "behind", "none"])
def test_metadata_cut_in_the_middle_says_at_which_byte(size: int, end: bytes, events: str) -> None:
    listed = {"traceEvents": [kernel("k", 1, 1)]}
    parts = {"before": {**listed, **METADATA}, "behind": {**METADATA, **listed}, "none": METADATA}
    content = json.dumps(parts[events], ensure_ascii=False).encode()
    content = content[: content.index(end) + len(end)]
    (loss, *_) = read(content, size).losses.entries()
    assert loss.what == CUT
    assert (loss.detail or "").startswith(f"first at byte {len(content)} of the unpacked text")


@pytest.mark.parametrize("size", [16, 1 << 20])
@pytest.mark.parametrize("events", ["before", "behind"])
def test_damage_in_metadata_is_told_with_its_byte(size: int, events: str) -> None:
    listed = {"traceEvents": [kernel(f"k{n}", n, 1) for n in range(20)]}
    parts = {**listed, **METADATA} if events == "before" else {"first": "\N{MICRO SIGN}", **METADATA, **listed}
    content = b" " + json.dumps(parts, ensure_ascii=False).encode().replace(b'"warpSize": 64', b'"warpSize": oops')
    timeline = read(content, size)
    assert len(timeline.kernels) == 20
    (loss,) = timeline.losses.entries()
    assert loss.what == NO_JSON
    assert loss.detail == f"first at byte {content.index(b'oops')} of the unpacked text; Expecting value"


def test_a_number_too_long_for_python_in_metadata_costs_no_event() -> None:
    content = trace([kernel("k", 1, 1)], traceName="x").replace(b'"x"', b"9" * 5000)
    timeline = read(content)
    assert len(timeline.kernels) == 1
    assert lost(timeline) == {NO_JSON: 1}


def test_categories_that_are_not_read_are_told_with_their_events() -> None:
    """As in traces of other accelerators and other tools."""
    jax = {"ph": "X", "pid": 1, "tid": 1, "ts": 1.5, "dur": 2, "name": "fusion.3", "args": {"hlo_op": "fusion.3"}}
    timeline = read(trace([jax, jax, {**jax, "cat": "hpu_op"}, *[{**jax, "cat": f"c{n}"} for n in range(5)]]))
    (loss,) = timeline.losses.entries()
    assert (loss.what, loss.count) == ("events of categories that are not read", 8)
    assert loss.detail == "none at all (2), hpu_op (1), c0 (1), c1 (1), c2 (1), others"


def test_the_runtime_calls_of_other_accelerators_are_calls() -> None:
    launch = {**call("urEnqueueKernelLaunch", 1, 1, 5), "cat": "xpu_runtime"}
    own = join(read(trace([frame("m.py(1): f", 0, 9), launch, kernel("gemm_kernel", 20, 5, 5)])))
    assert (own.call[0], lost(own.timeline)) == (0, {})
    assert own.frame[0] == 0


def test_half_of_a_surrogate_pair_is_replaced_wherever_it_stands_and_costs_nothing() -> None:
    half = "\ud800"  # json writes it as an escape, which stands for no character
    own = [kernel(f"k{half}", 1, 1), kernel("whole", 3, 1)]
    timeline = read(trace(own, deviceProperties=[{**MI300X, "name": f"MI300X{half}"}]))
    assert kernels(timeline) == [("k\ufffd", 1.0, 1.0), ("whole", 3.0, 1.0)]
    assert timeline.devices[0].name == "MI300X\ufffd"
    assert lost(timeline)["half of a surrogate pair in a string (replaced)"] == 1


def test_events_of_other_phases_are_counted_when_they_should_have_a_duration() -> None:
    timeline = read(trace([kernel("k", 1, 1), {**kernel("begun", 2, 1), "ph": "B"}]))
    assert kernels(timeline) == [("k", 1.0, 1.0)]
    assert lost(timeline) == {"kernel events that are no complete events": 1}


@pytest.mark.parametrize("depth", [50, 900, 5000, 100_000])
def test_values_nested_however_deeply_cost_their_event_at_most(depth: int) -> None:
    deep = {**kernel("deep", 5, 1), "args": {"x": "DEEP"}}
    text = trace([kernel("a", 1, 1), deep, kernel("b", 9, 1)])
    timeline = read(text.replace(b'"DEEP"', b"[" * depth + b"]" * depth))
    names = [name for name, _, _ in kernels(timeline)]
    assert names in (["a", "deep", "b"], ["a", "b"])
    assert lost(timeline) == ({} if "deep" in names else {"events that could not be read": 1})


@pytest.mark.parametrize("block", [64, 1 << 20])
def test_a_deep_list_between_events_costs_none_of_them(block: int) -> None:
    text = trace([kernel("a", 1, 1), {"PLACE": 0}, kernel("b", 9, 1)])
    timeline = read(text.replace(b'{"PLACE": 0}', b"[" * 5000 + b"]" * 5000), block)
    assert [name for name, _, _ in kernels(timeline)] == ["a", "b"]
    assert lost(timeline) == {"events that could not be read": 1}


def test_a_function_without_a_duration_is_counted_and_not_said_to_be_missing() -> None:
    own = {**frame("m.py(1): f", 0, 5), "dur": None}
    timeline = read(trace([own, call("cudaLaunchKernel", 1, 1, 5), kernel("k", 9, 1, 5)]))
    assert lost(timeline) == {"Python functions without a duration": 1}
    assert "holds no Python functions" not in (why_no_stack(join(timeline), 0) or "")


@pytest.mark.parametrize("lacking", ["absent", None, "soon"])
def test_a_kernel_without_a_time_is_kept_and_counted_and_makes_no_span_longer(lacking: str | None) -> None:
    own = kernel("lost", 0, 3, 7)
    own["ts"] = lacking
    if lacking == "absent":
        del own["ts"]
    begun = 4_909_914_000_000.0
    events = [call("cudaLaunchKernel", begun, 2, 7), own, kernel("k", begun + 10, 5), kernel("k", begun + 20, 5)]
    timeline = read(trace(events))
    joined = join(timeline)
    assert [us for _, _, us in kernels(timeline)] == [3.0, 5.0, 5.0]
    assert (list(timeline.kernels.start_us), lost(timeline)[NO_START]) == ([NO_TIME, begun + 10, begun + 20], 1)
    assert timeline.in_order([0, 2, 1]) == [0, 1, 2]
    assert "kernels that start before their launch" not in lost(timeline)
    summary = summarise(joined, "trace.json")
    assert (summary.busy_us, summary.span_us) == (10.0, 15.0)


def test_a_kernel_that_starts_long_after_its_launch_tells_of_a_clock_that_jumped() -> None:
    day = 86_400e6
    events = [call("cudaLaunchKernel", 1, 2, 7), call("cudaLaunchKernel", 4, 2, 8)]
    own = join(read(trace([*events, kernel("k", 10 + day, 5, 7), kernel("k", 20, 5, 8)])))
    assert lost(own.timeline) == {"kernels that start more than a minute after their launch": 1}


def test_kernels_without_a_duration_are_kept_and_counted() -> None:
    timeline = read(trace([kernel("k", 1, None), kernel("k", 2, 3)]))
    assert kernels(timeline) == [("k", 1.0, 0.0), ("k", 2.0, 3.0)]
    assert lost(timeline) == {"kernels without a duration (counted as 0 µs)": 1}


def test_durations_and_times_beyond_all_reason_are_counted_and_break_nothing(tmp_path: Path) -> None:
    made = [kernel("k", 1, dur) for dur in (1.7e308, 1.7e308, -1.7e308, 2.0, None)]
    made += [kernel("late", 1.7e308, 1.0, 5), call("cudaLaunchKernel", -1.7e308, 1.0, 5), frame("f", -1.7e308, 1.0)]
    own = open_trace(write(tmp_path, trace(made)))
    assert own.summary().kernel_us == 3.0
    told = lost(own.joined.timeline)
    assert told["kernels whose duration is no time (counted as 0 µs)"] == 3
    assert told["kernels without a duration (counted as 0 µs)"] == 1
    assert len(own.records(own.picks(top=9))) == len(own.picks(top=9)) == 2


def test_devices_and_streams_may_be_words_or_missing() -> None:
    events = [
        kernel("k", 1, 1, stream="0x7f00"),
        {"ph": "X", "cat": "kernel", "name": "k", "pid": 3, "tid": 4, "ts": 2, "dur": 1},
        {
            "ph": "X",
            "cat": "kernel",
            "name": "k",
            "pid": "gpu",
            "tid": "stream 5",
            "ts": 3,
            "dur": 1,
            "args": {"device": None},
        },
    ]
    timeline = read(trace(events))
    assert len(timeline.kernels) == 3
    assert timeline.kernels.device[1] == 3
    assert timeline.kernels.stream[1] == 4
    assert timeline.kernels.device[2] not in (0, 3)


def test_an_id_of_more_than_64_bits_makes_no_ids_of_those_that_are_missing_beside_it() -> None:
    timeline = read(trace([kernel("a", 1, 1), kernel("b", 2, 1, 1 << 70), call("cudaLaunchKernel", 0, 1, 1 << 70)]))
    assert [stated_id(own) for own in timeline.kernels.external] == [None, None]
    assert timeline.kernels.correlation[0] == MISSING
    assert timeline.kernels.correlation[1] == timeline.calls.correlation[0]


def test_ids_of_more_than_64_bits_still_join() -> None:
    huge = 1 << 80
    events = [call("cudaLaunchKernel", 1, 1, huge + n) for n in range(2)] + [
        kernel("k", 5, 1, huge + n) for n in (1, 0)
    ]
    joined = join(read(trace(events)))
    assert list(joined.call) == [1, 0]


@pytest.mark.parametrize("around", ["kernels", "frames"])
@pytest.mark.parametrize("thing", ['{"a": 1}', "{}", '{"tid": 5}'])
def test_an_object_without_an_events_keys_is_counted_with_its_byte(around: str, thing: str) -> None:
    beside = [kernel("k", 10 + n, 1) if around == "kernels" else frame("a.py(1): f", 5 + n, 30) for n in range(4)]
    content = trace([*beside[:2], {"PLACE": 0}, *beside[2:], kernel("last", 90, 1)])
    content = content.replace(b'{"PLACE": 0}', thing.encode())
    timeline = read(content)
    assert len(timeline.kernels) == (5 if around == "kernels" else 1)
    assert len(timeline.frames) == (0 if around == "kernels" else 4)
    (loss,) = timeline.losses.entries()
    assert (loss.what, loss.count) == ("elements that are no events", 1)
    assert loss.detail == f"first at byte {content.index(thing.encode())} of the unpacked text"


def test_an_object_that_says_no_more_than_its_time_is_an_event() -> None:
    timeline = read(trace([kernel("k", 1, 2), {"ph": "X", "ts": 5}, {"ph": "X", "cat": "python_function"}]))
    assert timeline.events == {"kernel": 1, "": 1, "python_function": 1}
    assert lost(timeline) == {
        "events of categories that are not read": 1,
        NO_START: 1,
        "Python functions without a duration": 1,
    }


BROKEN = {
    "control character": (b'"name": "k\x02"', "control characters in a string (kept)", 5),
    "quotes": (b'"name": "k<"x">"', "unescaped quotes or backslashes in a string (repaired)", 5),
    "backslash": (b'"name": "C:\\k\\q"', "unescaped quotes or backslashes in a string (repaired)", 5),
    "invalid UTF-8": (b'"name": "k\xff"', "invalid UTF-8 in a string (replaced)", 5),
    "type": (b'"name": "k", "ts": 1, "args": {"correlation": "seven"}', "values of an unexpected type in events", 5),
    "time as text": (b'"name": "k", "ts": "3.5"', None, 5),
    "not a number": (b'"name": "k", "ts": NaN', NO_START, 5),
    "no value": (b'"name": ', "events that could not be read", 4),
}


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("place", [0, 2, 4])
@pytest.mark.parametrize("block", [37, 1 << 18])
def test_one_broken_event_does_not_cost_the_others(kind: str, place: int, block: int) -> None:
    broken, problem, kept = BROKEN[kind]
    events = [json.dumps({"ph": "X", "cat": "kernel", "name": "k", "ts": n, "dur": 2.0}).encode() for n in range(5)]
    timed = b"" if b'"ts"' in broken else b'"ts": 1, '
    events[place] = b'{"ph": "X", "cat": "kernel", "dur": 2.0, ' + timed + broken + b"}"
    content = b'{"schemaVersion": 1, "traceEvents": [' + b", ".join(events) + b'], "traceName": "t"}'
    timeline = read(content, block)
    assert len(timeline.kernels) == kept
    assert timeline.total_us() == 2.0 * kept
    assert lost(timeline) == ({problem: 1} if problem else {})
    byte = content.index(events[place])
    if problem and "type" not in kind and "number" not in kind:
        assert f"byte {byte} " in (timeline.losses.entries()[0].detail or "")


EVENTS = [call("hipLaunchKernel", 10 * n, 1, n + 1) for n in range(3)] + [
    kernel(f"k{n}", 10 * n + 3, 2.0, n + 1) for n in range(3)
]
WHOLE = trace(EVENTS, after={"x": {"y": "z"}})
BARE = json.dumps(EVENTS).encode()
SECOND = b'{"ph": "X", "cat": "kernel", "name": "k1"'
NO_EVENT = "elements that are no events"
EARLY_END = "a ] between two events (read without it)"
#: text, what is lost, and the text that stands at the byte which the loss names
DAMAGED = {
    "a number last": (WHOLE.replace(b"}], ", b"}, 51], "), NO_EVENT, b"51]"),
    "null last": (WHOLE.replace(b"}], ", b"}, null], "), NO_EVENT, b"null]"),
    "text last": (WHOLE.replace(b"}], ", b'}, "a]"], '), NO_EVENT, b'"a]"'),
    "a list last": (WHOLE.replace(b"}], ", b"}, [[{}]]], "), NO_EVENT, b"[[{}]]"),
    "a number between": (WHOLE.replace(SECOND, b"51, " + SECOND), NO_EVENT, b"51, "),
    "a number last in a bare list": (BARE[:-1] + b", 51]", NO_EVENT, b"51]"),
    "no comma between": (
        WHOLE.replace(b", " + SECOND, b" " + SECOND),
        "a comma is missing between two events (read without it)",
        SECOND,
    ),
    "no comma inside": (
        WHOLE.replace(b'"name": "k1",', b'"name": "k1"'),
        "a comma is missing inside an event (repaired)",
        SECOND,
    ),
    "text between": (
        WHOLE.replace(b", " + SECOND, b" x, " + SECOND),
        "text between two events that is no event",
        b"x, " + SECOND,
    ),
    "a bracket between": (WHOLE.replace(b", " + SECOND, b", ]" + SECOND), EARLY_END, b"]" + SECOND),
    "a bracket for a comma": (WHOLE.replace(b", " + SECOND, b" ]" + SECOND), EARLY_END, b"]" + SECOND),
    "a bracket before a comma": (WHOLE.replace(b", " + SECOND, b"] , " + SECOND), EARLY_END, b"] , " + SECOND),
    "a bracket between in a bare list": (BARE.replace(b", " + SECOND, b"]\n," + SECOND), EARLY_END, b"]\n," + SECOND),
    "text behind": (WHOLE + b"\n more \xff", "text after the end of the trace", b"more"),
    "text behind a bare list": (BARE + b"}", "text after the end of the trace", b"}"),
    "no last brace": (WHOLE[:-1], "the last } is missing: the file may have ended early", b""),
    "no last brace behind the list": (trace(EVENTS)[:-1], "the last } is missing: the file may have ended early", b""),
    "no end of the list": (
        trace(EVENTS)[:-2],
        "the list of events is not closed: the file may have ended early",
        b"",
    ),
}


@pytest.mark.parametrize("block", [37, 1 << 18])
@pytest.mark.parametrize("kind", DAMAGED)
def test_damage_between_events_is_called_what_it_is_with_its_byte_and_costs_no_event(kind: str, block: int) -> None:
    content, what, there = DAMAGED[kind]
    timeline = join(read(content, block)).timeline
    assert [name for name, _, _ in kernels(timeline)] == ["k0", "k1", "k2"]
    assert lost(timeline) == {what: 1}
    detail = timeline.losses.entries()[0].detail or ""
    byte = int(detail.removeprefix("first at byte ").split()[0])
    assert content[byte:].startswith(there)
    assert there or byte == len(content)


def test_two_traces_in_one_file_are_both_read_and_said_to_be_two() -> None:
    timeline = read(WHOLE + b"\n" + WHOLE)
    assert len(timeline.kernels) == 6
    assert lost(timeline) == {"text after the end of the trace": 1}


@pytest.mark.parametrize("duration", [None, 0])
def test_a_kernel_without_a_duration_is_counted_once_and_apart_from_one_that_states_zero(duration: int | None) -> None:
    timeline = join(read(trace([*EVENTS, call("hipLaunchKernel", 90, 1, 9), kernel("k", 95, duration, 9)]))).timeline
    what = "kernels with a duration of 0" if duration == 0 else "kernels without a duration (counted as 0 µs)"
    assert lost(timeline) == {what: 1}


def test_losses_that_are_seen_a_run_of_events_at_a_time_name_the_byte_of_the_run() -> None:
    timeline = read(WHOLE.replace(b'"dur": 2.0', b'"d": 2.0'))
    (loss,) = timeline.losses.entries()
    assert loss.detail == f"first among the events from byte {WHOLE.index(b'[') + 1} of the unpacked text on"


def test_every_event_broken_is_still_read_one_by_one() -> None:
    events = [b'{"ph": "X", "cat": "kernel", "name": "a "b" %d", "ts": %d, "dur": 1}' % (n, n) for n in range(300)]
    timeline = read(b'{"traceEvents": [' + b",\n".join(events) + b"]}", 4096)
    assert len(timeline.kernels) == 300
    assert lost(timeline) == {"unescaped quotes or backslashes in a string (repaired)": 300}


def test_python_functions_in_runs_and_alone_are_the_same() -> None:
    frames = [frame(f"f{n % 3}.py({n}): g", n, 1.5, tid=1 + n // 20) for n in range(40)]
    mixed = [e for pair in zip(frames, [op("aten::add", n, 1, n) for n in range(40)], strict=True) for e in pair]
    alone, between = read(trace(frames)), read(trace(mixed))
    for timeline in (alone, between):
        spans = sorted(
            (timeline.threads.values_[b.thread], s, e, timeline.names.values_[n])
            for b in timeline.frames.blocks()
            for s, e, n in zip(b.start, b.end, b.name, strict=True)
        )
        assert spans == sorted(((1, f["tid"]), f["ts"], f["ts"] + 1.5, f["name"]) for f in frames)


@pytest.mark.parametrize("block", [300, 1 << 18])
@pytest.mark.parametrize("make", [frame, op])
def test_runs_are_told_apart_by_thread_whatever_its_number(make: Any, block: int) -> None:
    threads: list[Any] = [7, 7, 1 << 70, "main", 7, 8, "main", 1 << 70]
    events = [make(f"f{n}", 10 * n + m, 1, tid=tid) for n, tid in enumerate(threads) for m in range(8)]
    timeline = read(trace(events), block)
    store = timeline.ops if make is op else timeline.frames
    seen: dict[Any, list[float]] = {}
    for own in store.blocks():
        seen.setdefault(timeline.threads.values_[own.thread][1], []).extend(own.start)
    assert seen == {tid: [e["ts"] for e in events if e["tid"] == tid] for tid in dict.fromkeys(threads)}
    assert not lost(timeline)


@pytest.mark.parametrize("category", ["python_function", "cpu_op", "ac2g", "cpu_instant_event"])
def test_an_event_without_a_category_in_a_run_is_none_of_the_run(category: str) -> None:
    run = [{"ph": "X", "cat": category, "name": "n", "pid": 1, "tid": 1, "ts": n, "dur": 1.0} for n in range(30)]
    strange = {key: value for key, value in run[0].items() if key != "cat"}
    timeline = read(trace([*run[:20], strange, *run[20:]]), 400)
    assert timeline.events == {category: 30, "": 1}


def test_an_instant_among_operators_is_counted_as_no_complete_event() -> None:
    run = [op("aten::mm", n, 1, n) for n in range(30)]
    timeline = read(trace([*run[:20], {**run[0], "ph": "i"}, *run[20:]]), 400)
    assert len(timeline.ops) == 30
    assert lost(timeline) == {"op events that are no complete events": 1}


def test_rows_of_one_kind_stand_as_in_the_file_however_many_batches_they_come_from() -> None:
    events = [e for n in range(700) for e in (kernel(f"k{n % 5}", n, 1.0, n), call("cudaLaunchKernel", n, 0.5, n))]
    timeline = read(trace(events), 2000)
    assert kernels(timeline) == [(f"k{n % 5}", float(n), 1.0) for n in range(700)]
    assert list(timeline.calls.correlation) == list(range(700))


def test_a_missing_duration_names_the_batch_that_it_is_in() -> None:
    events = [kernel("k", n, None if n == 80 else 1, n) for n in range(120)]
    content = trace(events)
    (loss,) = read(content, 1000).losses.entries()
    first = int((loss.detail or "").partition("from byte ")[2].split()[0])
    assert 0 <= content.index(b'"ts": 80') - first < 2000


def test_arguments_of_events_that_are_only_counted_cost_nothing() -> None:
    odd = {"correlation": "none", "stream": [1], "grid": {"x": 1}}
    events = [{"ph": "X", "cat": "overhead", "name": "n", "ts": n, "dur": 1, "args": odd} for n in range(3)]
    timeline = read(trace([*events, kernel("k", 9, 1)]))
    assert timeline.events == {"overhead": 3, "kernel": 1}
    assert not lost(timeline)


_TIMES = st.floats(-1e12, 1e12, allow_nan=False) | st.integers(-(10**9), 10**9) | st.just(None)
_ODD = st.none() | st.integers() | st.text(max_size=3) | st.lists(st.integers(0, 9), max_size=4) | st.booleans()
_KERNELS = st.lists(
    st.fixed_dictionaries(
        {
            "ph": st.just("X"),
            "cat": st.just("kernel"),
            "name": st.text(max_size=8),
            "ts": _TIMES.filter(lambda t: t is not None),
        },
        optional={
            "dur": _TIMES,
            "pid": _ODD,
            "tid": _ODD,
            "args": st.dictionaries(
                st.sampled_from(["correlation", "External id", "device", "stream", "grid", "block", "kernel", "other"]),
                _ODD,
            ),
        },
    ),
    max_size=20,
)
_CALLS = st.lists(
    st.builds(
        call,
        st.sampled_from(["cudaLaunchKernel", "hipGraphLaunch", "cudaMemcpyAsync", "cudaDeviceSynchronize"]),
        st.integers(0, 50),
        st.integers(0, 5),
        st.integers(0, 6),
        pid=st.integers(1, 2),
    ),
    max_size=8,
)


@given(_KERNELS, _CALLS, st.integers(20, 500), st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_kernels_and_their_time_are_conserved(
    own: list[dict[str, Any]], calls: list[dict[str, Any]], block: int, order: Any
) -> None:
    events = [*own, *calls]
    order.shuffle(events)
    timeline = read(trace(events), block)
    joined = join(timeline)
    assert len(timeline.kernels) == len(own)
    assert timeline.total_us() == math.fsum(k["dur"] for k in own if k.get("dur") is not None)
    assert len(joined.call) == len(own)
    unlinked = sum(1 for row in joined.call if row < 0)
    assert lost(timeline).get("kernels without a runtime call", 0) == unlinked


@given(_KERNELS, st.data())
@settings(max_examples=150, deadline=None)
def test_a_cut_trace_keeps_a_prefix_of_its_kernels(own: list[dict[str, Any]], data: st.DataObject) -> None:
    content = trace(own)
    cut = data.draw(st.integers(content.index(b"[") + 1, len(content)))
    whole, part = kernels(read(content)), kernels(read(content[:cut], 100))
    assert part == whole[: len(part)]


def test_functions_too_short_to_launch_anything_are_passed_over_unless_a_launch_is_as_short() -> None:
    frames = [frame("long.py(1): f", 0, 100), frame("short.py(1): g", 10, 0.3)]
    ordinary = read(trace([*frames, call("cudaLaunchKernel", 20, 3, 1), kernel("k", 50, 1, 1)]))
    assert (len(ordinary.frames), ordinary.events["python_function"]) == (1, 2)
    quick = join(
        read(trace([*frames, call("cudaLaunchKernel", 10.1, 0.1, 1), kernel("k", 50, 1, 1), kernel("l", 60, None)]))
    )
    names = quick.timeline.names.values_
    chain = [names[quick.frames.name[index]] for index in quick.frames.chain(quick.frame[0])]
    assert chain == ["long.py(1): f", "short.py(1): g"]
    assert lost(quick.timeline)["kernels without a duration (counted as 0 µs)"] == 1


def test_memory_follows_the_launches_not_the_size_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    import tracemalloc
    from collections.abc import Iterator

    from tracer.importers import spans
    from tracer.importers.kineto import read_kineto
    from tracer.importers.losses import Losses

    monkeypatch.setattr(spans, "HELD_SPANS", 5_000)
    size = 0

    def blocks() -> Iterator[bytes]:
        nonlocal size
        yield b'{"traceEvents": ['
        for n in range(400):
            frames = [frame(f"f{m}.py({m}): g", 100.0 * n + m, 0.9) for m in range(100)]
            text = json.dumps(frames).encode()[1:-1] + b", "
            size += len(text)
            yield text
        launches = [
            made for n in range(5) for made in (call("hipLaunchKernel", 100.5 * n, 3, n), kernel("k", 1e6, 1, n))
        ]
        yield json.dumps(launches).encode()[1:] + b"}"

    tracemalloc.start()
    joined = join(read_kineto(blocks, Losses()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(joined.timeline.kernels), joined.timeline.events["python_function"]) == (5, 40_000)
    assert len(joined.frames) <= 5
    assert peak < size / 2
