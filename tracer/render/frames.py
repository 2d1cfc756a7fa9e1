"""The nested list of a path: frames, boundary calls, the library's choice and kernels in, lines of Markdown out."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from markupsafe import Markup

from tracer.model.capture import BoundaryCall, CpuOp, Frame
from tracer.model.evidence import Evidence
from tracer.model.report import FrameNode, KernelReport, Path, Report
from tracer.model.source import Decorator, Hop, Layer
from tracer.render.filters import code, named_place
from tracer.render.labels import in_text
from tracer.render.languages import Words
from tracer.render.rows import further
from tracer.resolve.layers import pybind_function
from tracer.resolve.paths import OUTER
from tracer.resolve.tree import leads_to_kernel

#: hops that a frame of the list stands for already
_IN_FRAMES = frozenset({Layer.PYTHON, Layer.JIT, Layer.REGISTERED_OP})


def evidence_badge(words: Words, evidence: str) -> Markup:
    """A word for how something is known, coloured by the style sheet."""
    return Markup(f"*{words(f'evidence.{evidence}')}*{{ .kt-ev .kt-{evidence} }}")


class _List:
    """Writes a nested list, four spaces a level."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def item(self, depth: int, text: str) -> None:
        self.lines.append(f"{'    ' * depth}- {text}")


def _frame_text(frame: Frame) -> Markup:
    name = pybind_function(frame) or frame.qualname or frame.function
    return named_place(name.rsplit("<locals>.", 1)[-1], frame.source)


def _comment(parts: list[str]) -> str:
    shown = [part for part in parts if part]
    return f" # {'; '.join(shown)}" if shown else ""


