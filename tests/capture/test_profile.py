"""Reading a profiler's trace of a live call, with traces of an H200 in place of a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracer.capture.profile import read_profile, sums_by_call
from tracer.importers.formats import read_timeline

TRACES = Path(__file__).parents[1] / "data" / "traces"
#: when the trace was recorded: 29 November 2026
DAY_NS = (1_795_910_400_000_000_000, 1_795_996_800_000_000_000)


def test_launches_and_operators_carry_times_since_the_epoch() -> None:
    profile = read_profile(TRACES / "h200_eager_stack.json.gz")
    assert len(profile.launches) == 6
    for launch in profile.launches:
        assert launch.runtime is not None
        assert DAY_NS[0] < launch.runtime.start_ns < launch.start_ns < DAY_NS[1]
    for op in profile.cpu_ops:
        assert DAY_NS[0] < op.start_ns < DAY_NS[1]
    by_id = {op.id: op.name for op in profile.cpu_ops}
    assert [by_id.get(launch.cpu_op) for launch in profile.launches] == [
        None, None, "aten::mm", "aten::mm", "aten::add", "aten::_softmax",
    ]  # fmt: skip


def test_the_kernels_of_equal_calls_are_shared_out_in_order() -> None:
    timeline = read_timeline(TRACES / "h200_graph_replay.json.gz")
    sums = sums_by_call(timeline, 2)
    assert len(sums) == 2
    assert sum(sums) == pytest.approx(sum(timeline.kernels.duration_us))


def test_kernels_that_do_not_share_out_give_no_sums() -> None:
    timeline = read_timeline(TRACES / "h200_graph_replay.json.gz")
    assert sums_by_call(timeline, 5) == []
