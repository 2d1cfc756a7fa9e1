"""Mangled symbols: demangled, mended where they are cut off, and never allowed to exhaust memory or stack."""

from __future__ import annotations

import random

import pycxxfilt
import pytest

from tests.names.mangled import SymbolMaker, doubling, expanded, nested, reference
from tracer.names import itanium, itanium_bound, itanium_scan, registry
from tracer.names.itanium_tokens import Broken, Ends
from tracer.names.itanium_walk import Walk

CK = (
    "_ZN2ck27kernel_gemm_xdl_cshuffle_v3INS_42GridwiseGemmMultiD_ABScale_xdl_cshuffle_v3INS_13tensor_layout4gemm8RowMajor"
    "ENS3_11ColumnMajorENS_5TupleIJEEES4_NS_9f8_fnuz_tES8_ffS7_tNS_16tensor_operation12element_wise11PassThroughESB_SB_"
    "LNS9_6device18GemmSpecializationE0ELi256ELi1ELi128ELi128ELi128ELi128ELi128ELi16ELi16ELi32ELi32ELi2ELi2E"
    "NS_8SequenceIJLi8ELi32ELi1EEEENSE_IJLi1ELi0ELi2EEEESG_Li2ELi16ELi16ELb0ELi0ESF_SG_SG_Li2ELi16ELi16ELb0ELi0ELi1ELi1E"
    "NSE_IJLi1ELi32ELi1ELi8EEEENSE_IJLi8EEEELNS_26BlockGemmPipelineSchedulerE0ELNS_24BlockGemmPipelineVersionE2E"
    "S8_S8_S8_S8_EELb1ELNS_25InMemoryDataOperationEnumE0ELi2ELNS_10TailNumberE10EEEvNT_8ArgumentE"
)


@pytest.mark.parametrize(
    ("symbol", "text"),
    [
        ("_Z1fv", "f()"),
        ("_Z3fooIiEvT_", "void foo<int>(int)"),
        ("_Z1fIDF16bEvT_", "void f<std::bfloat16_t>(std::bfloat16_t)"),
        ("_ZN12_GLOBAL__N_11fEi", "(anonymous namespace)::f(int)"),
    ],
)
def test_a_symbol_is_demangled(symbol: str, text: str) -> None:
    assert itanium.unwrap(symbol) == (text, "ok")


@pytest.mark.parametrize("name", ["main", "_start", "ZN1fE", "", "_"])
def test_a_plain_name_is_not_mangled(name: str) -> None:
    assert not itanium.is_mangled(name)


def test_both_spellings_of_a_kernel_have_the_same_fields() -> None:
    text = itanium.demangle(CK)
    assert text is not None
    mangled, plain = registry.decode(CK), registry.decode(text)
    assert mangled.family == "ck_template"
    assert mangled.fields == plain.fields
    assert mangled.spans == plain.spans
    assert mangled.spelled == text
    gnu = text.replace(">>", "> >").replace(">>", "> >")
    assert registry.decode(gnu).fields == plain.fields


def test_wherever_a_symbol_is_cut_off_what_is_stated_is_true() -> None:
    whole = registry.decode(CK)
    stated = 0
    for length in range(3, len(CK)):
        answer = registry.decode(CK[:length])
        for key, value in answer.fields.items():
            assert whole.fields[key] == value, (length, key)
        assert answer.unparsed or not answer.fields or answer.fields == whole.fields, length
        stated = max(stated, len(answer.fields))
    assert stated > 40


def test_a_length_that_is_wrong_does_not_hide_the_identifier() -> None:
    assert itanium.unwrap("_ZN5aiter99fmoe_bf16_pertokenFp8_g1u1E") == ("aiter::fmoe_bf16_pertokenFp8_g1u1", "failed")
    assert itanium.unwrap_wrong_length("_ZN2ck3fooE") is None


