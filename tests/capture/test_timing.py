"""The sizing of a measurement is arithmetic, so it is tested without a GPU."""

from __future__ import annotations

import pytest

from tracer.capture import timing
from tracer.model.timing import CacheState


def test_a_short_call_gets_a_hundred_calls_and_copies_beyond_the_cache() -> None:
    plan = timing.plan_graph(call_us=10, input_bytes=10 * 2**20, cache_bytes=60 * 2**20, free_bytes=100 * 2**30)
    assert plan.calls == 100
    assert plan.copies == 8
    assert plan.bytes_rotated == 80 * 2**20
    assert plan.cache is CacheState.COLD


def test_a_long_call_shrinks_the_calls_so_that_twenty_replays_fit_the_budget() -> None:
    plan = timing.plan_graph(call_us=50_000, input_bytes=2**30, cache_bytes=60 * 2**20, free_bytes=100 * 2**30)
    assert plan.calls == 10
    assert plan.calls * 50_000 * timing.REPLAYS_AT_LEAST <= timing.BUDGET_MS * 1000


def test_little_free_memory_shrinks_the_copies_and_the_state_says_so() -> None:
    plan = timing.plan_graph(call_us=10, input_bytes=2**20, cache_bytes=60 * 2**20, free_bytes=4 * 2**20)
    assert plan.copies == 2
    assert plan.cache is CacheState.UNPROVEN


def test_a_cache_of_unknown_size_is_never_called_cold() -> None:
    plan = timing.plan_graph(call_us=10, input_bytes=2**20, cache_bytes=None, free_bytes=100 * 2**30)
    assert plan.cache is CacheState.UNPROVEN


def test_one_copy_that_fits_the_cache_is_warm_and_one_that_does_not_is_cold() -> None:
    assert timing.cache_state(10, cache_bytes=100, copies=1) is CacheState.WARM
    assert timing.cache_state(101, cache_bytes=100, copies=1) is CacheState.COLD


@pytest.mark.parametrize(
    ("times", "expected"),
    [([5.0], (5.0, 5.0, 5.0)), ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (3.5, 2.0, 5.0))],
)
def test_the_summary_is_median_and_outer_fifths(times: list[float], expected: tuple[float, float, float]) -> None:
    assert timing.summarise(times) == pytest.approx(expected)
