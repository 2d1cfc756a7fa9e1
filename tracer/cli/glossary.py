"""`ktrace glossary [KEY...]`: what the fields of decoded names mean, as text or as JSON Lines."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator

import click
import msgspec

from tracer.names.glossary import Entry, entries_of, glossary


def _text(entry: Entry, width: int) -> Iterator[str]:
    unit = f" [{entry.unit}]" if entry.unit else ""
    yield f"{entry.key}{unit}"
    yield from textwrap.wrap(entry.meaning, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    by_source: dict[str, list[str]] = {}
    for grammar, source in entry.sources.items():
        by_source.setdefault(source, []).append(grammar)
    yield from (f"  {', '.join(grammars)}: {source}" for source, grammars in by_source.items())


@click.command()
@click.argument("keys", nargs=-1)
@click.option("--json", "json_", is_flag=True, help="One JSON object a key (docs/json.md).")
def command(keys: tuple[str, ...], json_: bool) -> None:
    """Say what the fields of decoded names mean: KEYs, or all of them, with unit and source."""
    entries = entries_of(keys) if keys else glossary()
    width = max(60, shutil.get_terminal_size((100, 24)).columns)
    for entry in entries:
        if json_:
            click.echo(msgspec.json.encode(entry))
        elif keys:
            click.echo("\n".join(_text(entry, width)))
        else:
            click.echo(f"{entry.key:34} {entry.meaning}{f' [{entry.unit}]' if entry.unit else ''}")
