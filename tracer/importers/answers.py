"""The object of `ktrace import --json`, typed: what a trace holds, in figures; times in µs. See docs/import.md."""

from __future__ import annotations

import msgspec

from tracer.model.capture import Lost
from tracer.model.evidence import Evidence
from tracer.model.kernel import FieldValue

SUMMARY_VERSION = 1


class SummaryDevice(msgspec.Struct, frozen=True, kw_only=True):
    """A device of the trace: what the trace states, which part that is, and how long it was busy.

    Attributes:
        id: the number that kernels carry, or null.
        name, arch, compute_units: as stated; device: the part in ktrace's tables; evidence: how that is known.
        kernel_count, kernel_us: its kernels.
        busy_us: time in which at least one kernel, copy or fill ran; span_us: from the first to the last of them.
    """

    id: int | None
    name: str | None
    arch: str | None
    compute_units: int | None
    device: str | None
    evidence: Evidence
    reason: str | None = None
    kernel_count: int = 0
    kernel_us: float = 0.0
    busy_us: float | None = None
    span_us: float | None = None


class KernelGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Executions of one kernel that have one Python stack.

    Attributes:
        name: as the trace gives it; spelled: the same without noise, demangled.
        family, fields: what the decoder reads from it.
        tile: tile M, N, K (null where the name does not state one); op: the innermost operator.
        count, us: executions and their time.
        stack: frames, outermost first; empty when there is none.
        stack_evidence: "observed", "inferred" (from a graph's capture, or by a shared id), or null without a stack.
        stack_reason: why there is no stack, or why it is only inferred.
        grid: blocks, block: threads, resources: registers, LDS and the like that the trace states, of the first
            execution; call: the runtime call that launched it.
        graph: whether graph launches ran it.
    """

    name: str
    spelled: str
    family: str | None
    fields: dict[str, FieldValue]
    tile: tuple[int | None, int | None, int | None] | None
    op: str | None
    count: int
    us: float
    stack: tuple[str, ...]
    stack_evidence: Evidence | None
    stack_reason: str | None
    grid: tuple[int, int, int] | None
    block: tuple[int, ...] | None
    resources: dict[str, int | float]
    call: str | None
    graph: bool


class Share(msgspec.Struct, frozen=True):
    """How much of the kernels belongs to one family or operator (null: to none)."""

    name: str | None
    count: int
    us: float


class ReplaySummary(msgspec.Struct, frozen=True, kw_only=True):
    """One graph launch; without a capture's trace, `matched` and `captured` are null.

    Attributes:
        call: the runtime call; kernels, us: what it ran.
        matched: kernels with a launch in the capture; captured: launches there; in_order: whether all names agree.
        stretches: how many stretches of the capture hold the same names in the same order; of several the first counts.
        named: whether the capture's launch calls state kernel names; without them order alone has to do.
        missing, surplus: kernels that the capture lacks, or that only it has, with counts.
        complete: whether the capture, or a stretch of it, holds the same kernels as the replay.
    """

    call: str
    kernels: int
    us: float
    matched: int | None = None
    captured: int | None = None
    in_order: bool | None = None
    stretches: int | None = None
    named: bool | None = None
    missing: dict[str, int] = {}
    surplus: dict[str, int] = {}
    complete: bool | None = None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The object of `ktrace import --json`; its fields are described in docs/import.md."""

    schema_version: int = SUMMARY_VERSION
    file: str
    format: str
    producer: str | None
    kernel_count: int
    kernel_us: float
    with_stack_us: float
    inferred_stack_us: float
    decoded_us: float
    fields_us: float
    tile_us: float
    busy_us: float | None
    span_us: float | None
    lost: tuple[Lost, ...]
    devices: tuple[SummaryDevice, ...]
    kernels: tuple[KernelGroup, ...]
    families: tuple[Share, ...]
    ops: tuple[Share, ...]
    replays: tuple[ReplaySummary, ...] = ()
    events: dict[str, int] = {}
    pages: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
