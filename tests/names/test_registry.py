"""The door to the grammars: what it loads, what it asks, and that it answers every text."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tracer.names import itanium, registry
from tracer.names.base import Context


def test_every_line_names_the_beginnings_that_its_grammar_states() -> None:
    for (_, _, heads), grammar in zip(registry.LINES, registry.GRAMMARS, strict=True):
        assert set(heads.split()) == {prefix[:4] for prefix in grammar.prefixes}, grammar.name
        assert all(len(prefix) >= 4 for prefix in grammar.prefixes), grammar.name


def test_a_grammar_has_the_name_of_its_module() -> None:
    assert [grammar.name for grammar in registry.GRAMMARS] == [module for module, _, _ in registry.LINES]


def _modules_after(statement: str) -> set[str]:
    code = f"import sys; from tracer.names import registry; {statement}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_reading_one_name_loads_what_reads_such_names_and_no_more() -> None:
    modules = {f"tracer.names.{module}" for module, _, _ in registry.LINES}
    assert not modules & _modules_after("0")
    name = "a8w8_rowwise_64x16x16x128_16x16_1x1_8x8x1_8x8x1_1x16x1x4_4x4x1_1x1_intrawave_v2"
    loaded = modules & _modules_after(f"registry.decode({name!r})")
    assert loaded == {"tracer.names.aiter_ck", "tracer.names.aiter_cktile"}


@pytest.mark.parametrize(
    "text", ["", " ", "_", "x", "\0", "\ud800", "_Z", "a8w8", "a" * 1_000_000, "_" * 1_000_000, "9" * 10_000]
)
def test_any_text_has_an_answer(text: str) -> None:
    answer = registry.decode(text)
    assert answer.text == text
    assert answer.family is None or answer.unparsed or answer.fields


@pytest.mark.parametrize(
    ("isa", "target", "noted"),
    [("ISA942", "gfx942", False), ("ISA942", "gfx950", True), ("ISA90a", "gfx942", True), ("ISA942", None, False)],
)
def test_a_name_that_says_another_target_than_the_context_is_noted(isa: str, target: str | None, noted: bool) -> None:
    name = f"Cijk_Alik_Bljk_BBS_BH_MT128x96x64_MI16x16x1_SN_LDSB1_{isa}_MIWT4_3_WG32_8_1"
    answer = registry.decode(name, Context(target=target))
    assert any("the target is" in note for note in answer.notes) == noted
    assert answer.fields == registry.decode(name).fields


def test_a_plain_name_does_not_load_the_demangler() -> None:
    assert "pycxxfilt" not in _modules_after("registry.decode('a8w8_rowwise_64x16x16x128_16x16')")
    assert "pycxxfilt" in _modules_after("registry.decode('_ZN5aiter24bf16gemm_bf16_tn_256x256E')")
    assert all(itanium.is_mangled(beginning) for beginning in registry._MANGLED)
