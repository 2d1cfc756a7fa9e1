"""The parts that patterns are made of: what each reads, and that it writes back what it read."""

from __future__ import annotations

import pytest

from tracer.model.kernel import FieldValue
from tracer.names.converters import Fresh
from tracer.names.pattern import (
    NOT_STATED,
    NUMBER,
    Pattern,
    also,
    bit,
    choice,
    digits_list,
    flag,
    followed_by,
    groups,
    int_list,
    lit,
    num,
    nums,
    opt,
    signed,
    table,
    text,
    true_false,
    words,
)

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


def _reads(pattern: Pattern, name: str) -> dict[str, FieldValue]:
    answer = pattern.match(name, "g")
    assert answer is not None, name
    assert pattern.format(answer.fields) == name
    return answer.fields


def test_every_part_reads_its_field_and_writes_it_back() -> None:
    pattern = Pattern(
        "f",
        lit("k_"),
        groups(
            nums(("m", "n")),
            int_list("list"),
            digits_list("digits"),
            groups(bit("on"), true_false("said"), sep=":"),
            signed("offset"),
            words("word", "a", "ab"),
            text("free", "[a-z]+?", before="_"),
            choice("mapped", {"F8": "fp8"}),
        ),
        flag("flag", "_yes"),
        opt(lit("_w") + num("waves", other_than=1), absent={"waves": 1}),
    )
    expected = {
        "m": 16, "n": 32, "list": [8, 8, 1], "digits": [16], "on": True, "said": False, "offset": -3, "word": "ab",
        "free": "x", "mapped": "fp8", "flag": True, "waves": 4,
    }  # fmt: skip
    assert _reads(pattern, "k_16x32_8x8x1_1x6_1:False_-3_ab_x_F8_yes_w4") == expected
    assert _reads(pattern, "k_16x32_8_8_0:True_0_a_x_F8")["waves"] == 1


def test_a_part_that_is_left_out_has_an_empty_span() -> None:
    pattern = Pattern("f", lit("k"), opt(lit("_w") + num("waves"), absent={"waves": 1}), lit("_end"))
    answer = pattern.match("k_end", "g")
    assert answer is not None
    assert answer.spans["waves"] == (0, 0)


def test_the_value_that_an_absent_token_states_is_never_printed() -> None:
    pattern = Pattern("f", lit("k"), opt(lit("_w") + num("waves", other_than=1), absent={"waves": 1}))
    assert pattern.match("k_w1", "g") is None
    assert pattern.match("k_w12", "g") is not None


def test_what_comes_next_decides_without_being_read() -> None:
    pattern = Pattern(
        "f", lit("k"), opt(lit("_") + nums(("a", "b")) + followed_by("_")), lit("_"), int_list("c", count=3)
    )
    assert _reads(pattern, "k_1x2_3x4x5") == {"a": 1, "b": 2, "c": [3, 4, 5]}
    assert _reads(pattern, "k_3x4x5") == {"c": [3, 4, 5]}


@pytest.mark.parametrize(
    ("name", "fields", "rest"),
    [
        ("k_16x32_8x8x1_v1_", {"a": 16, "b": 32, "c": [8, 8, 1], "v": 1}, "_"),
        ("k_16x32x4_8x8x1_v1", {}, "16x32x4_8x8x1_v1"),
        ("k_16x32_8x8_v1", {"a": 16, "b": 32}, "8x8_v1"),
        ("k_16", {}, "16"),
        ("k_16x32_8x8x1", {"a": 16, "b": 32, "c": [8, 8, 1]}, ""),
    ],
)
def test_a_broken_name_keeps_the_token_that_breaks_whole_and_states_no_half_of_it(
    name: str, fields: dict[str, FieldValue], rest: str
) -> None:
    pattern = Pattern("f", lit("k_"), groups(nums(("a", "b")), int_list("c", count=3), lit("v") + num("v")))
    answer = pattern.read(name, "g")
    assert answer.fields == fields
    assert [piece.text for piece in answer.unparsed] == [rest]


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"a": 1}, "field 'b' is missing"),
        ({"a": 1, "b": 2, "c": 3}, "no such field: c"),
        ({"a": -1, "b": 2}, "non-negative"),
        ({"a": True, "b": 2}, "non-negative"),
        ({"a": 1, "b": 2, "fixed": 4}, "fixed is always 8"),
    ],
)
def test_writing_names_the_field_that_is_wrong(fields: dict[str, FieldValue], complaint: str) -> None:
    pattern = Pattern("f", lit("k_"), nums(("a", "b")), constants={"fixed": 8})
    with pytest.raises(ValueError, match=complaint):
        pattern.format(fields)


def test_a_number_too_long_for_a_machine_is_refused_and_not_an_error() -> None:
    pattern = Pattern("f", lit("k"), num("n"))
    assert pattern.match("k" + "9" * 18, "g") is not None
    assert pattern.match("k" + "9" * 5000, "g") is None
    assert pattern.read("k" + "9" * 5000, "g").unparsed


def test_a_pattern_with_one_key_twice_is_a_mistake_of_its_author() -> None:
    with pytest.raises(ValueError, match="a key stands twice"):
        Pattern("f", num("n"), lit("_"), num("n"))


def test_lists_that_are_read_are_not_shared_between_answers() -> None:
    pattern = Pattern("f", lit("k"), int_list("c"))
    first = pattern.read("k1x2", "g")
    first.fields["c"].append(3)
    assert pattern.read("k1x2", "g").fields["c"] == [1, 2]


def test_a_pattern_of_many_fields_reads_every_one_in_its_order() -> None:
    keys = tuple(f"k{i}" for i in range(40))
    pattern = Pattern("f", lit("f"), nums(keys), opt(lit("_") + text("word", "[a-z]+")), constants={"fixed": True})
    name = "f" + "x".join(map(str, range(40)))
    answer = pattern.match(name, "g")
    assert answer is not None
    assert list(answer.fields) == [*keys, "fixed"]
    assert answer.fields["k39"] == 39
    assert {name[start:end] for start, end in (answer.spans[key] for key in keys)} == {str(i) for i in range(40)}
    assert answer.spans["fixed"] == (0, 0)
    assert pattern.match(name + "_w", "g") == pattern.read(name + "_w", "g")
    assert _reads(pattern, name + "_w")["word"] == "w"


def test_tokens_that_are_left_out_one_after_the_other_stand_at_one_place() -> None:
    pattern = Pattern("f", opt(num("a")), lit("k"), num("b"), *(opt(lit(c) + num(c), {c: 0}) for c in "xyz"))
    answer = pattern.match("k12y3", "g")
    assert answer is not None
    assert answer.fields == {"b": 12, "x": 0, "y": 3, "z": 0}
    assert answer.spans == {"b": (1, 3), "x": (3, 3), "y": (4, 5), "z": (5, 5)}


def test_what_a_long_list_stands_for_is_not_remembered() -> None:
    part = int_list("c")
    [(_, convert)] = part.captures
    assert isinstance(convert, Fresh)
    pattern = Pattern("f", lit("k"), part)
    assert pattern.read("k" + "x".join("1" * 1000), "g").fields["c"] == [1] * 1000
    assert pattern.read("k1x2", "g").fields["c"] == [1, 2]
    assert list(convert) == ["1x2"]
