"""What `ktrace isa --json` prints: files, verdicts and analysed kernels in, documented objects (docs/json.md) out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from tracer.analyse.code import KernelAnalysis, analyse_code
from tracer.analyse.occupancy import Occupancy
from tracer.codeobjects.files import CodeFile
from tracer.codeobjects.instructions import matrix_instructions
from tracer.codeobjects.kernel import CodeObject, KernelCode
from tracer.codeobjects.targets import TargetId, runs_on
from tracer.codeobjects.verdict import Verdict
from tracer.errors import KtraceError
from tracer.model.capture import CaptureRecord, Lost


class Shown(NamedTuple):
    """A kernel to show, and what its code is for."""

    target: TargetId
    kernel: KernelAnalysis


def kernel_answers(
    objects: Iterable[CodeObject], fits: Callable[[KernelCode], bool], wanted: TargetId | None
) -> list[Shown]:
    """The kernels to show: those asked for, and, where code for several targets is there, those for the wanted one."""
    codes = list(objects)
    if wanted is not None and any(runs_on(code.target, wanted) for code in codes):
        codes = [code for code in codes if runs_on(code.target, wanted)]
    return [
        Shown(code.target, analyse_code(kernel, code.target))
        for code in codes
        for kernel in code.kernels
        if fits(kernel)
    ]


def _occupancy(found: Occupancy | None) -> dict[str, Any] | None:
    return None if found is None else msgspec.structs.asdict(found)


def _kernel(shown: Shown) -> dict[str, Any]:
    code, analysis = shown.kernel.code, shown.kernel
    counts = code.instructions
    return {
        "name": code.name,
        "target": str(shown.target),
        "family": analysis.decoded.family,
        "fields": analysis.decoded.fields if analysis.decoded.family else None,
        "view": analysis.view,
        "resources": {
            **msgspec.structs.asdict(code.resources),
            "architectural_vgprs": code.architectural_vgprs,
            "allocated_vgprs": code.allocated_vgprs,
            "virtual_registers": code.virtual_registers or None,
        },
        "wave_size": code.wave_size,
        "max_block_threads": code.max_block_threads,
        "required_block": code.required_block,
        "launched_block": code.launched_block,
        "kernarg_bytes": code.kernarg_bytes,
        "arguments": [msgspec.structs.asdict(argument) for argument in code.arguments],
        "code_bytes": code.code_bytes,
        "code_bytes_note": code.code_bytes_note,
        "dynamic_stack": code.dynamic_stack,
        "occupancy": _occupancy(analysis.occupancy),
        "occupancy_note": analysis.occupancy_note,
        "instructions": None
        if counts is None
        else {
            "from": code.instructions_from,
            "total": sum(counts.values()),
            "kinds": analysis.histogram,
            "matrix": matrix_instructions(counts),
            "mnemonics": counts,
        },
        "notes": code.notes,
    }


def lost_of(objects: Iterable[CodeObject], more: Sequence[Lost] = ()) -> list[Lost]:
    """What could not be read, of the file and of every object in it."""
    return [*more, *(lost for code in objects for lost in code.lost)]


def file_answer(file: CodeFile, kernels: list[Shown], verdict: Verdict | None, why: str | None) -> dict[str, Any]:
    """The object of one file.

    Args:
        file: what was read.
        kernels: the kernels to show.
        verdict: for a built module, what it is worth.
        why: why there is no verdict.
    """
    module = file.module
    return {
        "file": file.path,
        "kind": file.kind,
        "targets": list(dict.fromkeys(str(code.target) for code in file.objects)),
        "versions": sorted({code.version for code in file.objects if code.version is not None}),
        "kernels": [_kernel(kernel) for kernel in kernels],
        "module": None
        if module is None
        else {
            "name": module.name,
            "modified_ns": module.modified_ns,
            "code_objects": len(module.objects),
            "instances": module.instances,
            "assembly_kernels": module.assembly_kernels,
            "stripped": module.stripped,
            "cuda": module.cuda,
            "state": None if verdict is None else verdict.state,
            "findings": [] if verdict is None else [msgspec.to_builtins(found) for found in verdict.findings],
            "assumption": None if verdict is None else verdict.assumption,
            "reason": why if verdict is None else verdict.reason,
        },
        "lost": [msgspec.structs.asdict(lost) for lost in lost_of(file.objects, file.lost)],
        "error": None,
    }


def call_answer(record: CaptureRecord, code: CodeObject, kernels: list[Shown]) -> dict[str, Any]:
    """The object of one dry-run call of an op."""
    return {
        "op": record.call.op,
        "shape": record.call.shape,
        "mode": record.mode,
        "target": record.target.arch,
        "cu_num": record.target.compute_units,
        "kernels": [_kernel(kernel) for kernel in kernels],
        "exception": None if record.exception is None else f"{record.exception.type}: {record.exception.message}",
        "lost": [msgspec.structs.asdict(lost) for lost in code.lost],
        "error": None,
    }


def failed_answer(given: str, error: KtraceError) -> dict[str, Any]:
    """The object of an input that could not be read."""
    return {"file": given, "kind": None, "error": error.message, "expected": error.expected, "hint": error.hint}
