"""The site's table of pages: reports in, one Entry a page out, kept beside the pages, and menus made from them.

A site's menu as text is one line a page, so a test compares it with a literal.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterable
from pathlib import Path

import msgspec

from tracer.model.capture import CaptureRecord
from tracer.model.report import Report
from tracer.render.filters import field_value
from tracer.render.labels import brief
from tracer.render.pages import checkout_of, page_folder, page_name, page_title, shape_text

#: characters of options and configuration on a line of the index
LONGEST_DETAIL = 64


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """What the index says of one page.

    Attributes:
        folder, name: where the page lies: `<folder>/<name>.md`; the record is `<name>.json`.
        title: for menus.
        op, shape, mode, target: of the call; sort_key orders shapes by number.
        detail: options and configuration, as many as fit a line.
        kernels: instances or kernels that it ends in.
        bound: "memory", "compute", "unknown", or None when there is no roofline.
        tuned: statuses of the tuned-config look-ups.
    """

    folder: str
    name: str
    title: str
    op: str
    shape: str
    sort_key: tuple[int, ...] = ()
    detail: str = ""
    mode: str
    target: str
    kernels: tuple[str, ...] = ()
    bound: str | None = None
    tuned: tuple[str, ...] = ()


def _detail(record: CaptureRecord) -> str:
    """Options, configuration and checkout on one short line."""
    items = [
        f"{name}={field_value(value)}" for name, value in (record.call.options | (record.call.config or {})).items()
    ]
    kept = list(itertools.takewhile(lambda width: width <= LONGEST_DETAIL, itertools.accumulate(map(len, items))))
    cut = ["…"] if len(kept) < len(items) else []
    return ", ".join(part for part in (*items[: len(kept)], *cut, checkout_of(record)) if part)


def entry_of(report: Report) -> Entry:
    """The index entry of a report."""
    record = report.record
    kernels = [kernel for path in report.paths for kernel in path.kernels]
    target = record.target.device or record.target.arch or record.target.device_name or "?"
    if record.target.device and record.target.arch:
        target = f"{record.target.arch} ({record.target.device})"
    return Entry(
        folder=page_folder(record),
        name=page_name(record),
        title=page_title(record),
        op=record.call.op,
        shape=shape_text(record),
        sort_key=tuple(record.call.shape.values()),
        detail=_detail(record),
        mode=record.mode,
        target=target,
        kernels=tuple(dict.fromkeys(k.name for k in kernels)),
        bound=report.roofline.bound if report.roofline else None,
        tuned=tuple(str(d.tuned.status) for path in report.paths for d in path.dispatches if d.tuned),
    )


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """Entries by op, then by shape (as numbers), then by target and mode."""
    return sorted(entries, key=lambda e: (e.op, e.sort_key, e.target, e.mode, e.name))


def load_entries(folder: Path) -> list[Entry]:
    """The entries kept in a folder, in order; a file that is none (half deleted, of a newer ktrace) is left out."""
    entries = []
    for path in sorted(folder.glob("*.json")):
        try:
            entries.append(msgspec.json.decode(path.read_bytes(), type=Entry))
        except (OSError, msgspec.DecodeError):
            continue
    return in_order(entries)


def menu(entries: Iterable[Entry], home: str) -> list[dict[str, object]]:
    """The menu of one language in MkDocs' form: the index, then a section an op.

    Titles are HTML there: Material for MkDocs (9.x) writes them into its menu as they come.
    """
    sections: dict[str, list[dict[str, str]]] = {}
    for entry in in_order(entries):
        page = {html.escape(entry.title): f"{entry.folder}/{entry.name}.md"}
        sections.setdefault(html.escape(brief(entry.op)), []).append(page)
    nav: list[dict[str, object]] = [{home: "index.md"}]
    nav += [{op: pages} for op, pages in sections.items()]
    return nav


def menu_text(nav: list[dict[str, object]]) -> str:
    """A menu as text, one line a page, for people and tests."""
    lines = []
    for item in nav:
        for title, below in item.items():
            if isinstance(below, str):
                lines.append(f"{title}: {below}")
                continue
            lines.append(str(title))
            assert isinstance(below, list)
            lines += [f"    {name}: {page}" for pages in below for name, page in pages.items()]
    return "\n".join(lines) + "\n"
