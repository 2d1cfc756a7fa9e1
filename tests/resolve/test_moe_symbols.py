"""Instances of the two-stage CK MoE and their symbols: both ways against symbols that were compiled."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from tests.aiter.calls import MI300X
from tests.aiter.test_moe_dispatch import stage1
from tests.resolve.compile_moe_symbols import CompiledMoe
from tracer.aiter.ck_launch import Problem
from tracer.aiter.moe_generated import MODULE, MoeModule
from tracer.aiter.moe_names import of_module
from tracer.aiter.tree import AiterTree
from tracer.cli.symbols import command
from tracer.errors import KtraceError, SourceTreeError
from tracer.index.tree_index import TreeIndex
from tracer.names.registry import decode
from tracer.resolve.answers import WhereStatus
from tracer.resolve.dispatch_symbols import with_symbol
from tracer.resolve.symbol_instances import instances_of
from tracer.resolve.symbols import CkSymbols
from tracer.resolve.where import Finder

COMPILED = Path(__file__).parents[1] / "data/moe_symbols.jsonl"
FIELDS = ("gemm_spec", "main_k_loop", "mem_op", "tail", "min_occupancy")
BLOCKSCALE = (
    "moe_ck2stages_gemm1_256x16x128x256_1x4_MulABScaleExpertWeightA8W8blkscale_v1_Nswizzle0_Quant4_MulRoutedWeight0"
    "_silu_F8_F8_B16"
)
#: both modules with weights that are shuffled beforehand and those without hold this name
FP4 = "moe_ck2stages_gemm1_256x32x128x128_1x4_MulABScale_v3_Nswizzle0_Quant3_MulRoutedWeight0_silu_FP4X2_FP4X2_B16"


@pytest.fixture(scope="module")
def index(aiter_with_ck: AiterTree, tmp_path_factory: pytest.TempPathFactory) -> TreeIndex:
    return TreeIndex(aiter_with_ck, tmp_path_factory.mktemp("cache"))


def recorded() -> list[CompiledMoe]:
    return [msgspec.json.decode(line, type=CompiledMoe) for line in COMPILED.read_bytes().splitlines()]


def test_an_instance_has_exactly_the_symbols_that_the_compiler_emits(index: TreeIndex) -> None:
    finders = {arch: CkSymbols(index, arch) for arch in ("gfx942", "gfx950")}
    rows = recorded()
    assert len(rows) == 14
    for row in rows:
        answer = finders[row.arch].of(row.instance, row.module)
        assert {symbol.symbol for symbol in answer.symbols} == set(row.symbols), row.instance
        assert f"{MODULE}_{answer.types}" == row.module


def test_an_emitted_symbol_leads_to_its_instance_alone(aiter_with_ck: AiterTree) -> None:
    for row in recorded():
        for symbol in row.symbols:
            matches = instances_of(decode(symbol), aiter_with_ck)
            assert [(match.instance, match.family) for match in matches] == [(row.instance, "moe_ck2stages")]


@pytest.mark.parametrize(
    ("arch", "module"),
    [
        ("gfx942", MoeModule("f8", "f8", "b16", "gelu", "per_1x128", 1, preshuffle=False, splitk=False)),
        ("gfx942", MoeModule("f16", "f16", "f16", "silu", "no", 2, preshuffle=False, splitk=False)),
        ("gfx942", MoeModule("f8", "f8", "b16", "silu", "per_tensor", 2, preshuffle=False, splitk=False)),
        ("gfx950", MoeModule("f8", "f8", "b16", "silu", "per_token", 2, preshuffle=False, splitk=False)),
        ("gfx950", MoeModule("fp4x2", "fp4x2", "f16", "gelu", "per_1x32", 2, preshuffle=True, splitk=False)),
    ],
)
def test_symbols_of_every_kind_of_module_lead_back_to_the_instance(
    aiter_with_ck: AiterTree, index: TreeIndex, arch: str, module: MoeModule
) -> None:
    written = of_module(aiter_with_ck, module, arch)
    assert len(written) > 3
    for entry in written[:: max(1, len(written) // 4)]:
        answer = CkSymbols(index, arch).of(entry.instance.name, module.name)
        assert answer.symbols
        for symbol in answer.symbols:
            assert symbol.symbol is not None, symbol.reason
            decoded = decode(symbol.symbol)
            assert [match.instance for match in instances_of(decoded, aiter_with_ck)] == [entry.instance.name]
            assert {f: decoded.fields.get(f) for f in FIELDS} == {f: getattr(symbol, f) for f in FIELDS}


@pytest.mark.parametrize(
    ("k", "tail", "main_loop"),
    # the tile has 256 columns of K; one step is fetched ahead
    [(4096, "Even", True), (4096 + 256, "Odd", True), (512, "Even", False), (256, "Odd", False)],
)
def test_a_shape_selects_one_kernel(index: TreeIndex, k: int, tail: str, main_loop: bool) -> None:
    finder = CkSymbols(index)
    ran = finder.of(BLOCKSCALE, shape=Problem(384, 1536, k)).symbols
    assert len(ran) == 1
    assert ran[0] in finder.of(BLOCKSCALE).symbols
    assert (ran[0].tail, ran[0].main_k_loop, ran[0].mem_op) == (tail, main_loop, "Set")


def test_modules_that_hold_another_kernel_under_the_name_are_named(index: TreeIndex) -> None:
    finder = CkSymbols(index, "gfx950")
    first = finder.of(FP4)
    (words,) = first.other_types
    second = finder.of(FP4, words)
    assert first.types.replace("preshuffle_off", "preshuffle_on") == second.types == words
    assert first.notes
    assert not second.notes
    assert not {s.symbol for s in first.symbols} & {s.symbol for s in second.symbols}
    with pytest.raises(KtraceError, match="no module module_moe_ck2stages_f8_f8"):
        finder.of(FP4, "f8_f8_preshuffle_off_b16_silu_per_token_mulWeightStage2")


def test_a_module_that_holds_the_same_kernel_may_be_given(index: TreeIndex) -> None:
    name = next(row.instance for row in recorded() if "gemm2" in row.instance)
    first = CkSymbols(index).of(name)
    gelu = CkSymbols(index).of(name, first.types.replace("silu", "gelu"))
    assert gelu.types != first.types
    assert (gelu.symbols, gelu.other_types) == (first.symbols, ())


def test_a_name_that_the_generator_does_not_write_is_refused(index: TreeIndex) -> None:
    with pytest.raises(SourceTreeError, match="writes no 'moe_ck2stages_gemm1_nothing' for gfx942"):
        CkSymbols(index).of("moe_ck2stages_gemm1_nothing")


def test_a_tree_without_composable_kernel_says_so(aiter_main: Path, tmp_path: Path) -> None:
    tree = AiterTree.find(aiter_main)
    if tree.ck_root is not None:
        pytest.skip("this checkout has the submodule")
    with pytest.raises(SourceTreeError, match="3rdparty/composable_kernel"):
        CkSymbols(TreeIndex(tree, tmp_path)).of(BLOCKSCALE)


def test_a_dry_call_of_a_stage_shows_the_symbol_that_runs(aiter_with_ck: AiterTree) -> None:
    for block, k, tail in ((16, 4096, "Even"), (16, 4096 + 256, "Odd")):
        chosen = stage1(aiter_with_ck, MI300X, block, k=k)
        answer = with_symbol(aiter_with_ck, chosen, "gfx942")
        assert answer.instance == BLOCKSCALE
        assert answer.symbols_reason is None
        (symbol,) = answer.symbols
        assert decode(symbol).fields["tail"] == tail
        assert [match.instance for match in instances_of(decode(symbol), aiter_with_ck)] == [BLOCKSCALE]


def test_the_instance_and_its_symbols_lead_to_the_header_of_their_own_grid_wise_kernel(index: TreeIndex) -> None:
    finder = Finder(index)
    row = recorded()[0]
    assert row.instance == BLOCKSCALE
    kernels = []
    for name in (row.instance, row.symbols[0]):
        answer = finder.find(name)
        assert answer.status is WhereStatus.RESOLVED
        assert [match.instance for match in answer.instances] == [row.instance]
        assert any(file.endswith("tuned_fmoe.csv") for match in answer.instances for file, _ in match.rows)
        kernels += [hop.source for hop in answer.hops if hop.name == "kernel_moe_gemm"]
    # the header of the plain MoE kernel defines a kernel of the same name
    assert kernels[0] == kernels[1]
    assert kernels[0] is not None
    assert kernels[0].file.endswith("/gridwise_moe_gemm_blockscale.hpp")


def test_the_verb_prints_one_object_a_symbol(aiter_with_ck: AiterTree) -> None:
    given = [BLOCKSCALE, "--json", "--shape", "384,1536,4096"]
    result = CliRunner().invoke(command, given, env={"KTRACE_AITER": ""})
    (row,) = [json.loads(line) for line in result.stdout.splitlines()]
    assert (row["family"], row["tail"]) == ("moe_ck2stages", "Even")
    assert row["types"] == "f8_f8_preshuffle_off_b16_silu_per_1x128_mulWeightStage2"
