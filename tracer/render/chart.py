"""The end-to-end flow as a chart in plain characters: a report in, the lines of a code block out.

Only the left edge is drawn, so that wide (Chinese) characters cannot push a frame out of line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tracer.model.report import KernelReport, Report
from tracer.model.source import Hop, Layer
from tracer.render.filters import dims, place_text

#: key of a language file, values -> text
Label = Callable[..., str]


def _call(report: Report) -> str:
    shape = ", ".join(f"{name}={extent}" for name, extent in report.record.call.shape.items())
    return f"{report.record.call.op}({shape})"


def _hop_lines(hop: Hop, label: Label) -> Iterator[str]:
    where = f"   {place_text(hop.source)}" if hop.source else ""
    yield f"[{label(f'layer.{hop.layer}')}] {hop.name}{where}   ({label(f'evidence.{hop.evidence}')})"


def _grouped(hops: tuple[Hop, ...]) -> list[Hop]:
    """The hops of a chain with neighbouring JIT frames told once: the list above the chart has every frame."""
    kept: list[Hop] = []
    for hop in hops:
        machinery = hop.layer in (Layer.JIT, Layer.REGISTERED_OP)
        if machinery and kept and kept[-1].layer == hop.layer:
            kept[-1] = hop
            continue
        kept.append(hop)
    return kept


def _kernel_lines(kernel: KernelReport, label: Label) -> Iterator[str]:
    launch = kernel.launch
    name = launch.instance or launch.kernel or "?"
    yield f"{label(f'kernel.kind.{kernel.kind}')} ↓"
    yield name
    facts = [f"grid {dims(launch.grid)}" if launch.grid else "", f"block {dims(launch.block)}" if launch.block else ""]
    if launch.resources.lds_bytes is not None:
        facts.append(f"LDS {launch.resources.lds_bytes} B")
    if launch.duration_us is not None:
        facts.append(f"{launch.duration_us:.3g} µs")
    if any(facts):
        yield "   ".join(fact for fact in facts if fact)


def flow_chart(report: Report, label: Label) -> str:
    """Draws the way from the call to every kernel."""
    lines = [_call(report)]
    for number, path in enumerate(report.paths, start=1):
        last = number == len(report.paths)
        lines += ["│", f"{'└' if last else '├'}─ {label('path.heading', number=number)} {path.title}"]
        edge = "   " if last else "│  "
        hops = _grouped(path.hops)
        for hop in hops:
            if hop.layer in (Layer.INSTANCE, Layer.KERNEL) and path.kernels and hop.evidence != "unresolved":
                continue
            lines += [f"{edge}  │"]
            lines += [f"{edge}  ▼ {line}" for line in _hop_lines(hop, label)]
        for kernel in path.kernels:
            lines.append(f"{edge}  │")
            for i, line in enumerate(_kernel_lines(kernel, label)):
                lines.append(f"{edge}  {'▼' if i == 0 else ' '} {line}")
    return "\n".join(lines)
