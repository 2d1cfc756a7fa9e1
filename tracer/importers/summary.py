"""What a trace holds, in figures: a joined timeline in; counts, times by family and operator and kernel groups out.

This is what `ktrace import` prints and what its --json holds. Times are sums of kernel durations in µs unless a name
says otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import msgspec

from tracer.importers.answers import KernelGroup, ReplaySummary, Share, Summary, SummaryDevice
from tracer.importers.joins import Found, Joined
from tracer.importers.launches import BY_SHARED_ID, blocks_of, resources_of, shape_of, why_no_stack
from tracer.importers.nesting import NONE
from tracer.importers.replay import Capture, graph_launches
from tracer.importers.stacks import NO_STACK, KernelStacks
from tracer.importers.targets import DeviceAnswer, devices_seen
from tracer.importers.timeline import NO_TIME
from tracer.model.evidence import Evidence
from tracer.model.kernel import DecodedName
from tracer.names import registry
from tracer.names.base import Context

#: fields that state a tile where the common GEMM view does not (attention, CUDA libraries, Triton)
_TILE_FIELDS = frozenset(
    {"tile", "block_tile", "tile_m", "tile_n", "tile_k", "m_per_block", "n_per_block", "k_per_block", "block_m"}
    | {"block_n", "macro_tile", "output_tile", "tile_extents", "q_tile", "bm0", "gemm0_block_tile"}
)
_TILE_CONSTEXPRS = ("BLOCK_M", "BLOCK_N", "BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE", "BLOCK", "XBLOCK")


class DecodedKernel(msgspec.Struct, frozen=True):
    """A kernel's name, read, with its tile where it states one."""

    decoded: DecodedName
    tile: tuple[int | None, int | None, int | None] | None
    has_tile: bool


def decode_kernel(name: str, arch: str | None) -> DecodedKernel:
    """Reads one name."""
    decoded = registry.decode(name, Context(target=arch))
    view = registry.view(decoded)
    tile = (view.tile_m, view.tile_n, view.tile_k) if view else None
    if tile is not None and tile == (None, None, None):
        tile = None
    constexprs = decoded.fields.get("constexprs")
    has_tile = (
        tile is not None
        or not _TILE_FIELDS.isdisjoint(decoded.fields)
        or (isinstance(constexprs, dict) and any(key in constexprs for key in _TILE_CONSTEXPRS))
    )
    return DecodedKernel(decoded, tile, has_tile)


def _union_us(spans: Iterable[tuple[float, float]]) -> float:
    """The time that at least one of some (start, duration) covers."""
    total = 0.0
    reach = -math.inf
    for start, duration in sorted(spans):
        end = start + max(0.0, duration)
        if end > reach:
            total += end - max(start, reach)
            reach = end
    return total


def _devices(joined: Joined, answers: tuple[DeviceAnswer, ...]) -> tuple[SummaryDevice, ...]:
    timeline, kernels = joined.timeline, joined.timeline.kernels
    counts = kernels.count if len(kernels.count) else [1] * len(kernels)
    spans: dict[int | None, list[tuple[float, float]]] = {}
    own: dict[int | None, list[float]] = {}
    executed: dict[int | None, int] = {}
    rows = zip(kernels.device, kernels.start_us, kernels.duration_us, counts, strict=True)
    for device, start, duration, count in rows:
        if start != NO_TIME:
            spans.setdefault(device, []).append((start, duration))
        own.setdefault(device, []).append(duration)
        executed[device] = executed.get(device, 0) + count
    for device, start, duration in timeline.copies_us:
        spans.setdefault(device, []).append((start, duration))
    found = []
    for answer in answers:
        active = spans.get(answer.id, [])
        first = min((start for start, _ in active), default=0.0)
        last = max((start + us for start, us in active), default=0.0)
        placed = bool(active) or not executed.get(answer.id)  # else no kernel states when it ran
        found.append(
            SummaryDevice(
                id=answer.id,
                name=answer.target.device_name,
                arch=answer.target.arch,
                compute_units=answer.target.compute_units,
                device=answer.target.device,
                evidence=answer.target.device_evidence,
                reason=answer.reason,
                kernel_count=executed.get(answer.id, 0),
                kernel_us=math.fsum(own.get(answer.id, ())),
                busy_us=_union_us(active) if placed else None,
                span_us=last - first if placed else None,
            )
        )
    return tuple(found)


class _Times:
    """Durations by key, summed exactly and rounded once."""

    def __init__(self) -> None:
        self._values: dict[Any, list[float]] = {}
        self._counts: dict[Any, int] = {}

    def add(self, key: Any, us: float, count: int) -> None:
        self._values.setdefault(key, []).append(us)
        self._counts[key] = self._counts.get(key, 0) + count

    def shares(self) -> tuple[Share, ...]:
        shares = [Share(key, self._counts[key], math.fsum(values)) for key, values in self._values.items()]
        return tuple(sorted(shares, key=lambda share: (-share.us, share.name or "")))


def group_rows(joined: Joined, stacks: KernelStacks) -> list[list[int]]:
    """Kernels that have one name, one stack and one operator, most time first."""
    kernels = joined.timeline.kernels
    groups: dict[tuple[int, int, int, str | None, int], list[int]] = {}
    for row, name in enumerate(kernels.name):
        key = (name, stacks.of[row], stacks.inferred[row], stacks.ops[row], joined.call_by[row])
        groups.setdefault(key, []).append(row)
    times = {key: math.fsum(kernels.duration_us[row] for row in rows) for key, rows in groups.items()}
    return [groups[key] for key in sorted(groups, key=lambda key: -times[key])]


