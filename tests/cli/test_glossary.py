"""`ktrace glossary`: keys on demand, all keys, JSON, and a key that is none."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.cli.conftest import Answer
from tracer.names.glossary import glossary

Ktrace = Callable[..., Answer]


def test_without_a_key_every_key_has_a_line(ktrace: Ktrace) -> None:
    lines = ktrace("glossary").out.splitlines()
    assert [line.split()[0] for line in lines] == [entry.key for entry in glossary()]


def test_an_object_has_the_documented_keys(ktrace: Ktrace) -> None:
    answer = ktrace("glossary", "--json", "ak1", "causal")
    objects = [json.loads(line) for line in answer.out.splitlines()]
    assert [entry["key"] for entry in objects] == ["ak1", "causal"]
    assert list(objects[0]) == ["key", "meaning", "unit", "grammars", "sources"]
    assert objects[0]["unit"] == "elements"
    assert objects[1]["unit"] is None


def test_a_key_that_no_grammar_has_is_wrong_usage_with_the_nearest_ones(ktrace: Ktrace) -> None:
    answer = ktrace("glossary", "k_per_blok")
    assert answer.code == 2
    assert "did you mean k_per_block" in answer.err


def test_a_key_that_is_like_no_other_is_answered_with_how_all_are_listed(ktrace: Ktrace) -> None:
    answer = ktrace("glossary", "nosuchfield")
    assert answer.code == 2
    assert "did you mean" not in answer.err
    assert "`ktrace glossary` without a key lists all fields" in answer.err
