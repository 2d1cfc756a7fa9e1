"""Where a record comes from: the target of its kernels, and the versions, settings and source trees behind them."""

from __future__ import annotations

import msgspec

from tracer.model.evidence import Evidence


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What the kernels are for.

    Attributes:
        arch: "gfx942", "sm_90", ... or None where a trace does not say.
        compute_units: CUs (SMs), or None.
        wave_size: lanes of a wave (warp).
        device: the device's key in ktrace's tables ("MI300X"), or None.
        device_evidence: observed (it is there), stated (--device, a trace says so), assumed (the target's default).
        device_name: the name the runtime or trace gave, as it came.
        memory_bytes: what the runtime or trace stated.
    """

    arch: str | None = None
    compute_units: int | None = None
    wave_size: int | None = None
    device: str | None = None
    device_evidence: Evidence = Evidence.UNRESOLVED
    device_name: str | None = None
    memory_bytes: int | None = None


class SourceTree(msgspec.Struct, frozen=True, kw_only=True):
    """A library whose code ran: the tree that SourceRef.file is relative to.

    Attributes:
        name: "aiter", "torch", ...
        version: as the package states it.
        commit: where known.
        layout: for aiter: "wheel" or "checkout".
        repository: web address of the public repository, for permalinks, or None.
    """

    name: str
    version: str | None = None
    commit: str | None = None
    layout: str | None = None
    repository: str | None = None


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """Versions and settings that the result depends on; None means not there or not known.

    Attributes:
        ktrace, python, torch, triton, rocm, cuda, driver: versions.
        platform: operating system and machine.
        trees: the libraries whose code ran.
        variables: environment variables that steer the library, as they were set.
    """

    ktrace: str
    python: str | None = None
    platform: str | None = None
    torch: str | None = None
    triton: str | None = None
    rocm: str | None = None
    cuda: str | None = None
    driver: str | None = None
    trees: tuple[SourceTree, ...] = ()
    variables: dict[str, str] = {}


class TraceOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """Which trace an imported record was read from.

    Attributes:
        file: its name, without the folder.
        sha256: of its bytes.
        format: "torch.profiler", "rocprofv3 json", "rocprofv3 csv", "rocpd".
        producer: the program and version that wrote it, where stated.
        kernel_count, kernel_us: of the whole trace.
    """

    file: str
    format: str
    producer: str | None = None
    sha256: str | None = None
    kernel_count: int = 0
    kernel_us: float = 0.0
