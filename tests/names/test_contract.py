"""What holds for every grammar, unasked: one is tested by standing in the registry and having a case folder.

A name is whole where a formal grammar's `format` gives it back from family and fields alone. So two names with one
answer can't be, and a test that changes a character, drops a token or cuts the end off finds what is passed over.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.names import goldens
from tracer.model.kernel import DecodedName
from tracer.names import itanium, noise, registry

GRAMMARS = registry.GRAMMARS
CASES = goldens.case_names()
FORMAL = frozenset(family for grammar in GRAMMARS for family in grammar.formal)
_CPP = frozenset("<(:")
#: grammars that read further arguments of some template lists without counting them
_OPEN_LISTS = frozenset({"aten", "ck_tile_template", "cutlass"})


def _spelled(name: str) -> str:
    clean = noise.clean(name).name
    return itanium.unwrap(clean)[0] if itanium.is_mangled(clean) else clean


@cache
def _read(name: str) -> DecodedName:
    return registry.decode(name)


def _said(answer: DecodedName) -> tuple[Any, ...]:
    """All that an answer says of a name, but for where it stands."""
    return answer.family, answer.fields, answer.likely, [piece.text for piece in answer.unparsed]


def _comes_back(answer: DecodedName) -> bool:
    """Whether a whole name of a formal family is what its fields are written as."""
    return answer.family not in FORMAL or not answer.complete or registry.format_name(answer) == answer.spelled


# ---- goldens, index -------------------------------------------------------------------------------------------------


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
    seen = {_read(name).family for g, name in CASES if g == grammar.name}
    assert set(grammar.families) <= seen


def test_no_two_grammars_claim_one_name() -> None:
    for _, name in CASES:
        claims = [g.name for g in GRAMMARS if not g.fallback and g.accepts(_spelled(name))]
        assert len(claims) <= 1, f"{name} is claimed by {claims}"


def test_no_two_grammars_claim_one_damaged_name() -> None:
    rng = random.Random(11)
    for _, name in CASES:
        for damaged in _mutations(_spelled(name), rng)[:4]:
            claims = [g.name for g in GRAMMARS if not g.fallback and g.accepts(damaged)]
            assert len(claims) <= 1, f"{damaged} is claimed by {claims}"


def test_the_index_by_prefix_finds_what_accepts_accepts() -> None:
    for grammar_name, name in CASES:
        assert registry.decode(_spelled(name)).grammar == grammar_name


# ---- fields, spans --------------------------------------------------------------------------------------------------


def test_every_field_has_a_span_inside_the_name() -> None:
    for _, name in CASES:
        answer = _read(name)
        assert set(answer.spans) == set(answer.fields)
        for start, end in answer.spans.values():
            assert 0 <= start <= end <= len(answer.spelled)


def test_every_key_stands_in_the_glossary_of_its_grammar() -> None:
    by_name = {g.name: g for g in GRAMMARS}
    for _, name in CASES:
        answer = _read(name)
        assert answer.grammar is not None
        known = set(by_name[answer.grammar].keys)
        assert set(answer.fields) | set(answer.likely) <= known


def _cut_and_damaged(name: str) -> Iterator[str]:
    """The name, cut at some places with and without the dots of a profiler, and damaged."""
    yield name
    for end in range(8, len(name), max(7, len(name) // 24)):
        yield name[:end]
        yield f"{name[:end]}..."
    yield from _mutations(name, random.Random(len(name)))[:6]


def test_likely_readings_are_of_other_keys_than_fields() -> None:
    for _, name in CASES:
        for text in _cut_and_damaged(name):
            answer = registry.decode(text)
            assert not set(answer.fields) & set(answer.likely), text


def test_pieces_that_were_not_understood_are_quoted_from_the_name_and_state_no_field() -> None:
    for _, name in CASES:
        for text in _cut_and_damaged(name):
            answer = registry.decode(text)
            for piece in answer.unparsed:
                start, end = piece.start, piece.start + len(piece.text)
                assert answer.spelled[start:end] == piece.text, text
                if "<" in answer.spelled or end - start == len(answer.spelled):
                    continue  # an argument list that doesn't fit, a name that breaks a rule about all of it
                for key, (first, last) in answer.spans.items():
                    # a field's text may go around a piece (a list of parameters), not into it
                    inside = start < last <= end or start <= first < end
                    assert not (first < last and inside) or (first < start and last == end), (text, key, piece)


def test_a_text_without_a_family_has_no_fields() -> None:
    for _, name in CASES:
        for text in _cut_and_damaged(name):
            answer = registry.decode(text)
            assert answer.family is not None or not (answer.fields or answer.likely or answer.grammar), text


def test_answers_share_nothing_that_can_be_changed() -> None:
    for _, name in CASES:
        first = registry.decode(name)
        before = json.dumps(first.fields)
        for value in first.fields.values():
            if isinstance(value, list):
                value.append("changed")
            elif isinstance(value, dict):
                value["changed"] = "changed"
        first.fields["changed"] = "changed"
        assert json.dumps(registry.decode(name).fields) == before


# ---- round trip -----------------------------------------------------------------------------------------------------


def test_formal_names_come_back_byte_for_byte_from_family_and_fields() -> None:
    for _, name in CASES:
        assert _comes_back(_read(name)), name


def test_nothing_but_family_and_fields_is_needed_to_write_a_name() -> None:
    for _, name in CASES:
        answer = _read(name)
        if answer.family in FORMAL and answer.complete:
            sent = json.loads(msgspec.json.encode(answer.fields))  # as another program has it
            bare = DecodedName("", "", answer.grammar, answer.family, sent)
            assert registry.format_name(bare) == answer.spelled


def test_a_family_that_is_not_formal_says_that_no_name_can_be_written() -> None:
    for grammar in GRAMMARS:
        for family in {*grammar.families, "no_such_family"} - grammar.formal:
            with pytest.raises(ValueError, match=r"."):
                grammar.format(family, {})


# ---- damage ---------------------------------------------------------------------------------------------------------


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
    for _, name in CASES:
        for damaged in _mutations(name, rng):
            assert _comes_back(registry.decode(damaged)), damaged


def _another(char: str) -> str:
    """A character of the same kind."""
    if char.isdigit():
        return "7" if char != "7" else "3"
    if char.isalpha():
        return "q" if char != "q" else "k"
    return "-" if char != "-" else "+"


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda g: g.name)
def test_no_character_of_a_name_is_passed_over(grammar: registry.Grammar) -> None:
    """Each character stands in a field, in an unparsed piece, or is what the family prints in this place."""
    for answer in (_read(name) for g, name in CASES if g == grammar.name):
        if _CPP & set(answer.spelled) and answer.family not in FORMAL:
            continue  # namespaces and parameter lists are read over
        for i, char in enumerate(answer.spelled):
            changed = registry.decode(answer.spelled[:i] + _another(char) + answer.spelled[i + 1 :])
            assert _said(changed) != _said(answer), (answer.spelled, i)
            assert _comes_back(changed), changed.spelled


@pytest.mark.parametrize("family", sorted(FORMAL))
def test_a_character_more_or_less_makes_another_name(family: str) -> None:
    for answer in (_read(name) for _, name in CASES):
        if answer.family != family:
            continue
        for i, char in enumerate(answer.spelled):
            for text in (answer.spelled[:i] + answer.spelled[i + 1 :], answer.spelled[:i] + char + answer.spelled[i:]):
                changed = registry.decode(text)
                assert _said(changed) != _said(answer), text
                assert _comes_back(changed), text


def _arguments(answer: DecodedName) -> Iterator[tuple[int, int]]:
    """Where whole template arguments stand that a field comes from, outside of other fields' texts."""
    text, spans = answer.spelled, set(answer.spans.values())
    for start, end in spans:
        outside = not any(a <= start and end <= b and (a, b) != (start, end) for a, b in spans)
        begins = text[:start].endswith(("<", ", "))
        if start < end < len(text) and outside and begins and text[end] in ",>":
            yield start, end


