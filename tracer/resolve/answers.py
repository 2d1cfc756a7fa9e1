"""What `ktrace where` answers: the types that its finders fill and its printers read."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import msgspec

from tracer.model.source import FlowStep, Hop, SourceRef, UnresolvedReason
from tracer.resolve.chain import OpChain
from tracer.resolve.symbol_instances import InstanceMatch

#: of the chains that lead to one place, so many are shown
CHAINS_SHOWN = 6


class WhereKind(enum.StrEnum):
    """What a name turned out to be."""

    OP = "op"  #: declared with compile_ops
    PYTHON = "python"  #: a Python function of the package, registered with torch or plain
    TRITON = "triton"  #: a Triton or Gluon kernel
    CPP = "cpp"  #: a C++ function
    HIP_KERNEL = "hip_kernel"  #: a `__global__` function of aiter's own sources
    CK_KERNEL = "ck_kernel"  #: a kernel of Composable Kernel
    CK_TILE_KERNEL = "ck_tile_kernel"  #: a kernel class of CK-tile
    ASM_KERNEL = "asm_kernel"  #: a function of a shipped code object
    INSTANCE = "instance"  #: an instance of one of aiter's generators
    CODE_OBJECT = "code_object"  #: a shipped code object
    UNKNOWN = "unknown"  #: nothing in the tree


class WhereStatus(enum.StrEnum):
    """How well a name was led to source."""

    RESOLVED = "resolved"  #: each step by the text of the step before it
    INFERRED = "inferred"  #: some step by a name alone
    AMBIGUOUS = "ambiguous"  #: several places fit and nothing chooses; they are candidates
    UNRESOLVED = "unresolved"  #: not led to source; `reason` says why


class Candidate(msgspec.Struct, frozen=True):
    """A place that a name can mean, or one that is close to it."""

    name: str
    source: SourceRef | None = None
    note: str | None = None


class RouteHops(msgspec.Struct, frozen=True, kw_only=True):
    """One way from a Python function to an op or a Triton kernel.

    Attributes:
        to: what it ends at.
        kind: op or triton.
        hops: the functions on the way, each with the line that calls the next; the end itself last.
    """

    to: str
    kind: WhereKind
    hops: tuple[Hop, ...]


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """The answer for one name.

    Attributes:
        name: the name as it was asked for.
        kind: what it turned out to be.
        status: how well it was led to source.
        reason: for unresolved and ambiguous, why.
        source: where the thing itself stands: the kernel, the function, the instance.
        hops: the chain, from Python to the kernel where it is one chain.
        chains: for ops, the chain of each with its launches.
        routes: for a Python function, the ways to ops and Triton kernels.
        ops: the ops that lead to a kernel or C++ function.
        candidates: what else it could be.
        instances: for a CK kernel, the instances that compile to it; for an instance, itself.
        core_flow: a kernel's steps.
        notes: sentences for the reader.
    """

    name: str
    kind: WhereKind
    status: WhereStatus
    reason: UnresolvedReason | None = None
    source: SourceRef | None = None
    hops: tuple[Hop, ...] = ()
    chains: tuple[OpChain, ...] = ()
    routes: tuple[RouteHops, ...] = ()
    ops: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    instances: tuple[InstanceMatch, ...] = ()
    core_flow: tuple[FlowStep, ...] = ()
    notes: tuple[str, ...] = ()


def led_to(
    source: SourceRef | None,
    reason: UnresolvedReason | None,
    chains: Sequence[OpChain],
    *,
    name: str,
    kind: WhereKind,
    status: WhereStatus = WhereStatus.RESOLVED,
    **more: Any,
) -> Where:
    """The answer for a name that ends at one place.

    Args:
        source: the place; without one the answer is unresolved.
        reason: why there is none then.
        chains: of the ops that lead there; the first few are shown, and all of the ops named.
        name: the name as it was asked for.
        kind: what it turned out to be.
        status: how well the place is known.
        more: the other attributes of the answer.
    """
    return Where(
        name=name,
        kind=kind,
        status=status if source is not None else WhereStatus.UNRESOLVED,
        reason=None if source is not None else reason,
        source=source,
        chains=tuple(chains[:CHAINS_SHOWN]),
        ops=tuple(dict.fromkeys(chain.python for chain in chains)),
        **more,
    )
