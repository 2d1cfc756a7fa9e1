"""Occupancy: the ladder of VGPRs, LDS granules, slots, and NVIDIA's registers."""

from __future__ import annotations

import pytest

from tracer.analyse.occupancy import analyse_occupancy
from tracer.devices.registry import get_device
from tracer.model.capture import Resources


@pytest.mark.parametrize(
    ("vgprs", "waves"), [(64, 8), (72, 7), (80, 6), (96, 5), (100, 4), (128, 4), (168, 3), (256, 2), (512, 1)]
)
def test_the_vgpr_ladder_of_cdna3(vgprs: int, waves: int) -> None:
    # one wave a block, so blocks on a CU are four times the waves on a SIMD
    found = analyse_occupancy(get_device("MI300X"), 64, Resources(vgprs=vgprs, lds_bytes=0))
    assert found is not None
    assert found.waves_per_simd == waves


def test_only_64_128_and_256_registers_are_steps_for_blocks_of_eight_waves() -> None:
    device = get_device("MI300X")
    steps = {}
    for vgprs in (64, 72, 128, 136, 256, 264):
        found = analyse_occupancy(device, 512, Resources(vgprs=vgprs, lds_bytes=0))
        assert found is not None
        steps[vgprs] = found.blocks_per_cu
    assert steps == {64: 4, 72: 3, 128: 2, 136: 1, 256: 1, 264: 0}


def test_lds_is_taken_in_granules_of_the_target() -> None:
    lds = Resources(vgprs=32, lds_bytes=20481)
    cdna3 = analyse_occupancy(get_device("MI300X"), 256, lds)
    cdna4 = analyse_occupancy(get_device("MI355X"), 256, lds)
    assert cdna3 is not None
    assert cdna4 is not None
    assert cdna3.limits[0].what == "lds"
    assert cdna3.limits[0].formula == "65536 // (512 * ceil((20481) / 512)) = 65536 // 20992 = 3"
    assert cdna4.limits[0].formula == "163840 // (1280 * ceil((20481) / 1280)) = 163840 // 21760 = 7"


def test_a_block_of_one_wave_has_more_slots() -> None:
    found = analyse_occupancy(get_device("MI300X"), 64, Resources(vgprs=8, lds_bytes=0))
    assert found is not None
    assert found.blocks_per_cu == 32


def test_agprs_are_added_only_when_a_profiler_reports_them_apart() -> None:
    device, resources = get_device("MI300X"), Resources(vgprs=126, agprs=128, lds_bytes=0)
    together = analyse_occupancy(device, 256, resources)
    apart = analyse_occupancy(device, 256, resources, agprs_included=False)
    assert together is not None
    assert apart is not None
    assert (together.blocks_per_cu, apart.blocks_per_cu) == (4, 2)


def test_without_registers_the_answer_says_that_it_is_not_complete() -> None:
    found = analyse_occupancy(get_device("MI300X"), 256, Resources(lds_bytes=20480))
    assert found is not None
    assert (found.blocks_per_cu, found.complete) == (3, False)


def test_nothing_known_gives_no_answer() -> None:
    assert analyse_occupancy(get_device("MI300X"), 256, Resources()) is None


def test_hopper_counts_registers_a_warp_and_reserves_shared_memory() -> None:
    found = analyse_occupancy(get_device("H200"), 384, Resources(registers=168, lds_bytes=197632))
    assert found is not None
    assert {limit.what: limit.blocks for limit in found.limits} == {"lds": 1, "registers": 1, "slots": 5}
    assert "197632 + 1024" in next(limit for limit in found.limits if limit.what == "lds").formula
