"""Compiled code on its hardware: occupancy with its formula, and what it leaves out."""

from __future__ import annotations

import msgspec
import pytest

from tracer.analyse.code import analyse_code, device_rules
from tracer.codeobjects.kernel import KernelCode
from tracer.codeobjects.targets import TargetId
from tracer.model.capture import Resources

GFX942 = TargetId(arch="gfx942")
KERNEL = KernelCode(
    name="_ZN5aiter28bf16gemm_outf32_tn_48x64_pf3E",
    resources=Resources(vgprs=512, lds_bytes=65536),
    required_block=(256, 1, 1),
)


def test_the_name_is_read_and_occupancy_has_its_formula() -> None:
    found = analyse_code(KERNEL, GFX942)
    assert (found.decoded.family, found.view and found.view.tile_n) == ("aiter_asm_gemm", 64)
    assert found.occupancy is not None
    assert (found.occupancy.blocks_per_cu, found.occupancy.waves_per_simd, found.occupancy_note) == (1, 1.0, None)
    assert any("512 // 512" in limit.formula for limit in found.occupancy.limits)


def test_the_launched_block_counts_before_the_required_and_the_largest() -> None:
    wide = msgspec.structs.replace(KERNEL, resources=Resources(vgprs=64, lds_bytes=1), max_block_threads=1024)
    launched = msgspec.structs.replace(wide, launched_block=(64, 1, 1))
    for kernel, waves in ((launched, 1), (wide, 4), (msgspec.structs.replace(wide, required_block=None), 16)):
        found = analyse_code(kernel, GFX942).occupancy
        assert found is not None
        assert found.waves_per_block == waves


@pytest.mark.parametrize(
    ("changes", "target", "said"),
    [
        ({}, TargetId(arch="gfx1250"), "no occupancy rules for gfx1250"),
        ({"required_block": None}, GFX942, "block is not stated"),
        ({"resources": Resources()}, GFX942, "neither registers nor LDS are stated"),
    ],
)
def test_occupancy_that_can_not_be_reckoned_says_why(changes: dict[str, object], target: TargetId, said: str) -> None:
    found = analyse_code(msgspec.structs.replace(KERNEL, **changes), target)
    assert found.occupancy is None
    assert said in (found.occupancy_note or "")


def test_lds_that_a_launch_brings_along_is_left_out_and_said() -> None:
    kernel = msgspec.structs.replace(
        KERNEL, resources=Resources(vgprs=128, lds_bytes=0), instructions={"ds_read_b128": 4, "s_endpgm": 1}
    )
    found = analyse_code(kernel, GFX942)
    assert found.occupancy is not None
    assert not found.occupancy.complete
    assert "launch brings along" in (found.occupancy_note or "")


def test_code_without_lds_instructions_takes_none() -> None:
    kernel = msgspec.structs.replace(KERNEL, resources=Resources(vgprs=128, lds_bytes=0), instructions={"s_endpgm": 1})
    found = analyse_code(kernel, GFX942)
    assert found.occupancy is not None
    assert (found.occupancy.complete, found.occupancy_note) == (True, None)


def test_uncounted_code_without_fixed_lds_may_still_take_some() -> None:
    found = analyse_code(msgspec.structs.replace(KERNEL, resources=Resources(vgprs=128, lds_bytes=0)), GFX942)
    assert "may bring along" in (found.occupancy_note or "")


def test_accumulation_registers_that_are_counted_apart_are_added() -> None:
    kernel = msgspec.structs.replace(KERNEL, resources=Resources(vgprs=128, agprs=128, lds_bytes=1))
    together = analyse_code(kernel, GFX942).occupancy
    apart = analyse_code(msgspec.structs.replace(kernel, agprs_apart=True), GFX942).occupancy
    assert together is not None
    assert apart is not None
    assert (together.waves_per_simd, apart.waves_per_simd) == (4.0, 2.0)


@pytest.mark.parametrize(("arch", "known"), [("gfx942", True), ("sm_90a", True), ("sm_90", True), ("gfx1201", False)])
def test_rules_are_those_of_the_architecture(arch: str, known: bool) -> None:
    assert (device_rules(TargetId(arch=arch)) is not None) is known
