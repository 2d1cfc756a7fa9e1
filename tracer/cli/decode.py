"""`ktrace decode NAME...`: kernel names in, from the command line or from files, what they state out."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from tracer.cli.name_answers import answer_of, block, encode
from tracer.cli.name_instances import Instances
from tracer.cli.options import AITER
from tracer.errors import UsageError
from tracer.model.kernel import DecodedName
from tracer.names import registry
from tracer.names.base import Context

_TARGET = re.compile(r"gfx[0-9a-f]{3,4}|sm_?[0-9]{2,3}[af]?")
_WITHOUT_LINES = str.maketrans("│├└┘┴─", "|++++-")


def _put(text: str) -> None:
    """Writes text, in the terminal's own encoding: plain characters for lines where it has no others."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        written = text.encode(encoding)
    except UnicodeEncodeError:
        written = text.translate(_WITHOUT_LINES).encode(encoding, "backslashreplace")
    sys.stdout.buffer.write(written)


def _given(
    inputs: tuple[str | BinaryIO, ...], columns: tuple[str, ...], key: str | None, context: Context
) -> Iterator[DecodedName]:
    """Every name given, read, in order; what was printed is shown before waiting for more input."""
    for given in inputs:
        if isinstance(given, str):
            yield registry.decode(given, context)
        else:
            yield from _in_file(given, columns, key, context)


def _in_file(file: BinaryIO, columns: tuple[str, ...], key: str | None, context: Context) -> Iterator[DecodedName]:
    from tracer.cli.name_input import Unreadable  # reading files loads csv; naming a name does not
    from tracer.cli.name_input import names as names_in

    for entry in names_in(file, columns=columns, key=key, idle=sys.stdout.buffer.flush):
        if isinstance(entry, Unreadable):
            yield DecodedName(entry.text, entry.text, notes=(entry.reason,))
        else:
            yield registry.decode(entry, context)


def _json_lines(answers: Iterator[DecodedName], instances: Instances, spans: bool) -> None:
    write = sys.stdout.buffer.write
    for decoded in answers:
        write(encode(answer_of(decoded, instances=instances.of(decoded), spans=spans)) + b"\n")


def _blocks(answers: Iterator[DecodedName], print_one: Callable[[DecodedName], str]) -> None:
    for i, decoded in enumerate(answers):
        _put(("\n" if i else "") + print_one(decoded))


def _explained(decoded: DecodedName) -> str:
    import shutil  # loads compression libraries that only archives need

    from tracer.cli.name_explanation import explain

    width = shutil.get_terminal_size((100, 24)).columns
    return explain(decoded, registry.keys_of(decoded.grammar), max(60, width))


def _diff(answers: Iterator[DecodedName], json_: bool) -> None:
    from tracer.cli.name_tables import compare, diff_text

    pair = [decoded for _, decoded in zip(range(3), answers, strict=False)]
    if len(pair) != 2:
        raise UsageError(
            f"--diff compares two names, not {'more' if len(pair) > 2 else len(pair)}",
            hint="ktrace decode --diff NAME OTHER; --table sets any number side by side",
        )
    difference = compare(*pair)
    if json_:
        sys.stdout.buffer.write(encode(difference) + b"\n")
    else:
        _put(diff_text(difference))


def _table(answers: Iterator[DecodedName]) -> None:
    from tracer.cli.name_tables import view_table

    _put(view_table(answers))


def _checked_target(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and not _TARGET.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no target", param_hint="--target")
    return value


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--file", "files", multiple=True, type=click.File("rb"), metavar="FILE",
    help="Names, one a line; .csv and .tsv by column, .jsonl by key; - is standard input. May be repeated.",
)  # fmt: skip
@click.option("--column", "columns", multiple=True, help="The CSV column with the names (else one called kernelName).")
@click.option("--key", help="The key with the name in each JSON line (else one called kernelName, kernel or name).")
@click.option("--json", "json_", is_flag=True, help="One JSON object a name (docs/json.md).")
@click.option("--spans", is_flag=True, help="With --json: where in the text each field stands.")
@click.option("--explain", is_flag=True, help="Draw the name with its groups labelled, and say what each field means.")
@click.option("--diff", is_flag=True, help="Which fields of two names differ.")
@click.option("--table", is_flag=True, help="The names side by side in the common GEMM view.")
@click.option(
    "--target", callback=_checked_target, help="gfx942, sm_90, ...: a name that says it is for another is noted."
)
@click.option("--ck-version", type=click.Choice(["old", "new"]), help="The generation of CK that printed the name.")
@click.option("--keys", "constexpr_keys", multiple=True, help="The Triton kernel's own key list: BLOCK_SIZE_M,GROUP_M.")
@click.option(
    "--aiter",
    "aiter_path",
    **{**AITER, "help": "The aiter whose instances CK symbols are looked up in; default: the installed package."},
)
@click.option("--no-instances", is_flag=True, help="Don't look CK symbols up in aiter's instance tables.")
def command(
    names: tuple[str, ...],
    files: tuple[BinaryIO, ...],
    columns: tuple[str, ...],
    key: str | None,
    json_: bool,
    spans: bool,
    explain: bool,
    diff: bool,
    table: bool,
    target: str | None,
    ck_version: str | None,
    constexpr_keys: tuple[str, ...],
    aiter_path: Path | None,
    no_instances: bool,
) -> None:
    """Read kernel names, instance names or symbols into typed fields.

    - reads names from standard input. An unknown name is an answer.
    `ktrace glossary` says what the fields mean, docs/names.md how to read an answer.
    """
    inputs = (*(sys.stdin.buffer if name == "-" else name for name in names), *files)
    _check_usage(inputs, columns, key, {"--explain": explain, "--diff": diff, "--table": table}, json_, spans)
    keys = tuple(k.strip() for group in constexpr_keys for k in group.split(",") if k.strip())
    context = Context(target=target, constexpr_keys=keys or None, ck_version=ck_version)
    answers = _given(inputs, columns, key, context)
    instances = Instances(aiter_path, not no_instances)
    try:
        if diff:
            _diff(answers, json_)
        elif json_:
            _json_lines(answers, instances, spans)
        elif table:
            _table(answers)
        else:
            _blocks(answers, _explained if explain else lambda decoded: block(decoded, instances.of(decoded)))
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader has what it wanted; what is still buffered goes nowhere, silently
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _check_usage(
    inputs: tuple[str | BinaryIO, ...],
    columns: tuple[str, ...],
    key: str | None,
    shapes: dict[str, Any],
    json_: bool,
    spans: bool,
) -> None:
    asked = [option for option, on in shapes.items() if on]
    if len(asked) > 1 or (json_ and asked and asked != ["--diff"]):
        raise UsageError(
            f"{' and '.join([*asked, '--json'] if json_ else asked)} don't go together",
            hint="the objects of --json carry the common view already",
        )
    if spans and (not json_ or asked):
        raise UsageError("--spans adds to the objects of --json", hint="--json --spans")
    if not inputs:
        raise UsageError("no name was given", expected="NAME... or --file FILE", hint="- reads standard input")
    if columns and key is not None:
        raise UsageError("--column is for CSV and --key for JSON lines", expected="one of the two")
    if (columns or key is not None) and all(isinstance(given, str) for given in inputs):
        raise UsageError(f"{'--column' if columns else '--key'} says how to read a file", expected="--file FILE")
