"""What `ktrace isa` prints for people: a file or a call with its analysed kernels in, text out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tracer.analyse.code import KernelAnalysis
from tracer.cli.isa_answers import Shown, lost_of
from tracer.cli.name_text import printable, value_text
from tracer.codeobjects.files import CodeFile
from tracer.codeobjects.instructions import matrix_instructions
from tracer.codeobjects.kernel import CodeObject, KernelArgument, KernelCode
from tracer.codeobjects.targets import TargetId
from tracer.codeobjects.verdict import Verdict
from tracer.model.capture import CaptureRecord, Lost
from tracer.model.kernel import GemmView

#: more kernels than this are shown a line each
_BLOCKS = 6
_LONGEST_NAME, _MOST_FIELDS, _MOST_NAMES = 160, 8, 4
_SHORT = {
    "matrix": "matrix", "dot": "dot", "global_load": "loads", "global_store": "stores", "load_to_lds": "loads to LDS",
    "atomic": "atomics", "lds_read": "LDS reads", "lds_write": "LDS writes", "lds_other": "other LDS",
    "scratch": "scratch", "scalar_load": "scalar loads", "wait": "waits", "barrier": "barriers", "pause": "pauses",
    "branch": "branches", "valu": "VALU", "salu": "SALU", "other": "other",
}  # fmt: skip
Row = tuple[str, str]


class _Words(NamedTuple):
    """A vendor's own words for the same things."""

    unit: str
    part: str
    wave: str
    waves: str
    lds: str


_AMD = _Words("CU", "SIMD", "wave", "waves", "LDS")
_NVIDIA = _Words("SM", "sub-partition", "warp", "warps", "shared")


def _words(target: TargetId) -> _Words:
    return _NVIDIA if (target.arch or "").startswith("sm_") else _AMD


def _many(count: float, one: str, many: str | None = None) -> str:
    return f"{count:,g} {one if count == 1 else many or one + 's'}"


def file_text(
    file: CodeFile, kernels: list[Shown], verdict: Verdict | None, why: str | None, *, said: str | None, arguments: bool
) -> str:
    """The text of one file.

    Args:
        file: what was read.
        kernels: the kernels to show.
        verdict: for a built module, what it is worth.
        why: why there is no verdict.
        said: one more line, or None.
        arguments: whether to list arguments.
    """
    targets = ", ".join(dict.fromkeys(str(code.target) for code in file.objects))
    versions = sorted({code.version for code in file.objects if code.version is not None})
    head = f"{printable(file.path)}: {file.kind}" + (f", {targets}" if targets else "")
    if versions:
        head += f", code object V{', V'.join(map(str, versions))}"
    total = len(file.kernels)
    head += f", {_many(total, 'kernel')}"
    if len(kernels) != total:
        head += f", {len(kernels)} shown"
    rows = [*_module(file, verdict, why), *_lost(lost_of(file.objects, file.lost))]
    if said:
        rows.append(("note", said))
    return "\n".join([head, *_aligned(rows), *_kernels(kernels, arguments)])


def call_text(record: CaptureRecord, code: CodeObject, kernels: list[Shown]) -> str:
    """The text of one dry-run call."""
    shape = ",".join(f"{name}={extent}" for name, extent in record.call.shape.items())
    head = f"{record.call.op} {shape}  [{record.mode}] {record.target.arch} ({record.target.compute_units} CUs)"
    raised = [("raised", f"{record.exception.type}: {record.exception.message}")] if record.exception else []
    return "\n".join([head, *_aligned([*raised, *_lost(list(code.lost))]), *_kernels(kernels, arguments=False)])


def _aligned(rows: Sequence[Row], indent: str = "  ") -> list[str]:
    return [f"{indent}{name:12} {printable(text)}" for name, text in rows]


def _lost(lost: list[Lost]) -> Iterator[Row]:
    for entry in lost:
        yield "lost", f"{entry.count} {entry.what}" + (f": {entry.detail}" if entry.detail else "")


