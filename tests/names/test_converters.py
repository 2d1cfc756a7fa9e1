"""Converters: what a text stands for, what of it is remembered, and readers of argument lists made of them."""

from __future__ import annotations

import pytest

from tracer.names.compiled_reader import compile_list
from tracer.names.converters import NUMBERS, Fresh, Remembered, Table, optional


def test_a_number_of_any_text_is_read_and_only_so_many_are_remembered() -> None:
    for number in range(6000):
        assert NUMBERS[str(number)] == number
    assert len(NUMBERS) <= 1024


def test_neither_lists_nor_long_texts_are_remembered() -> None:
    convert = Remembered(lambda text: text.split(",") if "," in text else text.upper())
    assert convert("a") == "A"
    assert convert("a,b") == ["a", "b"]
    assert convert["a,b"] is not convert["a,b"]
    assert convert("x" * 1000) == "X" * 1000
    assert list(convert) == ["a"]


def test_what_cannot_be_converted_is_refused_every_time() -> None:
    convert = Remembered(int)
    for _ in range(2):
        with pytest.raises(ValueError, match="invalid literal"):
            convert("float")


def test_a_token_that_is_missing_has_its_value_and_the_table_others_share_has_not() -> None:
    table = Table({"a": 1})
    assert optional(table, 0)(None) == 0
    assert optional(table, 0)("a") == 1
    assert None not in table
    assert optional(NUMBERS, 0)(None) == 0
    assert optional(NUMBERS, 0)("12") == 12
    assert None not in NUMBERS
    assert optional(str.upper, "")(None) == ""
    assert optional(str.upper, "")("a") == "A"


def test_a_reader_of_a_list_takes_the_items_that_state_something() -> None:
    keys = {f"k{i}": (2 * i, Remembered(int)) for i in range(20)}
    read = compile_list({**keys, "shape": (40, Fresh(lambda text: [int(n) for n in text.split("x")]))})
    items = [*map(str, range(40)), "2x3"]
    fields = read(items)
    assert list(fields) == [*keys, "shape"]
    assert fields["k19"] == 38
    assert fields["shape"] == [2, 3]
    assert read(items)["shape"] is not fields["shape"]
