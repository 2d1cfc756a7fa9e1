"""`ktrace devices [NAME]`: the devices that ktrace knows, as a table or as JSON Lines, every figure with its source."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from tracer.devices.base import Device, Figure
from tracer.devices.registry import all_devices, get_device


def _plain(value: Any) -> Any:
    if isinstance(value, Figure):
        return {"value": value.value, "source": value.source}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def as_json(device: Device) -> dict[str, Any]:
    """The documented object of `devices --json`: a figure is `{"value": ..., "source": ...}`, null where not public."""
    return {name: _plain(getattr(device, name)) for name in device.__struct_fields__}


def _shown(figure: Figure) -> str:
    value = figure.value
    if value is None:
        return "unknown"
    return f"{value:.5g}" if value >= 1e9 else f"{value:,.0f}"


def _line(device: Device) -> str:
    peak = device.peaks_flop_per_s.get("bf16")
    fp8 = device.peaks_flop_per_s.get("fp8")
    tera = [f"{p.value / 1e12:,.1f}" if p and p.value else ("unknown" if p else "-") for p in (peak, fp8)]
    bandwidth = device.hbm_bytes_per_s.value
    return (
        f"{device.key:10} {device.arch:7} {device.compute_units.value:5.0f} "
        f"{bandwidth / 1e12 if bandwidth else 0:9.2f} {tera[0]:>12} {tera[1]:>12}  {device.name}"
    )


def _details(device: Device) -> list[str]:
    lines = [f"{device.key}: {device.name} ({device.vendor}, {device.arch})"]
    for name in device.__struct_fields__:
        value = getattr(device, name)
        if isinstance(value, Figure):
            lines.append(f"  {name:30} {_shown(value):>14}  {value.source}")
        elif isinstance(value, dict) and value and all(isinstance(v, Figure) for v in value.values()):
            lines.append(f"  {name}")
            lines += [f"    {key:28} {_shown(figure):>14}  {figure.source}" for key, figure in value.items()]
    if device.names:
        lines.append(f"  {'names':30} {', '.join(device.names)}")
    lines += [f"  {'assumed for':30} {arch} with {units} compute units" for arch, units in device.default_for]
    return lines


@click.command()
@click.argument("names", nargs=-1)
@click.option("--json", "json_", is_flag=True, help="One JSON object a device (docs/devices.md).")
def command(names: tuple[str, ...], json_: bool) -> None:
    """List the devices ktrace knows, or show every figure of the NAMES given, with its source."""
    devices = [get_device(name) for name in names] or list(all_devices())
    if json_:
        for device in devices:
            click.echo(msgspec.json.encode(as_json(device)).decode())
        return
    if names:
        click.echo("\n\n".join("\n".join(_details(device)) for device in devices))
        return
    click.echo(f"{'device':10} {'arch':7} {'CUs':>5} {'mem TB/s':>9} {'bf16 TFLOP/s':>12} {'fp8 TFLOP/s':>12}  name")
    for device in devices:
        click.echo(_line(device))
