"""What a torch.profiler trace says beside its events: the JSON around the event array in, devices and versions out."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from tracer.importers.salvage import with_whole_pairs
from tracer.importers.timeline import Producer, SeenDevice, Timeline

#: packages whose versions explain a kernel
_TOLD_PACKAGES = frozenset({"torch", "triton", "aiter", "amd-aiter", "vllm", "sglang", "transformers", "flash-attn"})

_TRACE_KEYS = frozenset({"traceEvents", "schemaVersion", "deviceProperties", "displayTimeUnit", "baseTimeNanoseconds"})


def _objects(outside: bytes) -> dict[str, Any]:
    """The top-level values of the text around the arrays, also where it is damaged or its end is missing."""
    try:
        value = msgspec.json.decode(outside)
        return value if isinstance(value, dict) else {}
    except (msgspec.DecodeError, RecursionError):
        pass
    text = with_whole_pairs(outside.decode(errors="replace"))
    for closed in (text, text + "]}", text + "}", text + "]"):
        try:
            value = json.loads(closed, strict=False)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else {}
    # damaged: take the top-level values that can be read one by one
    found: dict[str, Any] = {}
    decoder = json.JSONDecoder(strict=False)
    for key in re.finditer(r'"([A-Za-z_ ]{3,40})"\s*:\s*', text):
        if key.group(1) in found:
            continue
        try:
            found[key.group(1)], _ = decoder.raw_decode(text, key.end())
        except (ValueError, RecursionError):
            continue
    return found


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _device(position: int, given: dict[str, Any]) -> SeenDevice:
    major, minor = _whole(given.get("computeMajor")), _whole(given.get("computeMinor"))
    number = _whole(given.get("id"))
    return SeenDevice(
        id=position if number is None else number,
        name=str(given["name"]) if given.get("name") else None,
        compute_units=_whole(given.get("numSms")),
        wave_size=_whole(given.get("warpSize")),
        memory_bytes=_whole(given.get("totalGlobalMem")),
        compute_capability=f"{major}.{minor}" if major is not None and minor is not None else None,
    )


def hip_version(number: int) -> str:
    """HIP_VERSION (major * 10^7 + minor * 10^5 + patch) as text."""
    return f"{number // 10_000_000}.{number // 100_000 % 100}.{number % 100_000}"


def cuda_version(number: int) -> str:
    """CUDART_VERSION (major * 1000 + minor * 10) as text."""
    return f"{number // 1000}.{number % 1000 // 10}"


def _python(metadata: dict[str, Any]) -> str | None:
    """The Python version, where the program that profiled wrote one down."""
    system = metadata.get("system")
    given = system.get("python") if isinstance(system, dict) else None
    if not isinstance(given, dict) or not given.get("major"):
        return None
    return ".".join(str(given[k]) for k in ("major", "minor", "patchlevel") if given.get(k))


def _packages(metadata: dict[str, Any]) -> dict[str, str]:
    system = metadata.get("system")
    listed = system.get("pip_packages") if isinstance(system, dict) else None
    pairs = (str(line).partition("==") for line in (listed if isinstance(listed, list) else ()))
    return {name: version for name, _, version in pairs if version and name in _TOLD_PACKAGES}


def read_metadata(outside: bytes, timeline: Timeline) -> None:
    """Reads devices, versions and the base of the clock into `timeline`."""
    found = _objects(outside)
    timeline.recognised = not _TRACE_KEYS.isdisjoint(found)
    devices = found.get("deviceProperties")
    if isinstance(devices, list):
        timeline.devices = tuple(_device(i, d) for i, d in enumerate(devices) if isinstance(d, dict))
    timeline.base_ns = _whole(found.get("baseTimeNanoseconds")) or 0
    hip = _whole(found.get("hip_runtime_version"))
    cuda = _whole(found.get("cuda_runtime_version"))
    driver = _whole(found.get("cuda_driver_version"))
    metadata = found.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    packages = _packages(metadata)
    timeline.producer = Producer(
        name="torch.profiler (Kineto)" if found else None,
        torch=packages.get("torch"),
        rocm=hip_version(hip) if hip else None,
        cuda=cuda_version(cuda) if cuda else None,
        driver=cuda_version(driver) if driver else None,
        python=_python(metadata),
        packages=packages,
    )
