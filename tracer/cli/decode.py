"""`ktrace decode NAME...`: names in, a table or one JSON object a name out."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from tracer.model.kernel import DecodedName
from tracer.names import registry


def as_json(answer: DecodedName) -> dict[str, Any]:
    """The documented object of `decode --json`."""
    return {
        "name": answer.text,
        "family": answer.family,
        "fields": answer.fields,
        "unparsed": [piece.text for piece in answer.unparsed],
        "grammar": answer.grammar,
        "likely": answer.likely,
        "demangle": answer.demangle,
        "notes": answer.notes,
    }


def _table(answer: DecodedName) -> str:
    lines = [answer.text, f"  family    {answer.family or 'unknown'}"]
    for key, value in answer.fields.items():
        start, end = answer.spans[key]
        stated = answer.spelled[start:end] or "(by leaving a token out)"
        lines.append(f"  {key:24} {value!s:20} {stated}")
    lines += [f"  likely {key:17} {value!s}" for key, value in answer.likely.items()]
    lines += [f"  unparsed  {piece.text!r}: {piece.reason}" for piece in answer.unparsed]
    lines += [f"  note      {note}" for note in answer.notes]
    return "\n".join(lines)


@click.command()
@click.argument("names", nargs=-1)
@click.option("--file", "file", type=click.File("r", encoding="utf-8", errors="surrogateescape"), help="Names, one a line.")
@click.option("--json", "json_", is_flag=True, help="One JSON object a name.")
def command(names: tuple[str, ...], file: Any, json_: bool) -> None:
    """Read kernel names, instance names or symbols into typed fields."""
    stream = [*names] if file is None else (line.rstrip("\n") for line in file)
    for name in stream:
        answer = registry.decode(name)
        click.echo(msgspec.json.encode(as_json(answer)).decode() if json_ else _table(answer))
