"""Real traces of MI300X, MI210, H100 and B200: counts, times, chains and joins, as they stand in the files."""

from __future__ import annotations

import gzip
import math
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from tracer.importers.answers import Summary
from tracer.importers.compare import compare, from_summary
from tracer.importers.imported import ImportedTrace, open_trace
from tracer.model.capture import CaptureRecord, CpuOp, Frame
from tracer.model.evidence import Evidence, GridUnit
from tracer.model.report import FrameNode, JitLayer
from tracer.pipeline import build_report
from tracer.resolve.layers import recognise

pytestmark = pytest.mark.data


class _Event(msgspec.Struct):
    cat: str | None = None
    dur: float | None = None
    name: str | None = None


class _Trace(msgspec.Struct):
    traceEvents: list[_Event]


@cache
def imported(folder: Path, name: str, capture: str | None = None) -> ImportedTrace:
    traces = folder / "traces"
    return open_trace(traces / f"{name}.json.gz", traces / f"{capture}.json.gz" if capture else None)


@cache
def summary(folder: Path, name: str, capture: str | None = None) -> Summary:
    return imported(folder, name, capture).summary()


# kernels, share with a stack, what was not linked
KINETO = {
    "b200_eager": (768, 1.0, {}),
    "h100_qwen15_05b": (1465, 0.699, {"kernels without a runtime call": 436}),
    "mi210_gpu_only": (562, 0.0, {}),
    "mi300x_qwen15_05b": (1516, 0.691, {"kernels without a runtime call": 463}),
    "mi300x_sglang_decode_graph_capture_bs32": (2, 1.0, {"launch calls without a kernel": 544}),
    "mi300x_sglang_decode_graph_replay": (555, 0.011, {}),
    "mi300x_sglang_prefill_decode": (527, 1.0, {}),
    "mi300x_torch_compile_triton": (12, 0.0, {}),
}


@pytest.mark.parametrize("name", KINETO)
def test_kernels_and_their_time_are_those_of_the_file(ktrace_data: Path, name: str) -> None:
    text = gzip.decompress((ktrace_data / "traces" / f"{name}.json.gz").read_bytes())
    own = [event for event in msgspec.json.decode(text, type=_Trace).traceEvents if event.cat == "kernel"]
    found = summary(ktrace_data, name)
    count, share, lost = KINETO[name]
    assert found.kernel_count == len(own) == count
    assert found.kernel_us == math.fsum(event.dur or 0.0 for event in own)
    assert Counter(event.name for event in own) == Counter(
        {n: sum(g.count for g in found.kernels if g.name == n) for n in {g.name for g in found.kernels}}
    )
    assert round(found.with_stack_us / found.kernel_us, 3) == share
    assert {loss.what: loss.count for loss in found.lost} == lost


def test_rocprofv3_dispatches_are_all_there(ktrace_data: Path) -> None:
    found = summary(ktrace_data, "rocprofv3_results")
    assert (found.format, found.kernel_count) == ("rocprofv3 JSON", 43915)
    assert round(found.kernel_us * 1000) == 4_441_741_378
    assert [(d.id, d.device, d.arch, d.evidence) for d in found.devices] == [(0, "MI350X", "gfx950", Evidence.STATED)]


@pytest.mark.parametrize(
    ("name", "device", "arch", "compute_units"),
    [
        ("mi300x_sglang_prefill_decode", "MI300X", "gfx942", 304),
        ("mi300x_qwen15_05b", "MI300X", "gfx942", 304),
        ("mi210_gpu_only", "MI210", "gfx90a", 104),
        ("h100_qwen15_05b", "H100", "sm_90", 132),
        ("b200_eager", "B200", "sm_100", 148),
    ],
)
def test_devices_are_identified(ktrace_data: Path, name: str, device: str, arch: str, compute_units: int) -> None:
    (found,) = summary(ktrace_data, name).devices
    assert (found.device, found.arch, found.compute_units) == (device, arch, compute_units)


