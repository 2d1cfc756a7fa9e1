"""The functions of instances on CK-tile, against what aiter's own generators write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.aiter.generators import run_generator
from tracer.aiter.tile_functions import tile_family, tile_functions
from tracer.aiter.tree import AiterTree


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize(("family", "count"), [("deepgemm", 4), ("moe_cktile2stages", 6)])
def test_functions_are_what_aiters_script_writes(
    wheel: AiterTree, family: str, count: int, arch: str, tmp_path: Path
) -> None:
    for needed in ("torch", "pandas"):  # by deepgemm's script
        pytest.importorskip(needed)
    ours = tile_functions(wheel, family, arch)
    files = run_generator(wheel.absolute(ours.generator), arch, ["-w", str(tmp_path)], tmp_path)
    assert {f"{name}.cuh": text for name, text in ours.texts.items()} == {
        name: text for name, text in files.items() if name.endswith(".cuh")
    }
    made = [re.search(r"(\w+)<([^<>]*)>\(", text) for name, text in files.items() if name.endswith(".cpp")]
    assert sorted((found[1], found[2]) for found in made if found) == sorted(
        (name, ", ".join(types)) for name, lists in ours.types.items() for types in lists
    )
    assert set(ours.instances) == set(ours.texts)
    assert len(ours.texts) == count


def test_a_family_is_known_by_the_beginning_of_a_name() -> None:
    assert tile_family("deepgemm_256x128x128x128_16x16x64_1x4") == "deepgemm"
    assert tile_family("moe_cktile2stages_gemm1_256x16x128x256") == "moe_cktile2stages"
    assert tile_family("moe_ck2stages_gemm1_256x16x128x256") is None
