"""Where a call across the JIT boundary leads by the static index: the call and aiter's tree in, a Dispatch of hops out.

For functions whose choice no rule follows: the chain down to the launches that the sources hold, without a choice among
them. Nothing is written; what an earlier index left in its cache is used.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import msgspec

from tracer.aiter.tree import AiterTree
from tracer.index.tree_index import TreeIndex
from tracer.model.capture import BoundaryCall
from tracer.model.evidence import Evidence
from tracer.model.source import CandidateLaunch, Dispatch, Hop, Layer
from tracer.resolve.chain import Chains, LaunchStatus
from tracer.resolve.checked_hops import checked_hop
from tracer.resolve.source_templates import SourceTemplates, is_template

#: what stands before these layers is observed, not looked up
_BELOW_PYTHON = frozenset({Layer.BINDING, Layer.CPP, Layer.DISPATCH, Layer.LAUNCH, Layer.INSTANCE, Layer.KERNEL})

_ONLY_KERNEL = "the only kernel that the function's text launches; its template arguments are not known here"

_WHEN_CALLED = "a template that Python fills in and compiles when it is called"


@lru_cache(maxsize=2)
def _chains(tree: AiterTree) -> Chains:
    return Chains(TreeIndex(tree))


def indexed_dispatch(tree: AiterTree, call: BoundaryCall) -> Dispatch | None:
    """The chain behind a call, where its module and function are declared in this tree.

    Returns:
        Hops from the binding on, and the launches that it can come to; where all start one kernel, that one. None when
        nothing below Python is known.
    """
    chains = _chains(tree)
    if call.built_from is not None and is_template(call.built_from):
        return _template_dispatch(chains, call, call.built_from)
    module = call.built_from or call.module
    for op in chains.index.ops:
        declared = op.declaration
        if declared.module == module and declared.symbol == call.function:
            break
    else:
        return None
    chain = chains.chain(op)
    hops = tuple(hop for hop in chain.hops if hop.layer in _BELOW_PYTHON)
    if not hops:
        return None
    launches = tuple(
        CandidateLaunch(kernel=kernel.name, source=kernel.source, launch=end.source, conditions=end.conditions)
        for end in chain.launches
        for kernel in end.kernels
    )
    kernels = tuple(dict.fromkeys(launch.kernel for launch in launches))
    if len(kernels) > 1:
        return Dispatch(boundary=call.id, hops=_open(hops, kernels), candidates=kernels, launches=launches)
    if kernels and chain.launch is LaunchStatus.RESOLVED and launches[0].source is not None:
        return _only(call, hops, kernels[0], launches)
    return Dispatch(boundary=call.id, hops=hops, candidates=kernels, launches=launches)


def _template_dispatch(chains: Chains, call: BoundaryCall, template: str) -> Dispatch | None:
    """The launches in a template that Python fills in and compiles when it is called."""
    templates = SourceTemplates(chains.index, chains.citations)
    filled = checked_hop(Layer.JIT, template, chains.citations.ref(template, 1), note=_WHEN_CALLED)
    hops, launches = [filled], []
    for launch in templates.launches(template):
        hops += templates.hops(template, launch)
        source = chains.citations.ref(template, launch.line, launch.kernel.rpartition("::")[2])
        kernel = next((hop.source for hop in hops[-1:] if hop.layer is Layer.KERNEL), None)
        launches.append(CandidateLaunch(kernel=launch.kernel, source=kernel, launch=source))
    kernels = tuple(dict.fromkeys(launch.kernel for launch in launches))
    if not kernels:
        return None
    if len(kernels) > 1:
        end = _undecided(kernels)
        return Dispatch(boundary=call.id, hops=(filled, end), candidates=kernels, launches=tuple(launches))
    return _only(call, hops, kernels[0], launches)


def _only(call: BoundaryCall, hops: Iterable[Hop], kernel: str, launches: Iterable[CandidateLaunch]) -> Dispatch:
    """The dispatch of a call whose text launches one kernel."""
    noted = tuple(msgspec.structs.replace(h, note=_ONLY_KERNEL) if h.layer is Layer.KERNEL else h for h in hops)
    return Dispatch(boundary=call.id, hops=noted, parameters={"kernel": kernel}, launches=tuple(launches))


def _open(hops: tuple[Hop, ...], kernels: tuple[str, ...]) -> tuple[Hop, ...]:
    """The hops of a chain down to where it can go on in several ways."""
    sure = tuple(hop for hop in hops if hop.layer not in (Layer.LAUNCH, Layer.INSTANCE, Layer.KERNEL))
    return (*sure, _undecided(kernels))


def _undecided(kernels: tuple[str, ...]) -> Hop:
    """The end of a chain that can go on to several kernels."""
    reason = f"which of {len(kernels)} kernels run depends on what is not known here"
    return Hop(layer=Layer.KERNEL, name="?", evidence=Evidence.UNRESOLVED, reason=reason, candidates=kernels)
