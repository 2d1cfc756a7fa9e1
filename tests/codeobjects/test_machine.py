"""The GPUs of a machine as the kernel driver lists them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracer.codeobjects.machine import machine_targets


def _node(folder: Path, number: int, version: int, simds: int) -> None:
    node = folder / str(number)
    node.mkdir()
    (node / "properties").write_text(
        f"cpu_cores_count 0\nsimd_count {simds}\nwave_front_size 64\nsimd_per_cu 4\ngfx_target_version {version}\n"
    )


@pytest.mark.parametrize(
    ("version", "arch"),
    [(90402, "gfx942"), (90500, "gfx950"), (90010, "gfx90a"), (120500, "gfx1250"), (110001, "gfx1101")],
)
def test_a_gpu_is_named_by_its_version(tmp_path: Path, version: int, arch: str) -> None:
    _node(tmp_path, 0, 0, 0)
    _node(tmp_path, 1, version, 1216)
    (target,) = machine_targets(tmp_path)
    assert (target.arch, target.compute_units, target.wave_size) == (arch, 304, 64)


def test_gpus_alike_count_once(tmp_path: Path) -> None:
    for number in range(4):
        _node(tmp_path, number, 90402, 1216)
    _node(tmp_path, 5, 90402, 320)
    assert [target.compute_units for target in machine_targets(tmp_path)] == [304, 80]


def test_a_machine_without_the_driver_has_none(tmp_path: Path) -> None:
    assert machine_targets(tmp_path / "missing") == ()
