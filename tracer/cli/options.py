"""Options that several commands take, each said once, and what is made of them.

An option is a mapping of click's settings: `@click.option("--aiter", "aiter_path", **AITER)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from tracer.index.tree_index import TreeIndex

#: --aiter: the aiter to use
AITER: Mapping[str, Any] = {
    "envvar": "KTRACE_AITER",
    "type": click.Path(path_type=Path),
    "help": "A source checkout of aiter; default: the installed package.",
}
#: --out: where pages go
OUT: Mapping[str, Any] = {
    "type": click.Path(path_type=Path),
    "default": Path("ktrace-site"),
    "show_default": True,
    "help": "Site folder.",
}
#: --lang: the languages of pages; the renderer that knows them is loaded when it has work
LANG: Mapping[str, Any] = {
    "type": click.Choice(["zh", "en", "all"]),
    "default": "all",
    "show_default": True,
    "help": "Languages.",
}


def languages(lang: str) -> tuple[str, ...]:
    """The languages that --lang asks for."""
    from tracer.render.languages import LANGUAGES

    return LANGUAGES if lang == "all" else (lang,)


@contextmanager
def opened_index(aiter_path: Path | None) -> Iterator[TreeIndex]:
    """The index of the aiter that --aiter names; what it read is saved, and what it could not read is said at the end.

    Raises:
        SourceTreeError: there is no such aiter.
    """
    from tracer.aiter.tree import AiterTree
    from tracer.index.tree_index import TreeIndex

    index = TreeIndex(AiterTree.find(aiter_path))
    try:
        yield index
    finally:
        index.save()
        for note in index.notes:
            click.echo(f"note: {note}", err=True)
