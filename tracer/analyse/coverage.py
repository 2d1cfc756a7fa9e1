"""Whether a split-K configuration sums all of K: a kernel's constants and K in, the shortfall out, if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


class Uncovered(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration that leaves part of K out, so that the result is wrong, not only slow.

    Attributes:
        k: the extent asked for; covered: NUM_KSPLIT x SPLITK_BLOCK_SIZE.
        splits, split_size: the two factors.
    """

    k: int
    covered: int
    splits: int
    split_size: int


def uncovered_k(constants: Mapping[str, Any], k: int | None) -> Uncovered | None:
    """Finds a split-K kernel that sums less than K.

    aiter's Triton split-K kernels loop over SPLITK_BLOCK_SIZE elements in each of NUM_KSPLIT blocks and never look at
    what is left (amd-aiter 0.1.7 and main of August 2026).

    Args:
        constants: the kernel's compile-time constants.
        k: elements along K as the kernel counts them, or None.

    Returns:
        The shortfall, or None when all of K is covered or the kernel has no such constants.
    """
    splits, size = constants.get("NUM_KSPLIT"), constants.get("SPLITK_BLOCK_SIZE")
    if k is None or not isinstance(splits, int) or not isinstance(size, int) or splits * size >= k:
        return None
    return Uncovered(k=k, covered=splits * size, splits=splits, split_size=size)
