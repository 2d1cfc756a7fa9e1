"""rocprofv3's JSON (rocprofiler-sdk's schema): unpacked blocks in, a Timeline out.

Kernel symbols, agents and API names stand in lists beside the dispatches and are tied to them by number at the end, so
their order in the file does not matter. Dispatches count work-items.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from tracer.importers.arrays import ArrayStream
from tracer.importers.columns import column, put
from tracer.importers.elements import Elements
from tracer.importers.enclosing import count_text_around
from tracer.importers.losses import Losses
from tracer.importers.rocprof_events import Agent, ApiCall, ApiKind, Copy, Correlation, Dispatch, DispatchInfo, Symbol
from tracer.importers.rows import whole
from tracer.importers.salvage import with_whole_pairs
from tracer.importers.timeline import (
    MISSING,
    NO_DURATION,
    NO_START,
    NO_TIME,
    Interner,
    Producer,
    SeenDevice,
    Timeline,
    put_ids,
)
from tracer.model.evidence import GridUnit

FORMAT = "rocprofv3 JSON"


class _Process:
    """What belongs to one process of the file."""

    def __init__(self) -> None:
        self.symbols: dict[int, Symbol] = {}
        self.agents: dict[int, Agent] = {}
        self.kinds: list[ApiKind] = []


class RocprofReader:
    """Fills a timeline from the lists of a rocprofv3 file."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._processes: list[_Process] = []
        self._agents_array = -1
        self._takers: dict[str, Callable[[Sequence[Any]], None]] = {
            "agents": self._take_agents,
            "kernel_symbols": self._take_symbols,
            "buffer_records": self._take_kinds,
            "kernel_dispatch": self._take_dispatches,
            "hip_api": self._take_calls,
            "memory_copy": self._take_copies,
        }
        #: (process, kernel id), (process, kind, operation), and launch shapes with their kernel: numbered until the end
        self._kernels: Interner[tuple[int, int]] = Interner()
        self._operations: Interner[tuple[int, int, int]] = Interner()
        self._shapes: Interner[tuple[Any, ...]] = Interner()
        self._agents: Interner[tuple[int, int]] = Interner()
        self._copies: list[tuple[int, float, float]] = []

    def wanted(self) -> dict[str, Elements[Any]]:
        """The lists that are read."""
        types: dict[str, tuple[type, tuple[str, ...]]] = {
            "agents": (Agent, ("size", "id")),
            "kernel_symbols": (Symbol, ("size", "kernel_id")),
            "buffer_records": (ApiKind, ("kind",)),
            "kernel_dispatch": (Dispatch, ("size", "kind", "thread_id")),
            "hip_api": (ApiCall, ("size", "kind", "thread_id")),
            "memory_copy": (Copy, ("size", "kind", "thread_id")),
        }
        return {
            key: Elements(first_keys=first, decode=msgspec.json.Decoder(list[kind]).decode, loosen=_loosener(kind))  # type: ignore[valid-type]
            for key, (kind, first) in types.items()
        }

    def take(self, key: str, number: int, items: Sequence[Any]) -> None:
        """Adds elements of one list; a new list of agents begins a new process."""
        if key == "agents" and number != self._agents_array:
            self._agents_array = number
            self._processes.append(_Process())
        elif not self._processes:
            self._processes.append(_Process())
        events = self._timeline.events
        events[key] = events.get(key, 0) + len(items)
        self._takers[key](items)

    def _take_agents(self, items: Sequence[Agent]) -> None:
        self._processes[-1].agents.update((agent.id.handle, agent) for agent in items)

    def _take_symbols(self, items: Sequence[Symbol]) -> None:
        self._processes[-1].symbols.update((symbol.kernel_id, symbol) for symbol in items)

    def _take_kinds(self, items: Sequence[ApiKind]) -> None:
        self._processes[-1].kinds += items

    def _us(self, nanoseconds: list[int]) -> list[float]:
        """Times in microseconds since the first one of the file."""
        timeline = self._timeline
        base = timeline.base_ns = timeline.base_ns or next((value for value in nanoseconds if value > 0), 0)
        return [(value - base) / 1000 for value in nanoseconds]

    def _take_dispatches(self, items: Sequence[Dispatch]) -> None:
        process = len(self._processes) - 1
        kernels, shapes, agents = self._timeline.kernels, self._shapes, self._agents
        infos = [item.dispatch_info for item in items]
        own = [self._kernels[process, info.kernel_id] for info in infos]
        first = len(kernels)
        put(kernels.name, own)
        lacking = [row for row, item in enumerate(items) if MISSING in (item.start_timestamp, item.end_timestamp)]
        starts = self._us([item.start_timestamp for item in items])
        durations = [(item.end_timestamp - item.start_timestamp) / 1000 for item in items]
        for row in lacking:
            durations[row] = 0.0
            if items[row].start_timestamp == MISSING:
                starts[row] = NO_TIME
                self._timeline.lacks_starts = True
        self._timeline.untimed.update(first + row for row in lacking)
        self._timeline.losses.add(NO_DURATION, len(lacking))
        self._timeline.losses.add(NO_START, sum(item.start_timestamp == MISSING for item in items))
        put(kernels.start_us, starts)
        put(kernels.duration_us, durations)
        put(kernels.device, [agents[process, info.agent_id.handle] for info in infos])
        streams = [(item.stream_id or item.dispatch_info.queue_id).handle for item in items]
        put_ids(kernels.stream, streams, self._timeline)
        put_ids(kernels.correlation, self._correlations(items, process), self._timeline)
        put(kernels.external, [MISSING] * len(items))
        put(
            kernels.shape,
            [
                shapes[info.grid_size, info.workgroup_size, info.group_segment_size, info.private_segment_size, kernel]
                for info, kernel in zip(infos, own, strict=True)
            ],
        )

    def _take_calls(self, items: Sequence[ApiCall]) -> None:
        process = len(self._processes) - 1
        calls, threads = self._timeline.calls, self._timeline.threads
        put(calls.name, [self._operations[process, item.kind, item.operation] for item in items])
        put(calls.start_us, self._us([item.start_timestamp for item in items]))
        put(calls.duration_us, [(item.end_timestamp - item.start_timestamp) / 1000 for item in items])
        put(calls.thread, [threads[process, item.thread_id] for item in items])
        put_ids(calls.correlation, self._correlations(items, process), self._timeline)
        put(calls.external, [MISSING] * len(items))
        put(calls.kernel, [-1] * len(items))
        put(calls.shape, [self._timeline.shapes[()]] * len(items))

    @staticmethod
    def _correlations(items: Sequence[Dispatch | ApiCall], process: int) -> list[int]:
        """Ids that are unique in the file: the file's own are counted a process."""
        return [item.correlation_id.internal << 8 | process & 255 for item in items]

    def _take_copies(self, items: Sequence[Copy]) -> None:
        process = len(self._processes) - 1
        for item, start in zip(items, self._us([item.start_timestamp for item in items]), strict=True):
            duration = (item.end_timestamp - item.start_timestamp) / 1000
            for agent in {item.dst_agent_id.handle, item.src_agent_id.handle}:
                self._copies.append((self._agents[process, agent], start, duration))

    def finish(self) -> None:
        """Puts names and devices in the place of numbers."""
        timeline = self._timeline
        kernels, calls, names = timeline.kernels, timeline.calls, timeline.names
        symbols = [self._symbol(process, number) for process, number in self._kernels.values_]
        unnamed = {index for index, symbol in enumerate(symbols) if symbol is None}
        if unnamed:
            count = sum(1 for own in kernels.name if own in unnamed)
            timeline.losses.add("kernels whose symbol is not in the file (named by number)", count)
        titles = [
            names[_name_of(symbol) if symbol else f"kernel id {number}"]
            for symbol, (_, number) in zip(symbols, self._kernels.values_, strict=True)
        ]
        shapes = [timeline.shapes[self._launch_shape(key, symbols[key[-1]])] for key in self._shapes.values_]
        devices, numbers = self._devices()
        kernels.name = _mapped(kernels.name, titles)
        kernels.shape = _mapped(kernels.shape, shapes)
        kernels.device = _mapped(kernels.device, numbers)
        gpus = {device.id for device in devices}
        timeline.copies_us = [
            (numbers[agent], start, us) for agent, start, us in self._copies if numbers[agent] in gpus
        ]
        calls.name = _mapped(calls.name, [names[self._operation(*key)] for key in self._operations.values_])
        timeline.devices = devices

    def _symbol(self, process: int, kernel_id: int) -> Symbol | None:
        return self._processes[process].symbols.get(kernel_id)

    def _operation(self, process: int, kind: int, operation: int) -> str:
        kinds = self._processes[process].kinds
        listed = kinds[kind].operations if 0 <= kind < len(kinds) else []
        return listed[operation] if 0 <= operation < len(listed) else f"API call {kind}.{operation}"

    @staticmethod
    def _launch_shape(key: tuple[Any, ...], symbol: Symbol | None) -> tuple[Any, ...]:
        grid, block, lds_bytes, scratch_bytes, _ = key
        grid, block = (grid.x, grid.y, grid.z), (block.x, block.y, block.z)
        registers = (symbol.arch_vgpr_count, symbol.accum_vgpr_count, symbol.sgpr_count) if symbol else (None,) * 3
        return (grid, block, GridUnit.WORK_ITEMS, lds_bytes, None, None, *registers, scratch_bytes)

    def _devices(self) -> tuple[tuple[SeenDevice, ...], list[int]]:
        """The GPUs, and for each numbered agent the GPU's number."""
        devices: dict[int, SeenDevice] = {}
        numbers = []
        for process, handle in self._agents.values_:
            agent = self._processes[process].agents.get(handle)
            number = handle if agent is None else _gpu_number(agent)
            numbers.append(number)
            if agent is not None and agent.type != _CPU:
                devices.setdefault(number, _device(agent, number))
        return tuple(devices[number] for number in sorted(devices)), numbers