def picked(folder: Path, name: str, kernel: str) -> CaptureRecord:
    trace = imported(folder, name)
    return trace.records(trace.picks(kernels=[kernel])[:1])[0]


def layers(record: CaptureRecord) -> list[tuple[str, JitLayer]]:
    """Recognised JIT layers of the chain, outermost first."""

    def named(frame: Frame) -> tuple[str, JitLayer | None]:
        return frame.function.removeprefix("<built-in method ").split(" of ")[0], recognise(frame)

    return [(function, layer) for function, layer in map(named, record.frames) if layer is not None]


def test_an_aiter_norm_is_led_through_every_jit_layer(ktrace_data: Path) -> None:
    record = picked(ktrace_data, "mi300x_sglang_prefill_decode", "add_rmsnorm_quant_kernelIDF16bDF16bLi64E")
    (launch,) = record.launches
    assert launch.runtime is not None
    assert launch.runtime.name == "hipLaunchKernel"
    assert launch.grid_unit_seen is GridUnit.BLOCKS
    assert record.cpu_ops[-1].name == "aiter::rmsnorm"
    assert (launch.evidence, launch.frame_evidence) == (Evidence.OBSERVED, Evidence.OBSERVED)
    guard, compiled, builtin = JitLayer.TORCH_GUARD, JitLayer.COMPILE_OPS, JitLayer.BUILTIN
    assert layers(record)[-8:] == [
        ("wrapper_custom", guard),
        ("__call__", JitLayer.TORCH_OPS),
        ("rmsnorm", builtin),
        ("outer_wrapper", guard),
        ("wrapper", guard),
        ("custom_wrapper", compiled),
        ("wrapper", compiled),
        ("rmsnorm", builtin),
    ]
    own = [
        f"{f.source.file}:{f.source.line} {f.function}" for f in record.frames if f.source and f.source.tree == "aiter"
    ]
    assert own == [
        "aiter/ops/rmsnorm.py:62 rmsnorm2d_fwd",
        "aiter/jit/core.py:1637 custom_wrapper",
        "aiter/jit/core.py:1396 wrapper",
    ]