def test_a_template_argument_less_or_more_is_noticed() -> None:
    for grammar, name in CASES:
        answer = _read(name)
        if "<" not in answer.spelled or answer.family in FORMAL:
            continue
        text = answer.spelled
        for start, end in _arguments(answer):
            if text[end] == ",":
                assert _said(registry.decode(text[:start] + text[end + 1 :].lstrip())) != _said(answer), text[start:end]
            if grammar not in _OPEN_LISTS:
                assert _said(registry.decode(f"{text[:end]}, {text[start:]}")) != _said(answer), text[start:end]


# ---- spelling -------------------------------------------------------------------------------------------------------


def test_a_mangled_and_a_demangled_name_say_the_same() -> None:
    mangled = [answer for answer in (_read(name) for _, name in CASES) if answer.demangle == "ok"]
    assert mangled
    for answer in mangled:
        plain = registry.decode(answer.spelled)
        assert _said(plain) == _said(answer), answer.text
        assert plain.spans == answer.spans
        assert plain.demangle is None


def test_closing_brackets_with_and_without_a_space_say_the_same() -> None:
    checked = 0
    for _, name in CASES:
        answer = _read(name)
        if "> >" in answer.spelled or ">>" in answer.spelled:
            other = answer.spelled.replace("> >", ">>")
            other = other.replace(">>", "> >") if other == answer.spelled else other
            assert _said(registry.decode(other))[:3] == _said(answer)[:3], other
            checked += 1
    assert checked


@pytest.mark.parametrize(
    "around",
    ["{}.kd", "{} [clone .kd]", "{}(.kd)", '"{}"', "'{}'", " {} ", "\t{}\r\n", "{},", '"{}.kd",', "\ufeff{}\0"],
)
def test_noise_around_a_name_changes_nothing_that_is_said(around: str) -> None:
    for _, name in CASES:
        answer = _read(name)
        if answer.text != noise.clean(name).name:
            continue  # a cut name, which may end in what would be noise
        noisy = registry.decode(around.format(name))
        assert _said(noisy) == _said(answer), noisy.text
        assert noisy.spelled == answer.spelled
        assert noisy.text == around.format(name)
