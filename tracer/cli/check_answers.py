"""What `ktrace check` answers: a look-up in aiter's tuned configs, or a finding of its lint, in; JSON or text out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tracer.aiter.findings import Finding
from tracer.aiter.tree import AiterTree
from tracer.aiter.variables import CORE
from tracer.model.environment import Target
from tracer.model.source import CsvRow, MissReason, TunedLookup, TunedStatus


def _kernel(row: CsvRow | None) -> str | None:
    """What a row says is run: one kernel, or those of both stages of a MoE."""
    columns = ("kernelName", "kernelName1", "kernelName2") if row is not None else ()
    names = [row.values.get(column, "").strip() for column in columns] if row is not None else []
    return " + ".join(name for name in names if name) or None


def _row(row: CsvRow | None) -> dict[str, Any] | None:
    return None if row is None else {"file": row.file, "line": row.line, "row": row.values}


def as_json(tree: AiterTree, op: str, key: Mapping[str, str], target: Target, found: TunedLookup) -> dict[str, Any]:
    """The documented object of `check --json` for one shape."""
    return {
        "op": op,
        "key": {**found.key, **key},
        "target": target.arch,
        "cu_num": target.compute_units,
        "status": found.status,
        "reason": found.reason,
        "padded_m": found.padded_m,
        "kernel": _kernel(found.row),
        "recorded_us": found.recorded_us,
        "row": _row(found.row),
        "lost_row": _row(found.lost_row),
        "kept_row": _row(found.kept_row),
        "nearest": [_row(row) for row in found.nearest],
        "files": found.files,
        "missing": found.missing,
        "environment": found.environment,
        "untuned_row": found.untuned_row,
        "untuned_file": found.untuned_file,
        "caveat": found.caveat,
        "aiter": {"layout": tree.layout, "version": tree.version, "commit": tree.commit},
    }


def _place(entry: dict[str, Any] | None) -> str:
    return f"{entry['file']}:{entry['line']}" if entry else ""


def _named_by(answer: dict[str, Any]) -> str:
    """What makes aiter look for its files: variables that are set, or their defaults."""
    return ", ".join(
        f"the default of {variable} in {CORE}" if value is None else f"as {variable} says"
        for variable, value in answer["environment"].items()
    )


def _axis(near: dict[str, Any]) -> str:
    return next(f"{axis}={near['row'][axis]}" for axis in ("M", "token") if axis in near["row"])


def as_text(answer: dict[str, Any]) -> str:
    """The lines for one shape."""
    if answer["reason"] == MissReason.NOT_CONSULTED:
        return f"{answer['op']}  consults no tuned config of aiter: there is nothing to hit or to miss"
    shape = ",".join(f"{axis}={value}" for axis, value in answer["key"].items() if axis not in ("cu_num", "gfx"))
    reason = f" ({answer['reason']})" if answer["reason"] else ""
    lines = [f"{answer['op'] or 'unknown op'}  {shape}  on {answer['cu_num']} CUs: {answer['status']}{reason}"]
    rows: list[tuple[str, Any]] = []
    if "log" in answer:
        said = answer["log"]
        rows.append(
            (
                "log",
                f"{'hit' if said['hit'] else 'miss'}, line {said['line']}, {said['count']} times, {said['file'] or ''}",
            )
        )
        if answer["disagrees"]:
            rows.append(("disagrees", "the files at hand say otherwise: another version, GPU, or a stale build"))
    if answer.get("row"):
        rows += [("row", _place(answer["row"])), ("padded M", answer["padded_m"]), ("kernel", answer["kernel"])]
        rows.append(("recorded", f"{answer['recorded_us']} us (the tuner's, not measured here)"))
    if answer.get("lost_row"):
        kept = answer["kept_row"]
        rows.append(("lost row", f"{_place(answer['lost_row'])}, for which aiter's merge kept {_place(kept)}"))
    rows += [("not there", f"{file}, {_named_by(answer)}") for file in answer.get("missing", ())]
    if answer["status"] == TunedStatus.MISS and answer.get("nearest"):
        near = [f"{_axis(n)} cu_num={n['row'].get('cu_num')} {_place(n)}" for n in answer["nearest"]]
        rows += [("nearest" if i == 0 else "", text) for i, text in enumerate(near)]
    if answer["status"] == TunedStatus.MISS and answer.get("untuned_row"):
        rows.append(("to tune", f"append {answer['untuned_row']!r} to {answer['untuned_file']}"))
    if answer.get("caveat"):
        rows.append(("caveat", answer["caveat"]))
    return "\n".join([*lines, *(f"  {name:10} {value}" for name, value in rows if value not in (None, ""))])


def finding_json(finding: Finding) -> dict[str, Any]:
    """The documented object of `check --lint --json` for one finding."""
    return msgspec.structs.asdict(finding)
