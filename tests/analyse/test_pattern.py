"""Shape patterns, judged from tiles against CUs."""

from __future__ import annotations

from tracer.analyse.pattern import advise
from tracer.analyse.roofline import Time, analyse_roofline
from tracer.analyse.tiles import Problem, Tile, Tiling, cut
from tracer.devices.registry import get_device
from tracer.model.evidence import Evidence
from tracer.model.roofline import Advice, RooflinePoint
from tracer.ops.gemm import blockscale_work


def point(m: int, n: int, k: int, device: str = "MI300X", quoted: float | None = None) -> RooflinePoint:
    return analyse_roofline(
        blockscale_work(m, n, k, 2),
        get_device(device),
        device_evidence=Evidence.ASSUMED,
        quoted=Time(us=quoted, how="tuner") if quoted else None,
    )


def tiling(m: int, n: int, k: int, tile: tuple[int, int, int] = (16, 128, 256)) -> Tiling:
    return cut(Problem(m=m, n=n, k=k), Tile(m=tile[0], n=tile[1], k=tile[2]))


def keys(found: tuple[Advice, ...]) -> list[str]:
    return [advice.text_key for advice in found]


def test_one_row_and_a_long_k_with_few_tiles_is_short_of_k_parallelism() -> None:
    found = advise(point(1, 512, 7168), tiling(1, 512, 7168), 304)
    assert keys(found)[0] == "advice.short_of_k"
    assert found[0].values == {"blocks": 4, "idle": 300, "units": 304, "steps": 28, "split": 7, "after": 28}


def test_splitting_k_is_not_advised_when_n_is_tiny() -> None:
    found = advise(point(1, 16, 7168), tiling(1, 16, 7168), 304)
    assert keys(found) == ["advice.launch", "advice.memory"]


def test_one_row_and_a_wide_n_is_memory_bound_and_split_k_does_nothing() -> None:
    found = advise(point(1, 65536, 7168), tiling(1, 65536, 7168), 304)
    assert keys(found) == ["advice.memory_busy"]


def test_a_large_square_is_compute_bound_with_its_rounds() -> None:
    found = advise(point(8192, 8192, 8192), tiling(8192, 8192, 8192, (256, 256, 128)), 304)
    assert keys(found) == ["advice.compute_tiles"]
    assert found[0].values == {"intensity": 4064.0, "blocks": 1024, "units": 304, "rounds": 4, "waste": 15.8}


def test_a_small_problem_is_launch_bound() -> None:
    found = advise(point(16, 256, 512), tiling(16, 256, 512), 304)
    assert keys(found)[0] == "advice.launch"


def test_a_recorded_time_far_above_the_fixed_cost_rules_launch_bound_out() -> None:
    assert "advice.launch" not in keys(advise(point(16, 256, 512, quoted=18.3), tiling(16, 256, 512), 304))


def test_without_a_tile_the_roofline_alone_is_judged_and_that_is_said() -> None:
    assert keys(advise(point(8192, 8192, 8192), None, 304)) == ["advice.compute", "advice.no_tile"]


def test_an_unknown_ceiling_is_said() -> None:
    found = advise(point(4096, 4096, 7168, "MI308X"), tiling(4096, 4096, 7168), 80)
    assert keys(found) == ["advice.unknown"]


def test_a_launch_that_is_not_one_block_a_tile_is_not_judged_by_its_tiles() -> None:
    # cuBLAS: 48 tiles of 96x64, but 128 blocks, since the kernel splits K by itself
    found = advise(
        point(128, 1536, 7168, "H200"), tiling(128, 1536, 7168, (96, 64, 64)), 132, launched=128, vendor="NVIDIA"
    )
    assert keys(found) == ["advice.memory"]


def test_the_fixed_cost_of_a_launch_is_a_rule_for_amd_only() -> None:
    small = tiling(16, 256, 512)
    assert "advice.launch" not in keys(advise(point(16, 256, 512, "H200"), small, 132, vendor="NVIDIA"))