class FrameList:
    """The list of one path."""

    def __init__(self, path: Path, report: Report, words: Words) -> None:
        self.path = path
        self.words = words
        self.kernels = {kernel.launch.id: kernel for kernel in path.kernels}
        self.by_boundary: dict[int, list[KernelReport]] = {}
        for kernel in path.kernels:
            if kernel.launch.boundary is not None:
                self.by_boundary.setdefault(kernel.launch.boundary, []).append(kernel)
        self.evidence, self.reason = _frame_evidence(path)
        self.operators = {hop.name: hop for hop in reversed(path.hops) if hop.layer is Layer.REGISTERED_OP}
        self.out = _List()

    def text(self) -> Markup:
        """The whole list; the outer callers of an imported path come first, closed."""
        outer = [*self.doubt(), *self.outer_callers()]
        for node in self.path.tree:
            self.node(node, 0, None)
        if not self.path.tree:
            before: KernelReport | None = None
            for kernel in self.path.kernels:
                self.kernel(kernel, 0, before)
                before = kernel
        elif not self.path.kernels and not any(leads_to_kernel(node) for node in self.path.tree):
            for hop in self.path.hops:
                if hop.layer is Layer.KERNEL:
                    self.hop(hop, 0)
        return Markup("\n".join([*outer, *self.out.lines]))

    def doubt(self) -> list[str]:
        """One line that says why the frames of the path are not observed; their badges alone would not."""
        if not self.path.tree or self.reason is None:
            return []
        badge = evidence_badge(self.words, self.evidence)
        return [f"{badge} {self.words('frame.doubt', reason=self.words.reason(self.reason))}", ""]

    def outer_callers(self) -> list[str]:
        """A closed block with the callers that stand outside what is shown."""
        callers = [c for node in self.path.tree if OUTER in node.folded_by for c in node.children]
        texts: list[str] = []
        for node in callers:
            if node.operator is not None:
                texts.append(f"{code(node.operator.name)}{_comment([self.words(f'layer.{Layer.REGISTERED_OP}')])}")
            elif node.frame is not None:
                texts += [_frame_text(frame) for frame in (node.frame, *node.merged)]
        if not texts:
            return []
        lines = [f'??? note "{self.words("frame.outer", n=len(texts))}"']
        lines += [f"    {number}. {text}" for number, text in enumerate(texts, start=1)]
        return [*lines, ""]

    def node(self, node: FrameNode, depth: int, caller: Frame | None) -> None:
        """One frame or operator, what it calls, and where it leaves Python."""
        if node.operator is not None:
            self.operator(node, node.operator, depth, caller)
            return
        if node.frame is None:
            self.aside(node, depth)
            return
        shown = [_frame_text(frame) for frame in (node.frame, *node.merged)]
        layer = self.words(f"jit.{node.layer}") if node.layer else ""
        called = ""
        if node.frame.call_line is not None and caller is not None:
            called = self.words("frame.called_at", line=node.frame.call_line)
        decorated = self.decorated([d for frame in (node.frame, *node.merged) for d in frame.decorators])
        raised = self.words("frame.raised", type=node.frame.raised) if node.frame.raised else ""
        badge = evidence_badge(self.words, self.evidence)
        self.out.item(depth, f"{' → '.join(shown)}{_comment([layer, decorated, called, raised])} {badge}")
        for child in node.children:
            self.node(child, depth + 1, (node.merged or (node.frame,))[-1])
        self.leaves(node, depth + 1)

    def decorated(self, decorators: Sequence[Decorator]) -> str:
        """What is told of decorators that make a function cross a JIT layer."""
        told = [self.words("frame.decorated", name=code(f"@{d.name}"), line=d.line) for d in decorators]
        return ", ".join(told)

    def operator(self, node: FrameNode, op: CpuOp, depth: int, caller: Frame | None) -> None:
        """One operator among the frames, known as well as its hop is; what it calls stands below it."""
        hop = self.operators.get(op.name)
        self.hop(hop or Hop(layer=Layer.REGISTERED_OP, name=op.name, evidence=Evidence.OBSERVED), depth)
        for child in node.children:
            self.node(child, depth + 1, caller)
        self.leaves(node, depth + 1)

    def aside(self, node: FrameNode, depth: int) -> None:
        """A stand-in for folded frames, or boundary calls that no shown frame makes."""
        if node.folded and OUTER not in node.folded_by:
            names = ", ".join(self.words(f"filter.{name}") for name in node.folded_by)
            self.out.item(depth, f"*{self.words('frame.folded', n=node.folded, names=Markup(names))}*{{ .kt-folded }}")
        self.leaves(node, depth)

    def leaves(self, node: FrameNode, depth: int) -> None:
        """The boundary calls and launches that a frame makes itself."""
        for boundary in node.boundaries:
            self.boundary(boundary, depth)
        for launch in node.launches:
            kernel = self.kernels.get(launch)
            if kernel is not None and not any(b.id == kernel.launch.boundary for b in node.boundaries):
                self.kernel(kernel, depth)

    def boundary(self, boundary: BoundaryCall, depth: int) -> None:
        """A call into a JIT-built module, and what stands behind it.

        One that was resolved from an operator stands below that, in the chains of its kernels.
        """
        kernels = self.by_boundary.get(boundary.id, [])
        if boundary.evidence is not Evidence.OBSERVED:
            for kernel in kernels:
                self.kernel(kernel, depth)
            return
        name = named_place(f"{boundary.module}.{boundary.function}", boundary.source)
        stub, invented = boundary.declared_as, boundary.invented
        parts = [
            self.words("boundary.declared", name=code(stub)) if stub else "",
            self.words("boundary.built_from", name=code(boundary.built_from)) if boundary.built_from else "",
            self.decorated(boundary.decorators),
            self.words(f"boundary.{boundary.answered}"),
            self.words("boundary.invented_what", what=invented) if invented else "",
        ]
        self.out.item(depth, f"{name}{_comment(parts)} {evidence_badge(self.words, 'observed')}")
        for kernel in kernels:
            self.kernel(kernel, depth + 1)
        if not kernels and boundary.answered != "true":
            for hop in self.path.hops:
                if hop.layer not in _IN_FRAMES:
                    self.hop(hop, depth + 1)

    def kernel(self, kernel: KernelReport, depth: int, before: KernelReport | None = None) -> None:
        """What lies between the last frame and the kernel; operators that launched the one `before` too stand there."""
        hops = [hop for hop in kernel.hops[kernel.frame_hops :] if not self._stands_above(hop)]
        if before is not None and before.launch.cpu_op is not None and before.launch.cpu_op == kernel.launch.cpu_op:
            shared = len([*itertools.takewhile(lambda hop: hop.layer is Layer.REGISTERED_OP, hops)])
            hops, depth = hops[shared:], depth + shared
        tail = [hop for hop in hops if hop.layer in (Layer.INSTANCE, Layer.KERNEL)]
        several = bool(further(kernel))
        beside: int | None = None
        for hop in hops if several else [hop for hop in hops if hop not in tail] + tail:
            if several and hop.layer is Layer.LAUNCH:
                beside = depth = depth if beside is None else beside
            last = hop.layer is Layer.KERNEL if several else bool(tail) and hop is tail[-1]
            prefix = f"**{self.words(f'kernel.kind.{kernel.kind}')} ↓** " if last else ""
            shown = kernel.name if hop.layer is Layer.KERNEL and hop.name == kernel.launch.kernel else hop.name
            self.hop(hop, depth, prefix=prefix, name=in_text(shown))
            depth += 1

    def _stands_above(self, hop: Hop) -> bool:
        """Whether a hop is the boundary call that a frame makes, which is listed with the frame."""
        return hop.layer is Layer.JIT and hop.evidence is Evidence.OBSERVED and bool(self.by_boundary)

    def hop(self, hop: Hop, depth: int, prefix: str = "", name: str | None = None) -> None:
        """One hop that is no Python frame; a mangled symbol stands under its short name, and in full below."""
        parts: list[str] = [self.words(f"layer.{hop.layer}"), self.words.phrase(hop.note) if hop.note else ""]
        badge = evidence_badge(self.words, hop.evidence)
        told = hop.layer in _IN_FRAMES and self.path.tree and hop.reason == self.reason  # at the top of the list
        reason = f" {self.words.reason(hop.reason)}" if hop.reason and not told else ""
        self.out.item(depth, f"{prefix}{named_place(name or hop.name, hop.source)}{_comment(parts)} {badge}{reason}")
        for candidate in hop.candidates:
            self.out.item(depth + 1, f"{self.words('hop.candidate')} {code(candidate)}")


def _frame_evidence(path: Path) -> tuple[str, str | None]:
    """How the frames of a path are known, and why not better: the chain of its first kernel says so."""
    hops = [hop for hop in path.hops if hop.layer in _IN_FRAMES]
    frames = [hop for hop in hops if hop.layer is not Layer.REGISTERED_OP]
    return next(((hop.evidence, hop.reason) for hop in (*frames, *hops)), ("observed", None))


def frame_list(path: Path, report: Report, words: Words) -> Markup:
    """The nested list of a path as Markdown."""
    return FrameList(path, report, words).text()


def entry_list(entry: Sequence[FrameNode], words: Words) -> Markup:
    """The frames that all paths share, and the operators among them, each below its caller."""
    out = _List()
    for depth, node in enumerate(entry):
        if node.frame is not None:
            frames = " → ".join(_frame_text(frame) for frame in (node.frame, *node.merged))
            out.item(depth, f"{frames} {evidence_badge(words, 'observed')}")
        elif node.operator is not None:
            layer = _comment([words(f"layer.{Layer.REGISTERED_OP}")])
            out.item(depth, f"{code(node.operator.name)}{layer} {evidence_badge(words, 'observed')}")
    return Markup("\n".join(out.lines))
