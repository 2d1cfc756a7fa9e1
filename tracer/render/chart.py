"""The end-to-end flow as a chart in plain characters: a report in, the lines of a code block out.

Only the left edge is drawn, so that wide (Chinese) characters cannot push a frame out of line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tracer.model.evidence import Evidence
from tracer.model.report import KernelReport, Path, Report
from tracer.model.source import Hop, Layer
from tracer.render.filters import dims, microseconds, place_text
from tracer.render.labels import brief

#: key of a language file, values -> text
Label = Callable[..., str]


def _call(report: Report) -> str:
    shape = ", ".join(f"{name}={extent}" for name, extent in report.record.call.shape.items())
    op = brief(report.record.call.op)
    return f"{op}({shape})" if shape else op


def _hop_line(hop: Hop, label: Label) -> str:
    where = f"   {place_text(hop.source)}" if hop.source else ""
    return f"[{label(f'layer.{hop.layer}')}] {hop.name}{where}   ({label(f'evidence.{hop.evidence}')})"


def _told(hops: Sequence[Hop], shared: int) -> list[Hop]:
    """The hops of a chain behind the first `shared`, neighbouring JIT frames told once, without the kernel itself."""
    kept: list[Hop] = []
    for hop in hops[shared:]:
        if hop.layer in (Layer.INSTANCE, Layer.KERNEL) and hop.evidence is not Evidence.UNRESOLVED:
            continue
        machinery = hop.layer in (Layer.JIT, Layer.REGISTERED_OP)
        if machinery and kept and kept[-1].layer is hop.layer:
            kept[-1] = hop
            continue
        kept.append(hop)
    return kept


def _kernel_lines(kernel: KernelReport, label: Label) -> list[str]:
    launch = kernel.launch
    lines = [f"{label(f'kernel.kind.{kernel.kind}')} ↓", kernel.name]
    facts = [f"grid {dims(launch.grid)}" if launch.grid else "", f"block {dims(launch.block)}" if launch.block else ""]
    if launch.resources.lds_bytes is not None:
        facts.append(f"{label('kernel.lds')} {launch.resources.lds_bytes} B")
    if launch.duration_us is not None:
        facts.append(microseconds(launch.duration_us))
    if any(facts):
        lines.append("   ".join(fact for fact in facts if fact))
    return lines


def _steps(path: Path, label: Label) -> Iterator[list[str]]:
    """The steps of a path, each with its lines; what two kernels share is told once."""
    if not path.kernels:
        yield from ([_hop_line(hop, label)] for hop in _told(path.hops, 0))
        return
    before: tuple[Hop, ...] = ()
    for kernel in path.kernels:
        shared = 0
        while shared < min(len(before), len(kernel.hops)) and before[shared] == kernel.hops[shared]:
            shared += 1
        yield from ([_hop_line(hop, label)] for hop in _told(kernel.hops, shared))
        yield _kernel_lines(kernel, label)
        before = kernel.hops


def flow_chart(report: Report, label: Label) -> str:
    """Draws the way from the call to every kernel."""
    lines = [_call(report)]
    for number, path in enumerate(report.paths, start=1):
        last = number == len(report.paths)
        lines += ["│", f"{'└' if last else '├'}─ {label('path.heading', number=number)} {brief(path.title)}"]
        edge = "   " if last else "│  "
        for step in _steps(path, label):
            lines += [f"{edge}  │", f"{edge}  ▼ {step[0]}", *(f"{edge}    {line}" for line in step[1:])]
    return "\n".join(lines)
