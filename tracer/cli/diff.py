"""`ktrace diff A B`: two traces or records in, what changed between their kernels out."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from tracer.cli.import_text import cut, one_line, us_text
from tracer.errors import RecordError
from tracer.importers.compare import (
    Comparable,
    Diff,
    KernelChange,
    PlaceDiff,
    SideKernel,
    compare,
    from_record,
    from_summary,
)
from tracer.importers.imported import open_trace, writable
from tracer.importers.record_facts import Differences
from tracer.store import load_record

#: a record says its schema version within so many bytes
_HEAD_BYTES = 1 << 12


def _read(path: Path) -> Comparable:
    """A record where the file holds one, else a trace."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise RecordError(f"{path} can't be read: {error.strerror or error}") from None
    if head.lstrip()[:1] == b"{" and b'"traceEvents"' not in head and b'"schema_version"' in head:
        return from_record(load_record(path), writable(str(path)))
    return from_summary(open_trace(path).summary())


def _ratio(a: float | None, b: float | None) -> str:
    return f"{b / a:.2f}x" if a and b else "-"


def _time(us: float | None, count: int = 1) -> str:
    if not count:
        return "not there"
    return "not timed" if us is None else us_text(us)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _total(diff: Diff) -> str:
    """How the time of all kernels changed, where both sides have one."""
    untimed = [mark for mark, side in (("A", diff.a), ("B", diff.b)) if not side.kernel_us]
    if untimed:
        return f"no kernel times to compare: {' and '.join(untimed)} {'has' if len(untimed) == 1 else 'have'} none"
    return f"B takes {_ratio(diff.a.kernel_us, diff.b.kernel_us)} the kernel time of A"


def _kernel(mark: str, kernel: SideKernel) -> str:
    tile = f"  tile {'x'.join('?' if e is None else str(e) for e in kernel.tile)}" if kernel.tile else ""
    return f"    {mark} {kernel.count:>6,} x  {kernel.family or 'unknown family'}{tile}  {cut(kernel.spelled, 90)}"


def _change(change: KernelChange) -> list[str]:
    launch = _told(change.launch, "launch: ")
    if change.a is not None and change.b is not None and change.a.name == change.b.name:
        times = "" if change.a.us is change.b.us is None else f"  ({_time(change.a.us)} -> {_time(change.b.us)})"
        return [_kernel("=", change.a) + times, *launch]
    lines = [_kernel(mark, kernel) for mark, kernel in (("-", change.a), ("+", change.b)) if kernel is not None]
    return lines + _told(change.fields) + launch


def _told(found: Differences, title: str = "") -> list[str]:
    """Differences on one line: values that both sides know, then the keys that only one does."""
    known = [f"{key} {cut(str(a), 40)} -> {cut(str(b), 40)}" for key, (a, b) in found.items() if None not in (a, b)]
    lines = [f"        {title}{one_line(', '.join(known[:8]))}" + (" ..." if len(known) > 8 else "")]
    for side, other in (("A", 1), ("B", 0)):
        alone = [key for key, values in found.items() if values[other] is None]
        if alone:
            lines.append(f"        {title}only {side} states {one_line(cut(', '.join(alone), 160))}")
    return lines if known else lines[1:]


def _place(place: PlaceDiff) -> list[str]:
    where = " <- ".join(one_line(part) for part in (place.op, place.place) if part) or "(no operator, no stack)"
    times = (
        f"{_time(place.a_us, place.a_count):>16} -> {_time(place.b_us, place.b_count):>16}  "
        f"{_ratio(place.a_us, place.b_us):>8}  "
    )
    lines = [f"  {times if place.a_us or place.b_us else ''}{place.a_count:,} -> {place.b_count:,}  {where}"]
    for change in place.kernels:
        lines += _change(change)
    return lines


def diff_text(diff: Diff, rows: int) -> str:
    """The comparison as text, ended by a newline."""
    lines = []
    for mark, side in (("A", diff.a), ("B", diff.b)):
        lines.append(
            f"{mark}: {one_line(side.file)}: {', '.join(map(one_line, side.devices))}, "
            f"{_counted(side.kernel_count, 'kernel')}, {_time(side.kernel_us)}"
        )
    lines.append(_total(diff))
    if diff.call:
        lines += ["the records differ in", *_told(diff.call)]
    changed, unchanged = (f"run{'s' if n == 1 else ''}" for n in (diff.changed_count, diff.unchanged_count))
    places = _counted(diff.changed_count, "place")
    lines.append(f"{places} {changed} different kernels, {diff.unchanged_count:,} {unchanged} the same")
    shown = [place for place in diff.places if place.changed][:rows]
    if shown:
        order = ", largest difference in time first" if diff.a.kernel_us and diff.b.kernel_us else ""
        lines += ["", f"different kernels (A -> B){order}"]
        for place in shown:
            lines += _place(place)
    same = [place for place in diff.places if not place.changed][:rows]
    if same:
        lines += ["", "the same kernels (A -> B)"]
        for place in same:
            lines += _place(place)
    return "\n".join(lines) + "\n"


@click.command()
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.option("--rows", type=click.IntRange(1), default=10, show_default=True, help="Places a list at most.")
@click.option("--json", "json_", is_flag=True, help="One JSON object (docs/import.md).")
def command(a: Path, b: Path, rows: int, json_: bool) -> None:
    """Compare two traces or records: kernels that changed, by decoded fields, with times.

    Kernels are compared where they do the same work: under the same operator, called from the same line.
    """
    diff = compare(_read(a), _read(b))
    click.echo(msgspec.json.encode(diff) if json_ else diff_text(diff, rows), nl=json_)
