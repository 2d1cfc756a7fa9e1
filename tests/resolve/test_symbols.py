"""CK instances and their kernel symbols: both ways against symbols that were compiled from the same headers."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from tests.resolve.compile_symbols import Compiled
from tests.resolve.compile_symbols import compiled as compiled_by
from tracer.aiter.ck import ck_places
from tracer.aiter.ck_flow import core_flow
from tracer.aiter.ck_launch import Problem
from tracer.aiter.instances import instance_table
from tracer.aiter.tree import AiterTree
from tracer.cli.symbols import command, read_shape
from tracer.errors import KtraceError, SourceTreeError, UsageError
from tracer.index.tree_index import TreeIndex
from tracer.names.registry import decode
from tracer.resolve.symbol_instances import instances_of
from tracer.resolve.symbols import CkSymbols

FIELDS = ("gemm_spec", "main_k_loop", "mem_op", "tail", "min_occupancy")
BLOCKSCALE = "a8w8_blockscale_1x128x128_256x32x64x128_16x16_16x16_8x32x1_8x32x1_1x32x1x8_8_2x1_intrawave_v1"
ROWWISE = "a8w8_rowwise_64x16x16x128_16x16_1x1_8x8x1_8x8x1_1x16x1x4_4x4x1_1x1_interwave_v1"
#: Clang compiles two-buffer kernels with odd and even tails for pipeline 4, as the header says; the list has others
NOT_BY_THE_COMPILER = "_v4"
COMPILED = Path(__file__).parents[1] / "data/ck_symbols.jsonl"


@pytest.fixture(scope="module")
def symbols(aiter_with_ck: AiterTree, tmp_path_factory: pytest.TempPathFactory) -> CkSymbols:
    return CkSymbols(TreeIndex(aiter_with_ck, tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="module")
def compiled(ktrace_data: Path) -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for line in (ktrace_data / "names/ck_symbols.jsonl").read_text().splitlines():
        row = json.loads(line)
        found[row["instance"]][row["symbol"]] = row
    return found


def test_an_extent_beyond_32_bits_has_no_symbol_and_the_line_that_cuts_it_is_named(symbols: CkSymbols) -> None:
    name = "a8w8_rowwise_256x256x256x64_32x32_4x4_4x64x1_4x64x1_1x32x1x8_8x8x1_1x1_intrawave_v4"
    answer = symbols.of(name, shape=Problem(m=3_000_000_000, n=1536, k=7168))
    assert [symbol.symbol for symbol in answer.symbols] == [None]
    found = re.fullmatch(
        r"M = 3000000000 does not fit: aiter's C\+\+ takes extents as 32-bit int \((\S+):(\d+)\)",
        answer.symbols[0].reason or "",
    )
    assert found is not None
    assert "int M" in (symbols.index.text(found[1]) or "").split("\n")[int(found[2]) - 1]
    fitting = symbols.of(name, shape=Problem(m=2**31 - 1, n=1536, k=7168))
    assert all(symbol.symbol is not None for symbol in fitting.symbols)


def test_an_instance_has_exactly_the_symbols_that_were_compiled(
    symbols: CkSymbols, compiled: dict[str, dict[str, dict[str, Any]]]
) -> None:
    wrong = []
    for name, rows in compiled.items():
        answer = {symbol.symbol: symbol for symbol in symbols.of(name).symbols}
        if name.endswith(NOT_BY_THE_COMPILER):
            continue
        agree = all(getattr(answer[s], f) == row[f] for s, row in rows.items() if s in answer for f in FIELDS)
        if set(answer) != set(rows) or not agree:
            wrong.append(name)
    assert not wrong


def recorded() -> list[Compiled]:
    return [msgspec.json.decode(line, type=Compiled) for line in COMPILED.read_bytes().splitlines()]


@pytest.mark.parametrize("line", recorded(), ids=lambda line: f"{line.instance}-{line.types.replace(', ', '-')}")
def test_symbols_are_those_that_clang_emits(symbols: CkSymbols, line: Compiled) -> None:
    answer = symbols.of(line.instance, line.types or None, bias=line.bias)
    assert sorted(str(symbol.symbol) for symbol in answer.symbols) == list(line.symbols)


def test_the_recorded_symbols_are_what_a_compiler_emits_today(aiter_with_ck: AiterTree) -> None:
    clang, rocm = os.environ.get("KTRACE_CLANG"), os.environ.get("KTRACE_ROCM")
    if not clang or not rocm:
        pytest.skip("KTRACE_CLANG names no clang++, or KTRACE_ROCM no folder with HIP's headers")
    line = recorded()[0]
    instance = instance_table(aiter_with_ck, line.family, "gfx942").named(line.instance)
    assert instance is not None
    assert compiled_by(clang, Path(rocm), aiter_with_ck, line.family, instance, line.types, line.bias) == line


def test_a_compiled_symbol_leads_to_its_instance_alone(
    aiter_with_ck: AiterTree, compiled: dict[str, dict[str, dict[str, Any]]]
) -> None:
    for name, rows in compiled.items():
        for symbol in rows:
            assert [match.instance for match in instances_of(decode(symbol), aiter_with_ck)] == [name]


@pytest.mark.parametrize(
    "family",
    ["a8w8", "a8w8_blockscale", "a8w8_bpreshuffle", "a8w8_blockscale_bpreshuffle", "a4w4_blockscale", "batched_a8w8",
     "batched_bf16"],
)  # fmt: skip
def test_symbols_of_every_family_lead_back_to_the_instance(
    aiter_with_ck: AiterTree, symbols: CkSymbols, family: str
) -> None:
    table = list(instance_table(aiter_with_ck, family, "gfx942").by_id.values())
    for instance in table[:: max(1, len(table) // 5)]:
        answer = symbols.of(instance.name)
        assert answer.symbols
        for symbol in answer.symbols:
            assert symbol.symbol is not None, symbol.reason
            decoded = decode(symbol.symbol)
            assert instance.name in [match.instance for match in instances_of(decoded, aiter_with_ck)]
            stated = {f: decoded.fields.get(f) for f in FIELDS}
            assert stated == {f: getattr(symbol, f) for f in FIELDS}


@pytest.mark.parametrize(
    ("instance", "shape", "facts"),
    [
        # 7168 / 128 = 56 steps of K
        (BLOCKSCALE, Problem(32, 1536, 7168), ("Default", True, "Set", "Full", 2)),
        (BLOCKSCALE, Problem(33, 1536, 7168), ("MNKPadding", True, "Set", "Full", 2)),
        # one step of K: no main loop, and the tail says whether one or two steps are left
        (BLOCKSCALE, Problem(32, 1536, 128), ("Default", False, "Set", "Odd", 2)),
        (BLOCKSCALE, Problem(32, 1536, 256), ("Default", False, "Set", "Full", 2)),
        (ROWWISE, Problem(16, 1536, 4096), ("Default", True, "Set", "Full", 2)),
        (ROWWISE, Problem(16, 1536, 4096, k_batch=4), ("Default", True, "AtomicAdd", "Full", 2)),
        (ROWWISE, Problem(16, 1536, 128), ("Default", False, "Set", "Full", 2)),
        (ROWWISE, Problem(16, 1536, 4096, k_batch=3), ("MNKPadding", True, "AtomicAdd", "Full", 2)),
    ],
)
def test_a_shape_selects_one_kernel(symbols: CkSymbols, instance: str, shape: Problem, facts: tuple[Any, ...]) -> None:
    every = symbols.of(instance).symbols
    ran = symbols.of(instance, shape=shape).symbols
    assert len(ran) == 1
    assert ran[0] in every
    assert tuple(getattr(ran[0], f) for f in FIELDS) == facts


def test_a_shape_that_ck_refuses_is_said_to_be_refused(symbols: CkSymbols) -> None:
    name = "a8w8_blockscale_1x128x128_256x128x128x128_16x16_32x32_8x32x1_8x32x1_1x32x1x8_8_1x1_intrawave_v3"
    assert symbols.of(name, None, Problem(128, 1536, 7168)).refused is None
    assert symbols.of(name).refused is None
    refused = symbols.of(name, None, Problem(128, 1536, 7169)).refused
    assert refused is not None
    assert "K = 7169 is no multiple of 16" in refused
    assert "gemm_a8w8_blockscale_common.cuh:" in refused


def test_threads_that_ask_at_once_get_what_one_alone_gets(wheel: AiterTree, symbols: CkSymbols) -> None:
    names = [instance.name for instance in list(instance_table(wheel, "a8w8_blockscale", "gfx942").by_id.values())[:6]]
    shape = Problem(128, 1536, 7168)
    alone = [symbols.of(name, shape=shape) for name in names]
    asked, interval = CkSymbols(symbols.index), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda name: asked.of(name, shape=shape), names * 2))
    finally:
        sys.setswitchinterval(interval)
    assert together == alone * 2


@pytest.mark.parametrize("instance", [BLOCKSCALE, ROWWISE])
@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_the_core_flow_loops_where_the_kernel_has_a_main_loop(
    aiter_with_ck: AiterTree, symbols: CkSymbols, instance: str, steps: int
) -> None:
    _, found = symbols.find(instance)
    (ran,) = symbols.of(instance, shape=Problem(64, 1536, 128 * steps)).symbols
    generator = f"{found.file.rpartition('/')[0]}/gen_instances.py"
    flow = core_flow(aiter_with_ck, ck_places(aiter_with_ck, generator, found.values["pipeline_version"]), steps)
    (loop,) = [step for step in flow if step.kind == "loop"]
    assert loop.text.startswith("Main loop") is ran.main_k_loop
    if not ran.main_k_loop:
        assert [step.text for step in flow if step.kind == "tail"] == [
            f"The tail {ran.tail} multiplies what was fetched."
        ]


def test_another_instantiation_has_symbols_of_its_own(symbols: CkSymbols) -> None:
    first, second = symbols.of(BLOCKSCALE), symbols.of(BLOCKSCALE, types="F32,F16")
    assert not {s.symbol for s in first.symbols} & {s.symbol for s in second.symbols}
    assert first.other_types == ("F32, F16",)
    with pytest.raises(KtraceError, match="does not instantiate"):
        symbols.of(BLOCKSCALE, types="F64")


def test_a_tree_without_composable_kernel_says_so(aiter_main: Path, tmp_path: Path) -> None:
    tree = AiterTree.find(aiter_main)
    if tree.ck_root is not None:
        pytest.skip("this checkout has the submodule")
    with pytest.raises(SourceTreeError, match="3rdparty/composable_kernel"):
        CkSymbols(TreeIndex(tree, tmp_path)).of(ROWWISE)


def test_names_of_other_kernels_have_no_instance(aiter_with_ck: AiterTree) -> None:
    for name in ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI16x16x1", "_gemm_a16_w16_kernel", "ck::", ""):
        assert instances_of(decode(name), aiter_with_ck) == []


def test_the_verb_prints_one_object_a_symbol(aiter_with_ck: AiterTree) -> None:
    result = CliRunner().invoke(
        command, [BLOCKSCALE, "--json", "--shape", "M=32,N=1536,K=7168"], env={"KTRACE_AITER": ""}
    )
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(rows) == 1
    assert rows[0]["gemm_spec"] == "Default"
    assert rows[0]["symbol"].startswith("_ZN2ck")


@pytest.mark.parametrize("text", ["", "1,2", "1,2,3,4,5", "a,b,c", "0,1,1", "M=1,N=2", "M=1,M=2,N=3,K=4"])
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_shape(text, 1)


def test_a_shape_may_carry_a_batch() -> None:
    assert read_shape("2,3,4,5", 1) == Problem(m=3, n=4, k=5, batch=2)
    assert read_shape("b=2, m=3, n=4, k=5", 8) == Problem(m=3, n=4, k=5, k_batch=8, batch=2)
