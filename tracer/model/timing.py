"""A measured time of an op, with how it was made: method, n, spread, and whether its inputs were cold."""

from __future__ import annotations

import enum

import msgspec


class CacheState(enum.StrEnum):
    """Whether the timed calls found their inputs in the last-level cache."""

    COLD = "cold"
    WARM = "warm"
    UNPROVEN = "unproven"


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """One measured time of the op.

    Attributes:
        method: "graph", "eager" or "profiler".
        what: what n counts: "replay means", "calls", "sums of a call's kernel durations".
        n: how many.
        median_us, p20_us, p80_us: of them, in µs a call.
        calls_per_graph: for "graph".
        input_copies: sets of inputs that were rotated.
        bytes_rotated, cache_bytes: bytes of all sets, and of the last-level cache; together they decide `cache`.
        cache: cold, warm or unproven.
        fallback_reason: why "graph" was not possible, where it was asked for.
    """

    method: str
    what: str
    n: int
    median_us: float
    p20_us: float
    p80_us: float
    calls_per_graph: int | None = None
    input_copies: int = 1
    bytes_rotated: int | None = None
    cache_bytes: int | None = None
    cache: CacheState = CacheState.UNPROVEN
    fallback_reason: str | None = None
