"""Joins a profiler's launches and operators to Python frames: launches and frames in, launches with frame ids out.

A pure function of times and threads, so it is tested without a GPU. Kineto's clock is the system clock, so a runtime
call lies inside the frame that made it: the innermost one of the same thread that was open at the call's start.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from tracer.model.capture import CpuOp, Frame, Launch, Lost
from tracer.model.evidence import Evidence

#: how far a profiler's timestamp may lie outside its frame: Kineto converts the TSC and calibrates it once a session
CLOCK_SLACK_NS = 2_000


class FrameFinder:
    """Finds the innermost open frame of a thread at an instant.

    Args:
        frames: recorded frames; a frame without an exit was open to the end.
    """

    def __init__(self, frames: Iterable[Frame]) -> None:
        self._threads: dict[int, list[Frame]] = {}
        for frame in frames:
            if frame.enter_ns is not None:
                self._threads.setdefault(frame.thread, []).append(frame)
        self._enters = {}
        self._by_id = {frame.id: frame for listed in self._threads.values() for frame in listed}
        for thread, listed in self._threads.items():
            listed.sort(key=lambda frame: (frame.enter_ns or 0, frame.id))
            self._enters[thread] = [frame.enter_ns or 0 for frame in listed]

    def innermost(self, thread: int, at_ns: int, *, slack_ns: int = CLOCK_SLACK_NS) -> int | None:
        """The id of the innermost frame of `thread` that was open at `at_ns`; None when none was.

        Frames nest, so the last one entered before the instant is the one, or else one of its ancestors is.
        """
        listed = self._threads.get(thread)
        if not listed:
            return None
        place = bisect_right(self._enters[thread], at_ns) - 1
        if place < 0:
            return listed[0].id if at_ns + slack_ns >= self._enters[thread][0] else None
        frame: Frame | None = listed[place]
        while frame is not None:
            if frame.exit_ns is None or at_ns <= frame.exit_ns:
                return frame.id
            if frame.parent is None and at_ns <= frame.exit_ns + slack_ns:
                return frame.id
            frame = self._by_id.get(frame.parent) if frame.parent is not None else None
        return None


def join_frames(
    frames: Sequence[Frame],
    launches: Sequence[Launch],
    cpu_ops: Sequence[CpuOp],
    threads: Mapping[int, int],
) -> tuple[tuple[Launch, ...], tuple[CpuOp, ...], tuple[Lost, ...]]:
    """Gives every launch and operator the innermost Python frame that was open when its CPU side began.

    Args:
        frames: recorded by sys.settrace; `thread` is Python's ident.
        launches: from the profiler; `runtime.thread` is the system's thread id.
        cpu_ops: from the profiler.
        threads: the system's thread id -> Python's ident.

    Returns:
        Launches and operators with their frames, and what could not be joined. A joined launch's frame is observed.
    """
    if not frames:
        # a built-in such as torch.mm enters C++ at once: there is nothing to join, and nothing is lost
        plain = (msgspec.structs.replace(launch, frame=None, frame_evidence=None, reason=None) for launch in launches)
        return tuple(plain), tuple(cpu_ops), ()
    finder = FrameFinder(frames)

    def at(thread: int, start_ns: int | None) -> int | None:
        return finder.innermost(threads.get(thread, thread), start_ns) if start_ns is not None else None

    joined = []
    lost = 0
    for launch in launches:
        found = at(launch.runtime.thread, launch.runtime.start_ns) if launch.runtime else None
        if found is None:
            lost += 1
            reason = "no Python frame was open when its runtime call began" if launch.runtime else "no runtime call"
            joined.append(
                msgspec.structs.replace(launch, frame=None, frame_evidence=Evidence.UNRESOLVED, reason=reason)
            )
            continue
        how = {**launch.joined_by, "frame": "the innermost frame of the thread that was open at the runtime call"}
        joined.append(
            msgspec.structs.replace(launch, frame=found, frame_evidence=Evidence.OBSERVED, reason=None, joined_by=how)
        )
    ops = tuple(msgspec.structs.replace(op, frame=at(op.thread, op.start_ns)) for op in cpu_ops)
    missing = (Lost("launches without a Python frame", lost),) if lost else ()
    return tuple(joined), ops, missing
