"""Joining launches to frames is a function of times and threads."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tracer.capture.join import FrameFinder, join_frames
from tracer.model.capture import CpuOp, Frame, Launch, RuntimeCall
from tracer.model.evidence import Evidence


def frame(id_: int, parent: int | None, enter: int, exit_: int | None, thread: int = 7) -> Frame:
    return Frame(id=id_, parent=parent, thread=thread, function=f"f{id_}", enter_ns=enter, exit_ns=exit_)


#      0 ────────────────────────────── 100000
#        1 ──────── 40000   2 ── 60000
#           3 ─ 20000
FRAMES = (
    frame(0, None, 0, 100_000),
    frame(1, 0, 10_000, 40_000),
    frame(3, 1, 15_000, 20_000),
    frame(2, 0, 50_000, 60_000),
)


def launch(at: int | None, thread: int = 4242) -> Launch:
    runtime = RuntimeCall(name="cudaLaunchKernel", start_ns=at, thread=thread) if at is not None else None
    return Launch(id=0, kernel="k", runtime=runtime, evidence=Evidence.OBSERVED)


def test_the_innermost_open_frame_of_the_thread_is_found() -> None:
    finder = FrameFinder(FRAMES)
    for at, wanted in ((5_000, 0), (12_000, 1), (16_000, 3), (25_000, 1), (45_000, 0), (55_000, 2), (99_000, 0)):
        assert finder.innermost(7, at) == wanted


def test_an_instant_outside_every_frame_belongs_to_none() -> None:
    finder = FrameFinder(FRAMES)
    assert finder.innermost(7, 500_000) is None
    assert finder.innermost(8, 5_000) is None


def test_a_clock_that_is_off_by_less_than_the_slack_still_finds_the_outermost_frame() -> None:
    finder = FrameFinder(FRAMES)
    assert finder.innermost(7, -1_000) == 0
    assert finder.innermost(7, 101_000) == 0
    assert finder.innermost(7, 103_000) is None


def test_a_frame_that_never_exited_is_open_to_the_end() -> None:
    assert FrameFinder([frame(0, None, 0, None)]).innermost(7, 10**12) == 0


def test_a_launch_is_joined_through_the_systems_thread_id() -> None:
    (joined,), _, lost = join_frames(FRAMES, [launch(16_000)], [], {4242: 7})
    assert joined.frame == 3
    assert joined.frame_evidence is Evidence.OBSERVED
    assert not lost


def test_a_launch_that_no_frame_explains_is_kept_counted_and_says_why() -> None:
    joined, _, lost = join_frames(FRAMES, [launch(16_000, thread=1), launch(None)], [], {4242: 7})
    assert [j.frame for j in joined] == [None, None]
    assert [j.frame_evidence for j in joined] == [Evidence.UNRESOLVED] * 2
    assert all(j.reason for j in joined)
    assert lost[0].count == 2


def test_a_call_without_python_frames_loses_nothing() -> None:
    (joined,), _, lost = join_frames([], [launch(16_000)], [], {})
    assert joined.frame is None
    assert joined.reason is None
    assert not lost


def test_operators_get_their_frame_too() -> None:
    _, (op,), _ = join_frames(FRAMES, [], [CpuOp(id=0, name="aten::mm", thread=4242, start_ns=55_000)], {4242: 7})
    assert op.frame == 2


@given(st.integers(0, 100_000), st.lists(st.integers(1, 9), min_size=1, max_size=30))
def test_the_found_frame_is_the_deepest_one_that_encloses_the_instant(at: int, depths: list[int]) -> None:
    frames, stack, clock = [], [], 0
    for number, depth in enumerate(depths):
        while len(stack) >= depth:
            clock += 100
            done = stack.pop()
            frames[done] = frame(done, frames[done].parent, frames[done].enter_ns, clock)
        clock += 100
        frames.append(frame(number, stack[-1] if stack else None, clock, None))
        stack.append(number)
    while stack:
        clock += 100
        done = stack.pop()
        frames[done] = frame(done, frames[done].parent, frames[done].enter_ns, clock)
    found = FrameFinder(frames).innermost(7, at, slack_ns=0)
    around = [f for f in frames if f.enter_ns <= at <= f.exit_ns]
    assert found == (max(around, key=lambda f: f.enter_ns).id if around else None)
