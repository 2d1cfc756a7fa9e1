"""From a record to its report: decode, resolve, analyse, in that order. Reads files at most, runs nothing.

A name that breaks its grammar, a chain that stops and a figure that is not public become notes and unresolved hops,
never exceptions: a record that loads has a report.
"""

from __future__ import annotations

from tracer.analyse.roofline import Time, analyse_roofline, best_timing
from tracer.devices.registry import default_device, get_device
from tracer.errors import UsageError
from tracer.model.capture import CaptureRecord, Launch
from tracer.model.evidence import Evidence, Mode
from tracer.model.kernel import DecodedName
from tracer.model.report import FieldRow, FrameNode, KernelKind, KernelReport, Note, NoteLevel, Path, Report
from tracer.model.roofline import RooflinePoint, Work
from tracer.model.source import Dispatch, Hop
from tracer.names import registry
from tracer.names.base import Context
from tracer.ops.registry import OPS
from tracer.resolve.hops import build_hops
from tracer.resolve.paths import End, SubFlow, one_path_a_launch, split
from tracer.resolve.tree import build_tree

_GLOSSARY = {grammar.name: grammar.keys for grammar in registry.GRAMMARS}


def build_report(record: CaptureRecord) -> Report:
    """Builds everything that a page shows from a record."""
    nodes, loose = build_tree(record)
    launched = frozenset(launch.boundary for launch in record.launches if launch.boundary is not None)
    entry: tuple[FrameNode, ...] = ()
    if record.mode is Mode.IMPORTED:
        flows = one_path_a_launch(nodes, launched)
    else:
        entry, flows = split(nodes, launched)
    paths = tuple(_path(record, entry, flow) for flow in flows)
    if loose:
        ends = tuple(End(spine=(), launch=launch) for launch in loose)
        paths = (
            *paths,
            *(_path(record, (), SubFlow(title=_loose_title(record, end), tree=(), spines=(end,))) for end in ends),
        )
    roofline, roof_notes = _roofline(record, paths)
    return Report(
        record=record,
        title=record.call.op,
        entry=entry,
        paths=paths,
        roofline=roofline,
        notes=(*_record_notes(record), *_name_notes(paths), *roof_notes),
    )


def _loose_title(record: CaptureRecord, end: End) -> str:
    launch = _launch(record, end.launch)
    return (launch.instance or launch.kernel or record.call.op) if launch else record.call.op


def _launch(record: CaptureRecord, launch_id: int | None) -> Launch | None:
    return next((launch for launch in record.launches if launch.id == launch_id), None)


def _dispatch(record: CaptureRecord, boundary: int | None) -> Dispatch | None:
    return next((d for d in record.dispatches if boundary is not None and d.boundary == boundary), None)


def _path(record: CaptureRecord, entry: tuple[FrameNode, ...], flow: SubFlow) -> Path:
    boundaries = {boundary.id: boundary for boundary in record.boundaries}
    kernels: list[KernelReport] = []
    hops: list[Hop] = []
    for end in flow.spines:
        launch = _launch(record, end.launch)
        boundary = end.boundary or (boundaries.get(launch.boundary) if launch and launch.boundary is not None else None)
        dispatch = _dispatch(record, boundary.id if boundary else None)
        chain = build_hops(record, (*entry, *end.spine), boundary=boundary, dispatch=dispatch, launch=launch)
        shared = next(
            (i for i, (a, b) in enumerate(zip(hops, chain, strict=False)) if a != b), min(len(hops), len(chain))
        )
        hops += chain[shared:]
        if launch is not None:
            kernels.append(_kernel(record, launch, dispatch, chain))
    return Path(title=flow.title, tree=flow.tree, hops=tuple(hops), kernels=tuple(kernels))


def _kernel(record: CaptureRecord, launch: Launch, dispatch: Dispatch | None, hops: tuple[Hop, ...]) -> KernelReport:
    context = Context(target=record.target.arch, constexpr_keys=launch.compiled.keys if launch.compiled else None)
    decoded = registry.decode(launch.kernel, context) if launch.kernel else None
    instance_name = launch.instance or (dispatch.instance if dispatch else None)
    instance = registry.decode(instance_name, context) if instance_name else None
    best = instance if instance and instance.known else decoded
    return KernelReport(
        launch=launch,
        kind=_kind(record, launch, decoded),
        decoded=decoded,
        instance_decoded=instance,
        fields=_field_rows(best) if best else (),
        view=registry.view(best) if best else None,
        hops=hops,
        dispatch=dispatch,
    )


