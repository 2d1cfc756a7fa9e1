"""The choice of the aiter at hand, held against the kernels of a trace that somebody else recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.importers.handmade import MI300X, call, frame, kernel, op, trace, write
from tracer.aiter.tree import AiterTree
from tracer.importers.imported import open_trace
from tracer.model.capture import CaptureRecord
from tracer.model.evidence import Evidence
from tracer.model.report import NoteLevel
from tracer.model.source import Layer, TunedStatus
from tracer.pipeline import build_report

COMPILED = [json.loads(line) for line in (Path(__file__).parents[1] / "data/ck_symbols.jsonl").read_text().splitlines()]
INSTANCE = "a8w8_blockscale_1x128x128_256x16x64x256_16x16_16x16_16x16x1_16x16x1_1x16x1x16_4_1x1_intrawave_v1"
#: what the operator was called with, for M 128, N 1536, K 7168
INPUTS: dict[str, Any] = {
    "dims": [[128, 7168], [1536, 7168], [128, 56], [12, 56], [128, 1536]],
    "types": ["c10::Float8_e4m3fnuz", "c10::Float8_e4m3fnuz", "float", "float", "c10::Half"],
    "strides": [[7168, 1], [7168, 1], [56, 1], [56, 1], [1536, 1]],
    "concrete": ["", "", "", "", ""],
}


def symbols(instance: str, types: str) -> list[str]:
    return next(line["symbols"] for line in COMPILED if (line["instance"], line["types"]) == (instance, types))


def symbol_of(facts: str) -> str:
    """The compiled kernel of the instance whose function's arguments end so."""
    return next(symbol for symbol in symbols(INSTANCE, "F32, F16") if facts in symbol)


def record(tmp_path: Path, name: str, tree: AiterTree | None, **inputs: Any) -> CaptureRecord:
    events = [
        frame("run.py(3): main", 0, 900),
        op("aiter::gemm_a8w8_blockscale_ck", 10, 300, 1, **(inputs or INPUTS)),
        call("hipLaunchKernel", 20, 5, 100, external=1),
        kernel(name, 100, 20, 100, external=1, grid=[49152, 1, 1], block=[256, 1, 1]),
    ]
    imported = open_trace(write(tmp_path, trace(events, deviceProperties=[MI300X])))
    (found,) = imported.records(imported.picks(top=1), tree=tree)
    return found


@pytest.fixture
def running(wheel: AiterTree) -> str:
    """The kernel that aiter's wheel runs for the call: unpadded, with its main loop."""
    return symbol_of("GemmSpecializationE0ELi256ELi1ELi128ELi128ELi16ELi64ELi256E")


def test_a_kernel_of_the_row_confirms_the_choice(tmp_path: Path, wheel: AiterTree, running: str) -> None:
    found = record(tmp_path, running, wheel)
    (dispatch,) = found.dispatches
    assert dispatch.instance == INSTANCE
    assert dispatch.tuned is not None
    assert dispatch.tuned.status is TunedStatus.EXACT
    (boundary,) = found.boundaries
    assert "the trace does not state which aiter ran" in str(boundary.reason)
    assert (boundary.function, boundary.evidence) == ("gemm_a8w8_blockscale", Evidence.RESOLVED)
    assert [a.name for a in boundary.arguments] == ["XQ", "WQ", "x_scale", "w_scale", "Out"]
    expected = [s for s in symbols(INSTANCE, "F32, F16") if s == dispatch.symbols[0]]
    assert expected == list(dispatch.symbols)
    report = build_report(record(tmp_path, dispatch.symbols[0], wheel))
    assert report.paths[0].kernels[0].disagreement is None


def test_the_call_stands_below_the_operator_that_it_was_resolved_from(tmp_path: Path, wheel: AiterTree) -> None:
    hops = build_report(record(tmp_path, "a_kernel", wheel)).paths[0].hops
    layers = list(dict.fromkeys(hop.layer for hop in hops))
    assert layers[:4] == [Layer.PYTHON, Layer.REGISTERED_OP, Layer.JIT, Layer.BINDING]
    assert (hops[-1].layer, hops[-1].name, hops[-1].evidence) == (Layer.KERNEL, "a_kernel", Evidence.OBSERVED)


def test_another_kernel_is_shown_at_the_top_with_the_instance_that_it_states(tmp_path: Path, wheel: AiterTree) -> None:
    other = COMPILED[0]
    report = build_report(record(tmp_path, other["symbols"][0], wheel))
    found = report.paths[0].kernels[0].disagreement
    assert found is not None
    assert found.resolved == INSTANCE
    assert found.observed_instances == (other["instance"],)
    assert found.fields["n_per_block"][0] == "64"
    assert (report.notes[0].level, report.notes[0].text_key) == (NoteLevel.DANGER, "note.disagreement")


def test_a_kernel_with_another_tail_differs_although_the_tile_is_the_same(tmp_path: Path, wheel: AiterTree) -> None:
    chosen = record(tmp_path, "x", wheel).dispatches[0].symbols[0]
    other = next(s for s in symbols(INSTANCE, "F32, F16") if s != chosen and "GemmSpecializationE0E" in s)
    found = build_report(record(tmp_path, other, wheel)).paths[0].kernels[0].disagreement
    assert found is not None
    assert set(found.fields) <= {"main_k_loop", "tail", "gemm_spec"}


@pytest.mark.parametrize("inputs", [{"dims": [], "types": []}, {"dims": [[1]], "types": ["int"]}])
def test_a_call_whose_inputs_do_not_say_enough_is_not_predicted(
    tmp_path: Path, wheel: AiterTree, inputs: dict[str, Any]
) -> None:
    found = record(tmp_path, "a_kernel", wheel, **inputs)
    assert [d.instance for d in found.dispatches] in ([], [None])


def test_without_an_aiter_at_hand_nothing_is_predicted(tmp_path: Path) -> None:
    found = record(tmp_path, "a_kernel", None)
    assert (found.dispatches, found.boundaries) == ((), ())
