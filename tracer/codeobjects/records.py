"""The kernels of a ktrace record as code: a record in, each launched kernel with what was compiled or seen out."""

from __future__ import annotations

import msgspec

from tracer.codeobjects.kernel import CodeObject, KernelCode
from tracer.codeobjects.targets import TargetId, parse_target
from tracer.model.capture import CaptureRecord, Launch, Lost
from tracer.model.evidence import Mode

FROM = "record"
_ENCODE = msgspec.json.Encoder(order="sorted").encode


def code_of_record(record: CaptureRecord) -> CodeObject:
    """Every kernel that a record launches, in launch order; one that was launched alike several times stands once."""
    kernels: dict[bytes, KernelCode] = {}
    nameless = 0
    for launch in record.launches:
        name = _name(record, launch)
        if name is None:
            nameless += 1
            continue
        kernel = _kernel(record, launch, name)
        kernels.setdefault(_ENCODE(kernel), kernel)
    arch = record.target.arch
    target = parse_target(arch) if arch else None
    return CodeObject(
        target=target or TargetId(arch=arch),
        kernels=tuple(kernels.values()),
        lost=(Lost("launches whose kernel is not known", nameless),) if nameless else (),
    )


def _name(record: CaptureRecord, launch: Launch) -> str | None:
    if launch.kernel is not None or launch.instance is not None:
        return launch.kernel or launch.instance
    symbols = [d.symbols for d in record.dispatches if d.boundary is not None and d.boundary == launch.boundary]
    return symbols[0][0] if symbols and len(symbols[0]) == 1 else None


def _kernel(record: CaptureRecord, launch: Launch, name: str) -> KernelCode:
    compiled = launch.compiled
    notes = [f"{launch.evidence}: {launch.reason}"] if launch.reason else []
    return KernelCode(
        name=name,
        resources=launch.resources,
        agprs_apart=record.mode is Mode.IMPORTED,
        wave_size=record.target.wave_size,
        launched_block=launch.block,
        lds_is_whole=launch.resources.lds_bytes is not None,
        instructions=dict(compiled.instructions) if compiled is not None and compiled.instructions else None,
        instructions_from=FROM if compiled is not None and compiled.instructions else None,
        notes=tuple(notes),
    )
