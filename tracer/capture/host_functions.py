"""Host functions of aiter's C++ that decide what Python does next, ported: arguments in, the original's answer out.

Each port names its original; the tests compile the original with g++ and compare.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_FINE_STEPS = ((256, 16), (1024, 32), (4096, 64))


def padded_m(m: int, n: int, k: int, granularity: int) -> int:
    """The M whose tuned row serves a call of M rows: getPaddedM of csrc/py_itfs_cu/gemm_common.cu.

    Args:
        m: rows of the call.
        n: rows of the weight.
        k: columns of both; it plays no part.
        granularity: 0 rounds up to a multiple of 16, 32, 64 or 128, by size; 1 to a power of two, or 8192 for large M
            and N.
    """
    if granularity == 0:
        step = next((step for limit, step in _FINE_STEPS if m <= limit), 128)
        # C++ divides towards zero; the difference shows for negative M only
        return int((m + step - 1) / step) * step
    if granularity == 1:
        if m > 8192 and n > 4096:
            return 8192
        unsigned = m & 0xFFFFFFFF
        return 1 if unsigned <= 1 else 1 << (unsigned - 1).bit_length()
    return m


#: function as the module exports it -> the port
HOST_FUNCTIONS: dict[str, Callable[..., Any]] = {"get_padded_m": padded_m, "getPaddedM": padded_m}
