"""The child process of a capture, seen from its parent: started, listened to, ended when it says nothing for long."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import tracer.errors
from tracer.capture.protocol import Doing, Finished, Job, Message, Receiver, Recorded, Refused
from tracer.errors import CaptureError, KtraceError
from tracer.model.capture import CaptureRecord

#: seconds that starting and importing may take, however short the timeout
START_PATIENCE_S = 120.0

_OUTPUT_LINES = 12
_CODE = "import sys; sys.path.append({root!r}); from {module} import main; main({job!r}, {handle})"


class Parent:
    """Runs one job in a child.

    Args:
        job: what to do; the child reads it from `job.json` in its folder.
        module: the module whose `main(job_file, handle)` the child runs.
        environment: the child's environment variables.
        timeout_s: seconds without progress after which the child is ended.
        on_record: called with the request's index and its record as soon as it is there.
        meanwhile: called once the child is started: what the parent can do while libraries are imported there.
    """

    def __init__(
        self,
        job: Job,
        module: str,
        environment: Mapping[str, str],
        timeout_s: float,
        on_record: Callable[[int, CaptureRecord], None] | None,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        self._job = job
        self._module = module
        self._environment = environment
        self._timeout_s = timeout_s
        self._patience_s = max(timeout_s, START_PATIENCE_S)
        self._on_record = on_record
        self._meanwhile = meanwhile
        self._doing = "starting"
        self._records: dict[int, CaptureRecord] = {}
        self._finished = False

    def run(self) -> list[CaptureRecord]:
        """Starts the child and returns a record for each request, in order.

        Raises:
            KtraceError: what the child refused, as it said it.
            CaptureError: the child died or hung.
        """
        folder = Path(self._job.folder)
        read, write = os.pipe()
        root = str(Path(tracer.errors.__file__).resolve().parent.parent)
        code = _CODE.format(root=root, module=self._module, job=str(folder / "job.json"), handle=write)
        with (folder / "output.txt").open("wb") as output:
            child = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=folder,
                env=dict(self._environment),
                pass_fds=(write,),
                start_new_session=True,
            )
        os.close(write)
        try:
            if self._meanwhile is not None:
                self._meanwhile()
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
            raise self._error(f"the child process died (exit status {child.returncode})")
        return [self._records[index] for index in range(len(self._job.requests))]

    def _listen(self, read: int) -> None:
        receiver = Receiver()
        with selectors.DefaultSelector() as selector:
            selector.register(read, selectors.EVENT_READ)
            deadline = time.monotonic() + self._patience_s
            while True:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise self._hung()
                piece = os.read(read, 1 << 20)
                if not piece:
                    return
                for message in receiver.feed(piece):
                    self._take(message)
                deadline = time.monotonic() + self._patience_s

    def _take(self, message: Message) -> None:
        match message:
            case Doing(what, patience_s):
                self._doing, self._patience_s = what, max(self._timeout_s, patience_s)
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
        return self._error(f"the child process gave no sign of life for {self._patience_s:g} s")

    def _error(self, what: str) -> CaptureError:
        lines = (Path(self._job.folder) / "output.txt").read_text(errors="replace").splitlines()[-_OUTPUT_LINES:]
        output = "\n".join(f"  | {line}" for line in lines) or "  | (nothing)"
        return CaptureError(
            f"{what} while it was at: {self._doing}; the end of its output:\n{output}",
            hint="run `ktrace doctor`, and if that finds nothing report it with the output above",
        )
