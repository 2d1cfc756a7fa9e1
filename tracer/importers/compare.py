"""Two traces or records side by side: kernels of both in, what changed out, by decoded fields, with times.

Kernels are compared where they do the same work: under the same operator, called from the same line. Between two
vendors no kernel name is the same, but the operators and the lines are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from tracer.importers.answers import KernelGroup, Summary
from tracer.importers.places import own_place
from tracer.importers.record_facts import Differences, call_facts, differences, flattened, launch_facts
from tracer.importers.summary import DecodedKernel, decode_kernel
from tracer.model.capture import CaptureRecord
from tracer.model.kernel import GemmView
from tracer.names import registry

DIFF_VERSION = 1


class SideKernel(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel at one place of one side.

    Attributes:
        name, spelled, family, tile: as in the summary.
        count: executions; us: their time, null where nothing was timed (dry records).
    """

    name: str
    spelled: str
    family: str | None
    tile: tuple[int | None, int | None, int | None] | None
    count: int
    us: float | None


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two inputs.

    Attributes:
        file: what was read; devices: as stated, or the target's name.
        kernel_count, kernel_us: all kernels; kernel_us is null where nothing was timed.
    """

    file: str
    devices: tuple[str, ...]
    kernel_count: int
    kernel_us: float | None


class KernelChange(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel of A and the one that stands in its place in B; null where there is none.

    Attributes:
        a, b: the kernels.
        fields: key -> [value in A, value in B], for what differs: every decoded field within one family; across
            families, what both state of the common GEMM view ("view.tile_m").
        launch: the same for the first launch: grid, block, resources, launch options; null where a side does not know.
    """

    a: SideKernel | None
    b: SideKernel | None
    fields: Differences = {}
    launch: Differences = {}


class PlaceDiff(msgspec.Struct, frozen=True, kw_only=True):
    """One place that launches kernels.

    Attributes:
        op: the innermost operator, or null; place: `function file:line` of the innermost frame of one's own, or null.
        a_us, b_us: time of its kernels; null where nothing was timed.
        a_count, b_count: executions.
        changed: whether the two sides run different kernels here.
        kernels: pairs; where nothing changed, the kernels that both run.
    """

    op: str | None
    place: str | None
    a_us: float | None
    b_us: float | None
    a_count: int
    b_count: int
    changed: bool
    kernels: tuple[KernelChange, ...]


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """The object of `ktrace diff --json`; its fields are described in docs/import.md."""

    schema_version: int = DIFF_VERSION
    a: Side
    b: Side
    call: Differences | None = None
    places: tuple[PlaceDiff, ...]
    changed_count: int
    unchanged_count: int


class _Kernel(msgspec.Struct, frozen=True):
    """A kernel with its place and its decoded name."""

    op: str | None
    place: str | None
    known: DecodedKernel
    kernel: SideKernel
    launch: dict[str, Any] = {}


class Comparable(msgspec.Struct, frozen=True):
    """One side with its kernels; `call` is what a record says of its call, None for a trace."""

    side: Side
    kernels: tuple[_Kernel, ...]
    call: dict[str, Any] | None = None


def from_summary(summary: Summary) -> Comparable:
    """A trace as a side."""
    arch = summary.devices[0].arch if summary.devices else None
    kernels = tuple(_of_group(group, arch) for group in summary.kernels)
    devices = tuple(dict.fromkeys(d.device or d.name or d.arch or "?" for d in summary.devices))
    return Comparable(
        Side(file=summary.file, devices=devices, kernel_count=summary.kernel_count, kernel_us=summary.kernel_us),
        kernels,
    )


def _of_group(group: KernelGroup, arch: str | None) -> _Kernel:
    kernel = SideKernel(
        name=group.name,
        spelled=group.spelled,
        family=group.family,
        tile=group.tile,
        count=group.count,
        us=group.us,
    )
    launch = flattened({"grid": group.grid, "block": group.block, "resources": group.resources})
    return _Kernel(group.op, own_place(group.stack), decode_kernel(group.name, arch), kernel, launch)


def from_record(record: CaptureRecord, file: str) -> Comparable:
    """A record, of whatever mode, as a side."""
    ops = {op.id: op.name for op in record.cpu_ops}
    frames = {frame.id: frame for frame in record.frames}
    kernels = []
    for launch in record.launches:
        name = launch.kernel or launch.instance
        if name is None:
            continue
        known = decode_kernel(name, record.target.arch)
        stack = []
        at = launch.frame
        while at is not None and at in frames:
            frame = frames[at]
            place = f"{frame.source.file}({frame.source.line}): {frame.function}" if frame.source else frame.function
            stack.append(place)
            at = frame.parent
        side = SideKernel(
            name=name,
            spelled=known.decoded.spelled,
            family=known.decoded.family,
            tile=known.tile,
            count=launch.count,
            us=launch.duration_us,
        )
        op = ops.get(launch.cpu_op) if launch.cpu_op is not None else None
        kernels.append(_Kernel(op, own_place(stack[::-1]), known, side, launch_facts(launch)))
    target = record.target
    timed = [kernel.kernel.us for kernel in kernels]
    return Comparable(
        Side(
            file=file,
            devices=(target.device or target.device_name or target.arch or "?",),
            kernel_count=sum(kernel.kernel.count for kernel in kernels),
            kernel_us=_sum(timed),
        ),
        tuple(kernels),
        call_facts(record),
    )


