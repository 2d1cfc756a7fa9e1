"""`ktrace site new|build|serve DIR`: a folder of records in, an MkDocs site out, strictly and without the internet."""

from __future__ import annotations

import functools
import http.server
from pathlib import Path

import click

from tracer.errors import RenderError
from tracer.render.publish import refresh_index, render_all
from tracer.render.site import build_site, write_scaffold

_FOLDER = click.argument("folder", type=click.Path(path_type=Path), default=Path("ktrace-site"))


@click.group()
def command() -> None:
    """Make, build or serve the site of pages."""


@command.command()
@_FOLDER
def new(folder: Path) -> None:
    """Make an empty site in FOLDER: mkdocs.yml, style sheet, index."""
    try:
        write_scaffold(folder)
    except OSError as error:
        raise RenderError(
            f"{folder} can't be written: {error.strerror or error}", hint="choose another folder"
        ) from None
    refresh_index(folder)
    click.echo(f"{folder}: run `ktrace OP --shape ... --out {folder}`, then `ktrace site build {folder}`")


@command.command()
@_FOLDER
@click.option(
    "--render/--no-render", default=True, show_default=True, help="Write the pages again from the records first."
)
def build(folder: Path, render: bool) -> None:
    """Build the HTML of the site in FOLDER: Chinese in site/, English in site/en/."""
    if render:
        for _ in render_all(folder):
            pass
    click.echo(build_site(folder))


@command.command()
@_FOLDER
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 takes a free one."
)
def serve(folder: Path, host: str, port: int) -> None:
    """Build the site in FOLDER and serve it until stopped."""
    for _ in render_all(folder):
        pass
    built = build_site(folder)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(built.parent))
    try:
        server = http.server.ThreadingHTTPServer((host, port), handler)
    except OSError as error:
        raise RenderError(
            f"{host}:{port} can't be listened on: {error.strerror or error}", hint="choose another port with --port"
        ) from None
    with server:
        click.echo(f"http://{host}:{server.server_address[1]}/  (stop with Ctrl-C)")
        server.serve_forever()
