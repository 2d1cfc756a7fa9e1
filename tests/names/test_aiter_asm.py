"""aiter's own kernel tables as a second opinion: every symbol is read whole, and no field contradicts its row."""

from __future__ import annotations

import csv
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracer.model.kernel import DecodedName
from tracer.names import registry

#: column of hsa/**/*.csv -> field
_COLUMNS = {
    "tile_m": "m_per_block", "tile_M": "m_per_block", "tileM": "m_per_block", "subGU_m": "m_per_block",
    "tile_n": "n_per_block", "tile_N": "n_per_block", "tileN": "n_per_block", "subGU_n": "n_per_block",
    "splitK": "split_k_enabled", "bpreshuffle": "b_preshuffle", "bPreshuffle": "b_preshuffle", "pf": "pf",
    "vskip": "vskip", "ps": "persistent", "persistent": "persistent", "atm": "atm", "cluster_x": "cluster_m",
    "cluster_y": "cluster_n", "intype": "dtype_a", "outtype": "dtype_c", "scale": "scaled", "Gqa": "gqa",
    "gqa": "gqa", "qSeqLen": "q_seq_len", "causal": "causal", "lse": "lse", "Msk": "msk", "Hp": "high_precision",
    "blkSz": "page_size", "page_size": "page_size", "qTile": "q_tile", "tile_q": "q_tile", "hdim_q": "head_dim",
    "hdim_v": "head_dim_v", "hdim": "head_dim", "mode": "group_mode", "atomic32": "atomic32",
    "pssk": "pad_seqlen_k", "pddv": "pad_head_dim_v", "subm": "sub_m", "num_experts": "num_experts", "topk": "topk",
}  # fmt: skip


def _rows(hsa: Path) -> Iterator[dict[str, str]]:
    for path in sorted(hsa.glob("**/*.csv")):
        lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if not line.startswith("//")]
        yield from csv.DictReader(lines)


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _contradictions(answer: DecodedName, row: dict[str, str]) -> list[str]:
    return [
        f"{answer.spelled}: {field} is {answer.fields[field]!r}, the table's {column} {row[column]!r}"
        for column, field in _COLUMNS.items()
        if column in row and field in answer.fields and _text(answer.fields[field]) != row[column]
    ]


def _check(hsa: Path) -> None:
    rows = list(_rows(hsa))
    assert rows
    for row in rows:
        answer = registry.decode(row["knl_name"])
        assert answer.grammar == "aiter_asm"
        assert answer.complete, row["knl_name"]
        assert registry.format_name(answer) == answer.spelled
        assert _contradictions(answer, row) == []


def test_the_wheels_tables_agree_with_what_the_names_are_read_to_say() -> None:
    spec = importlib.util.find_spec("aiter_meta")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the aiter wheel is not installed")
    _check(Path(spec.submodule_search_locations[0]) / "hsa")


@pytest.mark.aiter_main
def test_the_tables_of_aiters_main_agree_with_what_the_names_are_read_to_say(aiter_main: Path) -> None:
    _check(aiter_main / "hsa")


def test_a_wrong_length_in_the_mangling_and_the_demangled_text_give_the_same_fields() -> None:
    mangled = registry.decode("_ZN5aiter32mla_a8w8_qh8_1tg_8mx1_32nx4_np_3pE")
    plain = registry.decode("aiter::mla_a8w8_qh8_1tg_8mx1_32nx4_np_3p")
    assert mangled.fields == plain.fields
    assert mangled.demangle == "failed"
    assert plain.demangle is None


def test_an_assembly_gemm_has_a_tile_in_the_common_view() -> None:
    view = registry.view(registry.decode("aiter::f4gemm_bf16_per1x32Fp4_BpreShuffle_32x640"))
    assert view is not None
    assert (view.op, view.tile_m, view.tile_n, view.tile_k) == ("gemm", 32, 640, None)
