"""The child process of a dry capture: a job file in, records out through a pipe, nothing else left behind.

One process serves one target and one aiter, since aiter caches both at import; it does every call of the job and then
leaves without running the exit handlers of the libraries it loaded.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tracer.capture.absent_gpu import stand_in_for_gpu
from tracer.capture.boundary import Boundary
from tracer.capture.environment import describe
from tracer.capture.frames import FrameRecorder
from tracer.capture.outcome import call_of, exception_info, shorten, utc_now
from tracer.capture.overlay import Overlay
from tracer.capture.places import Places
from tracer.capture.protocol import CallRequest, Doing, Job, Message, Recorded, op_of, send
from tracer.capture.serving import serve
from tracer.capture.story import keep_story
from tracer.capture.tensors import DryTensors, RealBodies
from tracer.capture.triton_launches import TritonLaunches
from tracer.capture.values import Values
from tracer.errors import SourceTreeError
from tracer.model.capture import TORCH_OPERATORS, CaptureRecord, ExceptionInfo, Lost
from tracer.model.evidence import Mode
from tracer.ops.base import Op

_MOST_LOG_LINES = 200
_IMPORT_PATIENCE_S = 120.0
#: how aiter's main (2026) ends the error that it raises after removing repeated rows from its CSVs
_REPAIRED = "Please re-run"


class LogCollector:
    """Keeps what a library says through `logging`; the lines of its import belong to every record."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.lines: list[str] = []
        self._make = logging.getLogRecordFactory()
        logging.setLogRecordFactory(self._record)

    def _record(self, *args: Any, **kwargs: Any) -> logging.LogRecord:
        record = self._make(*args, **kwargs)
        if (
            record.levelno >= logging.INFO
            and record.pathname.startswith(self._root)
            and len(self.lines) < _MOST_LOG_LINES
        ):
            level = "" if record.levelno == logging.INFO else f" {record.levelname}"
            try:
                self.lines.append(f"[{record.name}{level}] {record.getMessage()}")
            except (TypeError, ValueError):  # a message whose arguments don't fit it; logging itself only complains
                self.lines.append(f"[{record.name}{level}] {record.msg}")
        return record


