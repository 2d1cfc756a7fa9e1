"""The figures of a trace: shares, groups, devices, busy time; all of them add up to the trace."""

from __future__ import annotations

import math

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.importers.handmade import H100, MI300X, Event, call, event, frame, joined, kernel, op
from tests.importers.test_replay import captured, replayed
from tracer.importers.replay import Capture
from tracer.importers.summary import summarise
from tracer.model.evidence import Evidence

GEMM = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_K1"


def example() -> list[Event]:
    return [
        frame("m.py(1): main", 0, 1000),
        *[
            made
            for n in range(3)
            for made in (
                frame(f"nn.Module: Layer_{n}", 10 + 100 * n, 80),
                op("aten::mm", 20 + 100 * n, 50, n + 1),
                call("hipExtModuleLaunchKernel", 30 + 100 * n, 5, 70 + n, external=n + 1),
                kernel(GEMM, 40 + 100 * n, 20, 70 + n, external=n + 1, grid=[512, 1, 1], block=[256, 1, 1]),
            )
        ],
        kernel("nobody_knows_me", 500, 40, 99),
        event("gpu_memcpy", "Memcpy", 520, 60, pid=0, tid=7, device=0, stream=7),
    ]


def test_a_stack_found_by_an_id_that_two_calls_share_is_inferred_with_the_reason() -> None:
    events = [
        frame("m.py(1): main", 0, 1000),
        call("hipLaunchKernel", 10, 1, 5, kernel="a"),
        call("hipLaunchKernel", 20, 1, 5, kernel="b"),
        kernel("a", 100, 1, 5),
        kernel("b", 110, 1, 5),
    ]
    groups = summarise(joined(events), "t.json").kernels
    assert [(group.stack, group.stack_evidence) for group in groups] == [(("m.py(1): main",), Evidence.INFERRED)] * 2
    assert all("several calls or kernels share" in (group.stack_reason or "") for group in groups)


def test_figures_of_a_small_trace() -> None:
    summary = summarise(joined(example(), deviceProperties=[MI300X]), "t.json")
    assert (summary.kernel_count, summary.kernel_us) == (4, 100.0)
    assert (summary.with_stack_us, summary.decoded_us, summary.fields_us, summary.tile_us) == (60.0, 60.0, 60.0, 60.0)
    assert [(share.name, share.count, share.us) for share in summary.ops] == [("aten::mm", 3, 60.0), (None, 1, 40.0)]
    assert [(share.name is None, share.us) for share in summary.families] == [(False, 60.0), (True, 40.0)]
    gemm, unknown = summary.kernels
    assert (gemm.name, gemm.count, gemm.us, gemm.tile, gemm.grid) == (GEMM, 3, 60.0, (256, 192, 64), (2, 1, 1))
    assert gemm.stack == ("m.py(1): main", "nn.Module: Layer_0")
    assert (gemm.stack_evidence, gemm.call) == (Evidence.OBSERVED, "hipExtModuleLaunchKernel")
    assert (unknown.family, unknown.fields, unknown.stack, unknown.stack_evidence) == (None, {}, (), None)
    assert "runtime call is not in the trace" in (unknown.stack_reason or "")


def test_a_device_is_busy_while_any_of_its_kernels_or_copies_runs() -> None:
    (device,) = summarise(joined(example(), deviceProperties=[MI300X]), "t.json").devices
    assert (device.device, device.evidence, device.compute_units) == ("MI300X", Evidence.STATED, 304)
    # three kernels of 20 apart, then 500 to 540 and 520 to 580 together
    assert (device.busy_us, device.span_us) == (140.0, 540.0)


def test_several_devices_are_told_apart() -> None:
    events = [kernel("k", 10 * n, 5, n, device=n % 2) for n in range(6)]
    summary = summarise(joined(events, deviceProperties=[H100, {**H100, "id": 1}]), "t.json")
    assert [(d.id, d.device, d.kernel_count, d.kernel_us) for d in summary.devices] == [
        (0, "H100", 3, 15.0),
        (1, "H100", 3, 15.0),
    ]


