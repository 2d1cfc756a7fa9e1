"""Names with their true fields, where KTRACE_DATA has them: all fields right, none made up, every name written back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tracer.model.kernel import DecodedName
from tracer.names import registry
from tracer.names.vocabulary import fold_dtype

#: families whose grammars are held to the whole corpus here
_FAMILIES = (
    "aiter_ck_a4w4_blockscale", "aiter_ck_a8w8_batched_rowwise", "aiter_ck_a8w8_blockscale",
    "aiter_ck_a8w8_blockscale_bpreshuffle", "aiter_ck_a8w8_bpreshuffle", "aiter_ck_a8w8_rowwise",
    "aiter_ck_bf16_batched", "aiter_ck_moe_2stages", "aiter_cktile_a8w8_blockscale", "aiter_cktile_a8w8_bpreshuffle",
    "aiter_cktile_moe_2stages", "aiter_csv_token", "aiter_flydsl_bpreshuffle", "aiter_flydsl_hgemm",
    "aiter_flydsl_moe", "aiter_flydsl_wmma", "aiter_opus_gemm", "aiter_triton_repr", "inductor_triton",
)  # fmt: skip


def _same(value: Any, true: Any) -> bool:
    """Whether two values agree, but for the spelling of a type and of a flag."""
    if isinstance(true, dict):
        return isinstance(value, dict) and set(value) == set(true) and all(_same(value[k], true[k]) for k in true)
    if isinstance(true, list):
        return isinstance(value, list) and len(value) == len(true) and all(map(_same, value, true))
    if isinstance(true, str) and isinstance(value, str):
        return fold_dtype(value) == fold_dtype(true)
    return bool(value == true)


def _rows(folder: Path, family: str) -> Iterator[dict[str, Any]]:
    with (folder / "names" / "corpus.jsonl").open(encoding="utf-8") as file:
        yield from (row for row in map(json.loads, file) if row["family"] == family)


def _answers(folder: Path, family: str) -> Iterator[tuple[dict[str, Any], DecodedName]]:
    """The rows of a family and what their names are read as: whole, of that family, stating nothing untrue."""
    rows = list(_rows(folder, family))
    assert rows
    for row in rows:
        answer = registry.decode(row["name"])
        assert answer.family == family, row["name"]
        assert answer.complete, row["name"]
        for key, true in (row.get("not_in_name") or {}).items():
            assert answer.fields.get(key) is None or _same(answer.fields[key], true), (row["name"], key)
        yield row, answer


@pytest.mark.data
@pytest.mark.parametrize("family", _FAMILIES)
def test_a_family_is_read_as_the_code_that_built_its_names_says(family: str, ktrace_data: Path) -> None:
    for row, answer in _answers(ktrace_data, family):
        for key, true in row["fields"].items():
            assert _same(answer.fields.get(key), true), (row["name"], key, answer.fields.get(key), true)
        if row["fields"]:
            assert registry.format_name(answer) == row["name"]


#: families of hand-written assembly and of libraries, whose names may be mangled or have no writer
_LIBRARIES = (
    "aiter_asm_gemm", "aiter_asm_fmoe", "aiter_asm_fmoe_2stages", "aiter_asm_fmha", "aiter_asm_fmha_bwd",
    "aiter_asm_mla", "aiter_asm_pa", "tensile_hipblaslt", "tensile_real", "cutlass_2x_gemm", "cutlass_3x_gemm",
    "cutlass_conv", "cutlass_in_cublas", "cublas_nvjet", "cublas_xmma", "miopen_igemm", "miopen_batched_transpose",
)  # fmt: skip
_WRITTEN = frozenset(family for grammar in registry.GRAMMARS for family in grammar.formal)


def _name_says_otherwise(row: dict[str, Any], key: str) -> bool:
    """Whether a row's truth is not in its name: another name was stored, or two kernels share one name."""
    if row["family"] == "tensile_hipblaslt":
        # stored in a logic file under a name that says HHS, for a kernel whose output is f32
        return key == "dtype_c" and "_HHS_BH_MT" in row["name"] and row["fields"][key] == "f32"
    # of a convolution on fp8 the name prints the type of A only
    return row["family"] == "cutlass_conv" and key == "dtype_b" and row["fields"][key] in ("e4m3", "e5m2")


@pytest.mark.data
@pytest.mark.parametrize("family", _LIBRARIES)
def test_a_library_family_is_read_as_its_generator_says(family: str, ktrace_data: Path) -> None:
    for row, answer in _answers(ktrace_data, family):
        for key, true in row["fields"].items():
            if not _name_says_otherwise(row, key):
                assert _same(answer.fields.get(key), true), (row["name"], key, answer.fields.get(key), true)
        for key, true in row.get("likely", {}).items():
            assert _same(answer.likely.get(key), true), (row["name"], key, answer.likely.get(key), true)
        if family in _WRITTEN:
            assert registry.format_name(answer) == answer.spelled
