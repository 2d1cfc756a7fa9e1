"""What holds for every grammar, unasked: a new grammar is tested by standing in the registry with a case folder."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.names import goldens
from tracer.names import itanium, noise, registry

GRAMMARS = registry.GRAMMARS
CASES = goldens.case_names()


def _spelled(name: str) -> str:
    clean = noise.clean(name).name
    return itanium.unwrap(clean)[0] if itanium.is_mangled(clean) else clean


@pytest.mark.parametrize("path", goldens.case_files(), ids=lambda p: p.parent.name)
def test_every_name_reads_as_its_golden_says(path: Path, update_goldens: bool) -> None:
    if update_goldens:
        goldens.rewrite(path)
    for name, block in goldens.blocks(path):
        assert goldens.show(registry.decode(name)) == block


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda g: g.name)
def test_every_grammar_has_cases_and_refused_names(grammar: registry.Grammar) -> None:
    folder = goldens.FOLDER / grammar.name
    assert any(g == grammar.name for g, _ in CASES), f"{folder}/cases.txt is missing or empty"
    refused = (folder / "refused.txt").read_text(encoding="utf-8").splitlines()
    assert refused, f"{folder}/refused.txt is empty"
    for name in refused:
        answer = registry.decode(name)
        assert answer.grammar != grammar.name or answer.unparsed, f"{name} was read completely"


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda g: g.name)
def test_every_family_of_a_grammar_has_a_case(grammar: registry.Grammar) -> None:
    seen = {registry.decode(name).family for g, name in CASES if g == grammar.name}
    assert set(grammar.families) <= seen


def test_no_two_grammars_claim_one_name() -> None:
    for _, name in CASES:
        claims = [g.name for g in GRAMMARS if not g.fallback and g.accepts(_spelled(name))]
        assert len(claims) <= 1, f"{name} is claimed by {claims}"


def test_the_index_by_prefix_finds_what_accepts_accepts() -> None:
    for grammar_name, name in CASES:
        found = registry.grammar_of(_spelled(name))
        assert found is not None
        assert found.name == grammar_name


def test_formal_names_come_back_byte_for_byte_from_family_and_fields() -> None:
    formal = {family for g in GRAMMARS for family in g.formal}
    for _, name in CASES:
        answer = registry.decode(name)
        if answer.family in formal and answer.complete:
            assert registry.format_name(answer) == answer.spelled


def test_every_field_has_a_span_inside_the_name() -> None:
    for _, name in CASES:
        answer = registry.decode(name)
        assert set(answer.spans) == set(answer.fields)
        for start, end in answer.spans.values():
            assert 0 <= start <= end <= len(answer.spelled)


def test_every_key_stands_in_the_glossary_of_its_grammar() -> None:
    by_name = {g.name: g for g in GRAMMARS}
    for _, name in CASES:
        answer = registry.decode(name)
        assert answer.grammar is not None
        known = set(by_name[answer.grammar].keys)
        assert set(answer.fields) | set(answer.likely) <= known


def _mutations(name: str, rng: random.Random) -> list[str]:
    """The name with one token dropped, doubled, or swapped with its neighbour."""
    tokens = name.split("_")
    result = []
    for _ in range(6):
        i = rng.randrange(len(tokens))
        result.append("_".join(tokens[:i] + tokens[i + 1 :]))
        result.append("_".join([*tokens[: i + 1], *tokens[i:]]))
        if i + 1 < len(tokens):
            result.append("_".join([*tokens[:i], tokens[i + 1], tokens[i], *tokens[i + 2 :]]))
    return result


def test_a_damaged_name_is_refused_or_shows_the_damage_or_is_another_true_name() -> None:
    rng = random.Random(7)
    formal = {family for g in GRAMMARS for family in g.formal}
    for _, name in CASES:
        for damaged in _mutations(name, rng):
            answer = registry.decode(damaged)
            if answer.family in formal and not answer.unparsed:
                assert registry.format_name(answer) == answer.spelled, damaged
