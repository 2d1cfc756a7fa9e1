"""From a record to its report: decode, resolve, analyse, in that order. Reads files at most, runs nothing.

A name that breaks its grammar, a chain that stops and a figure that is not public become notes and unresolved hops,
never exceptions: a record that loads has a report.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tracer.analyse.call import KnownDevice, advice_of, device_of, roofline_of, subject_of, work_of
from tracer.analyse.coverage import Uncovered, uncovered_k
from tracer.analyse.implications import implications
from tracer.model.capture import TORCH_OPERATORS, CaptureRecord, Launch
from tracer.model.evidence import Evidence, Mode
from tracer.model.report import FrameNode, KernelReport, Note, NoteLevel, Path, Report
from tracer.model.roofline import Work
from tracer.model.source import Dispatch, Hop, Layer
from tracer.resolve.compare import disagreement
from tracer.resolve.hops import build_hops, count_frames
from tracer.resolve.kernels import kernel_report, short_name
from tracer.resolve.paths import End, SubFlow, one_path_a_launch, split
from tracer.resolve.tree import build_tree


def build_report(record: CaptureRecord) -> Report:
    """Builds everything that a page shows from a record."""
    entry, flows = _sub_flows(record)
    known, work = device_of(record.target), work_of(record)
    paths = tuple(_path(record, entry, flow, known, work) for flow in flows)
    kernels = tuple(kernel for path in paths for kernel in path.kernels)
    point = roofline_of(record, work, known, kernels) if work and known else None
    return Report(
        record=record,
        title=record.call.op,
        entry=entry,
        paths=paths,
        roofline=point,
        advice=advice_of(record, point, known, kernels),
        notes=tuple(_notes(record, kernels, known, work)),
    )


def _sub_flows(record: CaptureRecord) -> tuple[tuple[FrameNode, ...], tuple[SubFlow, ...]]:
    """The frames that all paths share, and the sub-flows; launches without a frame have sub-flows of their own."""
    nodes, loose = build_tree(record)
    launched = frozenset(launch.boundary for launch in record.launches if launch.boundary is not None)
    entry: tuple[FrameNode, ...] = ()
    if record.mode is Mode.IMPORTED:
        flows = one_path_a_launch(nodes, launched)
    else:
        entry, flows = split(nodes, launched)
    flows = (*flows, *_loose_flows(record, loose))
    if not flows and nodes:
        flows = (SubFlow(title=record.call.op, tree=nodes, spines=()),)
    return entry, flows


def _loose_flows(record: CaptureRecord, loose: tuple[int, ...]) -> tuple[SubFlow, ...]:
    """Sub-flows of launches without a frame: one for the call, in an imported trace one for each launch."""
    ends = tuple(End(spine=(), launch=launch_id) for launch_id in loose)
    if not ends:
        return ()
    if record.mode is not Mode.IMPORTED:
        return (SubFlow(title=record.call.op, tree=(), spines=ends),)
    launches = {launch.id: launch for launch in record.launches}
    return tuple(
        SubFlow(title=short_name(launches[i]), tree=(), spines=(end,)) for i, end in zip(loose, ends, strict=True)
    )


def _path(
    record: CaptureRecord,
    entry: tuple[FrameNode, ...],
    flow: SubFlow,
    known: KnownDevice | None,
    work: Work | None,
) -> Path:
    boundaries = {boundary.id: boundary for boundary in record.boundaries}
    launches = {launch.id: launch for launch in record.launches}
    kernels: list[KernelReport] = []
    hops: list[Hop] = []
    dispatches: list[Dispatch] = []
    for end in flow.spines:
        launch: Launch | None = launches[end.launch] if end.launch is not None else None
        boundary = end.boundary
        if launch is not None and launch.boundary is not None:
            boundary = boundaries.get(launch.boundary)
        dispatch = _dispatch(record, boundary.id if boundary else None)
        spine = (*entry, *end.spine)
        chain = build_hops(record, spine, boundary=boundary, dispatch=dispatch, launch=launch)
        hops += chain[_shared(hops, chain) :]
        if dispatch is not None and dispatch not in dispatches:
            dispatches.append(dispatch)
        if launch is not None:
            report = kernel_report(record, launch, dispatch, chain, count_frames(spine))
            kernels.append(_analysed(record, report, known, work))
    if not flow.spines:
        hops.append(Hop(layer=Layer.KERNEL, name="?", evidence=Evidence.UNRESOLVED, reason=_no_kernel(record)))
    return Path(
        title=flow.title,
        tree=flow.tree,
        hops=tuple(hops),
        kernels=tuple(kernels),
        dispatches=tuple(dispatches),
    )


def _no_kernel(record: CaptureRecord) -> str:
    """Why a call led to no kernel."""
    if record.exception is not None:
        return "the call raised before it reached a kernel"
    ran = next((lost.detail for lost in record.lost if lost.what == TORCH_OPERATORS), None)
    if ran is not None:
        return f"no kernel was reached but by torch's own operators, whose kernels a dry run does not resolve: {ran}"
    return "no kernel was reached"


def _shared(a: list[Hop], b: tuple[Hop, ...]) -> int:
    """How many hops two chains begin with together."""
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count


def _dispatch(record: CaptureRecord, boundary: int | None) -> Dispatch | None:
    return next((d for d in record.dispatches if boundary is not None and d.boundary == boundary), None)


def _analysed(
    record: CaptureRecord, kernel: KernelReport, known: KnownDevice | None, work: Work | None
) -> KernelReport:
    return msgspec.structs.replace(
        kernel,
        implications=implications(subject_of(record, kernel, known, work)),
        disagreement=disagreement(kernel),
    )


def _notes(
    record: CaptureRecord, kernels: tuple[KernelReport, ...], known: KnownDevice | None, work: Work | None
) -> Iterator[Note]:
    """Everything that the reader must see, the loudest first."""
    if record.exception is not None:
        values = {"type": record.exception.type, "message": record.exception.message}
        yield Note(level=NoteLevel.DANGER, text_key="note.exception", values=values)
    for kernel in kernels:
        yield from _kernel_notes(record, kernel)
    if record.mode is Mode.LIVE and (record.target.arch or "").startswith("gfx"):
        yield Note(level=NoteLevel.WARNING, text_key="note.live_rocm")
    told = any(_uncovered(record, kernel) for kernel in kernels)
    for text in record.warnings:
        if told and "SPLITK_BLOCK_SIZE" in text:
            continue  # said above, in the page's language
        yield Note(level=NoteLevel.WARNING, text_key="note.warning", values={"text": text})
    if work is None:
        yield Note(level=NoteLevel.INFO, text_key="note.no_work", values={"op": record.call.op})
    elif known is None:
        values = {
            "device": record.target.device or record.target.arch or "?",
            "compute_units": str(record.target.compute_units or "?"),
        }
        yield Note(level=NoteLevel.WARNING, text_key="note.no_device", values=values)
    elif (memory := known.device.hbm_bytes.value) is not None and _operands(work) > memory:
        values = {"bytes": _gib(_operands(work)), "memory": _gib(memory), "device": known.device.key}
        yield Note(level=NoteLevel.WARNING, text_key="note.too_large", values=values)
    for lost in record.lost:
        if lost.what == TORCH_OPERATORS:
            values = {"count": str(lost.count), "names": lost.detail or "?"}
            yield Note(level=NoteLevel.INFO, text_key="note.torch_operators", values=values)
            continue
        of_kernels = "kernel" in lost.what or "launch" in lost.what
        yield Note(
            level=NoteLevel.WARNING if of_kernels else NoteLevel.INFO,
            text_key="note.lost_of_trace" if record.mode is Mode.IMPORTED else "note.lost",
            values={"what": lost.what, "count": str(lost.count), "detail": lost.detail or ""},
        )


def _operands(work: Work) -> int:
    """Bytes that the operands take at least; one that several kernels of a call name is counted once."""
    sizes: dict[str, int] = {}
    for name, size in work.items:
        operand = name.rpartition(" ")[2]
        sizes[operand] = max(size, sizes.get(operand, 0))
    return sum(sizes.values())


def _gib(size: float) -> str:
    return f"{size / 2**30:,.0f} GiB"


def _uncovered(record: CaptureRecord, kernel: KernelReport) -> Uncovered | None:
    constants = kernel.launch.compiled.constexprs if kernel.launch.compiled else {}
    return uncovered_k(constants, record.call.shape.get("K"))


def _kernel_notes(record: CaptureRecord, kernel: KernelReport) -> Iterator[Note]:
    if kernel.disagreement is not None:
        found = kernel.disagreement
        values = {"resolved": found.resolved, "observed": found.observed}
        yield Note(level=NoteLevel.DANGER, text_key="note.disagreement", values=values)
    missing = _uncovered(record, kernel)
    if missing is not None:
        yield Note(
            level=NoteLevel.DANGER,
            text_key="note.k_not_covered",
            values={
                "splits": str(missing.splits),
                "size": str(missing.split_size),
                "covered": str(missing.covered),
                "k": str(missing.k),
            },
        )
    for decoded in (kernel.instance_decoded, kernel.decoded):
        if decoded is not None:
            for text in decoded.notes:
                yield Note(level=NoteLevel.INFO, text_key="note.name", values={"name": decoded.text, "text": text})