def _module(file: CodeFile, verdict: Verdict | None, why: str | None) -> Iterator[Row]:
    module = file.module
    if module is None:
        return
    if module.cuda:
        yield "CUDA", "it holds CUDA code, which ktrace does not read"
    if not module.objects:
        yield "device code", "none for AMD GPUs (no .hip_fatbin section with code objects)"
    if module.instances:
        more = len(module.instances) - _MOST_NAMES
        yield "instances", f"{len(module.instances)} of aiter" + (", the first:" if more > 0 else ":")
        yield from (("", f"  {name}") for name in module.instances[:_MOST_NAMES])
    if module.assembly_kernels:
        yield "assembly", f"names of {len(module.assembly_kernels)} assembly kernels, loaded from .co files"
    if verdict is None:
        yield "state", why or "unknown"
        return
    yield "state", verdict.state.value + (f" ({verdict.reason})" if verdict.reason else "")
    for found in verdict.findings:
        yield "", f"{found.state}: {found.text}  [{found.evidence}]"
        for row in found.rows[:_MOST_NAMES]:
            name = row.values.get("kernelName") or row.values.get("knl_name") or ""
            yield "", f"  {row.file}:{row.line} {name}"
        if not found.rows:
            yield from (("", f"  {name}") for name in found.names[:_MOST_NAMES])
    if verdict.assumption:
        yield "assumed", verdict.assumption


def _kernels(kernels: list[Shown], arguments: bool) -> Iterator[str]:
    if len(kernels) > _BLOCKS:
        yield "  VGPR  SGPR      LDS  scratch  threads  waves/SIMD  kernel"
        for shown in kernels:
            yield _line(shown.kernel)
        if any(shown.kernel.occupancy and not shown.kernel.occupancy.complete for shown in kernels):
            yield "  * registers or LDS are not stated, and left out of it"
        return
    for target, kernel in kernels:
        yield f"  {_shortened(kernel.decoded.spelled)}"
        yield from _aligned(list(_rows(kernel, _words(target), arguments)), "    ")


def _shortened(name: str) -> str:
    text = printable(name)
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 3]}..."


def _or_dash(value: Any) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _line(kernel: KernelAnalysis) -> str:
    code, found = kernel.code, kernel.occupancy
    registers = code.resources.vgprs if code.resources.vgprs is not None else code.resources.registers
    cells = (registers, code.resources.sgprs, code.resources.lds_bytes, code.resources.scratch_bytes, code.threads)
    waves = _or_dash(found.waves_per_simd) + ("" if found.complete else "*") if found else "-"
    first, *others = (_or_dash(cell) for cell in cells)
    widths = (5, 7, 8, 8)
    line = f"{first:>6}" + "".join(f"{cell:>{width + 1}}" for cell, width in zip(others, widths, strict=True))
    return f"{line}  {waves:>10}  {_shortened(kernel.decoded.spelled)}"


def _rows(kernel: KernelAnalysis, words: _Words, arguments: bool) -> Iterator[Row]:
    code = kernel.code
    family = kernel.decoded.family
    if family is not None:
        yield "reads as", f"{family}: {_stated(kernel)}"
    yield from _registers(code)
    lds, scratch = code.resources.lds_bytes, code.resources.scratch_bytes
    yield words.lds, "not stated" if lds is None else _many(lds, "byte")
    if scratch:
        yield "scratch", f"{_many(scratch, 'byte')} a lane"
    yield "block", _block(code, words)
    if code.arguments or code.kernarg_bytes is not None:
        size = "" if code.kernarg_bytes is None else f", {code.kernarg_bytes:,} bytes"
        yield "arguments", f"{len(code.arguments) or 'not listed'}{size}"
        if arguments:
            yield from (("", _argument(argument)) for argument in code.arguments)
    if code.code_bytes is not None:
        yield "code", f"{code.code_bytes:,} bytes" + (f" ({code.code_bytes_note})" if code.code_bytes_note else "")
    yield from _occupancy(kernel, words)
    yield from _instructions(kernel, words)
    yield from (("note", note) for note in code.notes)


def _stated(kernel: KernelAnalysis) -> str:
    """The fields of a name on one line: as a GEMM where it is one, else the first fields as they stand."""
    parts = _gemm(kernel.view) if kernel.view is not None else []
    if not parts:
        fields = [(k, v) for k, v in kernel.decoded.fields.items() if v is not None and v is not False]
        parts = [f"{key}={value_text(value)}" for key, value in fields[:_MOST_FIELDS]]
        parts += ["..."] if len(fields) > _MOST_FIELDS else []
    return ", ".join(parts) or "no fields"


