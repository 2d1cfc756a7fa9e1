"""The AMD GPUs of this machine as the kernel driver lists them, without ROCm or torch: /sys in, targets out."""

from __future__ import annotations

import re
from pathlib import Path

from tracer.model.environment import Target

TOPOLOGY = Path("/sys/class/kfd/kfd/topology/nodes")
_PROPERTY = re.compile(r"^(\w+) (\d+)$", re.MULTILINE)


def machine_targets(topology: Path = TOPOLOGY) -> tuple[Target, ...]:
    """Every kind of GPU here, each once; none on a machine without AMD's driver.

    Args:
        topology: the driver's folder of nodes. A node's `gfx_target_version` is major * 10000 + minor * 100 + stepping,
            the last two of which a target's name spells in hexadecimal digits (90010: gfx90a).
    """
    found: dict[Target, None] = {}
    for file in sorted(topology.glob("*/properties")):
        try:
            stated = {name: int(value) for name, value in _PROPERTY.findall(file.read_text())}
        except OSError:
            continue  # a node that this user may not read is no GPU that this user may use
        version = stated.get("gfx_target_version", 0)
        if version == 0:  # a CPU
            continue
        per_unit = stated.get("simd_per_cu", 0)
        found[
            Target(
                arch=f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}",
                compute_units=stated.get("simd_count", 0) // per_unit if per_unit else None,
                wave_size=stated.get("wave_front_size"),
            )
        ] = None
    return tuple(found)