class Child:
    """The process: made once, then asked for each call of the job."""

    def __init__(self, job: Job, handle: int) -> None:
        self._job = job
        self._handle = handle
        self._recorder: FrameRecorder | None = None
        self._launch_count = 0
        self._values = Values()
        roots = [(job.folder, "dry run", "<dry run>/")]
        if job.aiter is not None:
            roots = [
                (job.aiter.python_root + "/aiter", "aiter", "aiter/"),
                (job.aiter.meta_root, "aiter", ""),
                *roots,
            ]
        self._places = Places(roots)
        self._boundary = Boundary(
            job.enums,
            os.path.join(job.folder, "jit"),
            self._innermost,
            self._next_launch,
            self._values,
            self._places.ref,
        )
        self._log = LogCollector(job.aiter.python_root + "/aiter" if job.aiter is not None else job.folder)

    def _innermost(self, frame: Any) -> int | None:
        return self._recorder.innermost(frame) if self._recorder is not None else None

    def _next_launch(self) -> int:
        self._launch_count += 1
        return self._launch_count - 1

    def say(self, message: Message) -> None:
        """Sends a message to the parent."""
        send(self._handle, message)

    def load(self) -> None:
        """Imports torch, Triton and aiter, each prepared for a GPU that is not there.

        Raises:
            SourceTreeError: aiter can't be imported.
        """
        self.say(Doing("importing torch", _IMPORT_PATIENCE_S))
        import torch

        stand_in_for_gpu(self._job.facts, self._values)
        bodies = RealBodies(self._boundary)
        bodies.install()
        self.say(Doing("importing triton", _IMPORT_PATIENCE_S))
        self._triton = TritonLaunches(self._job.facts, self._places, self._innermost, self._next_launch, self._values)
        if importlib.util.find_spec("triton") is not None:
            self._triton.install()
        self._boundary.install()
        self._tensors = DryTensors(self._values, bodies)
        if self._job.aiter is not None:
            self.say(Doing(f"importing aiter from {self._job.aiter.python_root}", _IMPORT_PATIENCE_S))
            try:
                self._import_aiter()
            except SourceTreeError:
                if self._job.aiter_needed:
                    raise
        torch.set_grad_enabled(False)
        self._import_log = tuple(self._log.lines)

    def _import_aiter(self) -> None:
        assert self._job.aiter is not None
        root = self._job.aiter.python_root
        spec = importlib.util.find_spec("aiter")
        if spec is None or root not in [os.path.dirname(folder) for folder in spec.submodule_search_locations or ()]:
            sys.path.insert(0, root)
        try:
            import aiter  # noqa: F401
        except ModuleNotFoundError as error:
            raise SourceTreeError(
                f"the aiter in {root} can't be imported: it needs the module {error.name!r}, which is not installed",
                expected="a Python environment with everything that this aiter imports",
                hint=f"pip install {(error.name or '').partition('.')[0]}",
            ) from None
        except (Exception, SystemExit) as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{self._places.locate(last.filename)[1]}:{last.lineno}"
            raise SourceTreeError(
                f"the aiter in {root} can't be imported: {type(error).__name__}: {shorten(error)} ({where})",
                expected="an aiter that imports on a machine with ROCm",
                hint="check that the tree is whole, or name another with --aiter PATH",
            ) from error

    def run(self, index: int, request: CallRequest, repaired: str | None = None) -> None:
        """Makes one call and sends its record.

        Args:
            index: the request's place in the job.
            request: the call.
            repaired: what aiter said when a first call made it rewrite its own files and ask for another.
        """
        op = op_of(request)
        self.say(Doing(f"{request.op} {dict(request.shape) or list(request.arguments)}"))
        self._launch_count = 0
        self._log.lines = list(self._import_log)
        self._values.begin()
        recorder = self._recorder = FrameRecorder(self._places, self._job.frame_cap)
        self._triton.begin(recorder)
        failure: ExceptionInfo | None = None
        with self._tensors.active():
            inputs = op.inputs(request.shape, request.options, self._tensors)
            self._boundary.begin()
            self._tensors.begin()
            recorder.start()
            try:
                op.call(inputs, request.options, request.config)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - what the op raises is the answer
                recorder.stop()
                failure = exception_info(error, self._places, recorder)
            finally:
                recorder.stop()
                self._boundary.end()
                ran = self._tensors.end()
        self._recorder = None
        if failure is not None and repaired is None and _REPAIRED in failure.message:
            self.run(index, request, failure.message)
            return
        record = self._record(request, op, recorder, failure, ran)
        if repaired is not None:
            said = (
                f"aiter's first call raised, and rewrote its own CSVs; this is the call after that. It said: {repaired}"
            )
            record = msgspec.structs.replace(record, warnings=(*record.warnings, said))
        self.say(Recorded(index, record))

    def _record(
        self,
        request: CallRequest,
        op: Op,
        recorder: FrameRecorder,
        failure: ExceptionInfo | None,
        ran: Mapping[str, int],
    ) -> CaptureRecord:
        clean = self._places.relative_text
        crossed = [call.placeholder() for call in self._boundary.calls]
        launches = [*self._triton.launches, *(launch for launch in crossed if launch is not None)]
        whole = CaptureRecord(
            mode=Mode.DRY,
            call=call_of(request, op),
            target=self._job.facts.target,
            environment=describe(self._job.aiter, dry=True),
            recorded_at=utc_now(),
            frames=recorder.frames(),
            boundaries=tuple(call.finish() for call in self._boundary.calls),
            launches=tuple(sorted(launches, key=lambda launch: launch.id)),
            log=tuple(clean(line) for line in self._log.lines),
            exception=failure,
            lost=(*recorder.lost(), *_unfollowed(ran)),
            warnings=tuple(f"a value was made up: {text}" for text in self._values.invented),
        )
        return keep_story(whole)


def _unfollowed(ran: Mapping[str, int]) -> Iterator[Lost]:
    """Torch's own operators: which kernels they start is torch's choice, which no rule here follows."""
    if ran:
        names = ", ".join(name if count == 1 else f"{count} × {name}" for name, count in ran.items())
        yield Lost(TORCH_OPERATORS, sum(ran.values()), names)


def _make(job: Job, handle: int) -> Child:
    Overlay(job.folder).install()
    return Child(job, handle)


def main(job_file: str, handle: int) -> None:
    """Does the job and leaves; never returns."""
    serve(job_file, handle, _make)
