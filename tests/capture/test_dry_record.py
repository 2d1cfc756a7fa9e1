"""What a dry run of the installed aiter records."""

from __future__ import annotations

import inspect
import resource
from pathlib import Path

import pytest

from tests.capture.conftest import SHAPE
from tracer.aiter.tree import AiterTree
from tracer.model.capture import TORCH_OPERATORS, ArgumentKind, Binding, CaptureRecord, Frame
from tracer.model.evidence import Evidence, Mode
from tracer.store import dump_record, parse_record

pytestmark = pytest.mark.dry
Records = dict[str, CaptureRecord]


def frames_of(record: CaptureRecord, tree: str = "aiter") -> list[Frame]:
    return [f for f in record.frames if f.source is not None and f.source.tree == tree]


def chain(record: CaptureRecord, frame_id: int | None, tree: str = "aiter") -> list[str]:
    """The functions of a tree from the outermost down to a frame."""
    found = []
    while frame_id is not None:
        frame = record.frames[frame_id]
        if frame.source is not None and frame.source.tree == tree:
            found.append(frame.function)
        frame_id = frame.parent
    return found[::-1]


def test_the_real_bodies_are_entered_down_to_the_boundary(wheel_records: Records) -> None:
    record = wheel_records["gemm"]
    (call,) = record.boundaries
    assert (call.module, call.function, call.binding) == (
        "module_gemm_a8w8_blockscale",
        "gemm_a8w8_blockscale",
        Binding.PYBIND,
    )
    functions = chain(record, call.frame)
    assert "gemm_a8w8_blockscale" in functions
    assert functions[-2:] == ["custom_wrapper", "wrapper"]
    assert record.exception is None
    assert record.mode is Mode.DRY


def test_the_boundary_saw_the_tensors_by_name(wheel_records: Records) -> None:
    (call,) = wheel_records["gemm"].boundaries
    shapes = {a.name: (a.tensor.shape, a.tensor.dtype, a.tensor.device) for a in call.arguments if a.tensor}
    assert shapes == {
        "XQ": ((128, 7168), "float8_e4m3fnuz", "cuda:0"),
        "WQ": ((1536, 7168), "float8_e4m3fnuz", "cuda:0"),
        "x_scale": ((128, 56), "float32", "cuda:0"),
        "w_scale": ((12, 56), "float32", "cuda:0"),
        "Out": ((128, 1536), "bfloat16", "cuda:0"),
    }
    assert call.answered == "output"


def test_the_boundary_names_the_stub_that_declares_the_function(wheel_records: Records) -> None:
    (call,) = wheel_records["gemm"].boundaries
    assert call.declared_as == "gemm_a8w8_blockscale_ck"
    assert call.source is not None
    lines = AiterTree.find().absolute(call.source.file).read_text().splitlines()
    assert call.source.line is not None
    assert lines[call.source.line - 1].startswith("def gemm_a8w8_blockscale_ck(")
    (decorator,) = call.decorators
    assert decorator.name == "compile_ops"
    assert lines[decorator.line - 1].startswith("@compile_ops(")
    assert decorator.line < call.source.line


def test_a_guarded_function_is_cited_at_its_def_with_the_guard_beside_it(wheel_records: Records) -> None:
    frame = next(f for f in frames_of(wheel_records["gemm"]) if f.function == "gemm_a8w8_blockscale")
    assert frame.source is not None
    assert frame.source.line is not None
    lines = AiterTree.find().absolute(frame.source.file).read_text().splitlines()
    assert lines[frame.source.line - 1].startswith("def gemm_a8w8_blockscale(")
    (guard,) = frame.decorators
    assert guard.name == "torch_compile_guard"
    assert lines[guard.line - 1].startswith("@torch_compile_guard(")


def test_every_line_of_aiter_exists_and_calls_what_it_says(wheel_records: Records) -> None:
    tree = AiterTree.find()
    record = wheel_records["gemm"]
    for frame in frames_of(record):
        assert frame.source is not None
        lines = tree.absolute(frame.source.file).read_text().splitlines()
        assert frame.source.line is not None
        assert f"def {frame.function}(" in lines[frame.source.line - 1] or frame.function.startswith("<")
        caller = record.frames[frame.parent] if frame.parent is not None else None
        if caller is not None and caller.source is not None and caller.source.tree == "aiter":
            text = tree.absolute(caller.source.file).read_text().splitlines()
            assert frame.call_line is not None
            assert 1 <= frame.call_line <= len(text)


