"""One broken object: what it says, and what was wrong with it."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tracer.importers.salvage import Repaired, repair

QUOTES = "unescaped quotes or backslashes in a string (repaired)"
UTF8 = "invalid UTF-8 in a string (replaced)"
CONTROL = "control characters in a string (kept)"
HALF_PAIR = "half of a surrogate pair in a string (replaced)"


@pytest.mark.parametrize(
    ("text", "name", "problem"),
    [
        (b'{"ph": "X", "name": "say "hi" twice", "pid": 1}', 'say "hi" twice', QUOTES),
        (b'{"ph": "X", "name": "ends in "quotes"", "pid": 1}', 'ends in "quotes"', QUOTES),
        (b'{"ph": "X", "name": "C:\\new\\x", "pid": 1}', "C:\new\\x", QUOTES),
        (b'{"ph": "X", "name": "ends in \\", "pid": 1}', "ends in \\", QUOTES),
        (b'{"ph": "X", "pid": 1, "name": "last "one""}', 'last "one"', QUOTES),
        (b'{"ph": "X", "name": "a\x01b\tc", "pid": 1}', "a\x01b\tc", CONTROL),
        (b'{"ph": "X", "name": "a\nb", "pid": 1}', "a\nb", CONTROL),
        (b'{"ph": "X", "name": "a\xff\xfeb", "pid": 1}', "a\ufffd\ufffdb", UTF8),
        (b'{"ph": "X", "name": "a\\ud800b", "pid": 1}', "a\ufffdb", HALF_PAIR),
        (b'{"ph": "X", "name": "\\uDE00\\ud83d\\ude00", "pid": 1}', "\ufffd\U0001f600", HALF_PAIR),
    ],
)
def test_a_broken_name_is_read_as_it_was_meant(text: bytes, name: str, problem: str) -> None:
    repaired = repair(text)
    assert repaired.value is not None
    assert (repaired.value["name"], repaired.value["pid"], repaired.problems) == (name, 1, (problem,))


@pytest.mark.parametrize(
    "text",
    [
        b'{"ph": "X" "name": "k", "pid": 1}',
        b'{"ph": "X", "name": "k" "pid": 1}',
        b'{"ph": "X", "name": "k""pid": 1}',
        b'{"pid": 1 "name": "k", "ph": "X"}',
        b'{"pid": 1, "ph": "X", "args": {"n": [1] "d": true "name": "k"} "name": "k"}',
    ],
)
def test_a_missing_comma_costs_no_key_and_is_called_one(text: bytes) -> None:
    repaired = repair(text)
    assert repaired.value is not None
    assert (repaired.value["ph"], repaired.value["name"], repaired.value["pid"]) == ("X", "k", 1)
    assert repaired.problems == ("a comma is missing inside an event (repaired)",)


@pytest.mark.parametrize("text", [b"{", b'{"ph"', b'{"ph": "X", "name": "a', b"[1]", b"", b"{]}", b'{"a": {"b": 1}'])
def test_what_is_no_whole_object_stays_unread(text: bytes) -> None:
    assert repair(text).value is None


def test_an_escaped_backslash_before_u_is_no_surrogate() -> None:
    assert repair(b'{"name": "\\\\ud800"}') == Repaired({"name": "\\ud800"}, (), 19)


def test_deep_nesting_is_refused_not_followed() -> None:
    assert repair(b'{"a": ' + b"[" * 100_000).value is None


@given(
    st.text(alphabet=st.characters(blacklist_characters='\\"', blacklist_categories=("Cs", "Cc"))), st.text(max_size=5)
)
@example("operator\u2028", "x")
def test_text_behind_an_object_is_not_taken_for_part_of_it(name: str, behind: str) -> None:
    text = json.dumps({"name": name}, ensure_ascii=False).encode()
    repaired = repair(text + b" ]" + behind.encode(errors="replace"))
    assert repaired.value == {"name": name}
    assert repaired.used == len(text)


@given(st.text(alphabet='ab"\\:, {', max_size=12).filter(lambda s: '"' in s))
def test_a_repair_never_loses_the_keys_beside_a_broken_name(name: str) -> None:
    repaired = repair(f'{{"ph": "X", "name": "{name}", "pid": 1, "ts": 2.5}}'.encode())
    if repaired.value is not None and repaired.problems == (QUOTES,) and '": ' not in name and '",' not in name:
        assert repaired.value["ts"] == 2.5