@pytest.mark.parametrize(
    "symbol",
    [
        doubling(60),
        doubling(200),
        nested(16, "A" * 200),
        nested(80, "A"),
        expanded(5, 40),
        expanded(200, 3000),
        "_Z1fIi" + "1pIT_T_E1pIT0_T0_E" * 100 + "Ev",
        "_ZN" + "3fooIiE" + "C1" * 2000 + "Ev",
        "_Z1f" + "P" * 4000 + "KDp" * 1000 + "i",
        "_Z" + "Z" * 100_000,
        "_Z" + "N" * 50_000,
        "_Z" + "I" * 5_000,
        "_Z" + "P" * 8_000 + "i",
        "_ZN" + "1a" * 500_000 + "Ev",
        "_Z99999999999999999999f",
        "_ZN5aiter" + "9" * 5_000 + "fE",
        "_Z1f\0",
        "_Z1f\ud800",
        "_ZS" + "Z" * 3_000 + "_",
        "_Z1fILi" + "9" * 6_000 + "EEvv",
    ],
    ids=range(20),
)
def test_symbols_whose_text_would_not_end_come_back_bounded(symbol: str) -> None:
    text, state = itanium.unwrap(symbol)
    assert registry.decode(symbol).text == symbol
    assert state in ("ok", "failed", "cut")
    assert len(text) <= max(len(symbol), 2 * itanium.MAX_OUTPUT)


@pytest.mark.parametrize(
    ("symbol", "state"),
    [(CK, "whole"), (CK[:400], "cut"), ("_ZN2ck3foo", "cut"), ("_ZQQ", "broken")],
)
def test_the_scanner_tells_whole_from_cut_from_broken(symbol: str, state: str) -> None:
    assert itanium_scan.scan(symbol, itanium.MAX_OUTPUT).state == state


def _walked(symbol: str) -> tuple[str, Walk]:
    walk = Walk(symbol, 2, itanium.MAX_OUTPUT)
    try:
        walk.run()
    except (Broken, Ends) as problem:
        return type(problem).__name__, walk
    return "whole", walk


def _demangled(symbol: str) -> str | None:
    try:
        text: str | None = pycxxfilt.itanium_demangle(symbol)
    except ValueError:
        return None
    return text


def _symbols() -> list[str]:
    maker = SymbolMaker(random.Random(7))
    return [CK, *filter(lambda symbol: len(symbol) < 2000, (maker.symbol() for _ in range(6000)))]


def test_no_symbol_that_is_demangled_has_a_longer_text_than_was_thought() -> None:
    demangled = 0
    for symbol in _symbols():
        if not itanium_bound.within(symbol, itanium.MAX_OUTPUT):
            continue
        text = _demangled(symbol)
        if text is None:
            continue
        demangled += 1
        assert len(text) <= itanium_bound.at_worst(symbol), symbol
        state, walk = _walked(symbol)
        if state == "whole":
            assert len(text) <= walk.total(), symbol
        elif state == "Broken":
            assert len(text) <= itanium_bound.at_worst(symbol, walk.at, walk.total()), symbol
    assert demangled > 1000


def test_candidates_for_substitutions_are_numbered_as_the_demangler_numbers_them() -> None:
    checked = 0
    for symbol in _symbols():
        state, walk = _walked(symbol)
        count = len(walk.candidates)
        # behind what is no function nothing can stand, and so no reference
        if state != "whole" or not itanium_bound.within(symbol, 10_000) or _demangled(symbol + "i") is None:
            continue
        checked += 1
        assert _demangled(symbol + reference(count)) is None, symbol
        assert not count or _demangled(symbol + reference(count - 1)) is not None, symbol
    assert checked > 1000


def test_the_loop_over_common_constructs_counts_as_the_walk_does() -> None:
    counted = 0
    for symbol in _symbols():
        try:
            size = itanium_bound.size_of_common(symbol)
        except (Broken, Ends, IndexError, KeyError):
            continue
        counted += 1
        assert size == Walk.total(_walked(symbol)[1]), symbol
    assert counted > 100


def test_what_a_symbol_says_before_it_goes_wrong_is_read() -> None:
    assert itanium.unwrap("_Z3fooILi4EN1a1bEQ5whatever") == ("foo<4, a::b, ", "failed")
