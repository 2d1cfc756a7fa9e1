"""The order in which C++ iterates over a `std::unordered_map` with text keys: keys as inserted in, that order out.

aiter's choice among assembly kernels runs over such a map and keeps the first of equals, so the order decides. It is
that of libstdc++ (bits/hashtable.h, src/c++11/hashtable_c++0x.cc; unchanged from GCC 5 to 14), which ROCm's compiler
uses on Linux. A map made of an initialiser list takes its keys one by one and grows on the way.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

_MASK = (1 << 64) - 1
_SEED = 0xC70F6907
_MULTIPLY = 0xC6A4A7935BD1E995
#: the bucket count that the first key brings, and those that growing leads to
_FIRST = 13
_BUCKETS = (
    13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 103, 109, 113,
    127, 137, 139, 149, 157, 167, 179, 193, 199, 211, 227, 241, 257, 277, 293, 313, 337, 359, 383, 409, 439, 467, 503,
    541, 577, 619, 661, 709, 761, 823, 887, 953, 1031, 1109, 1193, 1289, 1381, 1493, 1613, 1741, 1879, 2029, 2179, 2357,
    2549, 2753, 2971, 3209, 3469, 3739, 4027, 4349, 4703, 5087, 5503, 5953, 6427, 6949, 7517, 8123, 8783, 9497, 10273,
)  # fmt: skip


@lru_cache(maxsize=4096)
def hash_text(key: str) -> int:
    """`std::hash<std::string>` of libstdc++ on a 64-bit machine: MurmurHash64A with its seed."""
    raw = key.encode()
    state = _SEED ^ (len(raw) * _MULTIPLY & _MASK)
    whole = len(raw) & ~7
    for at in range(0, whole, 8):
        state = (state ^ _mixed(int.from_bytes(raw[at : at + 8], "little"))) * _MULTIPLY & _MASK
    if whole != len(raw):
        state = (state ^ int.from_bytes(raw[whole:], "little")) * _MULTIPLY & _MASK
    state = _shifted(state) * _MULTIPLY & _MASK
    return _shifted(state)


def _shifted(value: int) -> int:
    return value ^ (value >> 47)


def _mixed(value: int) -> int:
    return _shifted(value * _MULTIPLY & _MASK) * _MULTIPLY & _MASK


def iteration_order(keys: Sequence[str]) -> list[str]:
    """Keys in the order of a range-based loop over a map made of them; of equal keys the first counts.

    Raises:
        ValueError: there are more keys than libstdc++'s bucket counts that are known here.
    """
    order: list[str] = []
    buckets = _FIRST
    for key in dict.fromkeys(keys):
        if len(order) == buckets:
            buckets = _grown(buckets)
            order = _linked(order, buckets)
        order = _linked([key], buckets, order)
    return order


def _grown(buckets: int) -> int:
    """The bucket count after the one that is full."""
    if 2 * buckets > _BUCKETS[-1]:
        raise ValueError(f"more than {buckets} keys are not provided for")
    return _BUCKETS[bisect_left(_BUCKETS, 2 * buckets)]


def _linked(keys: Sequence[str], buckets: int, before: Sequence[str] = ()) -> list[str]:
    """Keys put one by one into a list that holds `before`: each before its bucket's first, or to the front."""
    order = list(before)
    for key in keys:
        bucket = hash_text(key) % buckets
        order.insert(next((at for at, other in enumerate(order) if hash_text(other) % buckets == bucket), 0), key)
    return order
