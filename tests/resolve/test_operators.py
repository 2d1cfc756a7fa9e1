"""Operators among frames: each where it nests, none lost, none placed by guess."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests import handmade
from tests.handmade.parts import Frames
from tests.resolve.shown import show
from tracer.model.capture import BoundaryCall, CaptureRecord, CpuOp, Frame, Launch
from tracer.model.evidence import Evidence, Mode
from tracer.model.report import FrameNode
from tracer.model.source import SourceRef
from tracer.pipeline import build_report
from tracer.resolve.tree import build_tree


def launched(id_: int, op: int | None, frame: int | None, boundary: int | None = None) -> Launch:
    return Launch(
        id=id_,
        kernel=f"kernel_{id_}",
        cpu_op=op,
        frame=frame,
        boundary=boundary,
        evidence=Evidence.OBSERVED,
        frame_evidence=Evidence.OBSERVED,
    )


def record(
    frames: list[Frame],
    ops: list[CpuOp],
    launches: list[Launch],
    boundaries: tuple[BoundaryCall, ...] = (),
    mode: Mode = Mode.LIVE,
) -> CaptureRecord:
    return msgspec.structs.replace(
        handmade.failed(),
        mode=mode,
        exception=None,
        frames=tuple(frames),
        cpu_ops=tuple(ops),
        launches=tuple(launches),
        boundaries=boundaries,
    )


def test_an_operator_of_a_hidden_frame_stands_where_that_frame_was_called() -> None:
    frames = Frames()
    both = frames("both", "mine/both.py", 7, enter_ns=0)
    first = frames("first", "mine/first.py", 1, under=both, enter_ns=10)
    hidden = frames("softmax", "torch/nn/functional.py", 2000, under=both, enter_ns=20)
    ops = [CpuOp(id=0, name="aten::softmax", frame=hidden.id, start_ns=25)]
    nodes, _ = build_tree(record(frames.all, ops, [launched(0, None, first.id), launched(1, 0, hidden.id)]))
    (shown,) = nodes
    first_two = shown.children[:2]
    called = [node.frame.function if node.frame else node.operator and node.operator.name for node in first_two]
    assert called == ["first", "aten::softmax"]


def test_operators_and_frames_stand_as_they_nest() -> None:
    frames = Frames()
    model = frames("forward", "mine/model.py", 3)
    outer = frames("impl", "mine/profiler.py", 302, under=model)
    hidden = frames("_call_impl", "torch/nn/modules/module.py", 1779, under=outer)
    inner = frames("norm", "mine/norm.py", 9, under=hidden)
    ops = [
        CpuOp(id=0, name="mine::outer", frame=model.id),
        CpuOp(id=1, name="mine::middle", parent=0, frame=model.id),
        CpuOp(id=2, name="mine::norm", parent=1, frame=hidden.id),
        CpuOp(id=3, name="aten::mul", parent=2, frame=inner.id),
    ]
    nodes, loose = build_tree(record(frames.all, ops, [launched(0, 3, inner.id)]))
    assert loose == ()
    assert (
        show(nodes)
        == """\
forward
  mine::outer  [operator]
    mine::middle  [operator]
      impl
        mine::norm  [operator]
          norm
            aten::mul  [operator]
              => launch 0
        ... 1 (torch)
