"""Chooses between live and dry: requests and a wish in, records out, by the default that DESIGN states.

The default is live where a GPU is and the op runs on it, else dry. Asking for what can't be is an error, never a silent
change of mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tracer.capture.dry import capture_dry
from tracer.capture.live import capture_live, vendor_here
from tracer.capture.protocol import CallRequest, op_of
from tracer.errors import UsageError
from tracer.model.capture import CaptureRecord


def choose_mode(mode: str | None, requests: Sequence[CallRequest]) -> str:
    """The mode to use: what was asked for, else live where every op runs on the GPU here, else dry."""
    if mode is not None:
        return mode
    vendor = vendor_here()
    return "live" if vendor and all(vendor in op_of(request).vendors for request in requests) else "dry"


def capture(
    requests: Sequence[CallRequest],
    *,
    mode: str | None,
    target: str | None,
    cu_num: int | None,
    device: str | None,
    aiter_path: Path | None,
    timeout_s: float,
    on_record: Callable[[int, CaptureRecord], None],
    meanwhile: Callable[[], None] | None = None,
) -> list[CaptureRecord]:
    """Captures calls in the chosen mode.

    Args:
        requests: the calls.
        mode: "live", "dry", or None for the default.
        target: architecture of a dry run, or None.
        cu_num: compute units of a dry run, or None.
        device: the part, or None.
        aiter_path: a checkout of aiter, or None.
        timeout_s: seconds without progress after which the child is ended.
        on_record: called with the request's index and its record as soon as it is there.
        meanwhile: called while the child of a dry run imports its libraries.

    Raises:
        UsageError, SourceTreeError, CaptureError: as capture_dry and capture_live do.
    """
    if mode is None and (target or cu_num or device):
        mode = "dry"
    if choose_mode(mode, requests) == "live":
        if target or cu_num:
            raise UsageError(
                "--target and --cu-num are for dry runs: a live run takes them from the GPU", hint="leave them away"
            )
        return capture_live(requests, device=device, aiter_path=aiter_path, timeout_s=timeout_s, on_record=on_record)
    return capture_dry(
        requests,
        target=target,
        cu_num=cu_num,
        device=device,
        aiter_path=aiter_path,
        timeout_s=timeout_s,
        on_record=on_record,
        meanwhile=meanwhile,
    )