def test_operators_stand_among_the_frames_on_the_page_of_an_aiter_norm(ktrace_data: Path, tmp_path: Path) -> None:
    from tracer.render.publish import publish

    record = picked(ktrace_data, "mi300x_sglang_prefill_decode", "add_rmsnorm_quant_kernelIDF16bDF16bLi64E")
    lines = publish(record, tmp_path, ("en",)).page.read_text(encoding="utf-8").splitlines()
    listed = [line for line in lines if line.lstrip().startswith("- `")]
    names = [line.split("`")[1] for line in listed]
    at = names.index("sglang_profiler::rmsnorm_rmsnorm2d_fwd_109")
    assert names[at : at + 7] == [
        "sglang_profiler::rmsnorm_rmsnorm2d_fwd_109",
        "impl",
        "rmsnorm2d_fwd",
        "wrapper_custom",
        "aiter::rmsnorm",
        "outer_wrapper",
        "custom_wrapper",
    ]
    depths = [(len(line) - len(line.lstrip())) // 4 for line in listed[at - 1 : at + 7]]
    assert depths == list(range(depths[0], depths[0] + 8))
    outer = [line.strip().split(" ", 1)[1] for line in lines if line.startswith(("    1", "    2"))]
    after = outer.index("`sglang_profiler::utils_apply_qk_norm_487` # registered op") + 1
    assert outer[after].startswith("`impl`")
    chart = [line.split("] ")[1].split(" ")[0] for line in lines if "▼ [" in line]
    assert chart[-5:] == ["rmsnorm", "aiter::rmsnorm", "wrapper", "rmsnorm", "hipLaunchKernel"]


@pytest.mark.parametrize("name", ["b200_eager", "h100_qwen15_05b", "mi300x_qwen15_05b", "mi300x_sglang_prefill_decode"])
def test_what_stands_below_another_in_a_chain_ran_within_it(ktrace_data: Path, name: str) -> None:
    trace = imported(ktrace_data, name)
    mixed = 0
    for record in trace.records(trace.picks(top=12)):
        for path in build_report(record).paths:
            chain = list(_spine(path.tree))
            mixed += any(isinstance(item, CpuOp) for item in chain[:-1])
            spans = [_span(item) for item in chain]
            for around, within in pairwise(spans):
                assert around[0] <= within[0]
                assert within[1] <= around[1]
    assert mixed


def _spine(nodes: tuple[FrameNode, ...]) -> Iterator[Frame | CpuOp]:
    """Frames and operators from the outermost, outer callers included, down to the launch."""
    for node in nodes:
        if node.operator is not None:
            yield node.operator
        elif node.frame is not None:
            yield from (node.frame, *node.merged)
        yield from _spine(node.children)


def _span(item: Frame | CpuOp) -> tuple[float, float]:
    """When it began and ended, in nanoseconds; the trace states microseconds with three digits."""
    if isinstance(item, CpuOp):
        assert item.start_ns is not None
        assert item.duration_us is not None
        return item.start_ns, item.start_ns + item.duration_us * 1000 - 2
    assert item.enter_ns is not None
    return item.enter_ns, math.inf if item.exit_ns is None else item.exit_ns


@pytest.mark.parametrize(
    ("name", "kernel", "formula"),
    [
        ("mi300x_sglang_prefill_decode", "Cijk_*MT256x16x64*", "ceil(151936 / 256) * ceil(15 / 16) = 594 * 1 = 594"),
        ("mi300x_sglang_prefill_decode", "Cijk_*MT320x224x64*", "ceil(4096 / 320) * ceil(15360 / 224) = 13 * 69 = 897"),
        ("mi300x_qwen15_05b", "Cijk_*MT128x224x64*", "ceil(2816 / 128) * ceil(8944 / 224) = 22 * 40 = 880"),
        ("b200_eager", "nvjet_*_144x128_*", "ceil(2880 / 144) * ceil(888 / 128) = 20 * 7 = 140"),
    ],
)
def test_the_tiles_of_a_blas_kernel_are_as_many_as_the_blocks_that_were_launched(
    ktrace_data: Path, name: str, kernel: str, formula: str
) -> None:
    record = picked(ktrace_data, name, kernel)
    (found,) = [k for path in build_report(record).paths for k in path.kernels]
    (grid,) = [item for item in found.implications if item.key == "grid"]
    assert (grid.formula, grid.evidence) == (formula, Evidence.RESOLVED)
    assert found.launch.grid is not None
    assert math.prod(found.launch.grid) == grid.value


def test_an_aiter_attention_is_led_to_its_op_and_shapes(ktrace_data: Path) -> None:
    record = picked(ktrace_data, "mi300x_sglang_prefill_decode", "FmhaBatchPrefill")
    (launch,) = record.launches
    assert (launch.grid, launch.block) == ((32, 15, 8), (256, 1, 1))
    assert record.cpu_ops[-1].name == "aiter::mha_batch_prefill"
    query = record.cpu_ops[-1].inputs[0].tensor
    assert query is not None
    assert (query.shape, query.dtype) == ((15360, 32, 128), "bfloat16")


def test_a_gemm_has_its_grid_in_blocks_and_its_extents(ktrace_data: Path) -> None:
    record = picked(ktrace_data, "mi300x_sglang_prefill_decode", "Cijk_*MT256x192x64*")
    (launch,) = record.launches
    assert launch.runtime is not None
    assert launch.runtime.name == "hipExtModuleLaunchKernel"
    # 491,520 work-items in blocks of 256
    assert (launch.grid, launch.block, launch.grid_unit_seen) == ((1920, 1, 1), (256, 1, 1), GridUnit.WORK_ITEMS)
    assert [op.name for op in record.cpu_ops] == ["aiter::gemm_a16w16", "aten::linear", "aten::matmul", "aten::mm"]
    assert record.call.shape == {"M": 15360, "N": 6144, "K": 4096}
    assert any(
        f.source and f.source.file == "aiter/tuned_gemm.py" and f.function == "torch_gemm" for f in record.frames
    )


def test_the_five_most_expensive_prefill_kernels(ktrace_data: Path) -> None:
    found = summary(ktrace_data, "mi300x_sglang_prefill_decode")
    assert [(g.op, g.count, round(g.us / g.count), g.tile) for g in found.kernels[:4]] == [
        ("aten::mm", 36, 6768, (128, 256, 32)),
        ("aten::mm", 36, 2651, (320, 224, 64)),
        ("aten::mm", 36, 1425, (256, 192, 64)),
        ("aten::mm", 36, 819, (320, 224, 64)),
    ]
    assert (found.kernels[4].op, found.kernels[4].count) == ("aiter::mha_batch_prefill", 36)
    assert all(group.stack_evidence is Evidence.OBSERVED for group in found.kernels)


def test_a_graph_replay_is_joined_to_its_capture_in_order(ktrace_data: Path) -> None:
    names = ("mi300x_sglang_decode_graph_replay", "mi300x_sglang_decode_graph_capture_bs32")
    alone, both = summary(ktrace_data, names[0]), summary(ktrace_data, *names)
    assert [(r.kernels, r.matched) for r in alone.replays] == [(544, None)]
    (replay,) = both.replays
    assert (replay.kernels, replay.matched, replay.captured, replay.in_order, replay.complete) == (
        544,
        544,
        544,
        True,
        True,
    )
    assert round(both.with_stack_us / both.kernel_us, 3) == 1.0
    assert round(both.inferred_stack_us / both.kernel_us, 3) == 0.989
    trace = imported(ktrace_data, *names)
    (record, *_) = trace.records(trace.picks(kernels=["paged_attention_ll4mi_QKV"])[:1])
    (launch,) = record.launches
    assert (launch.frame_evidence, launch.graph_replay) == (Evidence.INFERRED, True)
    assert "all names agree in order" in (launch.reason or "")
    assert launch.grid is not None
    assert any(f.source and f.source.file.endswith("attention/aiter_backend.py") for f in record.frames)


def test_a_trace_whose_launch_calls_all_ran_is_said_to_hold_no_capture(ktrace_data: Path) -> None:
    trace = imported(ktrace_data, "mi300x_sglang_decode_graph_replay", "mi300x_sglang_prefill_decode")
    (replay,) = trace.summary().replays
    assert (replay.complete, replay.captured, replay.matched) == (False, 0, 0)
    assert (replay.missing, replay.surplus) == ({}, {})
    assert any("holds no capture" in loss.what for loss in trace.summary().lost)


def test_one_model_on_two_vendors_is_compared_place_by_place(ktrace_data: Path) -> None:
    sides = [from_summary(summary(ktrace_data, f"{name}_qwen15_05b")) for name in ("mi300x", "h100")]
    found = compare(*sides)
    assert (found.a.devices, found.b.devices) == (("MI300X",), ("H100",))
    assert sum(place.a_count for place in found.places) == 1516
    assert sum(place.b_count for place in found.places) == 1465
    products = [p for p in found.places if p.op == "aten::mm" and p.place and "modeling_qwen2.py" in p.place]
    assert products
    assert all(place.changed and place.a_count and place.b_count for place in products)
    assert any("view.tile_n" in change.fields for place in products for change in place.kernels)


@pytest.mark.parametrize("name", [*KINETO, "rocprofv3_results"])
def test_every_trace_becomes_pages_of_the_one_template(ktrace_data: Path, tmp_path: Path, name: str) -> None:
    from tracer.render.publish import publish

    trace = imported(ktrace_data, name)
    for record in trace.records(trace.picks(top=1)):
        page = publish(record, tmp_path, ("en",)).page.read_text(encoding="utf-8")
        assert "Imported trace" in page
