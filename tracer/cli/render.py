"""`ktrace render RECORD...`: stored records in, pages out; `--all DIR` writes every page of a site again."""

from __future__ import annotations

from pathlib import Path

import click

from tracer.cli.options import LANG, OUT, languages
from tracer.errors import UsageError
from tracer.render.publish import publish, refresh_index, render_all
from tracer.store import load_record


@click.command()
@click.argument("records", nargs=-1, type=click.Path(path_type=Path))
@click.option("--out", **OUT)
@click.option("--all", "all_of", type=click.Path(path_type=Path), metavar="DIR", help="Every stored record of a site.")
@click.option("--lang", **LANG)
def command(records: tuple[Path, ...], out: Path, all_of: Path | None, lang: str) -> None:
    """Write pages again from stored records, after a better decoder or a changed template.

    With --all, records that can't be read are listed with their reasons and exit code 1; all others are rendered.
    """
    wanted = languages(lang)
    if bool(records) == (all_of is not None):
        raise UsageError("render wants records or --all", expected="RECORD... or --all DIR, not both")
    if all_of is not None:
        for page in render_all(all_of, wanted):
            click.echo(page)
        return
    loaded = [load_record(path) for path in records]
    for record in loaded:
        click.echo(publish(record, out, wanted, refresh=False).page)
    refresh_index(out, wanted)
