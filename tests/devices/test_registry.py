"""Finding a device: by its key, as the default of a target, and from what a runtime or a trace states."""

from __future__ import annotations

import pytest

from tracer.devices.registry import default_device, get_device, identify
from tracer.errors import UsageError
from tracer.model.evidence import Evidence


def test_a_key_is_found_in_any_case() -> None:
    assert get_device("mi300x").key == "MI300X"


def test_an_unknown_key_is_refused_and_the_nearest_are_offered() -> None:
    with pytest.raises(UsageError) as caught:
        get_device("MI355")
    assert caught.value.exit_code == 2
    assert "MI355X" in (caught.value.hint or "")
    assert "MI355X" not in (caught.value.expected or "")  # it is not the only one that would do


@pytest.mark.parametrize(
    ("arch", "units", "key"),
    [("gfx942", 304, "MI300X"), ("gfx942", 80, "MI308X"), ("gfx950", 256, "MI355X"), ("gfx90a", 104, "MI210")],
)
def test_a_target_has_a_default_part(arch: str, units: int, key: str) -> None:
    device = default_device(arch, units)
    assert device is not None
    assert device.key == key


def test_no_default_is_made_up_for_another_number_of_units() -> None:
    assert default_device("gfx942", 64) is None


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("AMD Instinct MI300X", "MI300X"),
        ("AMD Instinct MI300X VF", "MI300X"),
        ("AMD Instinct MI308X HF VF", "MI308X"),
        ("AMD Instinct MI250X / MI250", "MI250X"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H200", "H200"),
        ("NVIDIA B200", "B200"),
    ],
)
def test_a_name_that_a_runtime_gives_decides(name: str, key: str) -> None:
    found = identify(name=name)
    assert found.device is not None
    assert (found.device.key, found.evidence) == (key, Evidence.STATED)


def test_an_empty_name_is_made_up_for_by_units_and_memory() -> None:
    # as in a vLLM decode trace from a container without a current list of ids
    found = identify(name="", wave_size=64, compute_capability="9.4", compute_units=304, memory_bytes=206141652992)
    assert found.device is not None
    assert (found.device.key, found.evidence) == ("MI300X", Evidence.INFERRED)


def test_memory_tells_an_mi325x_from_an_mi300x() -> None:
    found = identify(wave_size=64, compute_capability="9.4", compute_units=304, memory_bytes=274877906944)
    assert found.device is not None
    assert found.device.key == "MI325X"


def test_without_memory_304_units_are_assumed_to_be_an_mi300x_and_the_other_is_named() -> None:
    found = identify(wave_size=64, compute_capability="9.4", compute_units=304)
    assert found.device is not None
    assert (found.device.key, found.evidence) == ("MI300X", Evidence.ASSUMED)
    assert found.candidates == ("MI300X", "MI325X")


def test_mi350x_and_mi355x_cannot_be_told_apart_without_a_name() -> None:
    found = identify(
        name="AMD Radeon Graphics",
        wave_size=64,
        compute_capability="9.5",
        compute_units=256,
        memory_bytes=309237645312,
    )
    assert found.device is not None
    assert (found.device.key, found.evidence) == ("MI355X", Evidence.ASSUMED)
    assert set(found.candidates) == {"MI350X", "MI355X"}


def test_the_wave_size_tells_mi210_from_h100_which_share_a_compute_capability() -> None:
    amd = identify(wave_size=64, compute_capability="9.0", compute_units=104)
    nvidia = identify(wave_size=32, compute_capability="9.0", compute_units=132, memory_bytes=85018279936)
    assert amd.device is not None
    assert nvidia.device is not None
    assert (amd.device.key, nvidia.device.key) == ("MI210", "H100")


def test_a_compute_capability_that_two_vendors_share_decides_nothing_without_the_wave_size() -> None:
    found = identify(compute_capability="9.0", compute_units=132)
    assert (found.device, found.evidence) == (None, Evidence.UNRESOLVED)


@pytest.mark.parametrize(("units", "mode"), [(304, None), (152, "DPX"), (76, "QPX"), (38, "CPX")])
def test_a_partition_is_recognised_by_its_units(units: int, mode: str | None) -> None:
    assert identify(name="AMD Instinct MI300X", compute_units=units).partition == mode


def test_a_partition_without_a_name_stays_open_and_lists_what_fits() -> None:
    found = identify(wave_size=64, compute_capability="9.4", compute_units=38)
    assert found.device is None
    assert set(found.candidates) == {"MI300X", "MI325X", "MI300A"}


def test_an_architecture_with_features_is_read_without_them() -> None:
    found = identify(arch="gfx942:sramecc+:xnack-", compute_units=80)
    assert found.device is not None
    assert found.device.key == "MI308X"


def test_nothing_known_is_an_answer_with_a_reason() -> None:
    found = identify(name="Some GPU")
    assert found.device is None
    assert found.reason
