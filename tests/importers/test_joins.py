"""From kernel to runtime call to operator to frame: by ids, by nesting, and what to do when either is missing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.handmade import call, event, frame, joined, kernel, lost, op
from tracer.importers.joins import Found, Joined, stack_names
from tracer.importers.nesting import NONE
from tracer.importers.timeline import NO_START


def chain(own: Joined, row: int) -> dict[str, Any]:
    """What a kernel was linked to, by name."""
    timeline = own.timeline
    names = timeline.names.values_
    linked = own.call[row]
    return {
        "call": None if linked == NONE else (names[timeline.calls.name[linked]], timeline.calls.start_us[linked]),
        "ops": stack_names(own.ops, own.op[row], names),
        "frames": stack_names(own.frames, own.frame[row], names),
    }


def test_a_whole_chain_by_ids_and_nesting() -> None:
    own = joined(
        [
            frame("m.py(1): outer", 0, 100),
            frame("m.py(5): inner", 10, 50),
            frame("m.py(9): before", 12, 2),
            op("aten::linear", 20, 30, 1),
            op("aten::mm", 22, 20, 2),
            call("cudaLaunchKernel", 25, 5, 77, external=2),
            kernel("gemm", 300, 10, 77, external=2),
        ]
    )
    assert chain(own, 0) == {
        "call": ("cudaLaunchKernel", 25.0),
        "ops": ["aten::linear", "aten::mm"],
        "frames": ["m.py(1): outer", "m.py(5): inner"],
    }
    assert (own.call_by[0], own.op_by[0]) == (Found.ID, Found.ID_AND_NESTING)
    assert not lost(own.timeline)


def test_without_external_ids_nesting_finds_the_operator() -> None:
    own = joined([op("aten::mm", 20, 20, 2), call("hipLaunchKernel", 25, 5, 77), kernel("gemm", 300, 10, 77)])
    assert chain(own, 0)["ops"] == ["aten::mm"]
    assert own.op_by[0] == Found.NESTING


def test_an_external_id_wins_over_nesting_and_is_told_apart() -> None:
    own = joined(
        [
            op("aten::other", 20, 20, 1),
            op("aten::mm", 60, 5, 2),
            call("cudaLaunchKernel", 25, 5, 77, external=2),
            kernel("gemm", 300, 10, 77, external=2),
        ]
    )
    assert chain(own, 0)["ops"] == ["aten::mm"]
    assert own.op_by[0] == Found.ID


def test_frames_of_another_thread_or_process_do_not_count() -> None:
    own = joined(
        [
            frame("other_thread.py(1): f", 0, 100, tid=2),
            frame("other_process.py(1): f", 0, 100, pid=2),
            frame("unknown_thread.py(1): f", 0, 100, tid=0),
            call("cudaLaunchKernel", 25, 5, 77),
            kernel("k", 300, 10, 77),
        ]
    )
    assert chain(own, 0)["frames"] == []


def test_a_kernel_without_a_call_is_kept_and_counted() -> None:
    own = joined([op("aten::mm", 20, 20, 2), kernel("early", 3, 10, 5, external=2), kernel("no id", 4, 10)])
    assert [chain(own, row)["call"] for row in (0, 1)] == [None, None]
    assert chain(own, 0)["ops"] == ["aten::mm"]
    assert lost(own.timeline) == {"kernels without a runtime call": 2}


def test_a_launch_without_a_kernel_is_counted_with_its_frames() -> None:
    own = joined([frame("m.py(1): f", 0, 50), call("hipLaunchKernel", 25, 5, 77), call("hipMemcpyAsync", 30, 1, 78)])
    assert own.kernelless == [0]
    assert stack_names(own.frames, own.launched_frame[0], own.timeline.names.values_) == ["m.py(1): f"]
    assert lost(own.timeline) == {"launch calls without a kernel": 1}


def test_a_copy_call_can_start_a_kernel() -> None:
    own = joined([call("hipMemcpyWithStream", 25, 5, 77), kernel("__amd_rocclr_copyBuffer", 300, 10, 77)])
    assert chain(own, 0)["call"] == ("hipMemcpyWithStream", 25.0)


def test_all_kernels_of_a_graph_share_its_launch_and_have_no_frame_of_their_own() -> None:
    own = joined(
        [
            frame("m.py(1): replay", 0, 50),
            op("replay_op", 20, 10, 3),
            call("cudaGraphLaunch", 25, 5, 77),
            *[kernel(f"k{n}", 300 + n, 1, 77) for n in range(3)],
        ]
    )
    assert [chain(own, row)["call"] for row in range(3)] == [("cudaGraphLaunch", 25.0)] * 3
    assert [chain(own, row)["frames"] for row in range(3)] == [[]] * 3
    assert list(own.call_by) == [Found.GRAPH] * 3
    assert stack_names(own.frames, own.launched_frame[0], own.timeline.names.values_) == ["m.py(1): replay"]


def test_a_shared_correlation_id_is_told_apart_by_operator_then_name_then_order() -> None:
    own = joined(
        [
            call("hipLaunchKernel", 10, 1, 5, kernel="b", pid=1),
            call("hipLaunchKernel", 20, 1, 5, kernel="a", pid=2),
            call("hipLaunchKernel", 30, 1, 5, kernel="a", pid=1),
            kernel("a", 100, 1, 5),
            kernel("b", 110, 1, 5),
            kernel("a", 120, 1, 5),
        ]
    )
    assert [chain(own, row)["call"] for row in range(3)] == [
        ("hipLaunchKernel", 20.0),
        ("hipLaunchKernel", 10.0),
        ("hipLaunchKernel", 30.0),
    ]
    assert lost(own.timeline) == {"kernels that share a correlation id outside a graph": 3}


def test_graph_launches_of_two_processes_that_share_an_id_keep_the_kernels_of_their_devices() -> None:
    ranks = []
    for rank in (0, 1):
        ranks += [
            frame(f"m.py({rank}): replay", 0, 50, pid=rank, tid=1),
            call("hipGraphLaunch", 10 + rank, 5, 5, pid=rank),
            *[kernel(f"k{n}", 100 + 10 * n + rank, 5, 5, device=rank) for n in range(3)],
        ]
    own = joined(ranks)
    assert [chain(own, row)["call"] for row in range(6)] == [("hipGraphLaunch", 10.0)] * 3 + [
        ("hipGraphLaunch", 11.0)
    ] * 3
    assert list(own.call_by) == [Found.GRAPH] * 6
    assert [chain(own, row)["frames"] for row in range(6)] == [[]] * 6
    assert lost(own.timeline) == {"kernels of graphs whose launch shares its correlation id": 6}


def test_graph_launches_of_one_device_that_share_an_id_keep_the_kernels_that_follow_them() -> None:
    def run(start: float) -> list[dict[str, Any]]:
        return [call("hipGraphLaunch", start, 5, 5), *[kernel("k", start + 10 + n, 1, 5) for n in range(2)]]

    assert list(joined([*run(100), *run(0), *run(200)]).call) == [0, 0, 1, 1, 2, 2]
    assert list(joined([*run(0), *run(0)]).call) == [0, 0, 1, 1]


@pytest.mark.parametrize(("named", "device"), [({"kernel": "alone"}, 0), ({}, 1)])
def test_a_launch_that_shares_the_id_of_a_graph_keeps_its_own_kernel(named: dict[str, str], device: int) -> None:
    own = joined(
        [
            call("hipLaunchKernel", 5, 1, 5, pid=2, **named),
            call("hipGraphLaunch", 10, 5, 5, pid=1),
            kernel("a", 100, 1, 5),
            kernel("alone", 110, 1, 5, device=device),
            kernel("b", 120, 1, 5),
        ]
    )
    assert list(own.call) == [1, 0, 1]
    assert list(own.call_by) == [Found.GRAPH, Found.SHARED_ID, Found.GRAPH]


def test_two_kernels_of_one_launch_are_both_linked_and_counted() -> None:
    own = joined([call("hipLaunchKernel", 10, 1, 5), kernel("a", 100, 1, 5), kernel("b", 110, 1, 5)])
    assert list(own.call) == [0, 0]
    assert lost(own.timeline) == {"kernels that share a correlation id outside a graph": 2}


def test_calls_and_operators_without_a_start_are_linked_by_their_ids_and_tell_of_no_clock() -> None:
    begun = 5.7e12
    launch, around = call("cudaLaunchKernel", 0, 5, 7, external=3), op("aten::mm", 0, 50, 3)
    del launch["ts"], around["ts"]
    own = joined([around, launch, kernel("k", begun, 1, 7, external=3)])
    assert (own.call[0], stack_names(own.ops, own.op[0], own.timeline.names.values_)) == (0, ["aten::mm"])
    assert lost(own.timeline) == {NO_START: 2}
    assert own.timeline.earliest_us() == begun


def test_a_copy_without_a_start_makes_no_span_longer() -> None:
    copy = event("gpu_memcpy", "Memcpy HtoD", 0, 1, pid=0, tid=7, device=0, stream=7)
    del copy["ts"]
    own = joined([copy, kernel("k", 5.7e12, 5)])
    assert own.timeline.copies_us == []
    assert lost(own.timeline)[NO_START] == 1


def test_clocks_that_disagree_are_counted() -> None:
    own = joined([call("cudaLaunchKernel", 100, 5, 7), kernel("k", 90, 1, 7)])
    assert chain(own, 0)["call"] == ("cudaLaunchKernel", 100.0)
    assert lost(own.timeline) == {"kernels that start before their launch": 1}


def test_a_launch_that_names_another_kernel_is_counted() -> None:
    own = joined([call("hipLaunchKernel", 10, 5, 7, kernel="a"), kernel("b", 90, 1, 7)])
    assert lost(own.timeline) == {"kernels whose launch names another kernel": 1}


def test_durations_of_nothing_and_less_are_kept_and_counted() -> None:
    own = joined([kernel("a", 1, 0), kernel("b", 2, -3.5), kernel("c", 3, 1)])
    assert own.timeline.total_us() == -2.5
    assert lost(own.timeline) == {
        "kernels without a runtime call": 3,
        "kernels with a duration below 0": 1,
        "kernels with a duration of 0": 1,
    }


def test_a_trace_repeated_without_new_ids_keeps_every_kernel() -> None:
    events = [frame("m.py(1): f", 0, 50), op("aten::mm", 5, 40, 1), call("cudaLaunchKernel", 25, 5, 7, external=1)]
    own = joined([*events, kernel("k", 90, 1, 7, external=1)] * 4)
    assert len(own.timeline.kernels) == 4
    assert sorted(own.call) == [0, 1, 2, 3]
    assert {tuple(chain(own, row)["frames"]) for row in range(4)} == {("m.py(1): f",)}
    assert lost(own.timeline)["Python functions that are in the trace twice"] == 3
