"""What holds of every drawing: the name is all there, every group has its bracket and label, and lines fit."""

from __future__ import annotations

import pytest

from tests.names import goldens
from tracer.cli.name_drawing import draw, parts, strips
from tracer.cli.name_explanation import explain
from tracer.cli.name_text import printable, value_text
from tracer.model.kernel import DecodedName, Unparsed
from tracer.names import registry

_NAMES = [name for _, name in goldens.case_names()]


@pytest.mark.parametrize("width", [60, 100, 200])
def test_the_lines_of_text_put_together_are_the_name(width: int) -> None:
    for name in _NAMES:
        decoded = registry.decode(name)
        assert "".join(strip.text for strip in strips(decoded, width)) == printable(decoded.spelled)


def test_no_line_is_wider_than_asked_for_where_words_allow() -> None:
    for name in _NAMES:
        for line in draw(registry.decode(name), 100):
            assert len(line) <= 100 or len(max(line.split(), key=len)) > 24, line


def test_brackets_stand_under_the_text_that_they_are_about() -> None:
    for name in _NAMES:
        decoded = registry.decode(name)
        covered: list[bool] = []
        for strip in strips(decoded, 100):
            marks = strip.below[0] if strip.below else ""
            covered += [mark != " " for mark in marks.ljust(len(strip.text))[: len(strip.text)]]
        expected = [False] * len(decoded.spelled)
        for leaf in parts(decoded).leaves:
            expected[leaf.start : leaf.end] = [True] * (leaf.end - leaf.start)
        assert covered == expected, name


def test_every_field_is_drawn_or_listed() -> None:
    for name in _NAMES:
        decoded = registry.decode(name)
        text = explain(decoded, registry.keys_of(decoded.grammar))
        for key in [*decoded.fields, *decoded.likely]:
            assert f"\n  {key} " in text, (name, key)


def test_every_group_has_one_label_and_labels_are_in_the_order_of_the_text_from_below() -> None:
    decoded = registry.decode("a8w8_rowwise_64x16x16x128_16x16_1x1_8x8x1_8x8x1_1x16x1x4_4x4x1_1x1_intrawave_v1")
    labels = [line.split("└─ ", 1)[1] for line in draw(decoded, 200) if "└─ " in line]
    assert labels[::-1] == [
        "block_size x m_per_block x n_per_block x k_per_block = 64 x 16 x 16 x 128",
        "m_per_xdl x n_per_xdl = 16 x 16",
        "m_xdl_per_wave x n_xdl_per_wave = 1 x 1",
        "a_block_transfer = 8x8x1",
        "b_block_transfer = 8x8x1",
        "c_block_transfer = 1x16x1x4",
        "c_block_spv = 4x4x1",
        "cshuffle_m x cshuffle_n = 1 x 1",
        "pipeline_sched = intrawave",
        "pipeline_version = 1",
    ]


def test_what_was_not_understood_is_labelled_with_its_reason() -> None:
    decoded = DecodedName("ab", "ab", "g", "f", {"x": 1}, {"x": (0, 1)}, (Unparsed("b", 1, "expected c"),))
    assert draw(decoded, 60) == ["ab", "││", "│└─ not understood: expected c", "└─ x = 1"]


def test_what_is_missing_at_the_end_is_labelled_behind_the_end() -> None:
    decoded = DecodedName("ab", "ab", "g", "f", {"x": 1}, {"x": (0, 2)}, (Unparsed("", 2, "expected c"),))
    assert draw(decoded, 60) == ["ab", "├┘│", "│ └─ not understood: expected c", "└─ x = 1"]


def test_a_field_whose_text_holds_other_fields_is_no_group_of_its_own() -> None:
    decoded = DecodedName("abcd", "abcd", "g", "f", {"w": "abcd", "x": "b"}, {"w": (0, 4), "x": (1, 2)})
    assert list(parts(decoded).wide) == ["w"]
    assert [leaf.fields for leaf in parts(decoded).leaves] == [{"x": "b"}]


def test_a_group_that_does_not_fit_a_line_is_continued_under_the_next() -> None:
    decoded = DecodedName("a" * 40, "a" * 40, "g", "f", {"x": "y"}, {"x": (0, 40)})
    first, second = strips(decoded, 60)
    assert first.below[0] == "├" + "─" * 23
    assert second.below == ["─" * 15 + "┘"]


def test_bytes_that_are_no_text_take_the_columns_that_their_escapes_need() -> None:
    decoded = DecodedName("\udcffab", "\udcffab", "g", "f", {"x": "b"}, {"x": (2, 3)})
    assert draw(decoded, 60) == ["\\xffab", "     │", "     └─ x = b"]


def test_a_line_of_a_megabyte_is_drawn() -> None:
    decoded = registry.decode("x" * 1_000_000)
    assert sum(len(strip.text) for strip in strips(decoded, 100)) == 1_000_000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"), (None, "none"), (0, "0"), ([1, 2], "1x2"), ([8], "[8]"), ([], "[]"), ("", "(empty)"),
        ([True, False], "true, false"), ({"a": 1, "b": [2, 3]}, "{a: 1, b: 2x3}"), ("\x1b[1m", "\\x1b[1m"),
        (0.3, "0.3"),
    ],
)  # fmt: skip
def test_values_are_shown_in_the_fields_own_way(value: object, text: str) -> None:
    assert value_text(value) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\tb", "a\\tb"),
        ("\udcff\udc80", "\\xff\\x80"),
        ("\ud800", "\\ud800"),
        ("名\u202e", "名\\u202e"),
    ],
)
def test_text_for_a_terminal_has_escapes_for_what_would_steer_it(text: str, shown: str) -> None:
    assert printable(text) == shown