def _gemm(view: GemmView) -> list[str]:
    parts = [view.op] if view.op else []
    for word, sides in (
        ("tile", (view.tile_m, view.tile_n, view.tile_k)),
        ("instruction", (view.instruction_m, view.instruction_n, view.instruction_k)),
        ("waves", (view.waves_m, view.waves_n, view.waves_k)),
    ):
        if any(side is not None for side in sides):
            known = sides if sides[2] is not None else sides[:2]
            parts.append(f"{word} {'x'.join('?' if side is None else str(side) for side in known)}")
    types = (view.dtype_a, view.dtype_b, view.dtype_c)
    parts += [f"A/B/C {'/'.join(t or '?' for t in types)}"] if any(types) else []
    parts += [f"split-K {view.split_k}"] if view.split_k is not None else []
    return parts + ([f"pipeline {view.pipeline}"] if view.pipeline else [])


def _registers(code: KernelCode) -> Iterator[Row]:
    res = code.resources
    said = []
    if res.vgprs is not None:
        parted = ""
        if code.architectural_vgprs is not None and code.allocated_vgprs is not None:
            rest = max(0, code.allocated_vgprs - code.architectural_vgprs)
            parted = (
                f" ({code.allocated_vgprs} allocated: {code.allocated_vgprs - rest} architectural, {rest} accumulation)"
            )
        elif res.agprs:
            parted = f" and {res.agprs} AGPR" if code.agprs_apart else f" (with {res.agprs} AGPR)"
        said.append(f"{res.vgprs} VGPR{parted}")
    said += [f"{res.sgprs} SGPR"] if res.sgprs is not None else []
    said += [f"{res.registers} a thread"] if res.registers is not None else []
    if res.vgpr_spills or res.sgpr_spills:
        said.append(f"spilled: {res.vgpr_spills or 0} VGPR, {res.sgpr_spills or 0} SGPR")
    elif res.vgpr_spills == 0:
        said.append("none spilled")
    if code.virtual_registers:
        said.append("virtual: " + ", ".join(f"{count} {kind}" for kind, count in code.virtual_registers.items()))
    yield "registers", ", ".join(said) or "not stated"


def _block(code: KernelCode, words: _Words) -> str:
    said = []
    if code.launched_block:
        said.append(f"launched with {'x'.join(map(str, code.launched_block))}")
    if code.required_block:
        said.append(f"required {'x'.join(map(str, code.required_block))}")
    if code.max_block_threads is not None and not code.required_block:
        said.append(f"at most {code.max_block_threads} threads")
    if code.wave_size is not None:
        said.append(f"{words.waves} of {code.wave_size}")
    return ", ".join(said) or "not stated"


def _argument(argument: KernelArgument) -> str:
    place = "    -" if argument.offset is None else f"{argument.offset:5}"
    size = "   -" if argument.size_bytes is None else f"{argument.size_bytes:4}"
    words = (argument.kind, argument.value_type, argument.address_space, argument.access)
    return f"{place} {size}  {argument.name or '(no name)':24} {' '.join(word for word in words if word)}"


def _occupancy(kernel: KernelAnalysis, words: _Words) -> Iterator[Row]:
    found = kernel.occupancy
    if found is not None:
        formula = f"{found.blocks_per_cu} * {found.waves_per_block} / {found.simds} = "
        waves = formula + _many(found.waves_per_simd, words.wave, words.waves)
        limit = _limit(found.limits[0].what, words)
        blocks = _many(found.blocks_per_cu, "block")
        yield "occupancy", f"{blocks} a {words.unit}, {waves} a {words.part}, limited by {limit}"
        yield from (("", f"{_limit(limit.what, words)}: {limit.formula}") for limit in found.limits)
    if kernel.occupancy_note:
        yield ("" if found else "occupancy"), kernel.occupancy_note


def _limit(what: str, words: _Words) -> str:
    return words.lds if what == "lds" else what


def _instructions(kernel: KernelAnalysis, words: _Words) -> Iterator[Row]:
    counts = kernel.code.instructions
    if counts is None:
        return
    kinds = ", ".join(f"{n} {_SHORT[kind].replace('LDS', words.lds)}" for kind, n in kernel.histogram.items())
    yield "instructions", f"{sum(counts.values()):,} by {kernel.code.instructions_from}: {kinds}"
    matrix = matrix_instructions(counts)
    yield from (("matrix" if i == 0 else "", f"{n} {name}") for i, (name, n) in enumerate(matrix.items()))