def test_a_rocm_device_number_is_matched_when_all_devices_are_equal() -> None:
    one = summarise(joined([kernel("k", 1, 1, device=9)], deviceProperties=[MI300X]), "t.json")
    assert (one.devices[0].id, one.devices[0].device) == (9, "MI300X")
    mixed = summarise(joined([kernel("k", 1, 1, device=9)], deviceProperties=[MI300X, {**H100, "id": 1}]), "t.json")
    assert (mixed.devices[0].device, mixed.devices[0].evidence) == (None, Evidence.UNRESOLVED)
    assert "different devices" in (mixed.devices[0].reason or "")
    none = summarise(joined([kernel("k", 1, 1)]), "t.json")
    assert none.devices[0].reason == "the trace does not describe its devices"


def test_a_replay_without_its_capture_says_so_and_with_it_is_inferred() -> None:
    replay, capture = joined(replayed(["a", "b"])), joined(captured(["a", "b"]))
    alone = summarise(replay, "t.json")
    assert alone.with_stack_us == 0.0
    assert [(r.call, r.kernels, r.matched, r.complete) for r in alone.replays] == [("hipGraphLaunch", 2, None, None)]
    assert all("--capture-trace" in (group.stack_reason or "") for group in alone.kernels)
    both = summarise(replay, "t.json", Capture(capture, replay))
    assert (both.with_stack_us, both.inferred_stack_us) == (2.0, 2.0)
    assert {group.stack_evidence for group in both.kernels} == {Evidence.INFERRED}
    assert {group.op for group in both.kernels} == {"op0", "op1"}
    assert [(r.matched, r.captured, r.in_order, r.complete) for r in both.replays] == [(2, 2, True, True)]


def test_a_stack_by_a_shared_id_counts_as_inferred() -> None:
    events = [frame("m.py(1): f", 0, 100), call("hipLaunchKernel", 1, 1, 9), call("hipLaunchKernel", 5, 1, 9)]
    events += [kernel("a", 20, 2, 9), kernel("b", 30, 3, 9), kernel("c", 40, 4, 8), call("hipLaunchKernel", 9, 1, 8)]
    summary = summarise(joined(events), "t.json")
    assert (summary.with_stack_us, summary.inferred_stack_us) == (9.0, 5.0)
    inferred = math.fsum(group.us for group in summary.kernels if group.stack_evidence is Evidence.INFERRED)
    assert inferred == summary.inferred_stack_us


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.floats(0, 1e6), st.integers(0, 5), st.integers(0, 2), st.booleans()),
        max_size=25,
    )
)
@settings(max_examples=100, deadline=None)
def test_groups_shares_and_devices_add_up_to_the_trace(rows: list[tuple[str, float, int, int, bool]]) -> None:
    events = []
    for n, (name, us, place, device, launched) in enumerate(rows):
        events.append(kernel(name, 10 * n, us, n, device=device))
        if launched:
            events += [frame(f"f{place}.py(1): f", 10 * n, 5), call("cudaLaunchKernel", 10 * n + 1, 1, n)]
    summary = summarise(joined(events), "t.json")
    total = math.fsum(us for _, us, *_ in rows)
    assert (summary.kernel_count, summary.kernel_us) == (len(rows), total)
    for parts in (summary.kernels, summary.families, summary.ops):
        assert sum(part.count for part in parts) == len(rows)
        assert math.isclose(math.fsum(part.us for part in parts), total, abs_tol=1e-6)
    assert sum(device.kernel_count for device in summary.devices) == len(rows)
    with_stack = math.fsum(group.us for group in summary.kernels if group.stack)
    assert math.isclose(summary.with_stack_us, with_stack, abs_tol=1e-6)
    assert msgspec.json.decode(msgspec.json.encode(summary), type=type(summary)) == summary