"""
    )


def test_the_chain_and_the_chart_of_an_imported_launch_have_the_order_of_the_tree() -> None:
    frames = Frames()
    model = frames("forward", "mine/model.py", 3)
    inner = frames("norm", "mine/norm.py", 9, under=model)
    ops = [
        CpuOp(id=0, name="mine::norm", frame=model.id),
        CpuOp(id=1, name="aten::mul", parent=0, frame=inner.id),
    ]
    (path,) = build_report(record(frames.all, ops, [launched(0, 1, inner.id)], mode=Mode.IMPORTED)).paths
    assert [hop.name for hop in path.hops] == ["forward", "mine::norm", "norm", "aten::mul", "kernel_0"]
    assert {hop.evidence for hop in path.hops} == {Evidence.OBSERVED}
    assert path.kernels[0].frame_hops == 4


def test_outer_callers_of_an_imported_launch_keep_their_operators() -> None:
    frames = Frames()
    at = first = frames("run", "mine/run.py", 1)
    for number in range(8):
        at = frames(f"f{number}", "mine/run.py", number + 2, under=at)
    ops = [CpuOp(id=0, name="mine::outer", frame=first.id)]
    (path,) = build_report(record(frames.all, ops, [launched(0, 0, at.id)], mode=Mode.IMPORTED)).paths
    outer = path.tree[0]
    assert outer.folded == 4
    assert [n.operator.name if n.operator else n.frame and n.frame.function for n in outer.children] == [
        "run",
        "mine::outer",
        "f0",
        "f1",
    ]


def test_a_function_that_calls_two_operators_is_one_path_and_they_stand_by_time_among_its_calls() -> None:
    frames = [
        Frame(id=0, function="gelu", source=SourceRef("mine/a.py", 1, "mine"), enter_ns=0, exit_ns=100),
        Frame(id=1, parent=0, function="check", source=SourceRef("mine/a.py", 9, "mine"), enter_ns=30, exit_ns=40),
    ]
    ops = [
        CpuOp(id=0, name="aten::mul", frame=0, start_ns=10, duration_us=0.01),
        CpuOp(id=1, name="aten::add", frame=0, start_ns=50, duration_us=0.01),
    ]
    report = build_report(record(frames, ops, [launched(0, 0, 0), launched(1, 1, 0)]))
    assert [path.title for path in report.paths] == ["gelu"]
    assert show(report.paths[0].tree).splitlines() == [
        "gelu",
        "  aten::mul  [operator]",
        "    => launch 0",
        "  check",
        "  aten::add  [operator]",
        "    => launch 1",
    ]


def test_an_operator_behind_a_boundary_call_stands_after_it() -> None:
    frames = Frames()
    wrapper = frames("wrapper", "aiter/jit/core.py", 1396)
    call = BoundaryCall(id=0, frame=wrapper.id, module="module_norm", function="norm")
    ops = [CpuOp(id=0, name="aten::empty", frame=wrapper.id)]
    report = build_report(record(frames.all, ops, [launched(0, 0, wrapper.id, 0)], (call,)))
    assert [hop.name for hop in report.paths[0].hops] == ["wrapper", "module_norm.norm", "aten::empty", "kernel_0"]
    assert "operator" not in show(report.paths[0].tree)


def test_an_operator_whose_frame_is_not_known_is_listed_last_and_only_inferred() -> None:
    frames = Frames()
    model = frames("forward", "mine/model.py", 3)
    ops = [CpuOp(id=0, name="aten::mm")]
    (path,) = build_report(record(frames.all, ops, [launched(0, 0, model.id)])).paths
    assert [hop.name for hop in path.hops] == ["forward", "aten::mm", "kernel_0"]
    assert path.hops[1].evidence is Evidence.INFERRED
    assert path.hops[1].reason == "no frame of the chain is known to be the innermost one around this operator"


def test_an_operator_that_times_show_around_the_outermost_frame_stands_above_it() -> None:
    source = SourceRef("mine/a.py", 1, "mine")
    frames = [Frame(id=0, function="backward", source=source, enter_ns=2_000, exit_ns=9_000)]
    ops = [CpuOp(id=0, name="autograd::engine::evaluate_function: Norm", start_ns=1_000, duration_us=9.0)]
    (path,) = build_report(record(frames, ops, [launched(0, 0, 0)])).paths
    assert [hop.name for hop in path.hops][:2] == ["autograd::engine::evaluate_function: Norm", "backward"]
    assert path.hops[0].evidence is Evidence.OBSERVED


def test_operators_without_any_frame_are_observed_in_their_own_order() -> None:
    ops = [CpuOp(id=0, name="aten::linear"), CpuOp(id=1, name="aten::addmm", parent=0)]
    (path,) = build_report(record([], ops, [launched(0, 1, None)])).paths
    assert [(hop.name, hop.evidence) for hop in path.hops[:2]] == [
        ("aten::linear", Evidence.OBSERVED),
        ("aten::addmm", Evidence.OBSERVED),
    ]


def _walk(nodes: tuple[FrameNode, ...]) -> Iterator[FrameNode]:
    for node in nodes:
        yield node
        yield from _walk(node.children)


_FILES = ["aiter/ops/a.py", "torch/b.py", "aiter/jit/core.py", "mine/d.py"]
_IDS = st.integers(0, 9)
_MAYBE = st.none() | _IDS


@given(
    st.lists(st.tuples(_IDS, st.sampled_from(_FILES)), min_size=1, max_size=10),
    st.lists(st.tuples(_MAYBE, _MAYBE, _MAYBE), max_size=10),
    st.lists(st.tuples(_MAYBE, _MAYBE), max_size=6),
)
def test_whatever_ids_a_record_has_every_launch_is_shown_once_and_no_operator_twice(
    drawn: list[tuple[int, str]],
    drawn_ops: list[tuple[int | None, int | None, int | None]],
    ends: list[tuple[int | None, int | None]],
) -> None:
    frames = [
        Frame(id=i, parent=parent % i if i else None, function="f", source=SourceRef(file, i, file.split("/")[0]))
        for i, (parent, file) in enumerate(drawn)
    ]
    ops = [
        CpuOp(id=i, name=f"op{i}", parent=parent, frame=frame, start_ns=start)
        for i, (parent, frame, start) in enumerate(drawn_ops)
    ]
    launches = [launched(i, op, frame) for i, (op, frame) in enumerate(ends)]
    nodes, loose = build_tree(record(frames, ops, launches))
    shown = [launch for node in _walk(nodes) for launch in node.launches]
    assert sorted([*shown, *loose]) == list(range(len(launches)))
    placed = [node.operator.id for node in _walk(nodes) if node.operator is not None]
    assert len(placed) == len(set(placed))
