"""`ktrace ops`: the ops that ktrace can run, their dimensions and options."""

from __future__ import annotations

import click
import msgspec

from tracer.ops.registry import OPS


@click.command()
@click.option("--json", "json_", is_flag=True, help="One JSON object an op.")
def command(json_: bool) -> None:
    """List the ops that ktrace can run. Any importable callable works too, as pkg.mod:fn."""
    for op in OPS:
        if json_:
            row = {
                "name": op.name,
                "summary": op.summary,
                "entry": op.entry,
                "dims": [{"name": d.name, "meaning": d.meaning, "multiple_of": d.multiple_of} for d in op.dims],
                "options": [{"name": o.name, "choices": o.choices, "default": o.default} for o in op.options],
                "needs": op.needs,
                "vendors": op.vendors,
                "config_keys": {key: kind.__name__ for key, kind in op.config_keys.items()},
            }
            click.echo(msgspec.json.encode(row).decode())
            continue
        click.echo(f"{op.name}  --shape {','.join(d.name for d in op.dims)}")
        click.echo(f"    {op.summary}")
        click.echo(f"    calls {op.entry}")
        for option in op.options:
            click.echo(f"    --{option.name.replace('_', '-')} {'|'.join(option.choices)}  (default {option.default})")
        if op.config_keys:
            click.echo(f"    --config JSON with {', '.join(op.config_keys)}")
