"""The life of a child process: a job file and a way to make the child in, messages out, and then it is gone."""

from __future__ import annotations

import os
import resource
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, Protocol

import msgspec

from tracer.capture.protocol import CallRequest, Finished, Job, Refused, send
from tracer.errors import KtraceError


class Serves(Protocol):
    """A child: loads its libraries once, then makes one call after the other."""

    def load(self) -> None:
        """Imports what the calls need."""

    def run(self, index: int, request: CallRequest) -> None:
        """Makes one call and sends its record."""


def serve(job_file: str, handle: int, make: Callable[[Job, int], Serves]) -> NoReturn:
    """Does the job and leaves the process, whatever happens; what went wrong stands on the pipe or in the output."""
    code = 0
    try:
        warnings.simplefilter("ignore")
        job = msgspec.json.decode(Path(job_file).read_bytes(), type=Job)
        child = make(job, handle)
        try:
            child.load()
            for index, request in enumerate(job.requests):
                child.run(index, request)
            send(handle, Finished(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))
        except KtraceError as error:
            send(handle, Refused(type(error).__name__, error.message, error.expected, error.hint))
    except BaseException:  # noqa: BLE001 - whatever it is, the parent must be able to show it
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # no exit handlers: aiter's registered ops raise in torch's on CPU builds (torch 2.13)
        os._exit(code)