def test_a_look_up_that_misses_asks_for_the_padded_rows_and_gets_true_answers(wheel_records: Records) -> None:
    record = wheel_records["gemm_missed"]
    asked = [b for b in record.boundaries if b.function == "get_padded_m"]
    assert [[a.value for a in b.arguments] for b in asked] == [[100, 384, 512, 0], [100, 384, 512, 1]]
    assert {b.answered for b in asked} == {"true"}
    assert any("not found tuned config" in line and "M:100, N:384, K:512" in line for line in record.log)
    assert len(record.launches) == 1  # the host function starts no kernel


def test_quantiser_and_gemm_are_two_calls_of_one_record(wheel_records: Records) -> None:
    record = wheel_records["quant_gemm"]
    assert [b.function for b in record.boundaries] == ["dynamic_per_token_scaled_quant", "gemm_a8w8_blockscale"]
    assert [launch.boundary for launch in record.launches] == [0, 1]
    assert chain(record, record.boundaries[0].frame)[0:1] != chain(record, record.boundaries[1].frame)[0:1]
    picked = next(f for f in frames_of(record) if f.function == "get_hip_quant")
    (kind,) = picked.arguments
    assert (kind.kind, kind.value) == (ArgumentKind.ENUM, "QuantType.per_1x128 (=4)")


def test_torchs_own_operators_are_counted_by_name_without_views_and_storage(wheel_records: Records) -> None:
    (lost,) = [lost for lost in wheel_records["torch_quant"].lost if lost.what == TORCH_OPERATORS]
    assert (lost.count, lost.detail) == (7, "2 × aten::_to_copy, aten::abs, aten::max, 2 × aten::div, aten::eq")
    assert TORCH_OPERATORS not in [lost.what for lost in wheel_records["gemm"].lost]  # it only makes storage


def test_the_log_and_the_record_hold_no_path_of_this_machine(wheel_records: Records) -> None:
    tree = AiterTree.find()
    for name, record in wheel_records.items():
        text = dump_record(record).decode()
        assert str(tree.python_root) not in text, name
        assert "/ktrace-" not in text, name
    log = wheel_records["gemm"].log
    assert any("aiter/configs/a8w8_blockscale_tuned_gemm.csv" in line for line in log)


def test_argument_summaries_are_kept_where_a_library_calls_in(wheel_records: Records) -> None:
    record = wheel_records["gemm"]
    looked_up = next(f for f in frames_of(record) if f.function == "get_CKGEMM_config")
    values = {a.name: a.value for a in looked_up.arguments}
    assert values == {**SHAPE, "tuned_file": "/tmp/a8w8_blockscale_tuned_gemm.csv"}
    assert next(f for f in record.frames if f.function == "read_csv").arguments


def test_the_first_call_of_a_process_counts_the_reading_of_tables_and_keeps_its_own_story(
    wheel_records: Records,
) -> None:
    record = wheel_records["gemm"]
    assert sum(frame.left_out.get("pandas", 0) for frame in record.frames) > 1000
    assert len(record.frames) < 200
    assert len(dump_record(record)) < 200_000


def test_a_call_that_raises_keeps_what_was_seen(wheel_records: Records) -> None:
    record = wheel_records["raising"]
    assert record.exception is not None
    assert (record.exception.type, record.boundaries, record.launches) == ("AssertionError", (), ())
    assert record.exception.message.startswith("unsupported group size group_size=63")
    assert record.exception.frame is not None
    frame = record.frames[record.exception.frame]
    assert (frame.function, frame.raised) == ("per_group_quant_hip", "AssertionError")
    assert record.exception.traceback[-1].startswith("aiter/ops/quant.py:")


def test_a_callable_is_called_with_the_arguments_given(wheel_records: Records) -> None:
    record = wheel_records["callable"]
    assert record.call.options == {"x": "bf16[64,256]", "quant_dtype": "fp8", "group_size": "64"}
    (call,) = record.boundaries
    tensors = {a.name: a.tensor for a in call.arguments if a.tensor}
    assert tensors["input"].shape == (256, 64)
    assert tensors["out"].dtype == "float8_e4m3fnuz"


