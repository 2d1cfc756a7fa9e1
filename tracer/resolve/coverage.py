"""How far every declared op is led: the chains of a tree in, counts by module and in total out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from tracer.model.evidence import Evidence
from tracer.model.source import SourceRef
from tracer.resolve.chain import Chains, LaunchStatus, OpChain

_NO_MODULE = "(no module)"


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """The ops of one module, or of all, counted.

    Attributes:
        module: the JIT module, or "total".
        ops: how many there are.
        definition: evidence -> how many are led to their C++ definition with it; `ambiguous` counted apart.
        launch: status -> how many; `host_only` are those whose C++ launches nothing.
        reasons: why ops are not resolved -> how many, over both.
        definition_share: resolved definitions of all ops.
        launch_share: resolved launch sites or instance sets of the ops that launch something.
    """

    module: str
    ops: int
    definition: dict[str, int]
    launch: dict[str, int]
    reasons: dict[str, int]
    definition_share: float
    launch_share: float | None


class OpRow(msgspec.Struct, frozen=True, kw_only=True):
    """One op in the list.

    Attributes:
        op, python, module: its name, its dotted name, its JIT module.
        definition, definition_reason: how its C++ definition is known.
        definition_source: where that stands.
        launch, launch_reason: what became of its launches.
        launch_sources: the lines that launch, surely known ones first, at most four.
    """

    op: str
    python: str
    module: str | None
    definition: str
    definition_reason: str | None
    definition_source: SourceRef | None
    launch: str
    launch_reason: str | None
    launch_sources: tuple[SourceRef, ...]


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """All counts of one tree."""

    total: Count
    modules: tuple[Count, ...]
    ops: tuple[OpRow, ...]


def coverage(chains: Chains) -> Coverage:
    """Follows every op of a tree."""
    chains.index.read_all_cpp()
    made = chains.all()
    by_module: dict[str, list[OpChain]] = {}
    for chain in made:
        by_module.setdefault(chain.module or _NO_MODULE, []).append(chain)
    return Coverage(
        total=_count("total", made),
        modules=tuple(_count(module, by_module[module]) for module in sorted(by_module)),
        ops=tuple(_row(chain) for chain in made),
    )


def _definition(chain: OpChain) -> str:
    """The evidence of the definition; several candidates are `ambiguous`."""
    if chain.definition is Evidence.UNRESOLVED and chain.definition_reason == "ambiguous":
        return "ambiguous"
    return str(chain.definition)


def _count(module: str, chains: Iterable[OpChain]) -> Count:
    every = list(chains)
    definition = Counter(_definition(chain) for chain in every)
    launch = Counter(str(chain.launch) for chain in every)
    reasons = Counter(
        str(reason) for chain in every if (reason := chain.definition_reason or chain.launch_reason) is not None
    )
    launching = len(every) - launch[LaunchStatus.HOST_ONLY]
    return Count(
        module=module,
        ops=len(every),
        definition=dict(definition),
        launch=dict(launch),
        reasons=dict(reasons),
        definition_share=definition[Evidence.RESOLVED] / len(every) if every else 0.0,
        launch_share=launch[LaunchStatus.RESOLVED] / launching if launching else None,
    )


def _row(chain: OpChain) -> OpRow:
    definition = next((hop.source for hop in chain.hops if hop.layer == "cpp" and hop.source is not None), None)
    return OpRow(
        op=chain.op,
        python=chain.python,
        module=chain.module,
        definition=_definition(chain),
        definition_reason=chain.definition_reason,
        definition_source=definition,
        launch=chain.launch,
        launch_reason=chain.launch_reason,
        launch_sources=tuple(e.source for e in chain.launches if e.source is not None and e.kind != "memory")[:4],
    )
