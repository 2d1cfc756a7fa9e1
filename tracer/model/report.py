"""The report: one record with all that was decoded, resolved and analysed about it; what a page is written from."""

from __future__ import annotations

import enum
from typing import Any

import msgspec

from tracer.model.capture import BoundaryCall, CaptureRecord, CpuOp, Frame, Launch
from tracer.model.kernel import DecodedName, GemmView
from tracer.model.roofline import Advice, Implication, RooflinePoint
from tracer.model.source import Dispatch, FlowStep, Hop


class JitLayer(enum.StrEnum):
    """The layers of machinery between a library's Python and its kernels."""

    COMPILE_OPS = "compile_ops"  #: aiter's compile_ops: finds or builds the module, then calls into it
    TORCH_GUARD = "torch_guard"  #: aiter's torch_compile_guard: registers the op with torch.library and calls it there
    GET_MODULE = "get_module"  #: aiter's loader of JIT-built modules
    TORCH_OPS = "torch_ops"  #: torch's dispatcher (OpOverload, OpOverloadPacket)
    TRITON_JIT = "triton_jit"  #: Triton's JITFunction, Autotuner and Heuristics: specialise, compile, launch
    BUILTIN = "builtin"  #: a C or C++ function that the trace names


class FrameNode(msgspec.Struct, frozen=True, kw_only=True):
    """A frame or an operator in the tree that a page shows.

    Attributes:
        frame: the frame; None for an operator and for a stand-in.
        operator: the operator, where the node is one.
        merged: further frames of the same layer, each called by the one before, shown on the same line.
        children: shown calls; for a stand-in of outer callers, those callers, each called by the one before.
        folded: for a stand-in: how many frames (of outer callers: frames and operators) stand behind it; folded_by
            names the filters that hid them.
        boundaries: the JIT boundary calls made directly in it.
        launches: ids of launches made directly in it.
        layer: recognised JIT layer, or None.
    """

    frame: Frame | None
    operator: CpuOp | None = None
    merged: tuple[Frame, ...] = ()
    children: tuple[FrameNode, ...] = ()
    folded: int = 0
    folded_by: tuple[str, ...] = ()
    boundaries: tuple[BoundaryCall, ...] = ()
    launches: tuple[int, ...] = ()
    layer: JitLayer | None = None


class KernelKind(enum.StrEnum):
    """What sort of source a kernel comes from."""

    HIP = "hip"  #: HIP C++ (CK and hand-written kernels)
    CUDA = "cuda"  #: CUDA C++
    TRITON = "triton"  #: a Triton function
    ASSEMBLY = "assembly"  #: an assembly code object
    UNKNOWN = "unknown"


class FieldRow(msgspec.Struct, frozen=True, kw_only=True):
    """One decoded field with its glossary entry.

    Attributes:
        key: the field's key; value: what the name states.
        stated: the text of the name that states it; "" when a token that the name leaves out states it.
        start, end: offsets of that text in the decoded name's `spelled`.
        meaning, unit: from the grammar's glossary, or None.
    """

    key: str
    value: Any
    stated: str
    start: int
    end: int
    meaning: str | None = None
    unit: str | None = None


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """Two ways to know a kernel that state different things.

    Attributes:
        resolved: what the library's rules choose; observed: what was seen to run.
        fields: key -> (resolved, observed), where both state it.
        observed_instances: the instances of the aiter at hand that compile to the observed kernel.
    """

    resolved: str
    observed: str
    fields: dict[str, tuple[str, str]] = {}
    observed_instances: tuple[str, ...] = ()


class KernelReport(msgspec.Struct, frozen=True, kw_only=True):
    """One launch with what is known about its kernel.

    Attributes:
        name: what a page calls the kernel: its instance, else its name without C++ parameters.
        launch: the launch.
        kind: what sort of source it comes from.
        decoded: its kernel's name, read; instance_decoded: its instance's name, read.
        fields: the fields of the instance's name (the kernel's, where there is no instance), in the name's order.
        beside: what the source states of the instance and its name does not print; `stated` is empty.
        symbol_fields: what the kernel's symbol states beyond its instance's name, where both are known.
        view: the common GEMM view, or None.
        hops: the chain that ends in it; the first `frame_hops` of them are the frames of its path and the
            operators among these.
        dispatch: the library's choice behind it, or None.
        implications: what the fields imply for this shape.
        disagreement: where the resolved instance and the observed kernel differ, or None.
    """

    name: str
    launch: Launch
    kind: KernelKind = KernelKind.UNKNOWN
    decoded: DecodedName | None = None
    instance_decoded: DecodedName | None = None
    fields: tuple[FieldRow, ...] = ()
    beside: tuple[FieldRow, ...] = ()
    symbol_fields: tuple[FieldRow, ...] = ()
    view: GemmView | None = None
    hops: tuple[Hop, ...] = ()
    frame_hops: int = 0
    dispatch: Dispatch | None = None
    implications: tuple[Implication, ...] = ()
    disagreement: Disagreement | None = None

    @property
    def core_flow(self) -> tuple[FlowStep, ...]:
        """The kernel's structure: of the source that was compiled, else of what the library's choice leads to."""
        compiled = self.launch.compiled
        if compiled is not None and compiled.core_flow:
            return compiled.core_flow
        return self.dispatch.core_flow if self.dispatch is not None else ()


class Path(msgspec.Struct, frozen=True, kw_only=True):
    """One sub-flow of the call: from the frame where it starts to the kernels where it ends.

    Attributes:
        title: the function that the sub-flow is about.
        tree: its frames and the operators among them, as shown.
        kernels: the launches that it ends in; empty when none was seen or resolved.
        hops: the chain of its kernels, each shared beginning once; for a path without a kernel, as far as it is known.
        dispatches: the library's choices on the way, with their tuned-config look-ups.
    """

    title: str
    tree: tuple[FrameNode, ...]
    hops: tuple[Hop, ...] = ()
    kernels: tuple[KernelReport, ...] = ()
    dispatches: tuple[Dispatch, ...] = ()


class NoteLevel(enum.StrEnum):
    """How loud a note is on the page."""

    INFO = "info"
    WARNING = "warning"
    DANGER = "danger"


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A note on the page: `text_key` is a key of the language files, `values` fill it."""

    level: NoteLevel
    text_key: str
    values: dict[str, str] = {}


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything for one page.

    Attributes:
        record: the facts.
        title: the page's heading, without "Source Trace".
        entry: the frames that all paths share, outermost first.
        paths: the sub-flows, in call order.
        roofline: of the whole call, where its work is known.
        advice: shape patterns and what they suggest.
        notes: what the reader must see first.
    """

    record: CaptureRecord
    title: str
    entry: tuple[FrameNode, ...] = ()
    paths: tuple[Path, ...] = ()
    roofline: RooflinePoint | None = None
    advice: tuple[Advice, ...] = ()
    notes: tuple[Note, ...] = ()
