"""Two sides compared where they do the same work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.importers.handmade import H100, Event, call, frame, joined, kernel, op, trace, write
from tracer.importers.compare import Comparable, Diff, compare, from_record, from_summary
from tracer.importers.imported import open_trace
from tracer.importers.summary import summarise
from tracer.store import load_record

TENSILE = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT{}_MI16x16x1_SN_K1"
XMMA = (
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_"
    "execute_segment_k_off_kernel__5x_cublas"
)


def side(product: str, us: float, extra: str | None = None) -> list[Event]:
    events: list[Event] = [
        frame("model.py(7): forward", 0, 900),
        op("aten::mm", 20, 300, 1),
        call("launchKernel", 40, 5, 100, external=1),
        kernel(product, 100, us, 100, external=1),
        op("aten::add", 420, 100, 2),
        call("launchKernel", 440, 5, 101, external=2),
        kernel("add", 500, 5, 101, external=2),
    ]
    return [*events, kernel(extra, 600, 3, 999)] if extra else events


def diff(a: list[Event], b: list[Event]) -> Diff:
    return compare(from_summary(summarise(joined(a), "a")), from_summary(summarise(joined(b), "b")))


def test_equal_traces_have_no_changes() -> None:
    same = diff(side(TENSILE.format("256x192x64"), 20), side(TENSILE.format("256x192x64"), 30))
    assert (same.changed_count, same.unchanged_count) == (0, 2)
    first = same.places[0]
    assert (first.op, first.place, first.a_us, first.b_us) == ("aten::mm", "forward model.py:7", 20.0, 30.0)


def test_within_a_family_every_field_that_differs_is_named() -> None:
    changed = diff(side(TENSILE.format("256x192x64"), 20), side(TENSILE.format("128x192x32"), 30))
    (place,) = [place for place in changed.places if place.changed]
    (pair,) = place.kernels
    assert pair.a is not None
    assert pair.b is not None
    assert (pair.a.tile, pair.b.tile) == ((256, 192, 64), (128, 192, 32))
    assert pair.fields["m_per_block"] == (256, 128)
    assert pair.fields["k_per_block"] == (64, 32)
    assert "n_per_block" not in pair.fields


def test_across_families_what_both_state_of_the_common_view_is_compared() -> None:
    changed = diff(side(TENSILE.format("256x192x64"), 20), side(XMMA, 30))
    (place,) = [place for place in changed.places if place.changed]
    fields = place.kernels[0].fields
    assert fields["view.tile_m"] == (256, 128)
    assert "view.tile_k" not in fields


def test_kernels_without_operator_and_stack_are_compared_by_name() -> None:
    changed = diff(side("p", 20, "old"), side("p", 20, "new"))
    loose = [place for place in changed.places if place.op is None]
    assert [(place.a_count, place.b_count, place.changed) for place in loose] == [(1, 0, True), (0, 1, True)]


def test_counts_and_times_are_those_of_the_sides() -> None:
    found = diff(side("p", 20, "old"), side("q", 35))
    assert sum(place.a_count for place in found.places) == found.a.kernel_count == 3
    assert sum(place.b_us or 0 for place in found.places) == found.b.kernel_us == 40.0


RECORDS = Path(__file__).parents[1] / "data" / "records"


def record_side(name: str) -> Comparable:
    return from_record(load_record(RECORDS / f"{name}.json"), name)


def test_two_records_of_one_call_are_compared_field_by_field() -> None:
    found = compare(record_side("live/gemm_a16w16_h200"), record_side("live/gemm_a16w16_split_k_h200"))
    assert found.call == {
        "call.config.NUM_KSPLIT": (1, 4),
        "call.config.SPLITK_BLOCK_SIZE": (7168, 1792),
        "call.config.waves_per_eu": (2, None),
        "call.config.matrix_instr_nonkdim": (16, None),
    }
    pair = found.places[0].kernels[0]
    assert pair.fields == {
        "constexprs.NUM_KSPLIT": (1, 4),
        "constexprs.SPLITK_BLOCK_SIZE": (7168, 1792),
        "split_k": (1, 4),
    }
    assert pair.launch == {
        "grid": ((192, 1, 1), (768, 1, 1)),
        "resources.registers": (56, 64),
        "resources.occupancy_percent": (9.0, 36.0),
    }


def test_a_live_and_an_imported_record_of_one_kernel_agree_on_its_launch() -> None:
    found = compare(record_side("imported/gemm_a16w16_h200"), record_side("live/gemm_a16w16_split_k_h200"))
    assert found.call is not None
    assert found.call["mode"] == ("imported", "live")
    assert found.call["call.shape.M"] == (None, 128)  # no trace states it for a Triton kernel
    assert found.call["target.device_evidence"] == ("stated", "observed")
    assert not [key for key in found.call if key in ("target.device", "target.arch", "target.compute_units")]
    pair = found.places[0].kernels[0]
    assert (pair.fields, pair.launch) == ({}, {})


def test_a_record_and_the_trace_that_it_was_made_from_agree_on_the_launch(tmp_path: Path) -> None:
    stated = {"grid": [4, 1, 1], "block": [128, 1, 1], "registers": 32, "shared_memory": 1024}
    events = [call("cudaLaunchKernel", 1, 1, 5), kernel("k", 10, 5, 5, **stated)]
    own = open_trace(write(tmp_path, trace(events, deviceProperties=[H100])))
    (record,), summary = own.records(own.picks(top=1)), own.summary()
    assert (summary.kernels[0].block, summary.kernels[0].resources) == (
        (128, 1, 1),
        {"registers": 32, "lds_bytes": 1024},
    )
    (place,) = compare(from_record(record, "record"), from_summary(summary)).places
    assert [pair.launch for pair in place.kernels] == [{}]


def test_records_that_are_compared_with_a_trace_have_no_call_to_compare() -> None:
    trace_side = from_summary(summarise(joined(side("p", 20)), "trace"))
    assert compare(record_side("live/torch_mm_h200"), trace_side).call is None


@pytest.mark.parametrize("timed", [True, False])
def test_records_are_sides_too(tmp_path: Path, timed: bool) -> None:
    import msgspec

    imported = open_trace(write(tmp_path, trace(side("p", 20))))
    (record,) = imported.records(imported.picks(ops=["aten::mm"]))
    if not timed:
        launches = tuple(msgspec.structs.replace(launch, duration_us=None) for launch in record.launches)
        record = msgspec.structs.replace(record, launches=launches)
    found = compare(from_record(record, "record"), from_summary(imported.summary()))
    assert found.places[0].op in ("aten::mm", "aten::add")
    (product,) = [place for place in found.places if place.op == "aten::mm"]
    assert (product.place, product.changed, product.a_us) == ("forward model.py:7", False, 20.0 if timed else None)
