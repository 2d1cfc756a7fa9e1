"""Triton kernels in a dry run: really compiled for the target, each launch with its real name."""

from __future__ import annotations

import pytest

from tests.capture.conftest import TILE
from tracer.aiter.tree import AiterTree
from tracer.model.capture import CaptureRecord
from tracer.model.evidence import Evidence, GridUnit

pytestmark = pytest.mark.dry
Records = dict[str, CaptureRecord]


def test_the_kernel_has_the_name_that_its_own_repr_makes(wheel_records: Records) -> None:
    (launch,) = wheel_records["triton_tile"].launches
    assert launch.kernel is not None
    assert launch.kernel.startswith(
        "_gemm_a16_w16_kernel_BLOCK_SIZE_M_16_BLOCK_SIZE_N_16_BLOCK_SIZE_K_256_GROUP_SIZE_M_1_NUM_KSPLIT_1_"
        "SPLITK_BLOCK_SIZE_3072_EVEN_K_1_"
    )
    assert launch.compiled is not None
    assert launch.compiled.keys is not None
    assert launch.compiled.keys[:3] == ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K")
    assert all(f"_{key}_" in launch.kernel for key in launch.compiled.keys)


def test_grid_block_and_options_are_what_the_launcher_was_given(wheel_records: Records) -> None:
    (launch,) = wheel_records["triton_tile"].launches
    assert (launch.grid, launch.block) == ((192, 1, 1), (256, 1, 1))
    assert launch.grid_unit_seen is GridUnit.BLOCKS
    assert (launch.evidence, launch.frame_evidence) == (Evidence.RESOLVED, Evidence.OBSERVED)
    kernel = launch.compiled
    assert kernel is not None
    assert (kernel.target, kernel.num_warps, kernel.num_stages) == ("gfx942", 4, 2)
    assert {k: kernel.constexprs[k] for k in TILE if k.isupper()} == {k: v for k, v in TILE.items() if k.isupper()}


def test_registers_and_lds_are_the_code_objects(wheel_records: Records) -> None:
    (launch,) = wheel_records["triton_tile"].launches
    seen = launch.resources
    assert seen.lds_bytes == 16384
    assert seen.vgprs is not None
    assert 0 < seen.vgprs <= 512
    assert seen.sgprs is not None
    assert seen.scratch_bytes == 0
    assert launch.compiled is not None
    assert any(name.startswith("v_mfma_f32_16x16x16") for name in launch.compiled.instructions)


def test_the_kernel_is_cited_where_it_is_defined(wheel_records: Records) -> None:
    (launch,) = wheel_records["triton_tile"].launches
    assert launch.compiled is not None
    source = launch.compiled.source
    assert source is not None
    assert source.line is not None
    lines = AiterTree.find().absolute(source.file).read_text().splitlines()[source.line - 1 :]
    assert next(line for line in lines if line.startswith("def ")).startswith("def _gemm_a16_w16_kernel(")


def test_the_tuned_configuration_is_aiters(wheel_records: Records) -> None:
    (launch,) = wheel_records["triton_tuned"].launches
    assert launch.compiled is not None
    assert launch.compiled.constexprs["BLOCK_SIZE_N"] == 128
    assert any(f.function == "_get_config" for f in wheel_records["triton_tuned"].frames)


def test_split_k_launches_the_gemm_and_the_reduction(wheel_records: Records) -> None:
    gemm, reduce = wheel_records["triton_split"].launches
    assert gemm.grid == (768, 1, 1)
    assert gemm.kernel is not None
    assert "NUM_KSPLIT_4" in gemm.kernel
    assert reduce.grid == (1, 96, 1)
    assert reduce.kernel is not None
    assert reduce.kernel.startswith("_gemm_a16w16_reduce_kernel_BLOCK_SIZE_M_32")


def test_a_configuration_that_leaves_part_of_k_out_is_warned_of(wheel_records: Records) -> None:
    assert wheel_records["triton_tile"].warnings == ()
    (warning,) = wheel_records["triton_uncovered"].warnings
    assert "4096 are left out" in warning


def test_a_tile_that_does_not_fit_names_the_limit(wheel_records: Records) -> None:
    record = wheel_records["triton_too_large"]
    assert record.exception is not None
    assert record.exception.type == "OutOfResources"
    assert "shared memory" in record.exception.message
    assert "Hardware limit: 65536" in record.exception.message
    assert record.launches == ()


def test_a_tile_that_the_compiler_refuses_keeps_its_reason(wheel_records: Records) -> None:
    record = wheel_records["triton_not_a_power"]
    assert record.exception is not None
    assert record.exception.type == "CompilationError"
    assert "power of 2" in record.exception.message
    assert len(record.exception.message) < 800


def test_the_compiler_is_not_traced_and_that_is_said(wheel_records: Records) -> None:
    lost = {entry.what: entry.count for entry in wheel_records["triton_split"].lost}
    assert lost["calls of Triton's compiler"] == 2


def test_the_core_flow_is_that_of_the_branches_that_were_compiled(wheel_records: Records) -> None:
    tree = AiterTree.find()
    (launch,) = wheel_records["triton_tile"].launches
    assert launch.compiled is not None
    steps = launch.compiled.core_flow
    assert [step.kind for step in steps if step.kind in ("loop", "dot", "store")] == ["loop", "dot", "store"]
    for step in steps:
        assert step.source is not None
        line = tree.absolute(step.source.file).read_text().splitlines()[(step.source.line or 0) - 1]
        word = {"map": "program_id", "loop": "for ", "epilogue": ".to("}.get(step.kind, step.kind)
        assert word in line
    loads = [step.text for step in steps if step.kind == "load"]
    assert launch.compiled.constexprs["EVEN_K"]
    assert loads
    assert not any("mask" in text for text in loads)