_CPU = 1
_TIMES = ("start_timestamp", "end_timestamp")


def _mapped(numbers: array[int], values: list[int]) -> array[int]:
    return column("q", [values[number] for number in numbers])


def _name_of(symbol: Symbol) -> str:
    return symbol.formatted_kernel_name or symbol.kernel_name


def _gpu_number(agent: Agent) -> int:
    for number in (agent.gpu_index, agent.logical_node_type_id):
        if number is not None and number >= 0:
            return number
    return agent.id.handle


def _device(agent: Agent, number: int) -> SeenDevice:
    sizes = [bank.get("size_in_bytes") for bank in agent.mem_banks if isinstance(bank, dict)]
    memory = sum(size for size in sizes if isinstance(size, int))
    return SeenDevice(
        id=number,
        name=agent.product_name or None,
        arch=agent.name if agent.name.startswith("gfx") else None,
        compute_units=agent.cu_count or None,
        wave_size=agent.wave_front_size or None,
        memory_bytes=memory or None,
    )


def _loosener(kind: type) -> Callable[[dict[str, Any], int], Any]:
    def loosen(value: dict[str, Any], byte: int) -> Any:
        try:
            return msgspec.convert(value, kind, strict=False)
        except (msgspec.ValidationError, ValueError):
            return _nearest_dispatch(value) if kind is Dispatch else None

    return loosen


