"""The nested list of a path: operators and frames below one another as they ran."""

from __future__ import annotations

import msgspec

from tests import handmade
from tests.handmade.parts import Frames
from tracer.model.capture import CaptureRecord, CpuOp, Launch
from tracer.model.evidence import Evidence, Mode
from tracer.pipeline import build_report
from tracer.render.frames import entry_list, frame_list
from tracer.render.languages import Words


def model(op_name: str = "mine::layer", *, graph: bool = False) -> CaptureRecord:
    """A live call whose two ops are called through one operator, of which the first calls another."""
    frames = Frames()
    entry = frames("forward", "mine/model.py", 3)
    inner = frames("attention", "mine/model.py", 9, under=entry)
    first = frames("norm", "aiter/ops/norm.py", 1, under=inner)
    second = frames("rope", "aiter/ops/rope.py", 1, under=inner)
    how = Evidence.INFERRED if graph else Evidence.OBSERVED
    ops = (
        CpuOp(id=0, name=op_name, frame=entry.id),
        CpuOp(id=1, name="aten::mul", parent=0, frame=first.id),
    )
    launches = tuple(
        Launch(
            id=number,
            kernel=f"{frame.function}_kernel",
            frame=frame.id,
            cpu_op=op,
            evidence=Evidence.OBSERVED,
            frame_evidence=how,
            graph_replay=graph,
            reason="matched by order" if graph else None,
        )
        for number, (frame, op) in enumerate(((first, 1), (second, 0)))
    )
    return msgspec.structs.replace(
        handmade.failed(), mode=Mode.LIVE, exception=None, frames=tuple(frames.all), cpu_ops=ops, launches=launches
    )


def listed(text: str) -> list[str]:
    """Lines without their evidence and places."""
    return [line.split(" *observed*")[0].split("{")[0] for line in text.splitlines()]


def test_what_all_paths_share_keeps_the_operator_between_its_frames() -> None:
    report = build_report(model())
    assert [line.split("`")[1] for line in listed(entry_list(report.entry, Words("en")))] == [
        "forward",
        "mine::layer",
        "attention",
    ]


def test_a_path_shows_an_operator_below_the_frame_that_calls_it_and_its_kernel_below_that() -> None:
    report = build_report(model())
    lines = listed(frame_list(report.paths[0], report, Words("en")))
    assert [(len(line) - len(line.lstrip()), line.split("`")[1]) for line in lines] == [
        (0, "norm"),
        (4, "aten::mul"),
        (8, "norm_kernel"),
    ]


def test_frames_and_operators_of_a_replayed_graph_are_as_sure_as_their_match_which_is_told_once() -> None:
    report = build_report(model(graph=True))
    lines = frame_list(report.paths[0], report, Words("en")).splitlines()
    assert lines[0].startswith("*inferred*")
    assert lines[0].endswith("The frames and operators of this path: matched by order")
    (operator,) = [line for line in lines if "aten::mul" in line]
    assert "*inferred*" in operator
    assert "matched by order" not in operator
    (kernel,) = [line for line in lines if "norm_kernel" in line]
    assert "*observed*" in kernel
    assert "matched by order" not in kernel  # that is how its frames are known, not that it ran


def test_kernels_of_one_operator_without_frames_stand_under_it_once_and_of_two_twice() -> None:
    record = handmade.live()
    both = build_report(record)
    text = frame_list(both.paths[0], both, Words("en"))
    assert text.count("`aten::mm`") == 1
    assert text.count("CUDA Kernel ↓") == 2
    ops = (*record.cpu_ops, msgspec.structs.replace(record.cpu_ops[0], id=99))
    second = msgspec.structs.replace(record.launches[1], cpu_op=99)
    apart = build_report(msgspec.structs.replace(record, cpu_ops=ops, launches=(record.launches[0], second)))
    assert frame_list(apart.paths[0], apart, Words("en")).count("`aten::mm`") == 2


def test_an_operators_name_reaches_the_list_as_text() -> None:
    text = entry_list(build_report(model("x` <b>*")).entry, Words("en"))
    assert "- ``x` <b>*`` # registered op" in text
