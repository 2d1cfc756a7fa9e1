"""Columns of numbers: what is put in comes out, or nothing of it is in."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer.importers.columns import ColumnError, column, put

_WHOLE = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20)
_FLOATS = st.lists(st.floats(allow_nan=False), max_size=20)


@given(_WHOLE, _WHOLE)
def test_a_column_grows_by_what_is_put_in(first: list[int], second: list[int]) -> None:
    into = column("q", first)
    put(into, second)
    assert into == array("q", first + second)


@given(_FLOATS)
def test_floating_point_is_kept_as_it_is(values: list[float]) -> None:
    assert column("d", values).tolist() == values


@pytest.mark.parametrize("odd", [1 << 63, None, "5", 1.5])
def test_a_value_that_does_not_fit_leaves_the_column_as_it_was(odd: object) -> None:
    into = column("q", [1, 2])
    with pytest.raises(ColumnError):
        put(into, [3, odd])
    assert into.tolist() == [1, 2]