def summarise(joined: Joined, file: str, capture: Capture | None = None, stacks: KernelStacks | None = None) -> Summary:
    """Summarises a trace.

    Args:
        joined: the trace with its links.
        file: its name, for the reader.
        capture: the trace of the capture of the graphs that it replays, matched.
        stacks: the kernels' stacks, where they are known already.
    """
    timeline, kernels = joined.timeline, joined.timeline.kernels
    stacks = stacks or KernelStacks(joined, capture)
    answers = devices_seen(timeline)
    arch = answers[0].target.arch if answers else None
    decoded: dict[int, DecodedKernel] = {}
    for name in dict.fromkeys(kernels.name):
        decoded[name] = decode_kernel(timeline.names.values_[name], arch)
    families, ops = _Times(), _Times()
    counts = kernels.count if len(kernels.count) else [1] * len(kernels)
    for row, us in enumerate(kernels.duration_us):
        families.add(decoded[kernels.name[row]].decoded.family, us, counts[row])
        ops.add(stacks.ops[row], us, counts[row])
    devices = _devices(joined, answers)
    busy = [device.busy_us for device in devices if device.busy_us is not None]
    spans = [device.span_us for device in devices if device.span_us is not None]
    return Summary(
        file=file,
        format=timeline.format,
        producer=timeline.producer.name,
        kernel_count=sum(counts),
        kernel_us=timeline.total_us(),
        with_stack_us=_time(joined, (s != NO_STACK for s in stacks.of)),
        inferred_stack_us=_time(joined, (inferred(joined, stacks, row) for row in range(len(kernels)))),
        decoded_us=_time(joined, (decoded[name].decoded.family is not None for name in kernels.name)),
        fields_us=_time(joined, (bool(decoded[name].decoded.fields) for name in kernels.name)),
        tile_us=_time(joined, (decoded[name].has_tile for name in kernels.name)),
        busy_us=math.fsum(busy) if busy or not devices else None,
        span_us=max(spans, default=None if devices else 0.0),
        lost=timeline.losses.entries(),
        devices=devices,
        kernels=tuple(_group(joined, stacks, decoded, rows, counts, capture) for rows in group_rows(joined, stacks)),
        families=families.shares(),
        ops=ops.shares(),
        replays=_replays(joined, capture),
        events=dict(timeline.events),
    )


def inferred(joined: Joined, stacks: KernelStacks, row: int) -> bool:
    """Whether a kernel has a stack that is only inferred: from a graph's capture, or by an id that several share."""
    shared = joined.call_by[row] == Found.SHARED_ID
    return stacks.of[row] != NO_STACK and (bool(stacks.inferred[row]) or shared)


def _time(joined: Joined, chosen: Iterable[bool]) -> float:
    durations = joined.timeline.kernels.duration_us
    return math.fsum(us for us, wanted in zip(durations, chosen, strict=True) if wanted)


def _group(
    joined: Joined,
    stacks: KernelStacks,
    decoded: dict[int, DecodedKernel],
    rows: list[int],
    counts: Any,
    capture: Capture | None,
) -> KernelGroup:
    timeline, kernels = joined.timeline, joined.timeline.kernels
    first = rows[0]
    known = decoded[kernels.name[first]]
    shape, unit = shape_of(joined, first)
    call = joined.call[first]
    stack = stacks.of[first]
    evidence = reason = None
    if stack != NO_STACK:
        shared = joined.call_by[first] == Found.SHARED_ID
        evidence = Evidence.INFERRED if inferred(joined, stacks, first) else Evidence.OBSERVED
        match = capture.match_of(first) if capture and stacks.inferred[first] else None
        reason = match.reason if match else BY_SHARED_ID if shared else None
    elif capture and joined.call_by[first] == Found.GRAPH and capture.match_of(first) is None:
        reason = capture.why_no_match()
    else:
        reason = why_no_stack(joined, first)
    return KernelGroup(
        name=timeline.names.values_[kernels.name[first]],
        spelled=known.decoded.spelled,
        family=known.decoded.family,
        fields=known.decoded.fields,
        tile=known.tile,
        op=stacks.ops[first],
        count=sum(counts[row] for row in rows),
        us=math.fsum(kernels.duration_us[row] for row in rows),
        stack=tuple(stacks.table.names(stack)),
        stack_evidence=evidence,
        stack_reason=reason,
        grid=blocks_of(shape.grid, shape.block, unit),
        block=shape.block if len(shape.block) == 3 else None,
        resources={
            key: value
            for key, value in msgspec.structs.asdict(resources_of(joined, first, shape)).items()
            if value is not None
        },
        call=timeline.names.values_[timeline.calls.name[call]] if call != NONE else None,
        graph=joined.call_by[first] == Found.GRAPH,
    )


def _replays(joined: Joined, capture: Capture | None) -> tuple[ReplaySummary, ...]:
    timeline = joined.timeline
    names, calls, kernels = timeline.names.values_, timeline.calls, timeline.kernels
    compared = {replay.call: replay for replay in capture.replays} if capture else {}
    found = []
    for call, rows in graph_launches(joined).items():
        replay = compared.get(call)
        found.append(
            ReplaySummary(
                call=names[calls.name[call]],
                kernels=len(rows),
                us=math.fsum(kernels.duration_us[row] for row in rows),
                matched=replay.matched if replay else None,
                captured=replay.captured if replay else None,
                in_order=replay.in_order if replay else None,
                stretches=replay.stretches if replay else None,
                named=replay.named if replay else None,
                missing=dict(replay.missing) if replay else {},
                surplus=dict(replay.surplus) if replay else {},
                complete=replay.complete if replay else None,
            )
        )
    return tuple(found)
