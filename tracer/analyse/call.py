"""What a record says of its call as a whole: its work, its device, the times known of it, and each kernel's tiling.

A record and its paths in; the roofline, the subjects of `implications` and the advice out. Pure.
"""

from __future__ import annotations

import msgspec

from tracer.analyse.pattern import advise
from tracer.analyse.roofline import Time, analyse_roofline, best_timing
from tracer.analyse.subject import Subject
from tracer.analyse.tiles import Problem, Tile, Tiling, cut
from tracer.devices.base import Device
from tracer.devices.registry import all_devices, default_device
from tracer.model.capture import CaptureRecord
from tracer.model.environment import Target
from tracer.model.evidence import Evidence, Mode
from tracer.model.kernel import DecodedName
from tracer.model.report import KernelReport
from tracer.model.roofline import Advice, RooflinePoint, Work
from tracer.model.source import TunedStatus
from tracer.names.vocabulary import fold_dtype
from tracer.ops.registry import OPS
from tracer.ops.traced_gemm import traced_gemm_work

#: families of kernels of BLAS libraries, whose M and N are those of column-major matrices
COLUMN_MAJOR = frozenset(
    (
        "tensile_hipblaslt",
        "tensile_real",
        "tensile_custom",
        "cublas_nvjet",
        "cublas_xmma",
        "cublas_sass",
        "cutlass_in_cublas",
    )
)


class KnownDevice(msgspec.Struct, frozen=True):
    """A device and how it is known that it is this one."""

    device: Device
    evidence: Evidence


#: the output type that aiter's tuners time
_TUNED_OUTPUT = "bf16"


def device_of(target: Target) -> KnownDevice | None:
    """The device of a target: the one it names, else the default of its architecture and CU count, `assumed`."""
    if target.device is not None:
        found = next((d for d in all_devices() if d.key.lower() == target.device.lower()), None)
        return KnownDevice(found, target.device_evidence) if found else None
    if target.arch is None or target.compute_units is None:
        return None
    assumed = default_device(target.arch, target.compute_units)
    return KnownDevice(assumed, Evidence.ASSUMED) if assumed else None


def work_of(record: CaptureRecord) -> Work | None:
    """The work of the call, where its op is one that ktrace has formulas for."""
    op = next((op for op in OPS if op.name == record.call.op), None)
    if op is None and record.mode is Mode.IMPORTED:
        return _work_of_trace(record)
    if op is None or set(record.call.shape) != {dim.name for dim in op.dims}:
        return None
    options = {**{option.name: option.default for option in op.options}, **record.call.options}
    return op.work({dim.name: record.call.shape[dim.name] for dim in op.dims}, options)


def _work_of_trace(record: CaptureRecord) -> Work | None:
    """The work of a call that a trace shows as an operator, where the record holds all its kernels."""
    ops = {op.id: op for op in record.cpu_ops}
    around: set[int] | None = None
    for launch in record.launches:
        own = set()
        at = launch.cpu_op
        while at is not None and at in ops:
            own.add(at)
            at = ops[at].parent
        around = own if around is None else around & own
    executed = sum(launch.count for launch in record.launches)
    for number in sorted(around or ()):
        op = ops[number]
        if op.name == record.call.op and op.kernel_count == executed:
            return traced_gemm_work(op.name, op.inputs)
    return None


def measured_time(record: CaptureRecord) -> Time | None:
    """The time to hold against the roof: a timing of the record, or the kernel durations of the call in a trace.

    Timings of an imported record are of all calls alike, which may have other shapes: there the sum goes first.
    """
    best = best_timing(record.timings)
    if record.mode is not Mode.IMPORTED:
        return best
    durations = [launch.duration_us for launch in record.launches]
    known = [us for us in durations if us is not None]
    if not known or len(known) != len(durations):
        return best
    if sum(known) <= 0:
        return None  # a clock that jumped: no time that something takes
    how = "this one call's kernel duration in the trace"
    return Time(us=sum(known), how=how if len(known) == 1 else "sum of this one call's kernel durations in the trace")


def quoted_time(record: CaptureRecord, kernels: tuple[KernelReport, ...]) -> Time | None:
    """The tuner's own time, when the call is one kernel and a row for exactly this shape states one.

    A padded hit's row was timed for another M, so it says nothing of this call's share of the roof. Neither does a row
    for another output type: the tuners of aiter's CK GEMMs time bf16 only (gemm_a8w8_blockscale_tune.py and its kin).
    """
    if record.call.options.get("dtype", _TUNED_OUTPUT) != _TUNED_OUTPUT:
        return None
    if len(kernels) != 1 or kernels[0].dispatch is None or kernels[0].dispatch.tuned is None:
        return None
    tuned = kernels[0].dispatch.tuned
    recorded = tuned.recorded_us if tuned.status is TunedStatus.EXACT else None
    return Time(us=recorded, how="tuner") if recorded else None


