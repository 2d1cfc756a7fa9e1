"""What `ktrace run` prints: a report in, the documented JSON object (docs/json.md) or a few lines of text out."""

from __future__ import annotations

from typing import Any

from tracer.model.evidence import Evidence
from tracer.model.report import KernelReport, NoteLevel, Report
from tracer.model.roofline import Bound
from tracer.model.source import Hop, Layer, TunedLookup
from tracer.resolve.kernels import short_symbol


def _hop(hop: Hop) -> dict[str, Any]:
    return {
        "layer": hop.layer,
        "name": hop.name,
        "file": hop.source.file if hop.source else None,
        "line": hop.source.line if hop.source else None,
        "evidence": hop.evidence,
        "reason": hop.reason,
    }


def _tuned(tuned: TunedLookup | None) -> dict[str, Any] | None:
    if tuned is None:
        return None
    shown = tuned.row or tuned.lost_row
    return {
        "status": tuned.status,
        "reason": tuned.reason,
        "padded_m": tuned.padded_m,
        "row": shown.values if shown else None,
        "file": shown.file if shown else None,
        "line": shown.line if shown else None,
    }


def _launch(kernel: KernelReport) -> dict[str, Any]:
    decoded = kernel.instance_decoded or kernel.decoded
    launch = kernel.launch
    return {
        "kernel": launch.kernel,
        "instance": launch.instance,
        "family": decoded.family if decoded else None,
        "fields": decoded.fields if decoded and decoded.family else None,
        "grid": launch.grid,
        "block": launch.block,
        "lds_bytes": launch.resources.lds_bytes,
        "evidence": launch.evidence,
    }


def _noted(report: Report) -> list[str]:
    """The report's own warnings as sentences; what the record warns of, or raised, is said elsewhere in the answer."""
    from tracer.render.languages import sentence

    said = {"note.warning", "note.exception"}
    if any("SPLITK_BLOCK_SIZE" in text for text in report.record.warnings):
        said.add("note.k_not_covered")
    notes = [note for note in report.notes if note.level is not NoteLevel.INFO and note.text_key not in said]
    return [sentence(note) for note in notes]


def run_answer(report: Report, *, page: str | None, record: str | None) -> dict[str, Any]:
    """One object a call.

    Args:
        report: what is known about the call.
        page: path of the page, or None when none was written.
        record: path of the stored record, or None.

    Returns:
        The object of docs/json.md; None where something is not known.
    """
    captured = report.record
    kernels = [kernel for path in report.paths for kernel in path.kernels]
    tuned = [k.dispatch.tuned for k in kernels if k.dispatch and k.dispatch.tuned]
    roofline = report.roofline
    return {
        "op": captured.call.op,
        "mode": captured.mode,
        "target": captured.target.arch,
        "cu_num": captured.target.compute_units,
        "device": captured.target.device,
        "shape": captured.call.shape,
        "page": page,
        "record": record,
        "tuned": _tuned(tuned[0]) if tuned else None,
        "launches": [_launch(kernel) for kernel in kernels],
        "hops": [_hop(hop) for path in report.paths for hop in path.hops],
        "roofline": None
        if roofline is None
        else {
            "device": roofline.device,
            "flops": roofline.work.flops,
            "bytes": roofline.work.bytes_moved,
            "bound": None if roofline.bound is Bound.UNKNOWN else roofline.bound,
            "us": roofline.floor_us,
        },
        "exception": None if captured.exception is None else f"{captured.exception.type}: {captured.exception.message}",
        "warnings": [*captured.warnings, *_noted(report)],
    }


def run_text(report: Report, *, page: str) -> str:
    """A few lines for a terminal: what was called, the kernels, the tuned config, the roof, and the page."""
    answer = run_answer(report, page=page, record=None)
    shape = ",".join(f"{name}={extent}" for name, extent in answer["shape"].items())
    where = f"{answer['target']} ({answer['cu_num']} CUs, {answer['device'] or 'device unknown'})"
    lines = [f"{answer['op']} {shape}  [{answer['mode']}] {where}"]
    if answer["exception"]:
        lines.append(f"  raised     {answer['exception']}")
    for kernel in (kernel for path in report.paths for kernel in path.kernels):
        launch = kernel.launch
        names = {"kernel": short_symbol(launch.kernel, kernel.decoded) if launch.kernel else None}
        names["instance"] = launch.instance
        known = {what: name for what, name in names.items() if name}
        lines += [f"  {what:10} {name}  [{launch.evidence}]" for what, name in known.items()]
        if not known:
            lines.append(f"  kernel     [unresolved]{f' {launch.reason}' if launch.reason else ''}")
    stops = [hop for hop in answer["hops"] if hop["layer"] == Layer.KERNEL and hop["evidence"] == Evidence.UNRESOLVED]
    if not answer["launches"] and not answer["exception"] and stops:
        lines.append(f"  kernel     none: {stops[-1]['reason']}")
    tuned = answer["tuned"]
    if tuned:
        reason = f" ({tuned['reason']})" if tuned["reason"] else ""
        place = f"  {tuned['file']}:{tuned['line']}" if tuned["file"] else ""
        lines.append(f"  tuned      {tuned['status']}{reason}{place}")
    roof = answer["roofline"]
    if roof:
        least = "unknown" if roof["us"] is None else f"{roof['us']:.3f} us"
        bound = f"{roof['bound']}-bound" if roof["bound"] else "bound unknown"
        lines.append(f"  roofline   {bound} on {roof['device']}, at least {least}")
    lines += [f"  warning    {warning}" for warning in answer["warnings"]]
    lines.append(f"  page       {page}")
    return "\n".join(lines)
