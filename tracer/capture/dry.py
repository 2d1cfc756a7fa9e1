"""Dry capture, as the command line calls it: requests and a target in, one record a request out, with no GPU anywhere.

The library's real Python code runs in a child process that may write to one temporary folder only; what its C++ would
choose is resolved here afterwards from the same files.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from tracer.aiter.tree import AiterTree
from tracer.capture.enums import tree_enums
from tracer.capture.parent import Parent
from tracer.capture.protocol import AiterPlace, CallRequest, Job, TargetFacts, op_of
from tracer.capture.sandbox import child_environment, prepare_folder
from tracer.capture.targets import target_facts
from tracer.errors import CaptureError, SourceTreeError
from tracer.model.capture import CaptureRecord
from tracer.ops.base import Op
from tracer.ops.callable import CallableOp
from tracer.versions import SUPPORTED, installed_version, is_supported

#: the most frames kept for one call; a tuned GEMM has about a thousand, and nine thousand with its first CSV read
FRAME_CAP = 16_000
#: seconds without any sign of life after which a child counts as hung; importing torch and aiter takes about ten
DEFAULT_TIMEOUT_S = 300.0

#: aiter's rules; loaded while the child imports torch and aiter, which takes longer
_COMPLETION = "tracer.capture.completion"


def capture_dry(
    requests: Sequence[CallRequest],
    *,
    target: str | None = None,
    cu_num: int | None = None,
    device: str | None = None,
    aiter_path: Path | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    on_record: Callable[[int, CaptureRecord], None] | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> list[CaptureRecord]:
    """Captures calls of ops without a GPU, all in one child process.

    Args:
        requests: the calls, all for the same target and aiter.
        target: "gfx942" or "gfx950"; None takes the device's, or gfx942.
        cu_num: compute units; None for the target's full part.
        device: the device's key in ktrace's tables; None for the target's default, which is then assumed.
        aiter_path: a checkout of aiter, or None for the installed one.
        timeout_s: seconds without progress after which the child is ended.
        on_record: called with the request's index and its record as soon as it is there.
        meanwhile: called while the child imports its libraries.

    Returns:
        A record for each request, in order. A call that raised has `exception` set.

    Raises:
        UsageError: an op, shape, option, configuration or target that does not exist.
        SourceTreeError: aiter is missing or can't be imported.
        CaptureError: torch is missing, or the child died or hung; the end of its output is in the message.
    """
    facts = target_facts(target, cu_num, device)
    ops = [op_of(request) for request in requests]
    for op, request in zip(ops, requests, strict=True):
        op.check(request.shape)
        op.check_config(request.config)
    _check_versions("torch", *("triton" for op in ops if "triton" in op.needs))
    needed = aiter_path is not None or any("aiter" in op.needs for op in ops)
    tree = AiterTree.find(aiter_path) if needed else _installed_aiter(ops)
    completed: dict[int, CaptureRecord] = {}

    def load() -> None:
        modules = dict.fromkeys(module for op in ops for module in op.modules)
        importlib.import_module(_COMPLETION).read_ahead(tree, modules, facts.target, os.environ)
        if meanwhile is not None:
            meanwhile()

    def take(index: int, seen: CaptureRecord) -> None:
        complete = importlib.import_module(_COMPLETION).complete
        record = completed[index] = complete(seen, tree)
        if on_record is not None:
            on_record(index, record)

    with tempfile.TemporaryDirectory(prefix="ktrace-", ignore_cleanup_errors=True) as name:
        folder = Path(os.path.realpath(name))
        job = job_for(requests, facts, tree, folder, aiter_needed=needed)
        environment = child_environment(folder, facts, os.environ)
        Parent(job, "tracer.capture.child", environment, timeout_s, take, load).run()
    return [completed[index] for index in range(len(requests))]


def _installed_aiter(ops: Sequence[Op]) -> AiterTree | None:
    """The installed aiter, where a callable of some other package might use it and there is one."""
    if all(op.name.partition(".")[0].partition(":")[0] == "torch" for op in ops if isinstance(op, CallableOp)):
        return None
    try:
        return AiterTree.find()
    except SourceTreeError:
        return None


def _check_versions(*packages: str) -> None:
    """Refuses what is missing, or installed in a version that ktrace is not made for.

    Raises:
        CaptureError: names the package, its version and the supported range.
    """
    for package in packages:
        version = installed_version(package)
        if version is None and importlib.util.find_spec(package) is None:
            raise CaptureError(
                f"{package} is not installed",
                expected=f"{package} {SUPPORTED[package]}",
                hint="pip install 'ktrace[dry]'",
            )
        if version is not None and not is_supported(package, version):
            raise CaptureError(
                f"{package} {version} is outside the range that ktrace is made for",
                expected=f"{package} {SUPPORTED[package]}",
                hint="install a version of that range, for example with pip install 'ktrace[dry]'",
            )


def place_of(tree: AiterTree | None) -> AiterPlace | None:
    """The tree as the child needs it."""
    if tree is None:
        return None
    return AiterPlace(
        layout=tree.layout,
        version=tree.version,
        commit=tree.commit,
        python_root=str(tree.python_root),
        meta_root=str(tree.meta_root),
        repository=tree.source_tree().repository,
    )


def jit_modules(tree: AiterTree | None) -> tuple[str, ...]:
    """The names of aiter's JIT modules; none without an aiter."""
    if tree is None:
        return ()
    listing = tree.absolute("aiter/jit/optCompilerConfig.json")
    try:
        return tuple(name for name in json.loads(listing.read_bytes()) if name.startswith("module_"))
    except (OSError, ValueError) as error:
        raise SourceTreeError(
            f"aiter's list of JIT modules {listing} can't be read: {error}", hint="install aiter again"
        ) from None


def job_for(
    requests: Sequence[CallRequest],
    facts: TargetFacts,
    tree: AiterTree | None,
    folder: Path,
    *,
    aiter_needed: bool = True,
    device: str | None = None,
) -> Job:
    """Fills the child's folder and writes the job into it.

    Args:
        requests: the calls.
        facts: the target.
        tree: the aiter to import, or None.
        folder: an empty folder, the only one that the child may write to.
        aiter_needed: whether the job fails when aiter can't be imported.
        device: for a live capture, the device key that the user named.
    """
    prepare_folder(folder, facts, jit_modules(tree))
    job = Job(
        folder=str(folder),
        facts=facts,
        aiter=place_of(tree),
        enums=tree_enums(tree.csrc_root) if tree is not None else {},
        requests=tuple(requests),
        frame_cap=FRAME_CAP,
        aiter_needed=aiter_needed,
        device=device,
    )
    (folder / "job.json").write_bytes(msgspec.json.encode(job))
    return job