def _kind(record: CaptureRecord, launch: Launch, decoded: DecodedName | None) -> KernelKind:
    family = (decoded.family if decoded else None) or ""
    if launch.compiled is not None or "triton" in family:
        return KernelKind.TRITON
    if family.startswith("aiter_asm"):
        return KernelKind.ASSEMBLY
    arch = record.target.arch or ""
    if arch.startswith("gfx"):
        return KernelKind.HIP
    return KernelKind.CUDA if arch.startswith("sm_") else KernelKind.UNKNOWN


def _field_rows(decoded: DecodedName) -> tuple[FieldRow, ...]:
    glossary = _GLOSSARY.get(decoded.grammar or "", {})
    rows = []
    for key, value in decoded.fields.items():
        start, end = decoded.spans[key]
        entry = glossary.get(key)
        rows.append(
            FieldRow(
                key=key,
                value=value,
                stated=decoded.spelled[start:end],
                start=start,
                end=end,
                meaning=entry.meaning if entry else None,
                unit=entry.unit if entry else None,
            )
        )
    return tuple(rows)


def _work(record: CaptureRecord) -> Work | None:
    op = next((op for op in OPS if op.name == record.call.op), None)
    if op is None or set(record.call.shape) != {dim.name for dim in op.dims}:
        return None
    options = {**{option.name: option.default for option in op.options}, **record.call.options}
    return op.work(record.call.shape, options)


def _roofline(record: CaptureRecord, paths: tuple[Path, ...]) -> tuple[RooflinePoint | None, tuple[Note, ...]]:
    work = _work(record)
    target = record.target
    if work is None:
        return None, (Note(level=NoteLevel.INFO, text_key="note.no_work", values={"op": record.call.op}),)
    device, evidence = None, target.device_evidence
    if target.device is not None:
        try:
            device = get_device(target.device)
        except UsageError:
            return None, (
                Note(level=NoteLevel.WARNING, text_key="note.unknown_device", values={"device": target.device}),
            )
    elif target.arch is not None and target.compute_units is not None:
        device, evidence = default_device(target.arch, target.compute_units), Evidence.ASSUMED
    if device is None:
        values = {"arch": str(target.arch), "compute_units": str(target.compute_units)}
        return None, (Note(level=NoteLevel.WARNING, text_key="note.no_device", values=values),)
    kernels = [kernel for path in paths for kernel in path.kernels]
    measured = best_timing(record.timings)
    if measured is None and record.mode is Mode.IMPORTED:
        durations = [k.launch.duration_us for k in kernels if k.launch.duration_us is not None]
        measured = Time(us=sum(durations), how="trace") if durations and len(durations) == len(kernels) else None
    quoted = None
    recorded = [k.dispatch.tuned for k in kernels if k.dispatch and k.dispatch.tuned and k.dispatch.tuned.recorded_us]
    if len(kernels) == 1 and len(recorded) == 1 and recorded[0].recorded_us:
        quoted = Time(us=recorded[0].recorded_us, how="tuner")
    point = analyse_roofline(
        work,
        device,
        device_evidence=evidence,
        compute_units=target.compute_units,
        measured=measured,
        quoted=quoted,
    )
    return point, ()


def _record_notes(record: CaptureRecord) -> tuple[Note, ...]:
    notes = []
    if record.exception is not None:
        values = {"type": record.exception.type, "message": record.exception.message}
        notes.append(Note(level=NoteLevel.DANGER, text_key="note.exception", values=values))
    notes += [Note(level=NoteLevel.WARNING, text_key="note.warning", values={"text": text}) for text in record.warnings]
    notes += [
        Note(
            level=NoteLevel.WARNING,
            text_key="note.lost",
            values={"what": lost.what, "count": str(lost.count), "detail": lost.detail or ""},
        )
        for lost in record.lost
    ]
    return tuple(notes)


def _name_notes(paths: tuple[Path, ...]) -> tuple[Note, ...]:
    notes = []
    for path in paths:
        for kernel in path.kernels:
            for decoded in (kernel.instance_decoded, kernel.decoded):
                if decoded is None:
                    continue
                notes += [
                    Note(level=NoteLevel.INFO, text_key="note.name", values={"name": decoded.text, "text": text})
                    for text in decoded.notes
                ]
            if kernel.disagreement:
                notes.append(
                    Note(level=NoteLevel.DANGER, text_key="note.disagreement", values={"text": kernel.disagreement})
                )
    return tuple(notes)
