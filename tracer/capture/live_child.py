"""The child process of a live capture: a job file in, records out through a pipe.

Each op is warmed up, captured once under the trace function and the profiler, and then timed with neither attached.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from tracer.capture.boundary import Boundary
from tracer.capture.environment import describe
from tracer.capture.frames import FrameRecorder
from tracer.capture.gpu import Gpu, LiveTensors
from tracer.capture.join import join_frames
from tracer.capture.outcome import call_of, exception_info, shorten, utc_now
from tracer.capture.places import Places
from tracer.capture.profile import Profile, kernel_sums_us, profile_once
from tracer.capture.protocol import CallRequest, Doing, Job, Message, Recorded, op_of, send
from tracer.capture.serving import serve
from tracer.capture.story import keep_story
from tracer.capture.timing import time_eager, time_graph, time_kernels
from tracer.errors import SourceTreeError, UsageError
from tracer.model.capture import CaptureRecord, ExceptionInfo
from tracer.model.evidence import Mode
from tracer.model.timing import Timing
from tracer.ops.base import Op
from tracer.ops.triton_gemm import AMD_OPTIONS

_WARM_UPS = 3
_PROFILED_CALLS = 20
_LONGEST_REASON = 200


class LiveChild:
    """The process: made once, then asked for each call of the job."""

    def __init__(self, job: Job, handle: int) -> None:
        self._job = job
        self._handle = handle
        roots = []
        if job.aiter is not None:
            roots = [(job.aiter.python_root + "/aiter", "aiter", "aiter/"), (job.aiter.meta_root, "aiter", "")]
        self._places = Places(roots)

    def say(self, message: Message) -> None:
        """Sends a message to the parent."""
        send(self._handle, message)

    def load(self) -> None:
        """Imports torch and, where a call needs it, aiter; asks the GPU what it is.

        Raises:
            CaptureError: torch can't use a GPU.
            SourceTreeError: aiter can't be imported.
        """
        self.say(Doing("importing torch"))
        import torch

        self._gpu = Gpu(self._job.device)
        self._tensors = LiveTensors()
        torch.set_grad_enabled(False)
        if self._job.aiter is None:
            return
        root = self._job.aiter.python_root
        self.say(Doing(f"importing aiter from {root}"))
        if self._gpu.vendor == "cuda":
            # aiter's C++ modules can't be built here; its import asks one of them for the values of enums
            jit = os.path.join(self._job.folder, "jit")
            Boundary(self._job.enums, jit, lambda _: None, lambda: 0).install()
        sys.path.insert(0, root)
        try:
            import aiter  # noqa: F401
        except (Exception, SystemExit) as error:
            raise SourceTreeError(
                f"the aiter in {root} can't be imported: {type(error).__name__}: {shorten(error)}",
                hint="check that it is whole and built for this machine, or name another with --aiter PATH",
            ) from error

    def run(self, index: int, request: CallRequest) -> None:
        """Makes, captures and times one call, and sends its record."""
        import torch

        op = op_of(request)
        self.say(Doing(f"{request.op} {dict(request.shape) or list(request.arguments)}"))
        recorder = FrameRecorder(self._places, self._job.frame_cap)
        failure: ExceptionInfo | None = None
        profile: Profile | None = None
        timings: tuple[Timing, ...] = ()
        try:
            self._tensors.reset()
            inputs = op.inputs(request.shape, request.options, self._tensors)
            input_bytes = self._tensors.bytes_made
            # a partial has no frame of its own: a Python closure here would be ktrace's, and hide what it calls
            call = functools.partial(op.call, options=request.options, config=request.config)
            for _ in range(_WARM_UPS):
                call(inputs)
            torch.cuda.synchronize()
            profile = profile_once(functools.partial(call, inputs), recorder, Path(self._job.folder))
            timings = self._time(op, request, call, inputs, input_bytes)
        except UsageError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - what the op raises is the answer
            failure = self._failure(error, recorder, request)
        finally:
            torch.cuda.empty_cache()
        self.say(Recorded(index, self._record(request, op, recorder, profile, timings, failure)))

    def _time(
        self, op: Op, request: CallRequest, call: Callable[[Any], Any], inputs: Any, input_bytes: int
    ) -> tuple[Timing, ...]:
        """Every method that works; why a graph does not stands in the eager figure."""
        cache = self._gpu.cache_bytes
        self.say(Doing(f"timing {request.op}: single calls"))
        eager = time_eager(functools.partial(call, inputs), input_bytes, cache)
        timings = []
        self.say(Doing(f"timing {request.op}: graph replay"))
        try:
            timings.append(
                time_graph(
                    lambda: op.inputs(request.shape, request.options, self._tensors),
                    call,
                    input_bytes,
                    cache,
                    eager.median_us,
                )
            )
        except Exception as error:  # noqa: BLE001 - an op that can't be captured is timed by single calls alone
            reason = f"{type(error).__name__}: {shorten(error)[:_LONGEST_REASON]}"
            eager = msgspec.structs.replace(eager, fallback_reason=f"the op can't be captured in a graph: {reason}")
        self.say(Doing(f"timing {request.op}: kernel durations"))
        sums = kernel_sums_us(functools.partial(call, inputs), _PROFILED_CALLS, Path(self._job.folder))
        timings.append(eager)
        if sums:
            timings.append(time_kernels(sums, input_bytes, cache))
        return tuple(timings)

    def _record(
        self,
        request: CallRequest,
        op: Op,
        recorder: FrameRecorder,
        profile: Profile | None,
        timings: tuple[Timing, ...],
        failure: ExceptionInfo | None,
    ) -> CaptureRecord:
        frames = recorder.frames()
        threads = {threading.get_native_id(): threading.get_ident()}
        launches, cpu_ops, missing = join_frames(
            frames, profile.launches if profile else (), profile.cpu_ops if profile else (), threads
        )
        lost = (*recorder.lost(), *(profile.lost if profile else ()), *missing)
        whole = CaptureRecord(
            mode=Mode.LIVE,
            call=call_of(request, op),
            target=self._gpu.target,
            environment=describe(self._job.aiter, dry=False),
            recorded_at=utc_now(),
            frames=frames,
            cpu_ops=cpu_ops,
            launches=launches,
            timings=timings,
            exception=failure,
            lost=lost,
            warnings=self._warnings(request),
        )
        return keep_story(whole)

    def _warnings(self, request: CallRequest) -> tuple[str, ...]:
        found = []
        dropped = [key for key in request.config or {} if key in AMD_OPTIONS]
        if dropped and self._gpu.vendor == "cuda":
            found.append(f"launch options that only AMD's backend knows were dropped: {', '.join(dropped)}")
        if self._gpu.vendor == "rocm":
            found.append("live capture on ROCm is unproven: nobody has compared it with another tool yet")
        return tuple(found)

    def _failure(self, error: BaseException, recorder: FrameRecorder, request: CallRequest) -> ExceptionInfo:
        import torch

        recorder.stop()
        message = None
        if isinstance(error, torch.OutOfMemoryError):
            free, total = torch.cuda.mem_get_info()
            message = (
                f"the GPU ran out of memory for {request.op} {dict(request.shape)}: {free / 2**30:.1f} of "
                f"{total / 2**30:.1f} GiB are free; try a smaller shape, or a GPU that nobody else uses "
                f"({shorten(error)})"
            )
        return exception_info(error, self._places, recorder, message)


def main(job_file: str, handle: int) -> None:
    """Does the job and leaves; never returns."""
    serve(job_file, handle, LiveChild)
