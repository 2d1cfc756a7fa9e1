"""aiter's rounding of M: a shape and a granularity in, the M that a look-up tries next out.

A port of `getPaddedM` in csrc/py_itfs_cu/gemm_common.cu, the same in the wheel 0.1.7 and in main of August 2026.
"""

from __future__ import annotations

#: granularity levels in the order in which aiter's look-ups try them; None is M itself
EXACT, FINE, COARSE = None, 0, 1


def next_power_of_two(value: int) -> int:
    """The smallest power of two not below `value`; 1 for 0 and 1."""
    return 1 if value <= 1 else 1 << (value - 1).bit_length()


def get_padded_m(m: int, n: int, k: int, level: int) -> int:
    """The M that aiter's look-up tries at a granularity level.

    Args:
        m: rows of the activations.
        n: rows of the weight.
        k: columns of both; no level looks at it.
        level: 0 for the fine search (multiples of 16, 32, 64, 128), 1 for the coarse one (powers of two, and 8192 for
            larger M where N > 4096); any other level leaves M as it is.
    """
    del k
    if level == FINE:
        step = 16 if m <= 256 else 32 if m <= 1024 else 64 if m <= 4096 else 128
        return (m + step - 1) // step * step
    if level == COARSE:
        return 8192 if m > 8192 and n > 4096 else next_power_of_two(m)
    return m