def test_torchs_own_ops_run_and_launch_nothing_that_is_known(wheel_records: Records) -> None:
    record = wheel_records["linear"]
    assert record.exception is None
    assert record.launches == ()


def test_a_shape_of_any_size_takes_no_memory_of_its_own(wheel_records: Records) -> None:
    call = wheel_records["gemm_huge"].boundaries[-1]
    sizes = {a.name: a.tensor.shape for a in call.arguments if a.tensor}
    assert sizes["XQ"] == (2**31 - 1, 2**17)
    assert sizes["Out"] == (2**31 - 1, 2**20)


def test_a_layer_of_256_experts_is_followed_without_its_weights(wheel_records: Records) -> None:
    record = wheel_records["moe"]
    assert record.exception is None
    assert [call.function for call in record.boundaries] == ["moe_sorting_fwd", "ck_moe_stage1", "ck_moe_stage2"]
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 < 1.5e9


def test_records_come_back_from_disk_as_they_were(wheel_records: Records) -> None:
    for name, record in wheel_records.items():
        assert parse_record(dump_record(record), name) == record


def test_target_and_environment_are_stated(wheel_records: Records) -> None:
    record = wheel_records["gemm"]
    assert (record.target.arch, record.target.compute_units, record.target.device) == ("gfx942", 304, "MI300X")
    assert record.target.device_evidence is Evidence.ASSUMED
    assert record.environment.variables["GPU_ARCHS"] == "gfx942"
    assert (record.environment.rocm, record.environment.cuda) == (None, None)
    assert {t.name for t in record.environment.trees} >= {"aiter", "torch", "triton", "python"}


def test_no_frame_of_ktrace_is_recorded(wheel_records: Records) -> None:
    own = Path(inspect.getfile(CaptureRecord)).name
    for record in wheel_records.values():
        assert not [f for f in record.frames if f.source is not None and f.source.file.startswith("tracer/")]
        assert not [f for f in record.frames if (f.module or "").startswith("tracer.")], own


def test_the_instance_that_aiters_rules_choose_stands_at_the_launch(wheel_records: Records) -> None:
    record = wheel_records["gemm"]
    (launch,), (dispatch,) = record.launches, record.dispatches
    assert launch.instance == dispatch.instance
    assert launch.instance is not None
    assert launch.instance.startswith("a8w8_blockscale_1x128x128_256x16x64x256_16x16_16x16_")
    assert (launch.evidence, launch.reason) == (Evidence.RESOLVED, dispatch.assumption)
    assert (launch.block, launch.grid) == ((256, 1, 1), (192, 1, 1))
    assert dispatch.tuned is not None
    assert (dispatch.tuned.status.value, dispatch.boundary) == ("exact", launch.boundary)


def test_the_quantiser_has_a_kernel_and_no_instance(wheel_records: Records) -> None:
    quant, gemm = wheel_records["quant_gemm"].launches
    assert (quant.kernel, quant.instance) == ("dynamic_per_group_scaled_quant_kernel", None)
    assert gemm.instance == wheel_records["gemm"].launches[0].instance


def test_attention_crosses_into_the_module_that_is_named_for_the_call(wheel_records: dict[str, CaptureRecord]) -> None:
    record = wheel_records["attention"]
    assert record.exception is None
    (call,) = record.boundaries
    assert call.module == "mha_fwd_bf16_nbias_mask_nlse_ndropout"
    assert (call.built_from, call.declared_as) == ("module_mha_fwd", "mha_fwd")
    (dispatch,) = record.dispatches
    assert "ck_tile::FmhaFwdKernel" in dispatch.candidates


def test_paged_attention_crosses_into_the_template_that_it_compiles(wheel_records: dict[str, CaptureRecord]) -> None:
    record = wheel_records["paged_attention"]
    assert record.exception is None
    (call,) = record.boundaries
    assert (call.module, call.built_from) == ("pa", "csrc/cpp_itfs/pa/pa.cpp.jinja")
    given = {argument.name: argument.value for argument in call.arguments}
    assert (given["gqa_ratio"], given["head_size"], given["dtype"]) == (8, 128, "__hip_bfloat16")
    assert {"out", "query", "key_cache", "block_tables"} <= set(given)
    assert len(record.dispatches[0].launches) == 2
