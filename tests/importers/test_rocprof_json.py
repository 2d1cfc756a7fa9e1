"""rocprofv3's JSON: dispatches with their symbols, agents and API calls, whatever the order of the lists."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.importers.handmade import kernels, lost
from tracer.importers.joins import join
from tracer.importers.launches import blocks_of, shape_of
from tracer.importers.losses import Losses
from tracer.importers.rocprof_json import read_rocprof_json
from tracer.importers.timeline import NO_DURATION, NO_START, NO_TIME, Timeline
from tracer.model.evidence import GridUnit

GPU = {
    "size": 312,
    "id": {"handle": 55},
    "type": 2,
    "cu_count": 256,
    "wave_front_size": 64,
    "name": "gfx950",
    "product_name": "AMD Instinct MI350X",
    "gpu_index": 0,
    "mem_banks": [{"heap_type": 1, "size_in_bytes": 1 << 38}],
    "caches": [{"level": 1}, {"level": 2}],
}
CPU = {"size": 312, "id": {"handle": 54}, "type": 1, "name": "EPYC", "mem_banks": [{"size_in_bytes": 4}]}


def symbol(kernel_id: int, name: str, **more: Any) -> dict[str, Any]:
    return {"size": 88, "kernel_id": kernel_id, "kernel_name": name + ".kd", "formatted_kernel_name": name, **more}


def dispatch(kernel_id: int, start: int, end: int, correlation: int = 0, **info: Any) -> dict[str, Any]:
    size = {"x": 1, "y": 1, "z": 1}
    return {
        "size": 184,
        "kind": 11,
        "operation": 2,
        "thread_id": 908,
        "correlation_id": {"internal": correlation, "external": 0},
        "start_timestamp": start,
        "end_timestamp": end,
        "dispatch_info": {
            "size": 72,
            "agent_id": {"handle": 55},
            "queue_id": {"handle": 16},
            "kernel_id": kernel_id,
            "workgroup_size": size,
            "grid_size": size,
            **info,
        },
        "stream_id": {"handle": 3},
    }


def process(**lists: Any) -> dict[str, Any]:
    records = {key: lists.pop(key) for key in ("kernel_dispatch", "hip_api", "memory_copy") if key in lists}
    return {
        "metadata": {"pid": 1, "command": ["python", "train.py"]},
        "agents": lists.pop("agents", [CPU, GPU]),
        "strings": {"buffer_records": lists.pop("kinds", [{"kind": "NONE", "operations": []}])},
        **lists,
        "buffer_records": records,
    }


def read(*processes: dict[str, Any], block: int = 100, indent: int | None = None) -> Timeline:
    text = json.dumps({"rocprofiler-sdk-tool": list(processes)}, indent=indent).encode()
    losses = Losses()
    return read_rocprof_json((text[at : at + block] for at in range(0, len(text), block)), losses)


def test_a_dispatch_has_its_name_times_resources_and_device() -> None:
    info = {
        "workgroup_size": {"x": 256, "y": 1, "z": 1},
        "grid_size": {"x": 49152, "y": 2, "z": 1},
        "group_segment_size": 4096,
        "private_segment_size": 16,
    }
    own = process(
        kernel_symbols=[symbol(7, "void k<float>(int)", sgpr_count=96, arch_vgpr_count=128, accum_vgpr_count=4)],
        kernel_dispatch=[dispatch(7, 1000, 3500, 1, **info)],
    )
    timeline = read(own)
    assert kernels(timeline) == [("void k<float>(int)", 0.0, 2.5)]
    shape, unit = shape_of(join(timeline), 0)
    assert unit is GridUnit.WORK_ITEMS
    assert blocks_of(shape.grid, shape.block, unit) == (192, 2, 1)
    assert (shape.vgprs, shape.agprs, shape.sgprs, shape.lds_bytes, shape.scratch_bytes) == (128, 4, 96, 4096, 16)
    (device,) = timeline.devices
    assert (device.id, device.arch, device.compute_units, device.memory_bytes) == (0, "gfx950", 256, 1 << 38)
    assert timeline.kernels.stream[0] == 3
    assert timeline.producer.command == "python train.py"


def test_handles_and_ids_that_fill_64_bits_are_kept_apart_and_join() -> None:
    huge = (1 << 64) - 1
    api = {"size": 1, "kind": 0, "operation": 0, "thread_id": 5, "start_timestamp": 900, "end_timestamp": 950}
    own = process(
        kernel_symbols=[symbol(7, "k")],
        kernel_dispatch=[
            {**dispatch(7, 1000, 2000, huge - n), "stream_id": {"handle": stream}}
            for n, stream in enumerate((huge, huge - 1, huge))
        ],
        hip_api=[{**api, "correlation_id": {"internal": huge - n}} for n in range(3)],
    )
    joined = join(read(own))
    assert list(joined.call) == [0, 1, 2]
    first, second, third = joined.timeline.kernels.stream
    assert first == third != second


def test_api_calls_are_joined_by_correlation_and_named_by_the_lists_of_names() -> None:
    api = {"size": 1, "kind": 1, "operation": 2, "thread_id": 5, "start_timestamp": 900, "end_timestamp": 950}
    own = process(
        kinds=[{"kind": "NONE", "operations": []}, {"kind": "HIP", "operations": ["a", "b", "hipLaunchKernel"]}],
        kernel_symbols=[symbol(7, "k")],
        kernel_dispatch=[dispatch(7, 1000, 2000, 42)],
        hip_api=[{**api, "correlation_id": {"internal": 42}}],
    )
    joined = join(read(own))
    assert list(joined.call) == [0]
    assert joined.timeline.names.values_[joined.timeline.calls.name[0]] == "hipLaunchKernel"


def test_lists_in_another_order_give_the_same_kernels() -> None:
    own = process(kernel_symbols=[symbol(7, "k")], kernel_dispatch=[dispatch(7, 1000, 2000)])
    turned = dict(reversed(own.items()))
    assert kernels(read(turned, block=50)) == kernels(read(own)) == [("k", 0.0, 1.0)]


def test_kernel_numbers_of_two_processes_are_told_apart() -> None:
    first = process(kernel_symbols=[symbol(7, "a")], kernel_dispatch=[dispatch(7, 1000, 2000, 1)])
    second = process(kernel_symbols=[symbol(7, "b")], kernel_dispatch=[dispatch(7, 3000, 5000, 1)])
    timeline = read(first, second)
    assert kernels(timeline) == [("a", 0.0, 1.0), ("b", 2.0, 2.0)]
    assert len(set(timeline.kernels.correlation)) == 2


def test_a_dispatch_without_its_symbol_is_kept_by_number() -> None:
    timeline = read(process(kernel_dispatch=[dispatch(7, 1000, 2000)]))
    assert kernels(timeline) == [("kernel id 7", 0.0, 1.0)]
    assert lost(timeline) == {"kernels whose symbol is not in the file (named by number)": 1}


def test_copies_keep_a_gpu_busy() -> None:
    copy = {"size": 1, "kind": 1, "start_timestamp": 1500, "end_timestamp": 2500}
    own = process(
        kernel_symbols=[symbol(7, "k")],
        kernel_dispatch=[dispatch(7, 1000, 2000)],
        memory_copy=[{**copy, "dst_agent_id": {"handle": 55}, "src_agent_id": {"handle": 54}}],
    )
    assert read(own).copies_us == [(0, 0.5, 1.0)]


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 10**12), st.integers(0, 10**9)), max_size=30),
    st.integers(30, 600),
    st.sampled_from([None, 1]),
)
@settings(max_examples=80, deadline=None)
def test_kernels_and_their_time_are_conserved(rows: list[tuple[int, int, int]], block: int, indent: int | None) -> None:
    dispatches = [dispatch(kernel, start, start + length) for kernel, start, length in rows]
    own = process(kernel_symbols=[symbol(n, f"k{n}") for n in range(3)], kernel_dispatch=dispatches)
    timeline = read(own, block=block, indent=indent)
    assert [round(us * 1000) for _, _, us in kernels(timeline)] == [length for _, _, length in rows]


def test_a_dispatch_whose_times_cannot_be_read_is_kept_and_counted() -> None:
    whole, no_start, no_end = dispatch(1, 1000, 3000), dispatch(1, 0, 3000), dispatch(1, 4000, 0)
    no_start["start_timestamp"], no_end["end_timestamp"] = None, "soon"
    timeline = read(process(kernel_symbols=[symbol(1, "k")], kernel_dispatch=[whole, no_start, no_end]))
    assert kernels(timeline) == [("k", 0.0, 2.0), ("k", NO_TIME, 0.0), ("k", 3.0, 0.0)]
    assert timeline.untimed == {1, 2}
    assert lost(timeline) == {NO_DURATION: 2, NO_START: 1}


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("block", [64, 1 << 20])
def test_a_symbol_nested_too_deeply_costs_no_dispatch(place: int, block: int) -> None:
    symbols = [symbol(n, f"k{n}") for n in range(3)]
    symbols[place]["deep"] = "DEEP"
    own = process(kernel_symbols=symbols, kernel_dispatch=[dispatch(n, 1000, 3000) for n in range(3)])
    text = json.dumps({"rocprofiler-sdk-tool": [own]}).encode().replace(b'"DEEP"', b"[" * 3000 + b"]" * 3000)
    timeline = read_rocprof_json((text[at : at + block] for at in range(0, len(text), block)), Losses())
    assert (len(timeline.kernels), timeline.total_us()) == (3, 6.0)
    assert lost(timeline)["events that could not be read"] == 1


@pytest.mark.parametrize(("key", "value"), [("dispatch_info", None), ("kernel_id", "x"), ("start_timestamp", True)])
def test_a_dispatch_is_kept_whatever_of_it_cannot_be_read(key: str, value: Any) -> None:
    own = dispatch(1, 1000, 3000)
    (own if key in own else own["dispatch_info"])[key] = value
    timeline = read(process(kernel_symbols=[symbol(1, "k")], kernel_dispatch=[dispatch(1, 1000, 3000), own]))
    assert len(timeline.kernels) == 2
    assert timeline.total_us() == (2.0 if key == "start_timestamp" else 4.0)
    assert lost(timeline)
