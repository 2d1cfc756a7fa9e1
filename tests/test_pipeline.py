"""From a record to its report: every record that loads has one, and its notes say what the reader must see."""

from __future__ import annotations

import msgspec
import pytest

from tests import handmade
from tracer.model.capture import TORCH_OPERATORS, CaptureRecord, Lost
from tracer.model.evidence import Evidence, Mode
from tracer.model.report import KernelKind, NoteLevel, Report
from tracer.model.roofline import Bound
from tracer.model.source import TunedStatus
from tracer.pipeline import build_report


def notes(report: Report) -> list[tuple[str, str]]:
    return [(note.level, note.text_key) for note in report.notes]


@pytest.mark.parametrize(("name", "record"), list(handmade.records()), ids=list(handmade.ALL))
def test_every_record_has_a_report(name: str, record: CaptureRecord) -> None:
    report = build_report(record)
    assert report.record is record
    assert msgspec.json.decode(msgspec.json.encode(report), type=Report) == report


def test_a_call_that_only_torchs_own_operators_answer_says_why_no_kernel_is_shown() -> None:
    record = handmade.failed()
    lost = Lost(TORCH_OPERATORS, 2, "aten::abs, aten::max")
    report = build_report(msgspec.structs.replace(record, exception=None, lost=(lost,)))
    (hop,) = report.paths[0].hops
    assert hop.evidence is Evidence.UNRESOLVED
    assert hop.reason is not None
    assert hop.reason.endswith("whose kernels a dry run does not resolve: aten::abs, aten::max")
    (note,) = [note for note in report.notes if note.text_key == "note.torch_operators"]
    assert note.values == {"count": "2", "names": "aten::abs, aten::max"}


def test_the_main_job_is_decoded_placed_and_analysed() -> None:
    report = build_report(handmade.blockscale())
    (kernel,) = report.paths[0].kernels
    assert kernel.kind is KernelKind.HIP
    assert kernel.instance_decoded is not None
    assert kernel.instance_decoded.complete
    assert {row.key: row.value for row in kernel.fields}["ak1"] == 16
    assert [(row.key, row.value) for row in kernel.beside] == [("m_xdl_per_wave", 1), ("n_xdl_per_wave", 1)]
    assert all(row.meaning for row in (*kernel.fields, *kernel.beside))
    assert report.roofline is not None
    assert (report.roofline.device, report.roofline.bound) == ("MI300X", Bound.MEMORY)
    assert report.roofline.quoted_us == 18.2772


def test_the_tuners_time_is_not_quoted_for_a_call_of_two_kernels() -> None:
    report = build_report(handmade.pair())
    assert report.roofline is not None
    record = handmade.triton()
    assert build_report(record).roofline is not None
    assert build_report(record).roofline.quoted_us is None  # type: ignore[union-attr]


def test_the_time_of_a_padded_row_is_of_another_shape_and_gives_no_share() -> None:
    tuned = handmade.hit(TunedStatus.PADDED_FINE)
    report = build_report(handmade.blockscale(tuned=tuned))
    assert report.roofline is not None
    assert (report.roofline.quoted_us, report.roofline.quoted_share) == (None, None)


def test_a_shape_in_another_order_than_the_ops_is_the_same_call() -> None:
    record = handmade.blockscale()
    turned = msgspec.structs.replace(
        record, call=msgspec.structs.replace(record.call, shape={"K": 7168, "M": 128, "N": 1536})
    )
    assert build_report(turned).roofline == build_report(record).roofline


def test_no_device_is_made_up_for_a_target_that_has_no_default() -> None:
    record = handmade.blockscale()
    target = msgspec.structs.replace(record.target, device=None, compute_units=77, device_evidence=Evidence.UNRESOLVED)
    report = build_report(msgspec.structs.replace(record, target=target))
    assert report.roofline is None
    assert ("warning", "note.no_device") in notes(report)


def test_a_device_that_is_not_in_the_tables_has_no_roofline() -> None:
    record = handmade.blockscale()
    target = msgspec.structs.replace(record.target, device="MI999X")
    report = build_report(msgspec.structs.replace(record, target=target))
    assert report.roofline is None
    assert ("warning", "note.no_device") in notes(report)


