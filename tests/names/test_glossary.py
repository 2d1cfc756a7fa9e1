"""The glossary: every key of every grammar is explained once, and docs/glossary.md shows it as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.names import goldens
from tracer.errors import UsageError
from tracer.names import aiter_cpp_template, aiter_glossary, ck_lists, registry
from tracer.names.aiter_cpp_template import UNEXPLAINED
from tracer.names.base import Key
from tracer.names.glossary import Entry, entries_of, glossary
from tracer.names.vocabulary import SHARED

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"
_GRAMMARS = {grammar.name: grammar for grammar in registry.GRAMMARS}


def test_a_key_has_one_meaning_and_one_unit_in_all_grammars() -> None:
    said: dict[str, dict[tuple[str, str | None], list[str]]] = {}
    for grammar in registry.GRAMMARS:
        for key, entry in grammar.keys.items():
            said.setdefault(key, {}).setdefault((entry.meaning, entry.unit), []).append(grammar.name)
    assert not {key: meanings for key, meanings in said.items() if len(meanings) > 1}


def test_a_key_that_several_grammars_explain_stands_in_the_vocabulary() -> None:
    words: dict[str, list[Key]] = {}
    for grammar in registry.GRAMMARS:
        for key, entry in grammar.keys.items():
            words.setdefault(key, []).append(entry)
    apart = [key for key, entries in words.items() if len({entry.meaning for entry in entries}) > 1]
    assert not [key for key in apart if key not in SHARED]
    own = {
        key
        for key, entries in words.items()
        if key in SHARED and any(e.meaning != SHARED[key].meaning for e in entries)
    }
    assert not own


def test_every_shared_key_is_used_by_a_grammar() -> None:
    assert not set(SHARED) - {key for grammar in registry.GRAMMARS for key in grammar.keys}


@pytest.mark.parametrize("grammar", registry.GRAMMARS, ids=lambda g: g.name)
def test_every_key_has_a_meaning_in_a_sentence_and_a_source(grammar: registry.Grammar) -> None:
    for key, entry in grammar.keys.items():
        assert entry.meaning.endswith("."), (key, entry.meaning)
        assert len(entry.meaning) < 200, (key, entry.meaning)
        assert "|" not in entry.meaning, (key, entry.meaning)
        assert entry.unit is None or entry.unit.strip(), key
    assert re.match("https://[a-z.-]+/", grammar.link)


def test_every_key_that_a_name_states_is_explained() -> None:
    for grammar, name in goldens.case_names():
        answer = registry.decode(name)
        assert {*answer.fields, *answer.likely} <= set(_GRAMMARS[grammar].keys), name


def test_what_aiters_source_does_not_explain_is_said_to_be_so_and_nothing_else() -> None:
    keys = _GRAMMARS["aiter_cpp_template"].keys
    assert {key for key, entry in keys.items() if entry.meaning == UNEXPLAINED} == {"kcoalesced", "use_radix_sort"}
    assert not [key for key, entry in keys.items() if f"parameter {key}" in entry.meaning]


def test_every_meaning_of_aiters_parameters_is_of_a_key_that_a_kernel_has() -> None:
    assert set(aiter_glossary.meanings()) <= ck_lists.keys(aiter_cpp_template.lists())


def test_an_entry_names_the_grammars_that_use_the_key_and_their_sources() -> None:
    (entry,) = entries_of(["k_per_block"])
    assert {"aiter_ck", "tensile", "cutlass"} <= set(entry.grammars)
    assert entry.unit == "elements"
    assert entry.sources["aiter_ck"] == _GRAMMARS["aiter_ck"].link


def test_an_unknown_key_is_told_with_the_nearest_ones() -> None:
    with pytest.raises(UsageError, match="no grammar has a field 'k_per_blok'") as told:
        entries_of(["k_per_blok"])
    assert "k_per_block" in str(told.value)


def _row(entry: Entry, last: str, others: tuple[str, ...] = ()) -> str:
    keys = ", ".join(f"`{key}`" for key in (entry.key, *others))
    return f"| {keys} | {entry.meaning} | {entry.unit or ''} | {last} |"


def _own_rows(grammar: registry.Grammar, own: list[Entry]) -> list[str]:
    """The rows of a grammar's own keys; those that nothing more is known of stand together in one."""
    silent = [entry for entry in own if entry.meaning == UNEXPLAINED]
    rows = []
    for entry in own:
        source = entry.sources[grammar.name]
        last = "" if source == grammar.link else source
        if entry not in silent:
            rows.append(_row(entry, last))
        elif entry is silent[0]:
            rows.append(_row(entry, last, tuple(other.key for other in silent[1:])))
    return rows


def _page() -> str:
    entries = glossary()
    lines = [
        "# Glossary of fields",
        "",
        "Every key that a decoded name can have in `fields` or `likely`, as `ktrace glossary KEY` says it. Written by",
        "`pytest tests/names/test_glossary.py --update-goldens` from the grammars' own glossaries; don't edit it.",
        "A key has one meaning in all grammars. [How to read an answer](names.md).",
        "",
        "## Grammars",
        "",
        "| grammar | families | the code that builds such names |",
        "|---|---|---|",
    ]
    lines += [
        f"| [`{g.name}`](#{g.name}) | {', '.join(f'`{family}`' for family in g.families)} | <{g.link}> |"
        for g in registry.GRAMMARS
    ]
    lines += ["", "## Keys of several grammars", "", "| key | meaning | unit | grammars |", "|---|---|---|---|"]
    lines += [_row(entry, ", ".join(entry.grammars)) for entry in entries if len(entry.grammars) > 1]
    for grammar in registry.GRAMMARS:
        own = [entry for entry in entries if entry.grammars == (grammar.name,)]
        shared = [entry.key for entry in entries if grammar.name in entry.grammars and len(entry.grammars) > 1]
        lines += ["", f"## {grammar.name}", ""]
        if shared:
            lines += [f"Of the keys above: {', '.join(f'`{key}`' for key in shared)}."]
        if own:
            lines += ["", "| key | meaning | unit | source |", "|---|---|---|---|"]
            lines += _own_rows(grammar, own)
        if not own and not shared:
            lines += ["Names of this grammar state their family only."]
    return "\n".join(lines) + "\n"


def test_the_page_shows_the_glossary_as_it_is(update_goldens: bool) -> None:
    page = _page()
    if update_goldens:
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page
