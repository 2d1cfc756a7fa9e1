"""Every language says everything, with the same values; what it lacks, English says."""

from __future__ import annotations

import re
import tomllib

import pytest

from tracer.errors import RenderError, UsageError
from tracer.model.evidence import Evidence, Mode
from tracer.model.report import FieldRow, JitLayer, KernelKind
from tracer.model.roofline import Bound, ShapePattern
from tracer.model.source import Layer, MissReason, TunedStatus, UnresolvedReason
from tracer.render.environment import templates_folder
from tracer.render.languages import LANGUAGES, Words, load_texts, placeholders
from tracer.resolve.filters import FILTERS


def test_every_language_has_every_key() -> None:
    first, *others = (set(load_texts(language)) for language in LANGUAGES)
    for other in others:
        assert first == other


@pytest.mark.parametrize("key", sorted(load_texts("en")))
def test_a_text_wants_the_same_values_in_every_language(key: str) -> None:
    terms = {"cu", "lds", "wave", "simd"}
    wanted = [placeholders(load_texts(language)[key]) - terms for language in LANGUAGES]
    assert wanted[0] == wanted[1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_value_that_a_report_can_hold_has_a_word(language: str) -> None:
    words = Words(language)
    wanted = [
        *(f"evidence.{e}" for e in Evidence),
        *(f"evidence.explained.{e}" for e in Evidence),
        *(f"mode.{m}" for m in Mode),
        *(f"mode.explained.{m}" for m in Mode),
        *(f"timings.none.{m}" for m in Mode),
        *(f"layer.{x}" for x in Layer),
        *(f"jit.{x}" for x in JitLayer),
        *(f"kernel.kind.{k}" for k in KernelKind),
        *(f"bound.{b}" for b in Bound),
        *(f"bound.short.{b}" for b in Bound),
        *(f"pattern.{p}" for p in ShapePattern),
        *(f"tuned.status.{s}" for s in TunedStatus),
        *(f"tuned.reason.{r}" for r in MissReason),
        *(f"reason.{r}" for r in UnresolvedReason),
        *(f"filter.{name}" for name, _ in FILTERS),
        "filter.no_kernel",
        "filter.outer",
    ]
    assert [key for key in wanted if not words.has(key)] == []


def test_every_key_that_a_template_or_module_names_exists() -> None:
    folder = templates_folder()
    texts = load_texts("en")
    named = set()
    for path in folder.rglob("*.jinja"):
        source = re.sub(r"\{#.*?#\}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        named |= set(re.findall(r'\bt\("([a-z_.]+[a-z])"', source))
    package = folder.parent if (folder.parent / "render").is_dir() else folder.parent / "tracer"
    for path in [*package.glob("render/*.py"), *package.glob("analyse/*.py"), package / "pipeline.py"]:
        source = path.read_text(encoding="utf-8")
        named |= set(re.findall(r'"((?:note|advice|source|implication\.note)\.[a-z_.]+[a-z])"', source))
    assert named - set(texts) == set()


@pytest.mark.parametrize("language", [lang for lang in LANGUAGES if lang != "en"])
def test_phrases_keep_every_value_of_the_english_sentence(language: str) -> None:
    path = templates_folder() / "languages" / f"{language}.phrases.toml"
    phrases = tomllib.loads(path.read_text(encoding="utf-8"))["phrase"]
    for phrase in phrases:
        assert placeholders(phrase["text"]) <= placeholders(phrase["en"]), phrase["en"]
    english = [phrase["en"] for phrase in phrases]
    assert len(set(english)) == len(english)


def test_sentences_of_records_are_said_in_the_pages_language() -> None:
    zh = Words("zh")
    assert zh.phrase("kernelId 8 in kernels_list") == "kernels_list 中的 kernelId 8"
    assert "命中" in zh.phrase("line 60: find {1, 2} hits; line 64: returns it (a.cu)")
    assert zh.phrase("something nobody translated") == "something nobody translated"
    assert Words("en").phrase("kernelId 8 in kernels_list") == "kernelId 8 in kernels\\_list".replace("\\", "")


def test_reasons_of_the_documented_lists_are_translated() -> None:
    assert "合并" in Words("zh").reason("dropped_by_merge")
    assert "Composable Kernel" in Words("en").reason("ck_missing")


def test_values_are_escaped_and_our_own_markdown_is_not() -> None:
    words = Words("en")
    assert "<b>" not in words("note.warning", text="<b>x</b>")
    assert "&lt;b>" in words("note.warning", text="<b>x</b>") or "&lt;b&gt;" in words("note.warning", text="<b>x</b>")


def test_nvidia_pages_use_nvidias_words() -> None:
    assert Words("en", "NVIDIA")("overview.units", n=132) == "132 SMs"
    assert Words("en", "AMD")("overview.units", n=304) == "304 CUs"
    assert "warp" in Words("zh", "NVIDIA")("implication.key.waves_per_block")


def test_field_meanings_fall_back_to_the_glossary() -> None:
    row = FieldRow(key="no_such_key", value=1, stated="1", start=0, end=1, meaning="What <it> means.")
    assert Words("zh").meaning(row) == "What &lt;it&gt; means."
    known = FieldRow(key="ak1", value=1, stated="1", start=0, end=1, meaning="Contiguous K elements.")
    assert "连续" in Words("zh").meaning(known)
    assert Words("en").meaning(known) == "Contiguous K elements."


def test_a_missing_key_or_value_is_an_error_that_names_it() -> None:
    with pytest.raises(RenderError, match=r"no\.such\.key"):
        Words("zh")("no.such.key")
    with pytest.raises(RenderError, match="'line'"):
        Words("en")("frame.called_at")


def test_a_language_that_does_not_exist_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="'fr'"):
        load_texts("fr")
    with pytest.raises(UsageError):
        load_texts("../../etc/passwd")


def test_code_in_a_glossarys_meaning_is_code_on_the_page() -> None:
    row = FieldRow(key="no_such_key", value=1, stated="1", start=0, end=1, meaning="What `all` <means>.")
    assert Words("en").meaning(row) == "What `all` &lt;means&gt;."
