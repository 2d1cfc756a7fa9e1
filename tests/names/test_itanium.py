"""Mangled symbols: demangled, mended where they are cut off, and never allowed to exhaust memory or stack."""

from __future__ import annotations

import time

import pytest

from tracer.names import itanium, itanium_scan, registry

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


def _doubling(levels: int) -> str:
    """A symbol whose text doubles with every level: `p<p<..., ...>, p<..., ...>>`."""
    parts = ["_Z1f1pIiiE"]
    for level in range(levels):
        before = "S_" if level == 0 else f"S{_base36(level - 1)}_"
        parts.append(f"1pI{before}{before}E")
    return "".join(parts)


def _base36(number: int) -> str:
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return digits[number] if number < 36 else _base36(number // 36) + digits[number % 36]


@pytest.mark.parametrize(
    "symbol",
    [
        _doubling(60),
        _doubling(200),
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
    ids=range(13),
)
def test_no_symbol_is_slow_or_raises(symbol: str) -> None:
    start = time.perf_counter()
    text, state = itanium.unwrap(symbol)
    registry.decode(symbol)
    assert time.perf_counter() - start < 2
    assert state in ("ok", "failed", "cut")
    assert len(text) <= max(len(symbol), 2 * itanium.MAX_OUTPUT)


@pytest.mark.parametrize(
    ("symbol", "state"),
    [(CK, "whole"), (CK[:400], "cut"), ("_ZN2ck3foo", "cut"), ("_ZQQ", "broken")],
)
def test_the_scanner_tells_whole_from_cut_from_broken(symbol: str, state: str) -> None:
    assert itanium_scan.scan(symbol, itanium.MAX_OUTPUT).state == state


def test_the_scanner_never_underestimates_the_text() -> None:
    text = itanium.demangle(CK)
    assert text is not None
    assert itanium_scan.scan(CK, itanium.MAX_OUTPUT).size >= len(text)
