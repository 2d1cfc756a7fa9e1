"""What two records of one call can be compared by beside kernel names: a record or launch in, key -> value out.

Only facts are listed that every collector could state, by the record's own names; what is not known is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tracer.model.capture import CaptureRecord, Launch

#: differences by key: [value in A, value in B]; None where a side does not know it
Differences = dict[str, tuple[Any, Any]]

_VERSIONS = ("ktrace", "python", "torch", "triton", "rocm", "cuda", "driver")


def flattened(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as one, keys joined by dots; a value that is None is left out."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= flattened(value, f"{prefix}{key}.")
        elif value is not None:
            flat[prefix + key] = value
    return flat


def differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> Differences:
    """What differs between two flat mappings, in the order of A, then of B."""
    return {key: (a.get(key), b.get(key)) for key in dict.fromkeys((*a, *b)) if a.get(key) != b.get(key)}


def call_facts(record: CaptureRecord) -> dict[str, Any]:
    """How the record came about, what was called, for what, and with which versions."""
    call, environment = record.call, record.environment
    return flattened(
        {
            "mode": str(record.mode),
            "call": {
                "op": call.op,
                "entry": call.entry,
                "shape": call.shape,
                "options": call.options,
                "config": call.config,
            },
            "target": msgspec.to_builtins(record.target),
            "environment": {name: getattr(environment, name) for name in _VERSIONS}
            | {tree.name: tree.version for tree in environment.trees},
        }
    )


def launch_facts(launch: Launch) -> dict[str, Any]:
    """How one kernel was launched, and what it takes of the machine."""
    compiled = launch.compiled
    return flattened(
        {
            "instance": launch.instance,
            "grid": launch.grid,
            "block": launch.block,
            "cluster": launch.cluster,
            "resources": msgspec.structs.asdict(launch.resources),
            "compiled": {
                "target": compiled.target,
                "num_warps": compiled.num_warps,
                "num_stages": compiled.num_stages,
                "options": compiled.options,
            }
            if compiled
            else None,
        }
    )
