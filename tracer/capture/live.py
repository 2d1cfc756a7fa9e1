"""Live capture, as the command line calls it: requests in, one record a request out, from the GPU of this machine.

The calls run in a child process, like those of a dry run, so that hooks, a trace function and a profiler never touch
the process that asked. What aiter's rules would choose is resolved afterwards from the same files.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tracer.aiter.tree import AiterTree
from tracer.capture.dry import job_for
from tracer.capture.parent import Parent
from tracer.capture.protocol import CallRequest, TargetFacts, op_of
from tracer.capture.sandbox import child_environment
from tracer.devices.registry import get_device
from tracer.errors import CaptureError, UsageError
from tracer.model.capture import CaptureRecord
from tracer.model.environment import Target

#: what aiter's import asks of a machine without ROCm: a prefix, a target, and a JIT folder to look in
_AITER_VARIABLES = ("ROCM_HOME", "ROCM_PATH", "PATH", "GPU_ARCHS", "CU_NUM", "AITER_JIT_DIR")
#: stands in for the target until the child has asked the GPU; aiter's Triton code is not compiled for it
_UNASKED = TargetFacts(target=Target(arch="gfx942", compute_units=304), lds_bytes_per_block=0)


#: device nodes of the vendors' kernel drivers (Linux)
_NODES = {"cuda": Path("/dev/nvidiactl"), "rocm": Path("/dev/kfd")}


def vendor_here() -> str | None:
    """The vendor whose GPU driver is on this machine ("cuda", "rocm"), without loading torch; None when none is."""
    return next((vendor for vendor, node in _NODES.items() if node.exists()), None)


def capture_live(
    requests: Sequence[CallRequest],
    *,
    device: str | None = None,
    aiter_path: Path | None = None,
    timeout_s: float,
    on_record: Callable[[int, CaptureRecord], None] | None = None,
) -> list[CaptureRecord]:
    """Captures and times calls of ops on the GPU of this machine.

    Args:
        requests: the calls.
        device: the part's key in ktrace's tables, where its name alone does not say; None asks the runtime.
        aiter_path: a checkout of aiter, or None for the installed one.
        timeout_s: seconds without progress after which the child is ended.
        on_record: called with the request's index and its record as soon as it is there.

    Returns:
        A record for each request, in order. A call that raised, or for which memory was short, has `exception` set.

    Raises:
        UsageError: an op, shape, option or configuration that does not exist, or an op for another vendor's GPUs.
        CaptureError: there is no GPU, torch is missing or can't use it, or the child died or hung.
    """
    ops = [op_of(request) for request in requests]
    for op, request in zip(ops, requests, strict=True):
        op.check(request.shape)
        op.check_config(request.config)
    if device is not None:
        get_device(device)
    vendor = vendor_here()
    if vendor is None:
        raise CaptureError(
            "there is no GPU on this machine for --mode live",
            expected="/dev/kfd (ROCm) or /dev/nvidiactl (CUDA)",
            hint="use --mode dry, or import a trace that was recorded on a GPU: ktrace import TRACE",
        )
    if importlib.util.find_spec("torch") is None:
        raise CaptureError("torch is not installed", hint="install the ROCm or CUDA build of torch for this machine")
    for op, request in zip(ops, requests, strict=True):
        if vendor in op.config_needed_on and request.config is None:
            raise UsageError(
                f"{op.name}: the library has no tuned configuration for a {vendor.upper()} GPU",
                expected=f"--config with {', '.join(op.config_required)}",
                hint="`ktrace ops` lists the keys",
            )
        if vendor not in op.vendors:
            raise UsageError(
                f"{op.name} does not run on a {vendor.upper()} GPU",
                expected="one of " + ", ".join(op.vendors),
                hint="use --mode dry",
            )
    tree = AiterTree.find(aiter_path) if aiter_path is not None or any("aiter" in op.needs for op in ops) else None
    with tempfile.TemporaryDirectory(prefix="ktrace-", ignore_cleanup_errors=True) as name:
        folder = Path(os.path.realpath(name))
        job = job_for(requests, _UNASKED, tree, folder, device=device)
        environment = dict(os.environ)
        if vendor == "cuda" and tree is not None:
            environment |= _aiter_variables(folder)
        return Parent(job, "tracer.capture.live_child", environment, timeout_s, on_record).run()


def _aiter_variables(folder: Path) -> Mapping[str, str]:
    pretended = child_environment(folder, _UNASKED, os.environ)
    return {name: pretended[name] for name in _AITER_VARIABLES}
