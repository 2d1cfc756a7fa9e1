"""What of a call's frames stays in its record, and how the rest is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import handmade
from tests.conftest import DATA
from tests.handmade.parts import Frames
from tracer.capture.frames import INNER_TREES
from tracer.capture.story import MOST_ALIKE, keep_story
from tracer.model.capture import BoundaryCall, CaptureRecord, CpuOp, ExceptionInfo, Frame, Launch, RuntimeCall
from tracer.model.evidence import Evidence
from tracer.model.report import FrameNode
from tracer.pipeline import build_report
from tracer.resolve.filters import FILTERS, left_out
from tracer.store import load_record

RECORDS = sorted((DATA / "records").glob("*/*.json"))


def record_of(frames: Frames, **seen: object) -> CaptureRecord:
    record = handmade.blockscale()
    nothing = {"boundaries": (), "launches": (), "dispatches": ()}
    return CaptureRecord(
        mode=record.mode,
        call=record.call,
        target=record.target,
        environment=record.environment,
        recorded_at=record.recorded_at,
        frames=tuple(frames.all),
        **{**nothing, **seen},  # type: ignore[arg-type]
    )


def names(record: CaptureRecord) -> list[str]:
    return [frame.function for frame in record.frames]


def under(frames: Frames, parent: Frame, tree: str, *functions: str) -> Frame:
    """A chain of calls in one tree; the innermost is given back."""
    for function in functions:
        parent = frames(function, f"{tree}/{function}.py", under=parent, tree=tree)
    return parent


def test_what_an_inner_library_does_for_itself_is_counted_in_the_call_that_led_to_it() -> None:
    frames = Frames()
    op = frames("op", "aiter/op.py")
    parser = under(frames, op, "pandas", "read_csv", "parse")
    under(frames, parser, "numpy", "empty")
    under(frames, parser, "python", "search")
    frames("made", "<string>", under=parser)
    frames("info", "logging/__init__.py", under=parser, tree="python", module="logging")
    kept = keep_story(record_of(frames))
    assert names(kept) == ["op", "read_csv"]
    assert kept.frames[0].left_out == {}
    assert kept.frames[1].left_out == {"pandas": 1, "numpy": 1, "python": 1, "generated": 1, "logging": 1}


def test_the_way_to_a_call_across_the_boundary_a_launch_an_operator_or_an_exception_stays() -> None:
    frames = Frames()
    op = frames("op", "aiter/op.py")
    edges = [under(frames, op, "torch", f"outer{i}", f"inner{i}") for i in range(5)]
    under(frames, op, "torch", "outer", "inner")
    kept = keep_story(
        record_of(
            frames,
            boundaries=(BoundaryCall(id=0, frame=edges[0].id, module="m", function="f"),),
            cpu_ops=(CpuOp(id=0, name="aten::mm", frame=edges[1].id),),
            launches=(
                Launch(id=0, frame=edges[2].id, evidence=Evidence.OBSERVED),
                Launch(id=1, runtime=RuntimeCall(name="l", frame=edges[3].id), evidence=Evidence.OBSERVED),
            ),
            exception=ExceptionInfo("ValueError", "no", frame=edges[4].id),
        )
    )
    assert names(kept) == ["op", *(f"{way}{i}" for i in range(5) for way in ("outer", "inner")), "outer"]
    assert [frame.id for frame in kept.frames] == list(range(12))
    found = (
        kept.boundaries[0].frame,
        kept.cpu_ops[0].frame,
        kept.launches[0].frame,
        kept.launches[1].runtime and kept.launches[1].runtime.frame,
        kept.exception and kept.exception.frame,
    )
    assert [kept.frames[number or 0].function for number in found] == [f"inner{i}" for i in range(5)]


def test_code_of_ones_own_stays_with_the_libraries_that_led_to_it() -> None:
    frames = Frames()
    op = frames("op", "aiter/op.py")
    applied = under(frames, op, "pandas", "apply", "each")
    frames("own", "aiter/own.py", under=applied)
    assert names(keep_story(record_of(frames))) == ["op", "apply", "each", "own"]


def test_a_jit_layer_stays_although_nothing_comes_of_it() -> None:
    frames = Frames()
    op = frames("op", "aiter/op.py")
    frames("__call__", "torch/_ops.py", under=under(frames, op, "torch", "dispatch", "around"))
    assert names(keep_story(record_of(frames))) == ["op", "dispatch", "around", "__call__"]


def test_of_many_calls_alike_that_lead_nowhere_the_first_stay() -> None:
    frames = Frames()
    op = frames("op", "aiter/op.py")
    for _ in range(MOST_ALIKE + 5):
        under(frames, frames("row", "aiter/row.py", under=op), "python", "search", "compile")
    launched = frames("row", "aiter/row.py", under=op)
    kept = keep_story(record_of(frames, launches=(Launch(id=0, frame=launched.id, evidence=Evidence.OBSERVED),)))
    assert names(kept) == ["op", *["row", "search"] * MOST_ALIKE, "row"]
    assert kept.frames[0].left_out == {"aiter": 5, "python": 10}
    assert kept.launches[0].frame == kept.frames[-1].id


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_page_shows_the_same_of_a_record_and_of_its_story(path: Path) -> None:
    whole = load_record(path)
    story = keep_story(whole)
    assert keep_story(story) == story
    a, b = build_report(whole), build_report(story)
    assert [shown(p.tree) for p in a.paths] == [shown(p.tree) for p in b.paths]


def shown(nodes: tuple[FrameNode, ...]) -> list[object]:
    """What a page shows of nodes: functions and places, what is folded and by which filters, and what they end in."""
    return [
        (
            node.frame and (node.frame.function, node.frame.source),
            [(frame.function, frame.source) for frame in node.merged],
            (node.folded, node.folded_by, node.launches, len(node.boundaries)),
            shown(node.children),
        )
        for node in nodes
    ]


def test_every_key_of_what_was_left_out_has_a_filter_that_a_page_names() -> None:
    filters = {name for name, _ in FILTERS}
    counted = left_out(Frame(id=0, function="f", left_out=dict.fromkeys((*INNER_TREES, "generated", "logging"), 1)))
    assert set(counted) <= filters
    assert counted.total() == len(INNER_TREES) + 2
    assert left_out(Frame(id=0, function="f", left_out={"aiter": 3})) == {"no_kernel": 3}
