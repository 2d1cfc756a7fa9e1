"""Elements of the lists in rocprofv3's JSON, with the fields that are needed; times in nanoseconds."""

from __future__ import annotations

from typing import Any

import msgspec


class Handle(msgspec.Struct, gc=False, frozen=True):
    """A number by which others refer to a thing."""

    handle: int = 0


class Correlation(msgspec.Struct, gc=False, frozen=True):
    """The id that joins a kernel to its runtime call, unique in its process."""

    internal: int = 0


class Dim3(msgspec.Struct, gc=False, frozen=True):
    """A size in x, y, z."""

    x: int = 0
    y: int = 0
    z: int = 0


class DispatchInfo(msgspec.Struct, gc=False, frozen=True):
    """What was dispatched, and where; `grid_size` counts work-items."""

    agent_id: Handle = Handle()
    queue_id: Handle = Handle()
    kernel_id: int = 0
    private_segment_size: int | None = None
    group_segment_size: int | None = None
    workgroup_size: Dim3 = Dim3()
    grid_size: Dim3 = Dim3()


class Dispatch(msgspec.Struct, gc=False, frozen=True):
    """One kernel execution; times in nanoseconds."""

    dispatch_info: DispatchInfo
    start_timestamp: int
    end_timestamp: int
    thread_id: int = 0
    correlation_id: Correlation = Correlation()
    stream_id: Handle | None = None


class ApiCall(msgspec.Struct, gc=False, frozen=True):
    """One call of HIP's runtime or compiler API."""

    kind: int
    operation: int
    start_timestamp: int
    end_timestamp: int
    thread_id: int = 0
    correlation_id: Correlation = Correlation()


class Copy(msgspec.Struct, gc=False, frozen=True):
    """One copy between memories."""

    start_timestamp: int
    end_timestamp: int
    dst_agent_id: Handle = Handle()
    src_agent_id: Handle = Handle()


class Symbol(msgspec.Struct, gc=False, frozen=True):
    """One kernel symbol of a loaded code object."""

    kernel_id: int
    kernel_name: str = ""
    formatted_kernel_name: str = ""
    sgpr_count: int | None = None
    arch_vgpr_count: int | None = None
    accum_vgpr_count: int | None = None


class Agent(msgspec.Struct, gc=False, frozen=True):
    """One CPU (type 1) or GPU (type 2)."""

    id: Handle = Handle()
    type: int = 0
    cu_count: int = 0
    wave_front_size: int = 0
    name: str = ""
    product_name: str = ""
    gpu_index: int | None = None
    logical_node_type_id: int | None = None
    mem_banks: list[dict[str, Any]] = []


class ApiKind(msgspec.Struct, gc=False, frozen=True):
    """The names of one kind of API call."""

    kind: str = ""
    operations: list[str] = []
