"""Holds the resolved instance against the observed kernel: two decoded names in, a disagreement out, or None.

On ROCm this comparison is the only real proof that the library's choice was read rightly.
"""

from __future__ import annotations

import msgspec

from tracer.model.evidence import Evidence
from tracer.model.kernel import GemmView
from tracer.model.report import Disagreement, KernelReport
from tracer.names import registry

#: what two views of one kernel must agree on where both state it
_COMPARED = ("tile_m", "tile_n", "tile_k", "instruction_m", "instruction_n", "threads_per_block", "split_k")


def differing(resolved: GemmView, observed: GemmView) -> dict[str, tuple[int, int]]:
    """The fields that both views state and that differ: name -> (resolved, observed)."""
    a, b = msgspec.structs.asdict(resolved), msgspec.structs.asdict(observed)
    return {
        key: (a[key], b[key]) for key in _COMPARED if a[key] is not None and b[key] is not None and a[key] != b[key]
    }


def disagreement(kernel: KernelReport) -> Disagreement | None:
    """Where the resolved instance and the observed kernel of a launch state different things.

    Only a launch that somebody saw proves anything: a kernel that was itself resolved agrees with its instance by
    construction.
    """
    if kernel.launch.evidence is not Evidence.OBSERVED or kernel.decoded is None or kernel.dispatch is None:
        return None
    if kernel.dispatch.instance is None or not kernel.decoded.known:
        return None
    resolved = registry.decode(kernel.dispatch.instance)
    if not resolved.known:
        return None
    if resolved.text == kernel.decoded.text:
        return None
    views = registry.view(resolved), registry.view(kernel.decoded)
    if views[0] is None or views[1] is None:
        return None
    fields = differing(views[0], views[1])
    if not fields:
        return None
    return Disagreement(
        resolved=kernel.dispatch.instance,
        observed=kernel.decoded.spelled,
        fields={key: (str(a), str(b)) for key, (a, b) in fields.items()},
    )
