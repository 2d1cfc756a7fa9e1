"""`ktrace import TRACE...`: traces in; a summary, or one JSON object a trace, and pages of what was picked out."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec

from tracer.aiter.tree import AiterTree
from tracer.cli.import_text import summary_text
from tracer.errors import KtraceError, SourceTreeError, UsageError
from tracer.importers.answers import Summary
from tracer.importers.bytestream import Progress
from tracer.importers.imported import ImportedTrace, open_trace, writable

#: files below this size are read before a progress bar could be drawn
_LONG_WORK_BYTES = 16 << 20


@contextmanager
def progress_bar(title: str, size: int) -> Iterator[Progress | None]:
    """A progress bar on stderr for long work, where a person is watching."""
    if size < _LONG_WORK_BYTES or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title, total=size)
        yield lambda done, total: bars.update(task, completed=done, total=total)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


@click.command()
@click.argument("traces", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="TRACE...")
@click.option(
    "--capture-trace",
    type=click.Path(path_type=Path),
    metavar="TRACE",
    help="The trace of the capture of the graphs that are replayed: gives their kernels a (inferred) Python stack.",
)
@click.option("--kernel", "kernels", multiple=True, metavar="GLOB", help="Pages for kernels of this name.")
@click.option("--op", "ops", multiple=True, metavar="GLOB", help="Pages for operators of this name (aten::mm).")
@click.option("--frame", "frames", multiple=True, metavar="GLOB", help="Pages for Python functions of this name.")
@click.option("--top", type=click.IntRange(1), metavar="N", help="Pages for the N picks that take most time.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("ktrace-site"), show_default=True, help="Site folder."
)
@click.option("--lang", type=click.Choice(["zh", "en", "all"]), default="all", show_default=True, help="Languages.")
@click.option(
    "--aiter",
    "aiter_path",
    envvar="KTRACE_AITER",
    type=click.Path(path_type=Path),
    help="The aiter whose choice is held against the kernels that ran; default: the installed package, if any.",
)
@click.option("--rows", type=click.IntRange(1), default=10, show_default=True, help="Lines a table of the summary.")
@click.option("--json", "json_", is_flag=True, help="One JSON object a trace (docs/import.md).")
def command(
    traces: tuple[Path, ...],
    capture_trace: Path | None,
    kernels: tuple[str, ...],
    ops: tuple[str, ...],
    frames: tuple[str, ...],
    top: int | None,
    out: Path,
    lang: str,
    aiter_path: Path | None,
    rows: int,
    json_: bool,
) -> int:
    """Summarise traces that somebody recorded, and write pages of what is picked in them.

    TRACE is torch.profiler JSON (plain or gzip), rocprofv3 JSON or kernel-trace CSV, or a rocpd or RPD database; the
    format is found by content. A name pattern without * ? [ fits every name that contains it.
    """
    wants_pages = bool(kernels or ops or frames or top)
    failed = 0
    for number, path in enumerate(traces):
        try:
            with progress_bar(path.name, _size(path)) as progress:
                trace = open_trace(path, capture_trace, progress)
            summary = trace.summary()
            if wants_pages:
                tree = _aiter(aiter_path)
                summary = _with_pages(trace, summary, kernels, ops, frames, top, out, lang, capture_trace, tree)
        except UsageError:
            raise
        except KtraceError as error:
            if len(traces) == 1:
                raise
            failed += 1
            click.echo(writable(f"ktrace: error: {error}"), err=True)
            if json_:
                click.echo(msgspec.json.encode({"file": writable(str(path)), "error": writable(error.message)}))
            continue
        if json_:
            click.echo(msgspec.json.encode(summary))
        else:
            click.echo(("\n" if number else "") + summary_text(summary, rows), nl=False)
    return 1 if failed else 0


def _aiter(path: Path | None) -> AiterTree | None:
    """The aiter that was named, or the installed one where there is one.

    Raises:
        SourceTreeError: the named folder holds no aiter.
    """
    try:
        return AiterTree.find(path)
    except SourceTreeError:
        if path is not None:
            raise
        return None


def _with_pages(
    trace: ImportedTrace,
    summary: Summary,
    kernels: tuple[str, ...],
    ops: tuple[str, ...],
    frames: tuple[str, ...],
    top: int | None,
    out: Path,
    lang: str,
    capture_trace: Path | None,
    tree: AiterTree | None,
) -> Summary:
    """Writes pages of what is picked; the summary with their paths."""
    # the templates' engine takes longer to load than most traces to read
    from tracer.render.languages import LANGUAGES
    from tracer.render.publish import publish, refresh_index

    languages = LANGUAGES if lang == "all" else (lang,)
    picks = trace.picks(kernels, ops, frames, top)
    if not picks:
        patterns = " ".join(f"{flag} {p!r}" for flag, ps in _flags(kernels, ops, frames) for p in ps)
        click.echo(f"ktrace: {trace.path}: nothing fits {patterns or '--top'}; no page was written", err=True)
        return summary
    words = ["ktrace", "import", str(trace.path)]
    words += [word for flag, patterns in _flags(kernels, ops, frames) for p in patterns for word in (flag, p)]
    if top is not None:
        words += ["--top", str(top)]
    if capture_trace is not None:
        words += ["--capture-trace", str(capture_trace)]
    with progress_bar(f"{trace.path.name}: shapes", _size(trace.path)) as progress:
        records = trace.records(picks, writable(shlex.join(words)), progress, tree)
    published = [publish(record, out, languages, refresh=False) for record in records]
    refresh_index(out, languages)
    return msgspec.structs.replace(
        summary,
        pages=tuple(str(p.page) for p in published),
        records=tuple(str(p.record) for p in published),
    )


def _flags(
    kernels: tuple[str, ...], ops: tuple[str, ...], frames: tuple[str, ...]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return ("--kernel", kernels), ("--op", ops), ("--frame", frames)
