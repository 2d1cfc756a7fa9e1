"""What the device files state: every figure with a source, peaks that follow from rate x units x clock."""

from __future__ import annotations

import re

import pytest

from tracer.devices.base import Device, Figure
from tracer.devices.registry import all_devices, get_device, parse_device_file


def figures(device: Device) -> dict[str, Figure]:
    found = {}
    for name in device.__struct_fields__:
        value = getattr(device, name)
        if isinstance(value, Figure):
            found[name] = value
        elif isinstance(value, dict):
            found.update({f"{name}.{key}": v for key, v in value.items() if isinstance(v, Figure)})
    return found


@pytest.mark.parametrize("device", all_devices(), ids=lambda d: d.key)
def test_every_figure_names_its_source_and_how_sure_it_is(device: Device) -> None:
    for name, figure in figures(device).items():
        assert figure.source.strip(), name
        if name not in ("mall_bytes", "clock_mhz") and not name.startswith("peaks_"):
            assert re.search(r"\((?:V|S|R|\?)|\b[VSR]\b", figure.source), (name, figure.source)


@pytest.mark.parametrize("device", all_devices(), ids=lambda d: d.key)
def test_a_figure_without_a_value_says_that_it_is_not_public(device: Device) -> None:
    for name, figure in figures(device).items():
        if figure.value is None:
            assert "?" in figure.source, name


@pytest.mark.parametrize("device", [d for d in all_devices() if d.vendor == "AMD"], ids=lambda d: d.key)
def test_amd_peaks_are_rate_times_units_times_clock(device: Device) -> None:
    clock, units = device.clock_mhz.value, device.compute_units.value
    assert set(device.peaks_flop_per_s) == set(device.rates_flop_per_clk_per_unit)
    for dtype, peak in device.peaks_flop_per_s.items():
        rate = device.rates_flop_per_clk_per_unit[dtype].value
        if clock is None:
            assert peak.value is None
            continue
        assert rate is not None
        assert units is not None
        assert peak.value == pytest.approx(rate * units * clock * 1e6, rel=1e-9)


@pytest.mark.parametrize("device", [d for d in all_devices() if d.vendor == "NVIDIA"], ids=lambda d: d.key)
def test_nvidia_tensor_peaks_agree_with_the_rates_within_five_percent(device: Device) -> None:
    for dtype in ("fp16", "fp8", "int8"):
        if dtype in device.peaks_flop_per_s:
            rate = device.rates_flop_per_clk_per_unit[dtype].value
            reckoned = rate * device.compute_units.value * device.clock_mhz.value * 1e6  # type: ignore[operator]
            assert device.peaks_flop_per_s[dtype].value == pytest.approx(reckoned, rel=0.05)


@pytest.mark.parametrize(
    ("key", "dtype", "tera"),
    [
        ("MI210", "bf16", 181.0),
        ("MI250X", "fp16", 191.5),
        ("MI300A", "fp8", 1961.2),
        ("MI300X", "fp8", 2614.9),
        ("MI300X", "fp64_matrix", 163.4),
        ("MI325X", "bf16", 1307.4),
        ("MI350X", "fp16", 2306.9),
        ("MI355X", "fp16", 2516.6),
        ("MI355X", "fp4", 10066.3),
        ("MI355X", "fp64_matrix", 78.6),
        ("A100-80GB", "bf16", 312),
        ("H100", "fp8", 1978.9),
        ("H100-PCIe", "bf16", 756),
        ("H200", "bf16", 989.4),
        ("B200", "fp4", 9000),
    ],
)
def test_dense_peaks_are_the_vendors(key: str, dtype: str, tera: float) -> None:
    value = get_device(key).peaks_flop_per_s[dtype].value
    assert value is not None
    assert value / 1e12 == pytest.approx(tera, abs=0.06 if tera < 10000 else 0.5)


def test_the_clock_of_an_mi308x_is_unknown_so_it_has_no_compute_roof() -> None:
    device = get_device("MI308X")
    assert device.clock_mhz.value is None
    assert all(peak.value is None for peak in device.peaks_flop_per_s.values())
    assert device.hbm_bytes_per_s.value == 5.3e12


def test_what_a_generation_lacks_is_not_there() -> None:
    assert "fp8" not in get_device("MI210").peaks_flop_per_s
    assert "xf32" in get_device("MI300X").peaks_flop_per_s
    assert "xf32" not in get_device("MI355X").peaks_flop_per_s
    assert "fp4" not in get_device("MI300X").peaks_flop_per_s


def test_keys_are_unique_in_any_case() -> None:
    keys = [device.key.lower() for device in all_devices()]
    assert len(set(keys)) == len(keys)


def test_a_broken_file_names_the_file_and_the_part() -> None:
    text = """
vendor = "AMD"
arch = "gfx942"
compute_capability = "9.4"
[common]
[rates_flop_per_clk_per_unit]
[parts.X]
name = "X"
"""
    with pytest.raises(ValueError, match=r"bad\.toml: part X: .*missing"):
        parse_device_file(text, "bad.toml")
