"""Graph replays joined to their capture: by order and name, inferred, and never more sure than it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.importers.handmade import Event, call, frame, joined, kernel, op
from tracer.importers.formats import read_timeline
from tracer.importers.joins import join
from tracer.importers.replay import Capture, graph_launches


def captured(names: list[str]) -> list[Event]:
    """A capture: each kernel launched from a function of its own, none run."""
    events: list[Event] = [frame("capture.py(1): capture", 0, 1000)]
    for n, name in enumerate(names):
        at = 10 * (n + 1)
        events += [
            frame(f"model.py({n}): layer", at, 8),
            op(f"op{n}", at + 1, 6, n + 1),
            call(
                "hipLaunchKernel", at + 2, 1, 100 + n, external=n + 1, kernel=name, grid=[n + 1, 1, 1], block=[64, 1, 1]
            ),
        ]
    return events


def replayed(*runs: list[str]) -> list[Event]:
    """Replays: one graph launch a run."""
    events: list[Event] = []
    for n, names in enumerate(runs):
        at = 1000 * n
        events.append(call("hipGraphLaunch", at, 5, 7 + n))
        events += [kernel(name, at + 10 + i, 1, 7 + n) for i, name in enumerate(names)]
    return events


def matches(own: Capture, rows: int) -> list[int | None]:
    return [match.call if (match := own.match_of(row)) else None for row in range(rows)]


def test_equal_sequences_are_matched_one_by_one() -> None:
    names = ["a", "b", "a", "c"]
    own = Capture(joined(captured(names)), joined(replayed(names)))
    assert matches(own, 4) == [0, 1, 2, 3]
    (replay,) = own.replays
    assert (replay.kernels, replay.matched, replay.captured, replay.in_order, replay.complete) == (4, 4, 4, True, True)
    match = own.match_of(2)
    assert match is not None
    assert match.reason == "kernel 3 of 4 in the graph is launch 3 of 4 in its capture; all names agree in order"


def test_every_replay_of_a_graph_is_matched() -> None:
    names = ["a", "b"]
    own = Capture(joined(captured(names)), joined(replayed(names, names, names)))
    assert matches(own, 6) == [0, 1] * 3
    assert len(own.replays) == 3


def test_replayed_kernels_out_of_file_order_are_matched_by_time() -> None:
    events = replayed(["a", "b", "c"])
    own = Capture(joined(captured(["a", "b", "c"])), joined([events[0], *events[:0:-1]]))
    assert matches(own, 3) == [2, 1, 0]


@pytest.mark.parametrize(
    ("capture", "replay", "expected", "missing", "surplus"),
    [
        (["a", "c"], ["a", "b", "c"], [0, None, 1], {"b": 1}, {}),
        (["a", "b", "c"], ["a", "c"], [0, 2], {}, {"b": 1}),
        (["x", "y"], ["a", "b"], [None, None], {"a": 1, "b": 1}, {"x": 1, "y": 1}),
    ],
)
def test_a_capture_that_differs_is_incomplete_with_the_counts(
    capture: list[str], replay: list[str], expected: list[int | None], missing: dict[str, int], surplus: dict[str, int]
) -> None:
    own = Capture(joined(captured(capture)), joined(replayed(replay)))
    assert matches(own, len(replay)) == expected
    (compared,) = own.replays
    assert not compared.complete
    assert (dict(compared.missing), dict(compared.surplus)) == (missing, surplus)


def test_of_several_captures_the_stretch_is_taken_that_holds_the_replays_names() -> None:
    own = Capture(joined(captured(["a", "b", "a", "c", "b", "a", "c"])), joined(replayed(["a", "c"], ["b", "a", "c"])))
    assert matches(own, 5) == [2, 3, 1, 2, 3]
    assert [(r.captured, r.in_order, r.stretches, r.complete, r.surplus) for r in own.replays] == [
        (7, True, 2, True, ())
    ] * 2
    match = own.match_of(0)
    assert match is not None
    assert match.reason == (
        "kernel 1 of 2 in the graph is launch 3 of 7 in its capture; all names agree in order, as they do in 2 "
        "stretches of it, of which the first was taken"
    )


def test_a_kernel_without_a_start_keeps_its_place_in_the_file() -> None:
    events = replayed(["a", "b", "c"])
    del events[3]["ts"]
    own = Capture(joined(captured(["a", "b", "c"])), joined(events))
    assert matches(own, 3) == [0, 1, 2]
    assert own.replays[0].in_order


def test_where_order_alone_tells_a_kernel_without_a_start_leaves_all_unmatched() -> None:
    events = replayed(["a", "b", "c"])
    del events[3]["ts"]
    nameless = [call("cudaLaunchKernel", 10 * n, 1, n + 1) for n in range(3)]
    assert matches(Capture(joined(nameless), joined(events)), 3) == [None, None, None]


def test_stretches_do_not_overlap() -> None:
    (compared,) = Capture(joined(captured(["a"] * 5)), joined(replayed(["a", "a"]))).replays
    assert (compared.stretches, compared.matched, compared.complete) == (2, 2, True)


def test_a_trace_without_a_capture_is_said_to_hold_none_and_lists_no_kernel_as_missing() -> None:
    ordinary = [call("hipLaunchKernel", 1, 1, 5), kernel("a", 10, 1, 5)]
    own = Capture(joined(ordinary), joined(replayed(["a", "b"])))
    (compared,) = own.replays
    assert (compared.captured, compared.matched, compared.complete) == (0, 0, False)
    assert own.empty == own.why_no_match()
    assert (compared.missing, compared.surplus) == ((), ())
    assert "holds no capture" in own.why_no_match()
    assert not Capture(joined(captured(["x"])), joined(replayed(["a"]))).empty


def test_a_match_in_a_capture_that_differs_says_how_sure_it_is() -> None:
    own = Capture(joined(captured(["a", "b", "b"])), joined(replayed(["a", "x", "b", "b"])))
    reasons: list[Any] = [match.reason if (match := own.match_of(row)) else None for row in range(4)]
    assert "its name occurs once in both" in reasons[0]
    assert reasons[1] is None
    assert "its name occurs several times" in reasons[2]


def test_kernels_outside_a_graph_are_left_alone() -> None:
    events = [*replayed(["a"]), call("hipLaunchKernel", 500, 1, 99), kernel("a", 510, 1, 99)]
    own = Capture(joined(captured(["a"])), joined(events))
    assert matches(own, 2) == [0, None]


def test_graph_launches_are_listed_with_their_kernels_in_order_of_time() -> None:
    assert graph_launches(joined(replayed(["a", "b"], ["c"]))) == {0: [0, 1], 1: [2]}


TRACES = Path(__file__).parents[1] / "data" / "traces"


def test_a_cuda_capture_without_names_is_matched_by_order_alone_where_counts_and_stream_agree() -> None:
    """CUDA's launch calls state no kernel names; the traces were recorded on an H200."""
    capture = join(read_timeline(TRACES / "h200_graph_capture.json.gz"))
    replay = join(read_timeline(TRACES / "h200_graph_replay.json.gz"))
    own = Capture(capture, replay)
    assert [(r.kernels, r.matched, r.captured, r.named, r.in_order, r.complete) for r in own.replays] == [
        (6, 6, 6, False, False, True)
    ] * 2
    functions = []
    for row in sorted(range(6), key=lambda r: replay.timeline.kernels.start_us[r]):
        match = own.match_of(row)
        assert match is not None
        assert "by order alone" in match.reason
        chain = capture.frames.chain(capture.launched_frame[match.call])
        names = [capture.timeline.names.values_[capture.frames.name[index]] for index in chain]
        functions.append(any("gemm_a16w16" in name for name in names))
    assert functions == [True, True, False, False, False, False]


def test_a_capture_without_names_that_holds_another_number_of_launches_matches_nothing() -> None:
    events = captured(["", ""])
    own = Capture(
        joined([{**e, "args": {k: v for k, v in e.get("args", {}).items() if k != "kernel"}} for e in events]),
        joined(replayed(["a", "b", "c"])),
    )
    (compared,) = own.replays
    assert (compared.matched, compared.named, compared.complete) == (0, False, False)