def test_a_target_without_a_named_part_gets_the_default_assumed() -> None:
    record = handmade.blockscale()
    target = msgspec.structs.replace(record.target, device=None, device_evidence=Evidence.UNRESOLVED)
    report = build_report(msgspec.structs.replace(record, target=target))
    assert report.roofline is not None
    assert (report.roofline.device, report.roofline.device_evidence) == ("MI300X", Evidence.ASSUMED)


def test_an_exception_comes_first() -> None:
    assert notes(build_report(handmade.failed()))[0] == ("danger", "note.exception")


def test_a_configuration_that_leaves_k_out_is_a_danger_and_is_said_once() -> None:
    record = msgspec.structs.replace(
        handmade.triton(k=7168, split=1, size=3072),
        warnings=("the result is wrong, not only slow: NUM_KSPLIT 1 x SPLITK_BLOCK_SIZE 3072 = 3072 of K=7168",),
    )
    report = build_report(record)
    (note,) = [n for n in report.notes if n.level is NoteLevel.DANGER]
    assert note.values == {"splits": "1", "size": "3072", "covered": "3072", "k": "7168"}
    assert "note.warning" not in [n.text_key for n in report.notes]


def test_a_name_that_breaks_its_grammar_is_a_note_and_not_an_exception() -> None:
    record = handmade.blockscale(instance=handmade.INSTANCE[:60] + "zz")
    report = build_report(record)
    assert report.paths[0].kernels[0].name.endswith("zz")


def test_lost_kernels_are_louder_than_lost_frames() -> None:
    record = msgspec.structs.replace(
        handmade.imported(), lost=(Lost("kernels without a runtime call", 3), Lost("frames", 5))
    )
    levels = {n.values["what"]: n.level for n in build_report(record).notes if n.text_key == "note.lost_of_trace"}
    assert levels == {"kernels without a runtime call": NoteLevel.WARNING, "frames": NoteLevel.INFO}


def test_an_imported_call_is_measured_by_the_sum_of_its_kernels_only_where_all_are_known() -> None:
    record = handmade.imported()
    work = msgspec.structs.replace(
        record, call=msgspec.structs.replace(record.call, op="gemm_a8w8_blockscale", shape={"M": 8, "N": 128, "K": 128})
    )
    known = build_report(work).roofline
    assert known is not None
    assert (known.measured_us, known.measured_how) == (72.027, "this one call's kernel duration in the trace")
    unknown = msgspec.structs.replace(work.launches[0], id=1, duration_us=None)
    partly = build_report(msgspec.structs.replace(work, launches=(*work.launches, unknown))).roofline
    assert partly is not None
    assert partly.measured_us is None


def test_a_live_run_on_rocm_says_that_it_is_unproven() -> None:
    live = msgspec.structs.replace(handmade.blockscale(), mode=Mode.LIVE)
    assert ("warning", "note.live_rocm") in notes(build_report(live))
    assert "note.live_rocm" not in [n.text_key for n in build_report(handmade.live()).notes]


@pytest.mark.parametrize(("m", "warned"), [(128, False), (10_000_000, False), (100_000_000, True)])
def test_operands_that_no_memory_of_the_device_holds_are_warned_of(m: int, warned: bool) -> None:
    record = handmade.blockscale()
    call = msgspec.structs.replace(record.call, shape={"M": m, "N": 1536, "K": 7168})
    report = build_report(msgspec.structs.replace(record, call=call))
    assert (("warning", "note.too_large") in notes(report)) is warned
    if warned:
        values = next(note.values for note in report.notes if note.text_key == "note.too_large")
        assert (values["memory"], values["device"]) == ("192 GiB", "MI300X")


def test_an_operand_of_two_kernels_is_counted_once() -> None:
    record = handmade.pair()
    # x in bf16 and its fp8 copy: 176 GB of 206, though the bytes of both kernels add up to 235
    call = msgspec.structs.replace(record.call, shape={"M": 8_000_000, "N": 128, "K": 7168})
    report = build_report(msgspec.structs.replace(record, call=call))
    assert ("warning", "note.too_large") not in notes(report)
