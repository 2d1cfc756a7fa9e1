"""The roofline: least times, the bound, shares that are never clipped, partitions."""

from __future__ import annotations

import pytest

from tracer.analyse.roofline import Time, analyse_roofline, best_timing
from tracer.devices.registry import get_device
from tracer.model.evidence import Evidence
from tracer.model.roofline import Bound, RooflinePoint, Work
from tracer.model.timing import CacheState, Timing
from tracer.ops.gemm import blockscale_work


def point(work: Work, device: str = "MI300X", **more: object) -> RooflinePoint:
    return analyse_roofline(work, get_device(device), device_evidence=Evidence.ASSUMED, **more)  # type: ignore[arg-type]


def test_the_main_job_is_bound_by_memory_on_an_mi300x() -> None:
    found = point(blockscale_work(128, 1536, 7168, 2))
    # 128*7168 + 1536*7168 + 4*128*56 + 4*12*56 + 2*128*1536 bytes over 5.3e12 B/s
    assert found.memory_us == pytest.approx(12352128 / 5.3e12 * 1e6)
    assert found.compute_us == pytest.approx(2 * 128 * 1536 * 7168 / 2.6148864e15 * 1e6)
    assert found.bound is Bound.MEMORY
    assert found.floor_us == found.memory_us


def test_a_large_square_is_bound_by_arithmetic() -> None:
    found = point(blockscale_work(8192, 8192, 8192, 2))
    assert found.bound is Bound.COMPUTE
    assert found.floor_us == found.compute_us


def test_a_peak_that_is_not_public_leaves_the_bound_unknown_and_the_floor_from_memory() -> None:
    found = point(blockscale_work(128, 1536, 7168, 2), "MI308X")
    assert found.compute.per_s is None
    assert found.bound is Bound.UNKNOWN
    assert found.floor_us == found.memory_us


def test_a_dtype_that_the_part_lacks_has_no_ceiling() -> None:
    found = point(blockscale_work(128, 1536, 7168, 2), "MI210")
    assert found.compute.per_s is None
    assert "fp8" in found.compute.source


def test_a_share_above_the_roof_is_kept_as_it_is() -> None:
    found = point(blockscale_work(128, 1536, 7168, 2), measured=Time(us=1.0, how="graph median"))
    assert found.share == pytest.approx(2.3306, rel=1e-3)


def test_a_quoted_time_is_apart_from_a_measured_one() -> None:
    found = point(blockscale_work(128, 1536, 7168, 2), quoted=Time(us=18.2772, how="tuner"))
    assert (found.measured_us, found.share) == (None, None)
    assert found.quoted_us == 18.2772
    assert found.quoted_share == pytest.approx(2.3306 / 18.2772, rel=1e-3)


def test_a_partition_has_its_part_of_the_peak_and_a_fair_share_of_the_bandwidth() -> None:
    found = point(blockscale_work(128, 1536, 7168, 2), compute_units=38)
    assert found.compute.per_s == pytest.approx(2.6148864e15 / 8)
    assert found.memory.per_s == pytest.approx(5.3e12 / 8)
    assert found.note == "38 of 304 compute units"
    assert "fair share" in found.memory.source


def test_fewer_units_that_are_no_partition_keep_the_whole_bandwidth() -> None:
    found = point(blockscale_work(128, 1536, 7168, 2), compute_units=100)
    assert found.compute.per_s == pytest.approx(2.6148864e15 * 100 / 304)
    assert found.memory.per_s == 5.3e12


def timing(method: str, cache: CacheState, us: float) -> Timing:
    return Timing(method=method, what="calls", n=20, median_us=us, p20_us=us, p80_us=us, cache=cache)


def test_a_cold_graph_time_is_taken_before_any_other() -> None:
    times = [
        timing("eager", CacheState.COLD, 1.0),
        timing("profiler", CacheState.UNPROVEN, 2.0),
        timing("graph", CacheState.WARM, 3.0),
        timing("graph", CacheState.COLD, 4.0),
    ]
    best = best_timing(times)
    assert best is not None
    assert best.us == 4.0
    assert best_timing([]) is None
