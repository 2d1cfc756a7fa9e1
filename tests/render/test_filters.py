"""Untrusted text on a page reads as itself: no HTML, no Markdown, no control characters of its own."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.render.markup import read, to_html
from tracer.model.source import SourceRef
from tracer.render import filters

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](https://example.org/x.png)",
    "**bold** _under_ `code` ~~gone~~ ==mark==",
    "a | b | c",
    "# heading",
    "1. list",
    "- list",
    "> quote",
    "{ .class #id onclick=x }",
    "&lt;b&gt; &amp; &#x27;",
    "`` ` ``` ````",
    "back\\slash \\* \\`",
    "{{ 7 * 7 }} {% include 'x' %}",
    "__init__ _x_ a_b_c",
    "https://example.org/ <https://example.org/>",
    "!!! danger",
    "??? note",
    "*[HTML]: x",
    "[^1] footnote",
    "line\nbreak\r\n\ttab",
    "\x1b[31mred\x00\u202eevil\u2028",
    "中文 mixed ⟨text⟩ é",
    "gemm_a8w8_blockscale",
]


def visible_words(markdown_text: str) -> tuple[str, list[str]]:
    words = read(to_html(markdown_text))
    return "".join(words.text), [tag for tag, _ in words.tags]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_reads_as_itself_in_a_line(text: str) -> None:
    shown, tags = visible_words(f"x {filters.markdown(text)} y")
    assert shown.strip() == f"x {filters.visible(text)} y"
    assert tags == ["p"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_reads_as_itself_at_the_start_of_a_line_and_of_a_list_item(text: str) -> None:
    shown, tags = visible_words(f"- {filters.markdown(text)}")
    assert shown.strip() == filters.visible(text).strip()
    assert set(tags) <= {"ul", "li", "p"}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_reads_as_itself_in_a_table(text: str) -> None:
    table = f"| a | b |\n|---|---|\n| {filters.markdown(text)} | {filters.code(text)} |"
    words = read(to_html(table))
    cells = [tag for tag, _ in words.tags if tag == "td"]
    assert len(cells) == 2
    assert "".join(words.text).count(filters.visible(text).strip()) == 2
    assert {tag for tag, _ in words.tags} <= {"table", "thead", "tbody", "tr", "th", "td", "code"}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_code_span_holds_exactly_the_text(text: str) -> None:
    words = read(to_html(f"x {filters.code(text)} y"))
    assert "".join(words.text).strip() == f"x {filters.visible(text)} y"
    assert [tag for tag, _ in words.tags] == ["p", "code"]


@pytest.mark.parametrize("text", ["```\n</code></pre><b>x</b>\n````", "plain", "a\n\nb", "{% x %}"])
def test_a_fenced_block_holds_exactly_the_text(text: str) -> None:
    words = read(to_html(str(filters.fence(text))))
    assert "".join(words.text).strip() == text.strip()
    assert "b" not in {tag for tag, _ in words.tags}


@settings(max_examples=300)
@given(st.text(alphabet=st.sampled_from("ab1 `*_[](){}<>|#!\\~^$=&;:.-+\"'\n\x07é中"), max_size=30))
def test_any_text_reads_as_itself(text: str) -> None:
    shown, tags = visible_words(f"x {filters.markdown(text)} y")
    assert shown.strip() == f"x {filters.visible(text)} y"
    assert tags == ["p"]


@settings(max_examples=200)
@given(st.text(alphabet=st.sampled_from("ab `|\\<&\n*_"), min_size=1, max_size=20))
def test_any_text_in_a_code_span_reads_as_itself(text: str) -> None:
    words = read(to_html(f"x {filters.code(text)} y"))
    assert "".join("".join(words.text).split()) == "".join(f"x{filters.visible(text)}y".split())


@pytest.mark.parametrize(
    ("address", "safe"),
    [
        ("https://github.com/ROCm/aiter/blob/v1/a.py#L3", "https://github.com/ROCm/aiter/blob/v1/a.py#L3"),
        ("javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("//evil.example", None),
        ("https://x.example/a b)<c>", "https://x.example/a%20b%29%3Cc%3E"),
        (None, None),
    ],
)
def test_only_web_addresses_are_linked_and_they_cannot_break_out(address: str | None, safe: str | None) -> None:
    assert filters.url(address) == safe


def test_a_place_shows_the_local_path_and_links_the_permalink() -> None:
    ref = SourceRef("aiter/ops/a.py", 7, "aiter", permalink="https://github.com/ROCm/aiter/blob/v1/aiter/ops/a.py#L7")
    words = read(to_html(str(filters.named_place("f", ref))))
    assert "".join(words.text) == "f aiter/ops/a.py:7"
    assert [attrs["href"] for tag, attrs in words.tags if tag == "a"] == [ref.permalink]
    assert read(to_html(str(filters.named_place("f", SourceRef("a.py", 7, end_line=9))))).text[-1] == "a.py:7-9"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(18.2772, "18.3 µs"), (2.33, "2.33 µs"), (0.0231, "0.0231 µs"), (492773.6, "492,774 µs"), (None, "–")],
)
def test_times_have_three_significant_digits(value: float | None, shown: str) -> None:
    assert filters.microseconds(value) == shown


def test_shares_above_the_roof_are_not_clipped() -> None:
    assert [filters.percent(v) for v in (0.1275, 1.042, 23.3, None)] == ["12.8 %", "104 %", "2,330 %", "–"]


def test_sizes_are_binary_and_rates_decimal() -> None:
    assert filters.byte_count(12352128) == "11.78 MiB"
    assert filters.flop_count(2818572288) == "2.819 GFLOP"
    assert filters.rate(5.3e12, "B/s") == "5.3 TB/s"
    assert filters.rate(None, "B/s") == "?"


def test_long_names_keep_both_ends() -> None:
    name = "a" * 60 + "b" * 60
    assert len(filters.shortened(name)) == 72
    assert filters.shortened(name).startswith("aaa")
    assert filters.shortened(name).endswith("bbb")
    assert filters.shortened("short") == "short"
