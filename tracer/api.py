"""The Python door: an op's name and a shape in, one record out, as `ktrace run` would make it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tracer.capture.dry import DEFAULT_TIMEOUT_S
from tracer.capture.protocol import CallRequest
from tracer.capture.select import capture
from tracer.errors import UsageError
from tracer.model.capture import CaptureRecord
from tracer.ops.registry import get_op


def trace(
    op: str,
    shape: Mapping[str, int],
    *,
    options: Mapping[str, str] | None = None,
    config: Mapping[str, Any] | None = None,
    mode: str | None = None,
    target: str | None = None,
    cu_num: int | None = None,
    device: str | None = None,
    aiter_path: Path | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
) -> CaptureRecord:
    """Runs (or dry-runs) one call of an op and returns its record.

    Args:
        op: a name that `ktrace ops` lists.
        shape: extents in elements by dimension name, in the op's order.
        options: the op's options; defaults for those left out.
        config: an explicit kernel configuration, for ops that take one.
        mode: "live", "dry", or None for live where a GPU is and the op runs on it, else dry.
        target: "gfx942" or "gfx950", for a dry run.
        cu_num: compute units of the target; None for the whole part.
        device: the part, for the roofline; None assumes the target's default.
        aiter_path: a checkout of aiter; None for the installed one.
        timeout_s: seconds without progress after which a capture is given up.

    Returns:
        The record; `exception` is set when the op raised.

    Raises:
        KtraceError: as its children in tracer.errors say.
    """
    known = get_op(op)
    unknown = set(options or {}) - {option.name for option in known.options}
    if unknown:
        raise UsageError(
            f"{op} has no option {sorted(unknown)[0]!r}",
            expected=", ".join(option.name for option in known.options) or "no options",
        )
    request = CallRequest(
        op=op,
        shape=dict(shape),
        options={option.name: option.default for option in known.options} | dict(options or {}),
        config=dict(config) if config is not None else None,
    )
    (record,) = capture(
        [request],
        mode=mode,
        target=target,
        cu_num=cu_num,
        device=device,
        aiter_path=aiter_path,
        timeout_s=timeout_s,
        on_record=lambda *_: None,
    )
    return record
