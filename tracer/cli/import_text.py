"""The summary of a trace as text for a terminal: a Summary in, lines out."""

from __future__ import annotations

from collections.abc import Iterable

from tracer.importers.answers import KernelGroup, Share, Summary, SummaryDevice
from tracer.importers.places import own_place
from tracer.importers.replay import NO_CAPTURE

_NAME_WIDTH = 100


def us_text(value: float) -> str:
    """A time."""
    return f"{value:,.1f} µs"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:5.1f} %" if whole else "    - "


def one_line(text: str) -> str:
    """The text without what would drive a terminal: names in traces are hostile."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def cut(name: str, width: int = _NAME_WIDTH) -> str:
    """A name on one line, cut to a width."""
    name = one_line(name)
    return name if len(name) <= width else name[: width - 1] + "…"


def _device(device: SummaryDevice) -> str:
    known = ", ".join(
        part
        for part in (device.device, device.arch, f"{device.compute_units} CUs" if device.compute_units else None)
        if part
    )
    name = one_line(device.name or "a device that the trace does not name")
    said = f"{known}; {device.evidence}" if known else str(device.evidence)
    why = f": {device.reason}" if device.reason else ""
    busy = ""
    if device.busy_us is not None and device.span_us is not None:
        busy = f", busy {_share(device.busy_us, device.span_us).strip()} of {us_text(device.span_us)}"
    number = "" if device.id is None else f" {device.id}"
    return f"  device{number}: {name} ({said}{why}), {device.kernel_count:,} kernels, {us_text(device.kernel_us)}{busy}"


def _shares(title: str, shares: Iterable[Share], whole: float, rows: int, none: str) -> list[str]:
    listed = list(shares)
    lines = ["", title]
    for share in listed[:rows]:
        name = none if share.name is None else cut(share.name)
        lines.append(f"  {_share(share.us, whole)}  {us_text(share.us):>18}  {share.count:>7,}  {name}")
    if len(listed) > rows:
        rest = listed[rows:]
        us = sum(share.us for share in rest)
        count = sum(share.count for share in rest)
        lines.append(f"  {_share(us, whole)}  {us_text(us):>18}  {count:>7,}  {len(rest)} more")
    return lines


def _group(rank: int, group: KernelGroup, whole: float) -> list[str]:
    tile = ""
    if group.tile is not None:
        tile = "  tile " + "x".join("?" if extent is None else str(extent) for extent in group.tile)
    family = group.family or "unknown family"
    lines = [
        f"  {rank:>2}  {_share(group.us, whole)}  {us_text(group.us):>18}  {group.count:>6,} x "
        f"{us_text(group.us / group.count)}  {family}{tile}",
        f"      {cut(group.spelled)}",
    ]
    way = [one_line(part) for part in (own_place(group.stack), group.op, group.call) if part]
    if way:
        lines.append(f"      {' -> '.join(way)}" + ("  (stack inferred)" if group.stack_evidence == "inferred" else ""))
    if not group.stack and group.stack_reason:
        lines.append(f"      no stack: {one_line(group.stack_reason)}")
    return lines


def summary_text(summary: Summary, rows: int = 10) -> str:
    """The summary, ended by a newline.

    Args:
        summary: what the trace holds.
        rows: lines a table at most.
    """
    whole = summary.kernel_us
    maker = f", {one_line(summary.producer)}" if summary.producer else ""
    lines = [f"{one_line(summary.file)}: {summary.format}{maker}"]
    lines += [_device(device) for device in summary.devices]
    lines += [
        f"  kernels {summary.kernel_count:,}, {us_text(whole)}",
        f"  with a Python stack {_share(summary.with_stack_us, whole).strip()}"
        + (f" ({_share(summary.inferred_stack_us, whole).strip()} inferred)" if summary.inferred_stack_us else "")
        + f"; decoded {_share(summary.decoded_us, whole).strip()}, "
        f"with fields {_share(summary.fields_us, whole).strip()}, "
        f"with a tile {_share(summary.tile_us, whole).strip()}",
    ]
    for replay in summary.replays:
        several = (replay.stretches or 0) > 1
        found = (
            f"no stack: {next((loss.what for loss in summary.lost if loss.what.startswith(NO_CAPTURE)), NO_CAPTURE)}"
            if replay.captured == 0
            else f"{replay.matched:,} matched to {replay.captured:,} launches of its capture"
            + (", all names in order" if replay.in_order else "")
            + (f" in {replay.stretches} stretches of it, of which the first was taken" if several else "")
            + ("" if replay.named else ", by order alone: its launch calls state no kernel names")
            + ("" if replay.complete else "; the capture is INCOMPLETE")
            if replay.matched is not None
            else "no stack without --capture-trace"
        )
        lines.append(f"  {one_line(replay.call)} replayed {replay.kernels:,} kernels, {us_text(replay.us)}: {found}")
        lines += [f"    missing in the capture: {count:,} x {cut(name)}" for name, count in replay.missing.items()]
        lines += [f"    only in the capture: {count:,} x {cut(name)}" for name, count in replay.surplus.items()]
    if summary.kernels:
        lines += _shares("time by family", summary.families, whole, rows, "(no family: not decoded)")
        lines += _shares("time by operator", summary.ops, whole, rows, "(no operator)")
        lines += ["", f"top {min(rows, len(summary.kernels))} of {len(summary.kernels):,} kernels (by name and stack)"]
        for rank, group in enumerate(summary.kernels[:rows], 1):
            lines += _group(rank, group, whole)
    if summary.lost:
        lines += ["", "lost, or not joined"]
        lines += [
            f"  {loss.count:>7,}  {loss.what}" + (f": {one_line(loss.detail)}" if loss.detail else "")
            for loss in summary.lost
        ]
    if summary.pages:
        lines += ["", "pages"]
        lines += [f"  {page}" for page in summary.pages]
    return "\n".join(lines) + "\n"
