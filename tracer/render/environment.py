"""The Jinja2 environment of the pages: where templates lie, what is undefined raises, and untrusted text is escaped.

Every `{{ value }}` that is a plain string comes out as escaped Markdown; only filters and macros of ours return text
that is Markdown already (`markupsafe.Markup`).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from tracer.errors import RenderError
from tracer.render import filters
from tracer.render.labels import brief, in_text


def templates_folder() -> Path:
    """The folder of templates: beside the package in a checkout, inside it in an installed wheel.

    Raises:
        RenderError: neither is there.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "templates", package.parent / "templates"):
        if (folder / "page.md.jinja").is_file():
            return folder
    raise RenderError(
        f"the templates are missing: no page.md.jinja in {package / 'templates'} or {package.parent / 'templates'}",
        hint="install ktrace again",
    )


def _finalize(value: Any) -> Any:
    """Escapes plain strings for Markdown; leaves our own Markdown and numbers as they are.

    Raises:
        TypeError: a value that has no place on a page (None, a container): the template forgot a case.
    """
    if isinstance(value, jinja2.Undefined):
        return str(value)  # which raises
    if isinstance(value, Markup):
        return value
    if isinstance(value, str):
        return filters.markdown(str(value))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    raise TypeError(f"a template printed {type(value).__name__}, which has no place on a page")


@cache
def environment() -> jinja2.Environment:
    """The environment that every page is written with."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates_folder()),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        extensions=["jinja2.ext.do"],
    )
    env.filters.update(filters.FILTERS, brief=brief, in_text=in_text)
    return env
