"""Instances on CK-tile and their symbols: both ways against symbols that were compiled from the same headers."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from tests.resolve.compile_cktile_symbols import CompiledTile
from tests.resolve.compile_cktile_symbols import compiled as compiled_by
from tracer.aiter.ck_launch import Problem
from tracer.aiter.instances import instance_table
from tracer.aiter.tile_functions import TILE_FAMILIES, tile_functions
from tracer.aiter.tree import AiterTree
from tracer.cli.decode import command as decode_command
from tracer.cli.symbols import command
from tracer.errors import KtraceError, SourceTreeError
from tracer.index.tree_index import TreeIndex
from tracer.model.source import Layer
from tracer.names.registry import decode
from tracer.resolve.answers import WhereStatus
from tracer.resolve.symbol_instances import instances_of
from tracer.resolve.symbols import CkSymbols
from tracer.resolve.where import Finder

COMPILED = Path(__file__).parents[1] / "data/cktile_symbols.jsonl"
DEEPGEMM = "deepgemm_256x128x128x128_16x16x64_1x4"
FP8 = "fp8, float, bf16"
MOE = "moe_cktile2stages_gemm1_256x16x128x256_1x4_16x16x32_2perCU_1x32_silu"


@pytest.fixture(scope="module")
def symbols(aiter_with_ck: AiterTree, tmp_path_factory: pytest.TempPathFactory) -> CkSymbols:
    return CkSymbols(TreeIndex(aiter_with_ck, tmp_path_factory.mktemp("cache")))


def recorded() -> list[CompiledTile]:
    return [msgspec.json.decode(line, type=CompiledTile) for line in COMPILED.read_bytes().splitlines()]


@pytest.mark.parametrize("line", recorded(), ids=lambda line: f"{line.instance}-{line.types.replace(', ', '-')}")
def test_symbols_are_those_that_clang_emits(symbols: CkSymbols, line: CompiledTile) -> None:
    answer = symbols.of(line.instance, line.types)
    assert sorted(str(symbol.symbol) for symbol in answer.symbols) == list(line.symbols)
    assert (answer.family, answer.types) == (line.family, line.types)


def test_both_targets_have_the_same_symbols(aiter_with_ck: AiterTree, symbols: CkSymbols) -> None:
    other = CkSymbols(symbols.index, "gfx950")
    for name in (DEEPGEMM, MOE):
        assert other.of(name).symbols == symbols.of(name).symbols


def test_the_recorded_symbols_are_what_a_compiler_emits_today(aiter_with_ck: AiterTree) -> None:
    clang, rocm = os.environ.get("KTRACE_CLANG"), os.environ.get("KTRACE_ROCM")
    if not clang or not rocm:
        pytest.skip("KTRACE_CLANG names no clang++, or KTRACE_ROCM no folder with HIP's headers")
    assert next(compiled_by(clang, Path(rocm), aiter_with_ck)) == recorded()[0]


@pytest.mark.parametrize(
    ("instance", "types", "k", "tail"),
    [
        # the tile has 128 bytes of K, so 64 columns of bf16
        (DEEPGEMM, FP8, 7168, "Even"),
        (DEEPGEMM, FP8, 7168 + 128, "Odd"),
        (DEEPGEMM, FP8, 64, "Odd"),
        (DEEPGEMM, "bf16, float, bf16", 128, "Even"),
        (DEEPGEMM, "bf16, float, bf16", 64, "Odd"),
        (MOE, None, 4096, "Even"),
        (MOE, None, 4096 + 256, "Odd"),
    ],
)
def test_a_shape_selects_the_kernel_of_its_tail(
    symbols: CkSymbols, instance: str, types: str | None, k: int, tail: str
) -> None:
    ran = symbols.of(instance, types, Problem(128, 1536, k), scales=True)
    (symbol,) = ran.symbols
    assert symbol in symbols.of(instance, types).symbols
    assert (symbol.tail, symbol.mem_op, symbol.main_k_loop) == (tail, "Set", True)
    assert "decides" not in " ".join(ran.notes)


def test_kernels_with_scales_and_without_are_told_apart(symbols: CkSymbols) -> None:
    ran = symbols.of(DEEPGEMM, FP8, Problem(128, 1536, 7168))
    assert [symbol.scales for symbol in ran.symbols] == [True, False]
    assert ran.notes == ("whether the call passes scales decides which of these runs",)
    every = symbols.of(DEEPGEMM, FP8)
    assert len(every.symbols) == 8
    for scales in (True, False):
        asked = symbols.of(DEEPGEMM, FP8, scales=scales)
        assert asked.symbols == tuple(symbol for symbol in every.symbols if symbol.scales is scales)
    assert {symbol.scales for symbol in symbols.of(MOE).symbols} == {None}
    assert symbols.of(MOE, scales=False).symbols == symbols.of(MOE).symbols


def test_the_generated_function_says_into_how_many_parts_k_is_split(symbols: CkSymbols) -> None:
    ran = symbols.of(MOE, shape=Problem(16, 1536, 4096, k_batch=4))
    assert [symbol.mem_op for symbol in ran.symbols] == ["Set"]
    assert "parts K is split" in ran.notes[0]


def test_other_types_are_listed_and_unknown_ones_refused(symbols: CkSymbols) -> None:
    first = symbols.of(DEEPGEMM)
    assert len(first.other_types) == 5
    assert FP8 in first.other_types
    assert "unless types are given" in first.notes[0]
    assert not {s.symbol for s in first.symbols} & {s.symbol for s in symbols.of(DEEPGEMM, "fp8,float,bf16").symbols}
    with pytest.raises(KtraceError, match=r"does not instantiate deepgemm_.*<fp64>") as refused:
        symbols.of(DEEPGEMM, "fp64")
    assert FP8 in str(refused.value)


@pytest.mark.parametrize("name", ["deepgemm_nothing", "moe_cktile2stages_gemm1_nothing"])
def test_a_name_that_the_generator_does_not_write_is_refused(symbols: CkSymbols, name: str) -> None:
    with pytest.raises(SourceTreeError, match=f"writes no '{name}' for gfx942"):
        symbols.of(name)


@pytest.mark.parametrize("name", [DEEPGEMM, MOE])
def test_a_tree_without_composable_kernel_says_so(main_tree: AiterTree, tmp_path: Path, name: str) -> None:
    if main_tree.ck_root is not None:
        pytest.skip("this checkout has the submodule")
    with pytest.raises(SourceTreeError, match="3rdparty/composable_kernel"):
        CkSymbols(TreeIndex(main_tree, tmp_path), "gfx950").of(name)


def test_instances_of_families_that_are_not_followed_say_so(main_tree: AiterTree, tmp_path: Path) -> None:
    name = next(iter(instance_table(main_tree, "a8w8_bpreshuffle_cktile", "gfx942").by_id.values())).name
    with pytest.raises(SourceTreeError, match="a8w8_bpreshuffle_cktile, which is not followed to its kernels"):
        CkSymbols(TreeIndex(main_tree, tmp_path)).of(name)


def test_an_emitted_symbol_leads_to_the_instances_that_compile_to_it_alone(aiter_with_ck: AiterTree) -> None:
    holders: dict[str, set[str]] = defaultdict(set)
    for line in recorded():
        for symbol in line.symbols:
            holders[symbol].add(line.instance)
    for symbol, names in holders.items():
        matches = instances_of(decode(symbol), aiter_with_ck)
        assert {match.instance for match in matches} >= names
        # deepgemm's header leaves the depth of the instruction out, so two names stand for one kernel
        assert len(matches) == (2 if matches[0].family == "deepgemm" else 1)


def test_every_symbol_leads_back_to_exactly_the_instances_that_compile_to_it(
    aiter_with_ck: AiterTree, symbols: CkSymbols
) -> None:
    ours: dict[str, set[str]] = defaultdict(set)
    for family in TILE_FAMILIES:
        for name, lists in tile_functions(aiter_with_ck, family, "gfx942").types.items():
            for types in lists:
                for symbol in symbols.of(name, ", ".join(types)).symbols:
                    ours[str(symbol.symbol)].add(name)
    assert len(ours) == 120
    for symbol, names in ours.items():
        assert {match.instance for match in instances_of(decode(symbol), aiter_with_ck)} == names


def test_main_names_the_instances_that_share_tile_types_and_stage(main_tree: AiterTree) -> None:
    line = recorded()[-1]
    names = [match.instance for match in instances_of(decode(line.symbols[0]), main_tree)]
    assert names == [line.instance, f"{line.instance}_HasBias"]


def test_a_kernel_of_types_that_no_instance_is_written_for_has_none(aiter_with_ck: AiterTree) -> None:
    decoded = decode(next(line for line in recorded() if line.types == "bf16, float, bf16").symbols[0])
    changed = {**decoded.fields, "dtype_a": "int8", "dtype_b": "int8"}
    assert instances_of(msgspec.structs.replace(decoded, fields=changed), aiter_with_ck) == []


def test_a_symbol_leads_to_its_instances_and_to_the_kernels_class(symbols: CkSymbols) -> None:
    finder = Finder(symbols.index)
    for line in (recorded()[0], recorded()[-1]):
        answer = finder.find(line.symbols[0])
        assert answer.status is WhereStatus.RESOLVED
        assert line.instance in [match.instance for match in answer.instances]
        instance = next(hop for hop in answer.hops if hop.layer is Layer.INSTANCE)
        assert instance.note == "compiles to this symbol"
        assert answer.hops[-1].name in ("ck_tile::GroupedFlatmmKernel", "ck_tile::MoeFlatmmKernel")


def test_decoding_a_symbol_names_its_instances(aiter_with_ck: AiterTree) -> None:
    line = recorded()[-1]
    result = CliRunner().invoke(decode_command, [line.symbols[0], "--json"], env={"KTRACE_AITER": ""})
    assert json.loads(result.stdout)["instances"] == [line.instance]
    sorting = "void ck_tile::kentry<256, 1, ck_tile::MoeSortingKernel<ck_tile::MoeSortingProblem<int, float, 8> > >()"
    result = CliRunner().invoke(decode_command, [sorting, "--json"], env={"KTRACE_AITER": ""})
    assert json.loads(result.stdout)["instances"] is None


def test_the_verb_prints_one_object_a_symbol(aiter_with_ck: AiterTree) -> None:
    given = [DEEPGEMM, "--json", "--types", FP8, "--shape", "128,1536,7168", "--scales"]
    result = CliRunner().invoke(command, given, env={"KTRACE_AITER": ""})
    (row,) = [json.loads(line) for line in result.stdout.splitlines()]
    assert (row["family"], row["types"], row["tail"], row["scales"]) == ("deepgemm", FP8, "Even", True)
    assert decode(row["symbol"]).fields["kernel"] == "GroupedFlatmmKernel"
    text = CliRunner().invoke(command, [DEEPGEMM, "--no-scales"], env={"KTRACE_AITER": ""}).stdout
    assert "main K loop, AtomicAdd, tail Odd, no scales" in text
