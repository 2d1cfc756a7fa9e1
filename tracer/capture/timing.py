"""Measures one op on a GPU, by graph replay and by single calls: a call and its input sets in, `Timing` values out.

The protocol is docs/benchmark.md: never under a trace function or a profiler, inputs rotated over more bytes than
the last-level cache holds where memory allows, and every figure with its n, its spread and what it counted.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from tracer.model.timing import CacheState, Timing

#: calls in one graph, where time and memory allow
CALLS_PER_GRAPH = 100
#: replays that are timed at least
REPLAYS_AT_LEAST = 20
#: do_bench's own settings, in ms
WARMUP_MS, REP_MS = 25, 100
#: no measurement of one method may take longer than about this, in ms
BUDGET_MS = 10_000.0
#: share of the free memory that copies of the inputs may take
MEMORY_SHARE = 0.5
#: bytes that triton.testing.do_bench overwrites before every timed call (triton 3.4 to 3.6: 256 MiB)
DO_BENCH_FLUSH_BYTES = 256 * 2**20


class Plan(msgspec.Struct, frozen=True):
    """How a graph measurement is sized.

    Attributes:
        calls: calls in the graph; copies: input sets that are rotated.
        bytes_rotated: bytes that one round over all copies reads.
        cache: cold when that is more than the last-level cache, warm when one set fits and there is one copy.
    """

    calls: int
    copies: int
    bytes_rotated: int
    cache: CacheState


def plan_graph(call_us: float, input_bytes: int, cache_bytes: int | None, free_bytes: int) -> Plan:
    """Chooses calls a graph and copies of the inputs (pure arithmetic).

    Args:
        call_us: estimated time of one call, in µs.
        input_bytes: bytes of one set of inputs.
        cache_bytes: last-level cache of the device (L2 + MALL), or None where not known.
        free_bytes: free device memory.

    Returns:
        A plan whose REPLAYS_AT_LEAST replays fit the time budget, with enough copies to be cold where memory allows.
    """
    fits = max(1, int(BUDGET_MS * 1000 / REPLAYS_AT_LEAST / max(call_us, 0.1)))
    calls = min(CALLS_PER_GRAPH, fits)
    affordable = max(1, int(free_bytes * MEMORY_SHARE // max(input_bytes, 1)))
    wanted = calls if cache_bytes is None else cache_bytes // max(input_bytes, 1) + 2
    copies = max(1, min(calls, affordable, wanted))
    rotated = copies * input_bytes
    return Plan(calls, copies, rotated, cache_state(rotated, cache_bytes, copies))


def cache_state(bytes_rotated: int, cache_bytes: int | None, copies: int) -> CacheState:
    """Cold is shown by arithmetic: more bytes rotated than the last-level cache holds. Else unproven."""
    if cache_bytes is None:
        return CacheState.UNPROVEN
    if bytes_rotated > cache_bytes:
        return CacheState.COLD
    return CacheState.WARM if copies == 1 else CacheState.UNPROVEN


def summarise(times_us: Sequence[float]) -> tuple[float, float, float]:
    """Median, 20th and 80th percentile of times, by linear interpolation between order statistics."""
    if len(times_us) == 1:
        return times_us[0], times_us[0], times_us[0]
    fifths = statistics.quantiles(times_us, n=5, method="inclusive")
    return statistics.median(times_us), fifths[0], fifths[3]


def _timing(times_us: Sequence[float], cache: CacheState, *, method: str, what: str, **how: Any) -> Timing:
    """A figure with its n and its spread; `how` is what else `Timing` says of how it was made."""
    median, p20, p80 = summarise(times_us)
    return Timing(
        method=method, what=what, n=len(times_us), median_us=median, p20_us=p20, p80_us=p80, cache=cache, **how
    )


def _do_bench(fn: Callable[[], Any], rep_ms: float) -> list[float]:
    import triton.testing

    times = triton.testing.do_bench(fn, warmup=WARMUP_MS, rep=rep_ms, return_mode="all")
    return [float(t) * 1000 for t in times]


def time_eager(call: Callable[[], Any], input_bytes: int, cache_bytes: int | None) -> Timing:
    """Times single calls with do_bench, which overwrites a buffer before each.

    Returns:
        What one call takes from its first launch to its last kernel's end, host gaps between its kernels included.
    """
    times = _do_bench(call, REP_MS)
    if len(times) < REPLAYS_AT_LEAST:
        times = _do_bench(call, REPLAYS_AT_LEAST * statistics.median(times) / 1000 * 1.5)
    cold = cache_bytes is not None and cache_bytes < DO_BENCH_FLUSH_BYTES
    return _timing(
        times,
        CacheState.COLD if cold else CacheState.UNPROVEN,
        method="eager",
        what="calls",
        bytes_rotated=input_bytes,
        cache_bytes=cache_bytes,
    )


def time_graph(
    make_inputs: Callable[[], Any],
    call: Callable[[Any], Any],
    input_bytes: int,
    cache_bytes: int | None,
    call_us: float,
) -> Timing:
    """Times calls inside one graph: three warm-ups, capture on a side stream, replays by do_bench over the calls.

    Args:
        make_inputs: makes one set of inputs.
        call: makes one call with a set.
        input_bytes: bytes of one set.
        cache_bytes: last-level cache, or None.
        call_us: an estimate of one call, in µs (the eager median).

    Raises:
        RuntimeError: the op can't be captured in a graph (the caller falls back to eager and says why).
    """
    import torch

    free, _ = torch.cuda.mem_get_info()
    plan = plan_graph(call_us, input_bytes, cache_bytes, free)
    sets = [make_inputs() for _ in range(plan.copies)]
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for i in range(3):
            call(sets[i % plan.copies])
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(plan.calls):
            call(sets[i % plan.copies])
    replay_ms = max(call_us * plan.calls / 1000, 0.001)
    times = _do_bench(graph.replay, max(REP_MS, REPLAYS_AT_LEAST * replay_ms * 1.5))
    del graph, sets
    gc.collect()
    return _timing(
        [t / plan.calls for t in times],
        plan.cache,
        method="graph",
        what="replay means",
        calls_per_graph=plan.calls,
        input_copies=plan.copies,
        bytes_rotated=plan.bytes_rotated,
        cache_bytes=cache_bytes,
    )


def time_kernels(durations_us: Sequence[float], input_bytes: int, cache_bytes: int | None) -> Timing:
    """The profiler's view: the sum of a call's kernel durations, in µs, without the idle time between them."""
    return _timing(
        durations_us,
        cache_state(input_bytes, cache_bytes, 1),
        method="profiler",
        what="sums of a call's kernel durations",
        bytes_rotated=input_bytes,
        cache_bytes=cache_bytes,
    )
