"""Picks of a trace as records: what was picked, its chain, its shapes, and that the record is one like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.importers.handmade import MI300X, Event, call, frame, kernel, op, trace, write
from tests.importers.test_replay import captured, replayed
from tracer.importers.gemm_shapes import gemm_shape
from tracer.importers.imported import ImportedTrace, open_trace
from tracer.importers.op_inputs import arguments_of, read_op_inputs
from tracer.importers.picks import matcher
from tracer.importers.places import general_name, own_place, read_frame_name
from tracer.model.capture import ArgumentKind, CaptureRecord, TensorInfo
from tracer.model.evidence import Evidence, GridUnit, Mode
from tracer.model.source import Layer, SourceRef
from tracer.pipeline import build_report
from tracer.store import dump_record, parse_record

MM: dict[str, Any] = {
    "dims": [[16, 3072], [3072, 1024]],
    "types": ["c10::BFloat16", "c10::BFloat16"],
    "strides": [[3072, 1], [1, 3072]],
    "concrete": ["", ""],
}


def layer(n: int) -> list[Event]:
    """A layer: a product of two kernels (split and sum) and a norm."""
    at = 1000 * n
    return [
        frame(f"nn.Module: Layer_{n}", at, 900),
        frame("site-packages/aiter/tuned_gemm.py(20): mm", at + 10, 400),
        op("aten::linear", at + 20, 300, 10 * n + 1),
        op("aten::mm", at + 30, 200, 10 * n + 2, **MM),
        call("hipExtModuleLaunchKernel", at + 40, 5, 100 + 10 * n, external=10 * n + 2),
        call("hipLaunchKernel", at + 60, 5, 101 + 10 * n, external=10 * n + 2),
        op("aiter::rmsnorm", at + 500, 100, 10 * n + 3),
        call("hipLaunchKernel", at + 520, 5, 102 + 10 * n, external=10 * n + 3),
        kernel("split", at + 100, 30 + n, 100 + 10 * n, external=10 * n + 2, grid=[512, 1, 1], block=[256, 1, 1]),
        kernel("sum", at + 140, 10, 101 + 10 * n, external=10 * n + 2, grid=[8, 1, 1], block=[64, 1, 1]),
        kernel("norm", at + 600, 5, 102 + 10 * n, external=10 * n + 3, grid=[16, 1, 1], block=[64, 1, 1]),
    ]


@pytest.fixture
def imported(tmp_path: Path) -> ImportedTrace:
    events = [frame("run.py(3): main", -10, 9000)]
    for n in range(3):
        events += layer(n)
    events.sort(key=lambda e: e["cat"] != "python_function")
    head: dict[str, Any] = {"deviceProperties": [MI300X], "baseTimeNanoseconds": 1_700_000_000_000_000_000}
    return open_trace(write(tmp_path, trace(events, **head)))


def one(imported: ImportedTrace, **patterns: Any) -> CaptureRecord:
    (record,) = imported.records(imported.picks(**patterns), "ktrace import trace.json")
    return record


def test_a_kernel_pick_is_one_launch_with_its_whole_chain(imported: ImportedTrace) -> None:
    record = one(imported, kernels=["split"])
    (launch,) = record.launches
    assert (record.mode, record.call.op, record.call.shape) == (
        Mode.IMPORTED,
        "aten::mm",
        {"M": 16, "N": 1024, "K": 3072},
    )
    assert (launch.grid, launch.grid_unit_seen, launch.block) == ((2, 1, 1), GridUnit.WORK_ITEMS, (256, 1, 1))
    assert launch.runtime is not None
    assert (launch.runtime.name, launch.runtime.external_id) == ("hipExtModuleLaunchKernel", 2)
    assert [frame.function for frame in record.frames] == ["main", "nn.Module: Layer_0", "mm"]
    assert [frame.parent for frame in record.frames] == [None, 0, 1]
    assert [(op.name, op.parent, op.frame) for op in record.cpu_ops] == [("aten::linear", None, 2), ("aten::mm", 0, 2)]
    assert (launch.frame, launch.cpu_op) == (2, 1)
    assert launch.joined_by == {
        "runtime": "correlation id",
        "cpu_op": "external id, confirmed by nesting in time",
        "frame": "nesting of the runtime call on its thread",
    }
    assert (launch.evidence, launch.frame_evidence, launch.reason) == (Evidence.OBSERVED, Evidence.OBSERVED, None)


def test_a_kernel_pick_has_the_spread_of_all_executions_alike(imported: ImportedTrace) -> None:
    (timing,) = one(imported, kernels=["split"]).timings
    assert (timing.method, timing.what, timing.n, timing.median_us) == ("profiler", "kernel durations", 3, 31.0)


def test_operators_carry_what_they_were_called_with(imported: ImportedTrace) -> None:
    record = one(imported, kernels=["split"])
    first, second = record.cpu_ops[1].inputs
    assert first.tensor == TensorInfo((16, 3072), "bfloat16", (3072, 1))
    assert second.tensor == TensorInfo((3072, 1024), "bfloat16", (1, 3072))


def test_an_operator_pick_is_one_call_with_all_its_kernels(imported: ImportedTrace) -> None:
    record = one(imported, ops=["aten::linear"])
    assert [launch.kernel for launch in record.launches] == ["split", "sum"]
    assert record.call.op == "aten::linear"
    (timing,) = record.timings
    assert (timing.n, timing.median_us, timing.what) == (3, 41.0, "sums of kernel durations, one op call each")


def test_a_frame_pick_is_one_call_of_the_function(imported: ImportedTrace) -> None:
    record = one(imported, frames=["nn.Module: Layer*"])
    assert [launch.kernel for launch in record.launches] == ["split", "sum", "norm"]
    assert record.call.op == "nn.Module: Layer"
    outer = one(imported, frames=["main"])
    assert len(outer.launches) == 9


def test_the_most_expensive_picks_come_first_and_top_cuts_them(imported: ImportedTrace) -> None:
    assert [pick.name for pick in imported.picks(top=2)] == ["split", "sum"]
    assert [pick.name for pick in imported.picks(ops=["*"], top=9)] == ["aten::linear", "aiter::rmsnorm"]
    assert imported.picks(kernels=["nothing"]) == []


def test_a_record_of_a_trace_is_stored_loaded_and_reported_like_any_other(imported: ImportedTrace) -> None:
    for record in imported.records(imported.picks(top=9)):
        assert parse_record(dump_record(record), "record") == record
        report = build_report(record)
        assert report.paths
    assert record.origin is not None
    assert (record.origin.kernel_count, record.origin.format) == (9, "torch.profiler JSON")
    assert len(record.origin.sha256 or "") == 64
    assert record.recorded_at == "2023-11-14T22:13:20+00:00"
    assert (record.target.device, record.target.arch) == ("MI300X", "gfx942")


def test_a_graph_kernel_has_frames_and_grid_from_the_capture_and_says_it_is_inferred(tmp_path: Path) -> None:
    replay = write(tmp_path, trace(replayed(["a", "b"]), deviceProperties=[MI300X]), "replay.json")
    capture = write(tmp_path, trace(captured(["a", "b"]), deviceProperties=[MI300X]), "capture.json")
    record = one(open_trace(replay, capture), kernels=["b"])
    (launch,) = record.launches
    assert [frame.function for frame in record.frames] == ["capture", "layer"]
    assert (launch.frame, launch.frame_evidence, launch.graph_replay) == (1, Evidence.INFERRED, True)
    assert "launch 2 of 2 in its capture" in (launch.reason or "")
    assert (launch.grid, launch.block) == ((2, 1, 1), (64, 1, 1))
    assert launch.joined_by["grid"] == "the launch in the trace of the graph's capture"
    by_capture = "order and name in the trace of the graph's capture"
    assert [launch.joined_by.get(link) for link in ("frame", "cpu_op")] == [by_capture, by_capture]
    alone = one(open_trace(replay), kernels=["b"])
    assert (alone.frames, alone.launches[0].frame_evidence) == ((), Evidence.UNRESOLVED)
    assert "--capture-trace" in (alone.launches[0].reason or "")


def test_an_id_of_more_than_64_bits_links_and_is_not_stated_as_another_number(tmp_path: Path) -> None:
    wide = 1 << 70
    events = [
        op("aten::mm", 5, 30, wide),
        call("hipLaunchKernel", 10, 1, wide, external=wide),
        kernel("a", 50, 1, wide),
    ]
    (launch,) = (record := one(open_trace(write(tmp_path, trace(events))), kernels=["a"])).launches
    assert launch.runtime is not None
    assert (launch.cpu_op, launch.runtime.name, record.cpu_ops[0].name) == (0, "hipLaunchKernel", "aten::mm")
    stated = (launch.correlation, launch.runtime.correlation, launch.runtime.external_id, record.cpu_ops[0].external_id)
    assert stated == (None, None, None, None)


def test_an_incomplete_capture_is_counted(tmp_path: Path) -> None:
    replay = write(tmp_path, trace(replayed(["a", "b"])), "replay.json")
    capture = write(tmp_path, trace(captured(["a"])), "capture.json")
    losses = open_trace(replay, capture).joined.timeline.losses.entries()
    assert ("graph launches whose capture is incomplete", 1) in [(loss.what, loss.count) for loss in losses]
    assert any(
        "the replay ran 2 kernels, the capture launched 1, 1 were matched" in (loss.detail or "") for loss in losses
    )


def test_a_trace_that_holds_no_capture_is_counted_as_that_and_is_why_there_is_no_stack(tmp_path: Path) -> None:
    replay = write(tmp_path, trace(replayed(["a", "b"])), "replay.json")
    ordinary = [call("hipLaunchKernel", 1, 1, 5), kernel("a", 10, 1, 5)]
    capture = write(tmp_path, trace(ordinary), "capture.json")
    trace_ = open_trace(replay, capture)
    summary = trace_.summary()
    what = "the trace given with --capture-trace holds no capture: every launch call in it ran its kernel"
    assert [(loss.what, loss.count, loss.detail) for loss in summary.lost] == [(what, 1, str(capture))]
    assert {group.stack_reason for group in summary.kernels} == {what}
    (launch,) = one(trace_, kernels=["b"]).launches
    assert (launch.frame_evidence, launch.reason) == (Evidence.UNRESOLVED, what)


def test_an_execution_without_a_duration_is_not_shown_as_one_of_no_time(tmp_path: Path) -> None:
    own = [kernel("k", 10 * n, 4.0) for n in range(3)]
    own[0]["dur"] = None
    imported = open_trace(write(tmp_path, trace(own)))
    record = one(imported, kernels=["k"])
    assert record.launches[0].duration_us == 4.0
    assert [(timing.n, timing.p20_us) for timing in record.timings] == [(2, 4.0)]
    own = [kernel("k", 1, None)]
    record = one(open_trace(write(tmp_path, trace(own))), kernels=["k"])
    assert (record.launches[0].duration_us, record.timings) == (None, ())


def test_a_duration_below_zero_is_no_time_to_hold_against_a_roof(tmp_path: Path) -> None:
    dims, types = [[8, 8], [8, 8]], ["c10::BFloat16", "c10::BFloat16"]
    events = [
        op("aten::mm", 1, 20, 3, dims=dims, types=types, strides=[[8, 1], [8, 1]], concrete=["", ""]),
        call("cudaLaunchKernel", 2, 1, 5, external=3),
        kernel("k", 30, -1.0, 5, external=3),
    ]
    report = build_report(one(open_trace(write(tmp_path, trace(events, deviceProperties=[MI300X]))), ops=["aten::mm"]))
    assert report.roofline is not None
    assert report.roofline.measured_us is None


def test_a_capture_without_launch_calls_is_said_to_have_none_and_its_damage_is_told(tmp_path: Path) -> None:
    replay = write(tmp_path, trace(replayed(["a", "b"])), "replay.json")
    whole = trace(captured(["a", "b"]))
    cut = whole[: whole.index(b'"hipLaunchKernel"')]
    summary = open_trace(replay, write(tmp_path, cut, "capture.json")).summary()
    none = (
        "the trace given with --capture-trace holds no capture: no call in it launches a kernel by itself, "
        "as far as it could be read"
    )
    assert {group.stack_reason for group in summary.kernels} == {none}
    told = {loss.what: loss.detail or "" for loss in summary.lost}
    assert none in told
    cut_off = [detail for what, detail in told.items() if what.startswith("in the capture's trace: truncated")]
    assert [detail.startswith("first at byte") for detail in cut_off] == [True]


def test_a_runtime_call_found_by_a_shared_id_is_inferred_in_the_record_and_in_its_hop(tmp_path: Path) -> None:
    events = [frame("m.py(1): f", 0, 100), call("hipLaunchKernel", 1, 1, 9), call("hipLaunchKernel", 5, 1, 9)]
    events += [kernel("a", 20, 2, 9), kernel("b", 30, 3, 9), call("hipLaunchKernel", 9, 1, 8), kernel("c", 40, 4, 8)]
    imported = open_trace(write(tmp_path, trace(events)))
    for name, evidence in (("b", Evidence.INFERRED), ("c", Evidence.OBSERVED)):
        record = one(imported, kernels=[name])
        runtime = record.launches[0].runtime
        assert runtime is not None
        (hop,) = [hop for path in build_report(record).paths for hop in path.hops if hop.layer is Layer.LAUNCH]
        assert (runtime.evidence, hop.evidence) == (evidence, evidence)
        assert (hop.reason is None, runtime.reason) == (evidence is Evidence.OBSERVED, hop.reason)


def test_a_product_whose_kernels_are_all_on_the_page_has_a_roofline_by_its_own_time(imported: ImportedTrace) -> None:
    record = one(imported, ops=["aten::mm"])
    assert [(op.name, op.kernel_count) for op in record.cpu_ops] == [("aten::linear", 2), ("aten::mm", 2)]
    point = build_report(record).roofline
    assert point is not None
    assert (point.work.flops, point.work.compute_dtype) == (2 * 16 * 1024 * 3072, "bf16")
    assert point.measured_us == 40.0  # 30 + 10 of this call, not the median of the three


def test_a_product_has_no_roofline_by_one_of_its_kernels_nor_without_its_shapes(imported: ImportedTrace) -> None:
    for record in (one(imported, kernels=["split"]), one(imported, ops=["aten::linear"])):
        assert build_report(record).roofline is None


def test_an_operator_with_a_launch_that_led_to_no_kernel_does_not_know_its_kernels(tmp_path: Path) -> None:
    events = [op("aten::mm", 0, 50, 1, **MM), call("hipLaunchKernel", 1, 1, 5, external=1), kernel("k", 90, 5, 5)]
    events.append(call("hipLaunchKernel", 9, 1, 6, external=1))
    record = one(open_trace(write(tmp_path, trace(events, deviceProperties=[MI300X]))), kernels=["k"])
    assert record.cpu_ops[0].kernel_count is None
    assert build_report(record).roofline is None


def test_a_rocm_grid_of_unknown_unit_is_left_out(tmp_path: Path) -> None:
    events = [kernel("k", 1, 1, 5, grid=[512, 1, 1], block=[256, 1, 1]), call("hipLaunchKernel", 0, 1, 6)]
    record = one(open_trace(write(tmp_path, trace(events))), kernels=["k"])
    assert (record.launches[0].grid, record.launches[0].grid_unit_seen) == (None, None)


def test_a_cuda_grid_counts_blocks_also_without_its_call(tmp_path: Path) -> None:
    events = [kernel("k", 1, 1, 5, grid=[512, 1, 1], block=[256, 1, 1], registers=40, shared_memory=2048, occupancy=50)]
    record = one(open_trace(write(tmp_path, trace(events, cuda_runtime_version=12040))), kernels=["k"])
    (launch,) = record.launches
    assert (launch.grid, launch.grid_unit_seen) == ((512, 1, 1), GridUnit.BLOCKS)
    resources = launch.resources
    assert (resources.registers, resources.lds_bytes, resources.occupancy_percent) == (40, 2048, 50.0)


@pytest.mark.parametrize(
    ("name", "function", "source"),
    [
        ("aiter/ops/rmsnorm.py(62): rmsnorm2d_fwd", "rmsnorm2d_fwd", SourceRef("aiter/ops/rmsnorm.py", 62, "aiter")),
        ("/opt/aiter/aiter/jit/core.py(9): wrapper", "wrapper", SourceRef("aiter/jit/core.py", 9, "aiter")),
        ("/x/sglang/python/sglang/srt/a.py(1): f", "f", SourceRef("sglang/srt/a.py", 1, "sglang")),
        (
            "/x/triton-custom/python/triton/runtime/jit.py(7): run",
            "run",
            SourceRef("triton/runtime/jit.py", 7, "triton"),
        ),
        ("/v/lib/python3.12/site-packages/vllm/v1/x.py(5): g", "g", SourceRef("vllm/v1/x.py", 5, "vllm")),
        ("/v/lib/python3.12/threading.py(973): run", "run", SourceRef("threading.py", 973, "python")),
        ("torch_guard.py(283): wrapper_custom", "wrapper_custom", SourceRef("torch_guard.py", 283, None)),
        (
            "/home/me/my (old) code/run.py(12): <lambda>",
            "<lambda>",
            SourceRef("home/me/my (old) code/run.py", 12, None),
        ),
        ("nn.Module: Qwen3DecoderLayer_3", "nn.Module: Qwen3DecoderLayer_3", None),
        ("<built-in function linear>", "<built-in function linear>", None),
        ("<string>(2): __init__", "<string>(2): __init__", None),
        ("", "", None),
    ],
)
def test_names_of_python_functions_are_read(name: str, function: str, source: SourceRef | None) -> None:
    read = read_frame_name(name)
    assert (read.function, read.source) == (function, source)


def test_general_names_leave_out_addresses_and_module_numbers_only() -> None:
    assert general_name("nn.Module: Layer_12") == "nn.Module: Layer"
    assert general_name("<built-in method mm of type object at 0x7f12>") == "<built-in method mm of type object>"
    assert general_name("my_12.py(3): f_4") == "my_12.py(3): f_4"


def test_the_frame_of_ones_own_stands_above_machinery() -> None:
    stack = [
        "run.py(1): main",
        "my/model.py(7): forward",
        "aiter/jit/core.py(1): wrapper",
        "torch/_ops.py(3): __call__",
    ]
    assert own_place(stack) == "forward my/model.py:7"
    assert own_place([]) is None


@pytest.mark.parametrize(
    ("types", "dims", "strides", "concrete", "expected"),
    [
        (["float"], [[2, 3]], [[3, 1]], [""], [(ArgumentKind.TENSOR, None, TensorInfo((2, 3), "float32", (3, 1)))]),
        (
            ["c10::Float8_e4m3fnuz"],
            [[4]],
            None,
            [""],
            [(ArgumentKind.TENSOR, None, TensorInfo((4,), "float8_e4m3fnuz"))],
        ),
        (["long int"], [[]], [[]], [""], [(ArgumentKind.TENSOR, None, TensorInfo((), "int64", ()))]),
        (
            ["Scalar", "Scalar", "Scalar"],
            [[], [], []],
            None,
            ["3", "1e-5", "False"],
            [(ArgumentKind.SCALAR, v, None) for v in (3, 1e-5, False)],
        ),
        (["ScalarList"], [[]], None, ["[1, 2]"], [(ArgumentKind.SEQUENCE, "[1, 2]", None)]),
        (["TensorList"], [[[2], [3, 4]]], None, [""], [(ArgumentKind.SEQUENCE, 2, None)]),
        ([""], [[]], None, [""], [(ArgumentKind.NONE, None, None)]),
        (["Stream"], ["odd"], None, [None], [(ArgumentKind.OBJECT, None, None)]),
        ("float", [], [], [], []),
    ],
)
def test_arguments_are_read_from_the_lists_of_an_operator(
    types: Any, dims: Any, strides: Any, concrete: Any, expected: list[Any]
) -> None:
    found = arguments_of(types, dims, strides, concrete)
    assert [(argument.kind, argument.value, argument.tensor) for argument in found] == expected


def test_inputs_are_read_only_for_the_operators_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, trace([op("aten::mm", n, 1, n, **MM) for n in range(50)]))
    assert list(read_op_inputs(path, {7, 31, 99})) == [7, 31]
    assert read_op_inputs(path, set()) == {}


def test_an_id_that_operators_with_other_inputs_share_gives_none(tmp_path: Path) -> None:
    made = [op("aten::mm", 1, 5, 7, types=["float"], dims=[[2, 3]], tid=thread) for thread in (1, 2)]
    assert list(read_op_inputs(write(tmp_path, trace(made)), {7})) == [7]
    made.append(op("aten::mm", 1, 5, 7, types=["float"], dims=[[4, 3]], tid=3))
    assert read_op_inputs(write(tmp_path, trace(made)), {7}) == {}


@pytest.mark.parametrize(
    ("op_name", "a", "b", "shape"),
    [
        ("aten::mm", [16, 3072], [3072, 1024], {"M": 16, "N": 1024, "K": 3072}),
        ("aten::linear", [2, 8, 64], [32, 64], {"M": 16, "N": 32, "K": 64}),
        ("aten::bmm", [4, 8, 64], [4, 64, 32], {"B": 4, "M": 8, "N": 32, "K": 64}),
        ("aiter::gemm_a16w16", [5, 64], [32, 64], {"M": 5, "N": 32, "K": 64}),
        ("aten::mm", [16, 3072], [9, 1024], {}),
        ("aten::mm", [16], [16, 4], {}),
        ("aten::add", [16, 4], [16, 4], {}),
    ],
)
def test_products_have_m_n_and_k(op_name: str, a: list[int], b: list[int], shape: dict[str, int]) -> None:
    assert gemm_shape(op_name, arguments_of(["float", "float"], [a, b], None, None)) == shape


def test_patterns_without_wildcards_fit_any_name_that_contains_them() -> None:
    fits = matcher(["mm", "Cijk_*_MT256*", "a[bc]d"])
    names = ["aten::mm", "Cijk_x_MT256x", "Cijk_x_MT128x", "abd", "add", "multi\nline mm"]
    assert [fits(name) for name in names] == [True, True, False, True, False, True]
