"""Dry capture, as the command line calls it: requests and a target in, one record a request out, with no GPU anywhere.

The library's real Python code runs in a child process that may write to one temporary folder only; what its C++ would
choose is resolved here afterwards from the same files.
"""

from __future__ import annotations

import importlib.util
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

import tracer.errors
from tracer.aiter.tree import AiterTree
from tracer.capture.enums import tree_enums
from tracer.capture.protocol import (
    AiterPlace,
    CallRequest,
    Doing,
    Finished,
    Job,
    Message,
    Receiver,
    Recorded,
    Refused,
    TargetFacts,
    op_of,
)
from tracer.capture.sandbox import child_environment, prepare_folder
from tracer.capture.targets import target_facts
from tracer.errors import CaptureError, KtraceError
from tracer.model.capture import CaptureRecord

#: the most frames kept for one call; a tuned GEMM has about a thousand, and nine thousand with its first CSV read
FRAME_CAP = 16_000
#: seconds without any sign of life after which a child counts as hung; importing torch and aiter takes about ten
DEFAULT_TIMEOUT_S = 300.0

_OUTPUT_LINES = 12
_CODE = "import sys; sys.path.append({root!r}); from tracer.capture.child import main; main({job!r}, {handle})"


def capture_dry(
    requests: Sequence[CallRequest],
    *,
    target: str | None = None,
    cu_num: int | None = None,
    device: str | None = None,
    aiter_path: Path | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    on_record: Callable[[int, CaptureRecord], None] | None = None,
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
    if importlib.util.find_spec("torch") is None:
        raise CaptureError(
            "torch is not installed", expected="torch, CPU build or other", hint="pip install 'ktrace[dry]'"
        )
    tree = AiterTree.find(aiter_path) if aiter_path is not None or any("aiter" in op.needs for op in ops) else None
    with tempfile.TemporaryDirectory(prefix="ktrace-", ignore_cleanup_errors=True) as name:
        folder = Path(os.path.realpath(name))
        prepare_folder(folder, facts, _jit_modules(tree))
        job = Job(
            folder=str(folder),
            facts=facts,
            aiter=_place(tree),
            enums=tree_enums(tree.csrc_root) if tree is not None else {},
            requests=tuple(requests),
            frame_cap=FRAME_CAP,
        )
        (folder / "job.json").write_bytes(msgspec.json.encode(job))
        return _Parent(job, facts, timeout_s, on_record).run()


def _place(tree: AiterTree | None) -> AiterPlace | None:
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


def _jit_modules(tree: AiterTree | None) -> tuple[str, ...]:
    if tree is None:
        return ()
    listing = tree.absolute("aiter/jit/optCompilerConfig.json")
    try:
        return tuple(name for name in json.loads(listing.read_bytes()) if name.startswith("module_"))
    except (OSError, ValueError) as error:
        raise tracer.errors.SourceTreeError(
            f"aiter's list of JIT modules {listing} can't be read: {error}", hint="install aiter again"
        ) from None


class _Parent:
    """Starts the child, listens to it, and ends it when it says nothing for too long."""

    def __init__(
        self,
        job: Job,
        facts: TargetFacts,
        timeout_s: float,
        on_record: Callable[[int, CaptureRecord], None] | None,
    ) -> None:
        self._job = job
        self._facts = facts
        self._timeout_s = timeout_s
        self._on_record = on_record
        self._doing = "starting"
        self._records: dict[int, CaptureRecord] = {}
        self._finished = False

    def run(self) -> list[CaptureRecord]:
        folder = Path(self._job.folder)
        read, write = os.pipe()
        root = str(Path(tracer.errors.__file__).resolve().parent.parent)
        code = _CODE.format(root=root, job=str(folder / "job.json"), handle=write)
        with (folder / "output.txt").open("wb") as output:
            child = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=folder,
                env=child_environment(folder, self._facts, os.environ),
                pass_fds=(write,),
                start_new_session=True,
            )
        os.close(write)
        try:
            self._listen(read)
            child.wait(timeout=self._timeout_s)
        except subprocess.TimeoutExpired:
            raise self._hung() from None
        finally:
            os.close(read)
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        if not self._finished:
            raise self._error(f"the child process of the dry run died (exit status {child.returncode})")
        return [self._records[index] for index in range(len(self._job.requests))]

    def _listen(self, read: int) -> None:
        receiver = Receiver()
        with selectors.DefaultSelector() as selector:
            selector.register(read, selectors.EVENT_READ)
            deadline = time.monotonic() + self._timeout_s
            while True:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise self._hung()
                piece = os.read(read, 1 << 20)
                if not piece:
                    return
                for message in receiver.feed(piece):
                    self._take(message)
                deadline = time.monotonic() + self._timeout_s

    def _take(self, message: Message) -> None:
        match message:
            case Doing(what):
                self._doing = what
            case Recorded(index, record):
                self._records[index] = record
                if self._on_record is not None:
                    self._on_record(index, record)
            case Refused(error, text, expected, hint):
                kind = getattr(tracer.errors, error, CaptureError)
                assert issubclass(kind, KtraceError)
                raise kind(text, expected=expected, hint=hint)
            case Finished():
                self._finished = True

    def _hung(self) -> CaptureError:
        return self._error(f"the child process of the dry run gave no sign of life for {self._timeout_s:g} s")

    def _error(self, what: str) -> CaptureError:
        lines = (Path(self._job.folder) / "output.txt").read_text(errors="replace").splitlines()[-_OUTPUT_LINES:]
        output = "\n".join(f"  | {line}" for line in lines) or "  | (nothing)"
        return CaptureError(
            f"{what} while it was at: {self._doing}; the end of its output:\n{output}",
            hint="run `ktrace doctor`, and if that finds nothing report it with the output above",
        )