def _nearest_dispatch(value: dict[str, Any]) -> Dispatch | None:
    """A kernel is kept whatever of it can't be read, as far as it says that it is one."""
    given = value.get("dispatch_info")
    if not any(key in value for key in ("dispatch_info", *_TIMES)):
        return None
    kept = {}
    for field in msgspec.structs.fields(DispatchInfo):
        try:
            kept[field.name] = msgspec.convert((given or {})[field.name], field.type, strict=False)
        except (msgspec.ValidationError, ValueError, KeyError, TypeError):
            continue
    kept.setdefault("kernel_id", -1)
    start, end = (whole(None if type(own := value.get(key)) is bool else own) for key in _TIMES)
    correlation = value.get("correlation_id")
    internal = whole(correlation.get("internal")) if isinstance(correlation, dict) else None
    return Dispatch(
        dispatch_info=DispatchInfo(**kept),
        start_timestamp=MISSING if start is None else start,
        end_timestamp=MISSING if end is None else end,
        correlation_id=Correlation(internal or 0),
    )


def read_rocprof_json(blocks: Iterable[bytes], losses: Losses) -> Timeline:
    """Reads a rocprofv3 JSON file."""
    timeline = Timeline(FORMAT, losses)
    reader = RocprofReader(timeline)
    stream = ArrayStream(blocks, reader.wanted(), losses)
    for batch in stream:
        if batch.items:
            reader.take(batch.key, batch.array, batch.items)
    reader.finish()
    count_text_around(stream, losses)
    timeline.recognised = True
    timeline.producer = Producer(name="rocprofv3", command=_command(bytes(stream.outside)))
    return timeline


def _command(outside: bytes) -> str | None:
    """The command line that was profiled, as far as the metadata can be read."""
    at = outside.find(b'"command"')
    if at < 0:
        return None
    text = outside[at : at + (1 << 16)].decode(errors="replace").partition(":")[2].lstrip()
    try:
        words, _ = json.JSONDecoder().raw_decode(with_whole_pairs(text))
    except ValueError:
        return None
    return " ".join(map(str, words)) if isinstance(words, list) else None