def roofline_of(
    record: CaptureRecord, work: Work, known: KnownDevice, kernels: tuple[KernelReport, ...]
) -> RooflinePoint:
    """The roofline of the whole call."""
    return analyse_roofline(
        work,
        known.device,
        device_evidence=known.evidence,
        compute_units=record.target.compute_units,
        measured=measured_time(record),
        quoted=quoted_time(record, kernels),
    )


def problem_of(record: CaptureRecord) -> Problem | None:
    """The call's extents as a GEMM, where its shape names M, N and K."""
    shape = record.call.shape
    if not {"M", "N", "K"} <= set(shape):
        return None
    return Problem(m=shape["M"], n=shape["N"], k=shape["K"], batch=shape.get("B", 1))


def tiling_of(record: CaptureRecord, kernel: KernelReport) -> Tiling | None:
    """The call's shape cut into a kernel's tiles; None for a kernel that is no GEMM, or whose tile is not known.

    The matrices of a call are row-major, so to a BLAS library, which counts in column-major ones, its M is their N: the
    grids of real launches of Tensile and nvjet kernels agree. Only a launch that fits nothing else says otherwise.
    """
    view, problem = kernel.view, problem_of(record)
    if view is None or problem is None or not view.tile_m or not view.tile_n or not view.tile_k:
        return None
    stated = kernel.dispatch.parameters.get("k_batch") if kernel.dispatch else None
    split = view.split_k or (stated if isinstance(stated, int) and stated > 0 else 1)
    tile = Tile(m=view.tile_m, n=view.tile_n, k=view.tile_k, split_k=split)
    best = _best_name(kernel)
    if best is None or best.family not in COLUMN_MAJOR:
        return cut(problem, tile)
    turned, straight, launched = cut(problem.turn(), tile), cut(problem, tile), kernel.launch.blocks
    return straight if launched == straight.blocks != turned.blocks else turned


def _best_name(kernel: KernelReport) -> DecodedName | None:
    """The instance's name where there is one, else the kernel's."""
    return kernel.instance_decoded if kernel.instance_decoded and kernel.instance_decoded.known else kernel.decoded


def subject_of(record: CaptureRecord, kernel: KernelReport, known: KnownDevice | None, work: Work | None) -> Subject:
    """Everything that `implications` may ask about a kernel."""
    best = _best_name(kernel)
    dtype = kernel.view.dtype_a if kernel.view else None
    if dtype is None and kernel.view is not None and work is not None:
        dtype = work.compute_dtype
    return Subject(
        arch=record.target.arch,
        device=known.device if known else None,
        compute_units=record.target.compute_units,
        family=best.family if best else None,
        fields=best.fields if best else {},
        beside=kernel.dispatch.not_in_name if kernel.dispatch else {},
        view=kernel.view,
        dtype=fold_dtype(dtype) if dtype else None,
        tiling=tiling_of(record, kernel),
        launch=kernel.launch,
        lds_rule=_lds_rule(kernel),
        agprs_included=record.mode is not Mode.IMPORTED,
    )


def _lds_rule(kernel: KernelReport) -> str | None:
    """The line of source whose rule gave the launch its LDS; None where a code object or a profiler states it."""
    if kernel.dispatch is None or kernel.launch.compiled is not None or kernel.launch.evidence is not Evidence.RESOLVED:
        return None
    place = kernel.dispatch.parameters.get("sources", {}).get("lds_bytes")
    return place if isinstance(place, str) else None


def advice_of(
    record: CaptureRecord, point: RooflinePoint | None, known: KnownDevice | None, kernels: tuple[KernelReport, ...]
) -> tuple[Advice, ...]:
    """The patterns of the call, judged by its first kernel whose tile is known."""
    if point is None or known is None or not kernels:
        return ()
    tiled = ((kernel, tiling_of(record, kernel)) for kernel in kernels)
    kernel, tiling = next((pair for pair in tiled if pair[1] is not None), (None, None))
    launched = kernel.launch.blocks if kernel else None
    units = record.target.compute_units
    return advise(point, tiling, units, launched=launched, vendor=known.device.vendor)