def _sum(times: Iterable[float | None]) -> float | None:
    known = list(times)
    return math.fsum(t for t in known if t is not None) if all(t is not None for t in known) else None


def compare(a: Comparable, b: Comparable) -> Diff:
    """Compares two sides, places with the largest difference in time first."""
    places: dict[tuple[str | None, str | None], tuple[list[_Kernel], list[_Kernel]]] = {}
    for number, side in enumerate((a, b)):
        for kernel in side.kernels:
            # without a place the kernel's own name is all that ties it to the other side
            key = (kernel.op, kernel.place) if kernel.op or kernel.place else (None, None)
            places.setdefault(key, ([], []))[number].append(kernel)
    found = []
    for (op, place), (left, right) in places.items():
        left, right = _merged(left), _merged(right)
        if op is None and place is None:
            for name in dict.fromkeys(k.kernel.name for k in (*left, *right)):
                one = [k for k in left if k.kernel.name == name]
                other = [k for k in right if k.kernel.name == name]
                found.append(_place(op, place, one, other))
        else:
            found.append(_place(op, place, left, right))
    found.sort(key=lambda p: -abs((p.b_us or 0.0) - (p.a_us or 0.0)))
    changed = sum(1 for place in found if place.changed)
    return Diff(
        a=a.side,
        b=b.side,
        call=differences(a.call, b.call) if a.call is not None and b.call is not None else None,
        places=tuple(found),
        changed_count=changed,
        unchanged_count=len(found) - changed,
    )


def _merged(kernels: Sequence[_Kernel]) -> list[_Kernel]:
    """One entry a kernel name, most time first."""
    by_name: dict[str, list[_Kernel]] = {}
    for kernel in kernels:
        by_name.setdefault(kernel.kernel.name, []).append(kernel)
    merged = [
        msgspec.structs.replace(
            own[0],
            kernel=msgspec.structs.replace(
                own[0].kernel, count=sum(k.kernel.count for k in own), us=_sum(k.kernel.us for k in own)
            ),
        )
        for own in by_name.values()
    ]
    return sorted(merged, key=lambda k: -(k.kernel.us or 0.0))


def _place(op: str | None, place: str | None, left: list[_Kernel], right: list[_Kernel]) -> PlaceDiff:
    changed = {k.kernel.name for k in left} != {k.kernel.name for k in right}
    return PlaceDiff(
        op=op,
        place=place,
        a_us=_sum(k.kernel.us for k in left),
        b_us=_sum(k.kernel.us for k in right),
        a_count=sum(k.kernel.count for k in left),
        b_count=sum(k.kernel.count for k in right),
        changed=changed,
        kernels=tuple(_pairs(left, right)),
    )


def _pairs(left: list[_Kernel], right: list[_Kernel]) -> Iterable[KernelChange]:
    """Kernels of both sides in pairs: equal names first, then equal families, then by time."""
    rest = list(right)
    pairs: list[tuple[_Kernel | None, _Kernel | None]] = []
    waiting = list(left)
    for same in (
        lambda one, other: one.kernel.name == other.kernel.name,
        lambda one, other: one.kernel.family is not None and one.kernel.family == other.kernel.family,
        lambda one, other: True,
    ):
        for one in list(waiting):
            other = next((k for k in rest if same(one, k)), None)
            if other is not None:
                pairs.append((one, other))
                waiting.remove(one)
                rest.remove(other)
    pairs += [(one, None) for one in waiting] + [(None, other) for other in rest]
    for first, second in pairs:
        if first is None or second is None:
            yield KernelChange(a=first.kernel if first else None, b=second.kernel if second else None)
            continue
        yield KernelChange(
            a=first.kernel,
            b=second.kernel,
            fields=_changes(first.known, second.known),
            launch=differences(first.launch, second.launch),
        )


def _changes(a: DecodedKernel, b: DecodedKernel) -> Differences:
    """What the decoder reads differently from two names."""
    one, other = a.decoded, b.decoded
    if one.family is not None and one.family == other.family:
        return differences(flattened(one.fields), flattened(other.fields))
    first, second = registry.view(one), registry.view(other)
    if first is None or second is None:
        return {}
    return {
        f"view.{field.name}": (getattr(first, field.name), getattr(second, field.name))
        for field in msgspec.structs.fields(GemmView)
        if field.name != "likely"  # says how a key was read, not what the name states
        and None not in (getattr(first, field.name), getattr(second, field.name))
        and getattr(first, field.name) != getattr(second, field.name)
    }
