"""What an installed aiter expects of its built modules: modules made by hand, held against the wheel's own tables."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.codeobjects.handmade import bundle, code_object, host_module, kernel, wave
from tracer.aiter.asm_tables import asm_kernels
from tracer.aiter.instances import instance_table
from tracer.aiter.moe_generated import generated, module_of
from tracer.aiter.tree import AiterTree
from tracer.codeobjects.module import BuiltModule, read_module
from tracer.codeobjects.targets import TargetId
from tracer.codeobjects.verdict import Finding, ModuleState, Verdict
from tracer.model.environment import Target
from tracer.resolve.built_modules import expected_of, judge_module

FATBIN = bundle([(wave("gfx942"), code_object([kernel("k")]))])
MI300X = Target(arch="gfx942", compute_units=304)
MOE = "module_moe_ck2stages_f8_f8_preshuffle_on_b16_silu_per_token_mulWeightStage2"
LATE = 4_000_000_000_000_000_000


def _names(tree: AiterTree, family: str) -> list[str]:
    table = instance_table(tree, family, "gfx942")
    return list(dict.fromkeys(i.name for i in (*table.by_id.values(), *table.defaults.values())))


def _module(
    name: str, functions: list[str], *, constants: list[str] | None = None, modified_ns: int = LATE
) -> BuiltModule:
    content = host_module(FATBIN, functions=functions, constants=constants or [])
    return read_module(content, f"/elsewhere/{name}.so", modified_ns=modified_ns)


def _finding(verdict: Verdict, kind: str) -> Finding:
    return next(finding for finding in verdict.findings if finding.kind == kind)


def test_a_module_with_every_instance_is_current(wheel: AiterTree) -> None:
    module = _module("module_gemm_a8w8_blockscale", _names(wheel, "a8w8_blockscale"))
    verdict = judge_module(wheel, module, {}, target=MI300X, wanted=(TargetId(arch="gfx942"),))
    assert verdict.state is ModuleState.CURRENT
    assert {finding.kind for finding in verdict.findings} == {"target", "holds all", "age"}
    assert "gfx942 with 304 CUs" in (verdict.assumption or "")


def test_a_module_without_a_tuned_instance_is_stale_and_cites_the_row(wheel: AiterTree) -> None:
    whole = _module("module_gemm_a8w8_blockscale", _names(wheel, "a8w8_blockscale"))
    wanted = expected_of(wheel, whole, {}, MI300X).wanted[0]
    without = [name for name in _names(wheel, "a8w8_blockscale") if name != wanted.name]
    verdict = judge_module(wheel, _module("module_gemm_a8w8_blockscale", without), {}, target=MI300X)
    found = _finding(verdict, "lacks instances")
    assert (verdict.state, found.names) == (ModuleState.STALE, (wanted.name,))
    line = wheel.absolute(found.rows[0].file).read_text().splitlines()[found.rows[0].line - 1]
    assert wanted.name in line


def test_rows_of_the_other_cu_count_do_not_count(wheel: AiterTree) -> None:
    module = _module("module_gemm_a8w8_blockscale", _names(wheel, "a8w8_blockscale")[:1])
    expected = expected_of(wheel, module, {}, Target(arch="gfx942", compute_units=80))
    assert expected.wanted == ()
    assert "80 CUs" in (expected.reason or "")


def test_a_cu_count_that_nobody_names_is_assumed(wheel: AiterTree) -> None:
    module = _module("module_gemm_a8w8_blockscale", [])
    assert "assumed" in (expected_of(wheel, module, {}, None).assumption or "")
    assert "assumed" not in (expected_of(wheel, module, {}, MI300X).assumption or "")


def test_a_csv_that_the_environment_names_counts(wheel: AiterTree, tmp_path: Path) -> None:
    table = instance_table(wheel, "a8w8_blockscale", "gfx942")
    number, instance = next(iter(sorted(table.by_id.items())))
    csv = tmp_path / "mine.csv"
    csv.write_text(f"cu_num,M,N,K,kernelId,splitK,us,kernelName\n304,1,2,3,{number},0,1.0,{instance.name}\n")
    environment = {"AITER_CONFIG_GEMM_A8W8_BLOCKSCALE": str(csv)}
    module = _module("module_gemm_a8w8_blockscale", ["a8w8_blockscale_nothing"])
    verdict = judge_module(wheel, module, environment, target=MI300X)
    found = _finding(verdict, "lacks instances")
    assert (found.names, found.rows[0].line) == ((instance.name,), 2)


def test_a_csv_written_after_the_module_makes_it_stale(wheel: AiterTree, tmp_path: Path) -> None:
    csv = tmp_path / "mine.csv"
    csv.write_text("cu_num,M,N,K,kernelId,splitK,us,kernelName\n")
    os.utime(csv, ns=(LATE + 1, LATE + 1))
    module = _module("module_gemm_a8w8_blockscale", _names(wheel, "a8w8_blockscale"))
    verdict = judge_module(wheel, module, {"AITER_CONFIG_GEMM_A8W8_BLOCKSCALE": str(csv)}, target=MI300X)
    assert (verdict.state, _finding(verdict, "newer file").names) == (ModuleState.STALE, (str(csv),))


def test_a_moe_module_must_have_every_instance_of_its_table(wheel: AiterTree) -> None:
    moe = module_of(MOE)
    assert moe is not None
    names = list(generated(wheel, moe, "gfx942").lookup)
    assert judge_module(wheel, _module(MOE, [], constants=names), {}, target=MI300X).state is ModuleState.CURRENT
    verdict = judge_module(wheel, _module(MOE, [], constants=names[1:]), {}, target=MI300X)
    assert (verdict.state, _finding(verdict, "lacks table instances").names) == (ModuleState.STALE, (names[0],))


def test_a_module_of_assembly_kernels_must_name_those_of_its_tables(wheel: AiterTree) -> None:
    names = list(asm_kernels(wheel, "gfx942", "i8gemm"))
    if not names:
        pytest.skip("this wheel has no i8gemm")
    whole = _module("module_gemm_a8w8_asm", [], constants=names)
    assert judge_module(wheel, whole, {}, target=MI300X).state is ModuleState.CURRENT
    verdict = judge_module(wheel, _module("module_gemm_a8w8_asm", [], constants=names[1:]), {}, target=MI300X)
    found = _finding(verdict, "lacks assembly kernels")
    assert (verdict.state, found.names) == (ModuleState.STALE, (names[0],))
    assert found.rows[0].values["knl_name"] == names[0]


def test_a_module_without_tables_is_judged_by_its_sources_age(wheel: AiterTree) -> None:
    old = _module("module_quant", [], modified_ns=1)
    verdict = judge_module(wheel, old, {}, target=MI300X)
    assert verdict.state is ModuleState.STALE
    assert "age of its sources" in (verdict.reason or "")


def test_a_library_that_aiter_does_not_build_is_not_judged(wheel: AiterTree) -> None:
    verdict = judge_module(wheel, _module("libtorch", []), {}, target=MI300X)
    assert (verdict.state, verdict.reason) == (ModuleState.UNKNOWN, "this aiter builds no module called libtorch")


def test_main_is_asked_by_name_so_that_a_newer_csv_alone_changes_nothing(aiter_main: Path) -> None:
    tree = AiterTree.find(aiter_main)
    table = instance_table(tree, "a8w8_blockscale", "gfx942")
    names = [i.name for i in (*table.by_id.values(), *table.defaults.values())]
    module = _module("module_gemm_a8w8_blockscale", [], constants=names, modified_ns=1)
    expected = expected_of(tree, module, {}, MI300X)
    assert expected.wanted
    verdict = judge_module(tree, module, {}, target=MI300X)
    assert (expected.by_name, verdict.state) == (True, ModuleState.CURRENT)
