"""The parts that patterns are made of: what each reads, and that it writes back what it read."""

from __future__ import annotations

import pytest

from tracer.names.pattern import NOT_STATED, NUMBER, Pattern, also, lit, num, table

_MASK = table(("causal", "window"), {"_causal": (True, NOT_STATED), "_swa": (False, True), "": (False, NOT_STATED)})


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("k_causal_8", {"causal": True, "n": 8}),
        ("k_swa_8", {"causal": False, "window": True, "n": 8}),
        ("k_8", {"causal": False, "n": 8}),
    ],
)
def test_a_table_reads_several_fields_from_one_word_and_writes_the_word_back(name: str, fields: dict[str, int]) -> None:
    pattern = Pattern("f", lit("k"), _MASK, lit("_"), num("n"))
    answer = pattern.match(name, "g")
    assert answer is not None
    assert answer.fields == fields
    assert set(answer.spans) == set(fields)
    assert pattern.format(fields) == name


def test_a_table_refuses_to_write_what_no_word_says() -> None:
    pattern = Pattern("f", lit("k"), _MASK)
    with pytest.raises(ValueError, match="no word says"):
        pattern.format({"causal": True, "window": True})


def test_also_reads_the_next_token_a_second_time_and_prints_nothing() -> None:
    pattern = Pattern("f", lit("qh"), also("gqa", NUMBER, int), num("q_heads"))
    answer = pattern.match("qh16", "g")
    assert answer is not None
    assert answer.fields == {"gqa": 16, "q_heads": 16}
    assert answer.spans["gqa"] == answer.spans["q_heads"] == (2, 4)
    assert pattern.format(answer.fields) == "qh16"
