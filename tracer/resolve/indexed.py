"""Where a call across the JIT boundary leads by the static index: the call and aiter's tree in, a Dispatch of hops out.

For functions whose choice no rule follows: the chain down to the launches that the sources hold, without a choice among
them. Nothing is written; what an earlier index left in its cache is used.
"""

from __future__ import annotations

from functools import lru_cache

from tracer.aiter.tree import AiterTree
from tracer.index.tree_index import TreeIndex
from tracer.model.capture import BoundaryCall
from tracer.model.source import Dispatch, Layer
from tracer.resolve.chain import Chains

#: what stands before these layers is observed, not looked up
_BELOW_PYTHON = frozenset({Layer.BINDING, Layer.CPP, Layer.DISPATCH, Layer.LAUNCH, Layer.INSTANCE, Layer.KERNEL})


@lru_cache(maxsize=2)
def _chains(tree: AiterTree) -> Chains:
    return Chains(TreeIndex(tree))


def indexed_dispatch(tree: AiterTree, call: BoundaryCall) -> Dispatch | None:
    """The chain behind a call, where its module and function are declared in this tree.

    Returns:
        Hops from the binding on, and as candidates the kernels that can start; None when nothing below Python is known.
    """
    chains = _chains(tree)
    for op in chains.index.ops:
        declared = op.declaration
        if declared.module == call.module and declared.symbol == call.function:
            break
    else:
        return None
    chain = chains.chain(op)
    hops = tuple(hop for hop in chain.hops if hop.layer in _BELOW_PYTHON)
    kernels = dict.fromkeys(kernel.name for end in chain.launches for kernel in end.kernels)
    return Dispatch(boundary=call.id, hops=hops, candidates=tuple(kernels)) if hops else None
