"""Holds what the library's rules choose against the kernel that was seen: two decoded names in, a disagreement out.

On ROCm this comparison is the only real proof that the library's choice was read rightly.
"""

from __future__ import annotations

from typing import Any

from tracer.model.evidence import Evidence
from tracer.model.kernel import DecodedName, GemmView
from tracer.model.report import Disagreement, KernelReport
from tracer.names import registry

#: what two views of one kernel must agree on where both state it
_COMPARED = ("tile_m", "tile_n", "tile_k", "instruction_m", "instruction_n", "threads_per_block", "split_k")


def differing(resolved: GemmView, observed: GemmView) -> dict[str, tuple[int, int]]:
    """The fields that both views state and that differ: name -> (resolved, observed)."""
    return _differing(
        {key: getattr(resolved, key) for key in _COMPARED}, {key: getattr(observed, key) for key in _COMPARED}
    )


def _differing(a: dict[str, Any], b: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {key: (a[key], b[key]) for key in a if b.get(key) is not None and a[key] is not None and a[key] != b[key]}


def disagreement(kernel: KernelReport) -> Disagreement | None:
    """Where the choice that was resolved and the observed kernel of a launch state different things.

    Where the choice's own symbol is known, all that both symbols state is compared, else what the instance's name and
    the kernel's state alike. Only a launch that somebody saw proves anything: a kernel that was itself resolved agrees
    with its instance by construction.
    """
    dispatch, observed = kernel.dispatch, kernel.decoded
    if kernel.launch.evidence is not Evidence.OBSERVED or observed is None or dispatch is None or not observed.known:
        return None
    if dispatch.instance is None:
        return None
    resolved = registry.decode(dispatch.symbols[0] if len(dispatch.symbols) == 1 else dispatch.instance)
    if not resolved.known or resolved.text == observed.text:
        return None
    fields = _fields(resolved, observed)
    if not fields:
        return None
    return Disagreement(
        resolved=dispatch.instance,
        observed=observed.spelled,
        fields={key: (str(a), str(b)) for key, (a, b) in fields.items()},
        observed_instances=_instances(observed),
    )


def _fields(resolved: DecodedName, observed: DecodedName) -> dict[str, tuple[Any, Any]]:
    if resolved.grammar == observed.grammar:
        return _differing(resolved.fields, observed.fields)
    views = registry.view(resolved), registry.view(observed)
    return differing(views[0], views[1]) if views[0] is not None and views[1] is not None else {}


def _instances(observed: DecodedName) -> tuple[str, ...]:
    """The instances of the installed aiter that compile to the observed symbol."""
    from tracer.resolve.symbol_instances import instances_of  # reads tables; needed only where something differs

    return tuple(match.instance for match in instances_of(observed))
