"""The frames that belong to a call's story: a record of all that ran in, one of what led somewhere out.

The first call of a process reads tables through pandas and fills torch's caches: thousands of frames, under which no
kernel is launched and no code of one's own runs. They are counted in the frame that led to them, and leave the record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from tracer.capture.frames import INNER_TREES
from tracer.model.capture import CaptureRecord, Frame, Launch
from tracer.model.source import SourceRef
from tracer.resolve.filters import is_logging
from tracer.resolve.layers import recognise

#: calls of one function by one frame that stay although they lead nowhere
MOST_ALIKE = 8
#: what stands for the tree of code that was made at run time and stands in no file, and of code that writes a log
GENERATED, LOGGING = "generated", "logging"


def _tree(frame: Frame) -> str:
    return (frame.source.tree if frame.source is not None else None) or GENERATED


def _counted_as(frame: Frame) -> str:
    """The key under which `left_out` counts a frame."""
    return LOGGING if is_logging(frame) else _tree(frame)


def _is_inner(frame: Frame) -> bool:
    return _tree(frame) in INNER_TREES or _tree(frame) == GENERATED


def _with_callers(frames: Sequence[Frame], ids: set[int]) -> set[int]:
    """The frames of these ids and those that led to them."""
    found = set(ids)
    for frame in reversed(frames):  # a caller comes before what it calls
        if frame.id in found and frame.parent is not None:
            found.add(frame.parent)
    return found


def _leading(record: CaptureRecord) -> set[int]:
    """The frames that lead to something that the record refers to."""
    launches = [launch.frame for launch in record.launches]
    runtimes = [launch.runtime.frame for launch in record.launches if launch.runtime is not None]
    boundaries = [boundary.frame for boundary in record.boundaries]
    operators = [op.frame for op in record.cpu_ops]
    failure = [record.exception.frame] if record.exception is not None else []
    ends = {frame for frame in (*launches, *runtimes, *boundaries, *operators, *failure) if frame is not None}
    return _with_callers(record.frames, ends)


def _kept(record: CaptureRecord) -> set[int]:
    """The frames that stay: those that lead somewhere, and the first few of those that tell of their own."""
    by_id = {frame.id: frame for frame in record.frames}
    leading = _leading(record)
    told, dropped = set(), set()
    alike: Counter[tuple[int, SourceRef | None, str]] = Counter()
    for frame in record.frames:
        caller = by_id.get(frame.parent) if frame.parent is not None else None
        if caller is None:
            told.add(frame.id)
        elif caller.id in dropped:
            dropped.add(frame.id)
        elif frame.id not in leading and not (_is_inner(frame) and _is_inner(caller) and recognise(frame) is None):
            made = (caller.id, frame.source, frame.function)
            alike[made] += 1
            (told if alike[made] <= MOST_ALIKE else dropped).add(frame.id)
    return _with_callers(record.frames, leading | told)


def _counts(record: CaptureRecord, kept: set[int]) -> dict[int, Counter[str]]:
    """For each frame that stays, how many that leave it led to, by tree."""
    nearest = {frame: frame for frame in kept}
    counts: dict[int, Counter[str]] = {frame: Counter() for frame in kept}
    for frame in record.frames:
        if frame.id not in nearest:
            assert frame.parent is not None  # the outermost stay
            at = nearest[frame.id] = nearest[frame.parent]
            counts[at][_counted_as(frame)] += 1
    return counts


def keep_story(record: CaptureRecord) -> CaptureRecord:
    """Takes the frames out of a record that belong to no story, and numbers the others anew, in their order.

    What stays: frames that lead to a call across the JIT boundary, a launch, an operator or the exception. Of the
    others those of a library's or a user's own code (not of INNER_TREES), what these call (its arguments say what the
    inner library was asked) and JIT layers; each with its callers. Where a frame makes more than MOST_ALIKE calls of
    one function that lead nowhere, the rest of them goes, with all that they call.
    """
    kept = _kept(record)
    if len(kept) == len(record.frames):
        return record
    counts = _counts(record, kept)
    stay = [frame for frame in record.frames if frame.id in kept]
    number = {frame.id: position for position, frame in enumerate(stay)}
    replace = msgspec.structs.replace

    def moved(frame: int | None) -> int | None:
        return None if frame is None else number.get(frame)

    def moved_launch(launch: Launch) -> Launch:
        runtime = launch.runtime
        if runtime is not None:
            runtime = replace(runtime, frame=moved(runtime.frame))
        return replace(launch, frame=moved(launch.frame), runtime=runtime)

    failure = record.exception
    return replace(
        record,
        frames=tuple(
            replace(frame, id=number[frame.id], parent=moved(frame.parent), left_out=dict(counts[frame.id]))
            for frame in stay
        ),
        boundaries=tuple(replace(boundary, frame=moved(boundary.frame)) for boundary in record.boundaries),
        cpu_ops=tuple(replace(op, frame=moved(op.frame)) for op in record.cpu_ops),
        launches=tuple(map(moved_launch, record.launches)),
        exception=replace(failure, frame=moved(failure.frame)) if failure is not None else None,
    )
