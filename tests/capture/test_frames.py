"""The recorder: callers, lines, endings, generators, caps."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tracer.capture.frames import FrameRecorder
from tracer.capture.places import Places
from tracer.model.capture import Frame

HERE = Path(__file__)


def inner(x: int) -> int:
    return x + 1


def outer() -> int:
    first = inner(1)
    return inner(
        first,
    )


def failing() -> None:
    raise ValueError("no")


def forgiving() -> None:
    with contextlib.suppress(ValueError):
        failing()


def counting(n: int) -> Iterator[int]:
    yield from range(n)


def summing() -> int:
    return sum(counting(5))


def deep(n: int) -> None:
    if n:
        deep(n - 1)


def record(call: Callable[[], Any], cap: int = 1000, **trees: str) -> FrameRecorder:
    roots = [(str(HERE.parent), "tests", "tests/capture/")]
    recorder = FrameRecorder(Places(roots), cap)
    recorder.start()
    try:
        call()
    except ValueError:
        pass
    finally:
        recorder.stop()
    return recorder


def own(recorder: FrameRecorder) -> list[Frame]:
    return [f for f in recorder.frames() if f.source is not None and f.source.tree == "tests"]


def line_of(text: str) -> int:
    lines = HERE.read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.strip() == text)


def test_each_call_has_its_caller_and_the_line_in_it() -> None:
    frames = own(record(outer))
    assert [(f.function, f.parent, f.call_line) for f in frames] == [
        ("outer", None, None),
        ("inner", 0, line_of("first = inner(1)")),
        ("inner", 0, line_of("return inner(")),
    ]
    assert frames[1].source is not None
    assert (frames[1].source.file, frames[1].source.line) == (
        "tests/capture/test_frames.py",
        line_of("def inner(x: int) -> int:"),
    )
    assert [(a.name, a.value) for a in frames[1].arguments] == [("x", 1)]


def test_times_nest() -> None:
    first, second, third = own(record(outer))
    times = [first.enter_ns, second.enter_ns, second.exit_ns, third.enter_ns, third.exit_ns, first.exit_ns]
    assert None not in times
    assert times == sorted(times)  # type: ignore[type-var]


def test_a_frame_that_ends_by_an_exception_says_so_and_one_that_catches_it_does_not() -> None:
    frames = {f.function: f for f in own(record(forgiving))}
    assert frames["failing"].raised == "ValueError"
    assert frames["forgiving"].raised is None
    assert own(record(failing))[0].raised == "ValueError"


def test_a_generator_is_one_call_however_often_it_goes_on() -> None:
    assert [f.function for f in own(record(summing))] == ["summing", "counting"]


def test_threads_started_by_the_call_are_seen() -> None:
    def threaded() -> None:
        thread = threading.Thread(target=outer)
        thread.start()
        thread.join()

    frames = own(record(threaded))
    assert len({f.thread for f in frames}) == 2
    assert next(f for f in frames if f.function == "outer").parent not in [f.id for f in frames if f.thread == 0]


def test_past_the_cap_frames_are_counted_and_not_kept() -> None:
    recorder = record(lambda: deep(50), cap=20)
    assert len(recorder.frames()) == 20
    (lost,) = recorder.lost()
    assert (lost.what, lost.count) == ("frames", 52 - 20)


def test_a_generator_past_the_cap_counts_once_however_often_it_goes_on() -> None:
    recorder = record(summing, cap=1)
    assert [f.function for f in own(recorder)] == ["summing"]
    assert [(lost.what, lost.count) for lost in recorder.lost()] == [("frames", 1)]


def test_inner_libraries_and_the_rest_take_no_room_from_each_other() -> None:
    import json

    def both() -> None:
        for _ in range(50):
            json.loads("{}")
        deep(30)

    recorder = record(both, cap=60)
    frames = recorder.frames()
    assert sum(f.function == "deep" for f in frames) == 31
    assert sum(f.source is not None and f.source.tree == "python" for f in frames) == 60


def test_no_absolute_path_enters_a_record() -> None:
    def varied() -> None:
        exec(compile("def made(): pass\nmade()", "<made up>", "exec"), {})
        Path("x").exists()

    for frame in record(varied).frames():
        assert frame.source is not None
        assert not frame.source.file.startswith("/")


@pytest.mark.parametrize("function", [outer, forgiving])
def test_nothing_is_traced_after_the_stop(function: Callable[[], Any]) -> None:
    recorder = record(function)
    before = len(recorder.frames())
    outer()
    assert len(recorder.frames()) == before
