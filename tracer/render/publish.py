"""Into a site folder: a record in, the stored record, its pages and a fresh index out, each file whole or not at all.

<out>/records/<page>.json        the record: the truth, from which all else is made again
<out>/entries/<page>.json        what the index says of the page
<out>/docs/<language>/<op>/<page>.md
<out>/docs/<language>/index.md
<out>/mkdocs.yml                 written once; yours to edit
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from tracer.errors import RecordError, RenderError
from tracer.model.capture import CaptureRecord
from tracer.model.report import Report
from tracer.pipeline import build_report
from tracer.render.environment import environment
from tracer.render.languages import LANGUAGES, Words
from tracer.render.nav import entry_of, load_entries
from tracer.render.pages import render_page
from tracer.render.site import write_scaffold
from tracer.store import dump_record, load_record, write_atomically


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """What was written.

    Attributes:
        page: the page in the first language asked for.
        pages: language -> page.
        record: the stored record.
        report: what the pages show.
    """

    page: Path
    pages: dict[str, Path]
    record: Path
    report: Report


def _write(path: Path, content: bytes) -> None:
    try:
        write_atomically(path, content)
    except OSError as error:
        raise RenderError(
            f"{path} can't be written: {error.strerror or error}",
            expected="a folder that can be written",
            hint="choose another one with --out",
        ) from None


def publish(
    record: CaptureRecord,
    out: Path,
    languages: Sequence[str] = LANGUAGES,
    *,
    report: Report | None = None,
    refresh: bool = True,
) -> Published:
    """Stores a record and writes its pages into a site folder.

    Safe when two processes write one page or one site at once: each file is the one's or the other's, and the index
    ends up naming every page.

    Args:
        record: what was captured.
        out: the site folder; made when it is not there.
        languages: languages to write, the first one's page is `page`.
        report: the record's report, where it was built already.
        refresh: whether to write the index anew; a caller with many records does it once, with refresh_index.

    Raises:
        RenderError: a file can't be written.
        UsageError: a language does not exist.
    """
    report = report or build_report(record)
    entry = entry_of(report)
    rendered = {language: render_page(report, language) for language in languages}
    stored = out / "records" / f"{entry.name}.json"
    write_scaffold(out, _write)
    _write(stored, dump_record(record))
    pages = {}
    for language, text in rendered.items():
        pages[language] = out / "docs" / language / entry.folder / f"{entry.name}.md"
        _write(pages[language], text.encode())
    _write(out / "entries" / f"{entry.name}.json", msgspec.json.encode(entry))
    if refresh:
        refresh_index(out, languages)
    return Published(page=pages[languages[0]], pages=pages, record=stored, report=report)


def refresh_index(out: Path, languages: Iterable[str] = LANGUAGES) -> None:
    """Writes the index page of each language from the entries in the folder.

    Looks again after writing: an entry that another process added meanwhile would be missing in the file that was
    renamed last.

    Raises:
        RenderError: a file can't be written.
    """
    template = environment().get_template("index.md.jinja")
    for language in languages:
        written = None
        while (entries := load_entries(out / "entries")) != written:
            text = template.render(t=Words(language), entries=entries)
            _write(out / "docs" / language / "index.md", text.encode())
            written = entries


def stored_records(out: Path) -> list[Path]:
    """The stored records of a site folder.

    Raises:
        RenderError: there are none.
    """
    records = sorted((out / "records").glob("*.json"))
    if not records:
        raise RenderError(
            f"{out} holds no records", expected=f"files {out / 'records'}/*.json", hint="make one with `ktrace run`"
        )
    return records


def render_all(out: Path, languages: Sequence[str] = LANGUAGES) -> Iterator[Path]:
    """Writes every page of a site folder again from its stored records, and drops pages whose record is gone.

    A record that can't be read keeps the page that it has, and keeps no other record from being rendered.

    Yields:
        The page of each record, once it is written; the index is written last.

    Raises:
        RecordError: stored records can't be read; raised after all others are written, and names each with its reason.
        RenderError: there are no records, or a file can't be written.
    """
    kept = set()
    refused: list[RecordError] = []
    paths = stored_records(out)
    for path in paths:
        try:
            record = load_record(path)
        except RecordError as error:
            refused.append(error)
            kept.add(path.stem)
            continue
        published = publish(record, out, languages, refresh=False)
        if published.record != path:
            path.unlink()  # stored again under the name that it has now
        kept.add(published.record.stem)
        yield published.page
    for entry in load_entries(out / "entries"):
        if entry.name not in kept:
            (out / "entries" / f"{entry.name}.json").unlink(missing_ok=True)
            for language in LANGUAGES:
                (out / "docs" / language / entry.folder / f"{entry.name}.md").unlink(missing_ok=True)
    refresh_index(out, languages)
    if refused:
        raise _unreadable(out, refused, len(paths))


def _unreadable(out: Path, refused: Sequence[RecordError], count: int) -> RecordError:
    """One error for all stored records that can't be read; a single one speaks for itself."""
    if len(refused) == 1:
        return refused[0]
    each = "".join(f"\n  {error.message}" + (f" ({error.hint})" if error.hint else "") for error in refused)
    return RecordError(
        f"{len(refused)} of {count} records in {out / 'records'} can't be read:{each}",
        hint="make them again, or remove the files; the pages of the other records are written",
    )
