"""Arguments of ops as they are typed on the command line: text in, checked values out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from tracer.errors import UsageError
from tracer.ops.base import Op
from tracer.ops.shapes import read_shapes


def shapes_of(
    op: Op, texts: Iterable[str], settings: Mapping[str, str], *, elsewhere: str = "options"
) -> list[dict[str, int]]:
    """The shapes of `--shape`; of columns of a CSV that are not read, a note on standard error says so.

    Args:
        op: the op that takes them.
        texts: the shapes as typed.
        settings: the op's options as they hold for every row; a column of that name is told with the value.
        elsewhere: how what is no extent is given.

    Raises:
        UsageError: as read_shapes.
    """

    def unread(path: Path, columns: list[str]) -> None:
        note = f"note: {path}: a row gives a shape alone; not read: {', '.join(columns)} (give them with {elsewhere})"
        held = [f"{name}={value}" for name, value in settings.items() if name.lower() in map(str.lower, columns)]
        click.echo(note + (f"; every row is taken with {', '.join(held)}" if held else ""), err=True)

    return read_shapes(op, texts, unread)


def explicit_config(op: Op, text: str | None) -> dict[str, Any] | None:
    """The explicit kernel configuration of `--config`, checked by the op; None where none was given.

    Raises:
        UsageError: it is no JSON object, or the op takes no such configuration.
    """
    if text is None:
        return None
    wanted = 'a JSON object such as {"BLOCK_SIZE_M": 16, ...}'
    try:
        config = json.loads(text)
    except ValueError as error:
        raise UsageError(f"--config is no JSON: {error}", expected=wanted) from None
    if not isinstance(config, dict):
        raise UsageError("--config is no JSON object", expected=wanted)
    op.check_config(config)
    return config


def named_options(op: Op, given: Iterable[str]) -> dict[str, str]:
    """The op's options with those of `--option NAME=VALUE` put in.

    Raises:
        UsageError: a text is no NAME=VALUE, the op has no such option, or it does not take that value.
    """
    settings = {option.name: option.default for option in op.options}
    known = ", ".join(settings) or "no options"
    choices = {option.name: option.choices for option in op.options}
    for text in given:
        name, sign, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not sign:
            raise UsageError(f"--option {text!r} is no NAME=VALUE", expected=f"an option of {op.name}: {known}")
        if name not in settings:
            raise UsageError(f"{op.name} has no option {name!r}", expected=known)
        if choices[name] and value.strip() not in choices[name]:
            raise UsageError(f"{op.name} takes no {name} {value.strip()!r}", expected=", ".join(choices[name]))
        settings[name] = value.strip()
    return settings
