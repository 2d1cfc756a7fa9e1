"""The kernel symbol behind a choice: a Dispatch that ends at a CK instance in, it with the symbol that runs out.

CK's headers are evaluated for the instance, the problem and the template arguments of the call.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from tracer.aiter.ck_launch import Problem
from tracer.aiter.instances import instance_table
from tracer.aiter.tree import AiterTree
from tracer.errors import KtraceError
from tracer.index.tree_index import TreeIndex
from tracer.model.source import Dispatch
from tracer.resolve.symbols import CkSymbols


@lru_cache(maxsize=4)
def _symbols(tree: AiterTree, arch: str) -> CkSymbols:
    return CkSymbols(TreeIndex(tree), arch)


def read_ahead(tree: AiterTree, family: str, arch: str) -> None:
    """Reads CK's headers as far as the instances of a family need them, so that the first answer is quick.

    Args:
        tree: the aiter.
        family: key of `tracer.aiter.instances.MODULES`.
        arch: target architecture.

    Raises:
        KtraceError: the tree does not hold what leads to a kernel.
    """
    defaults = instance_table(tree, family, arch).defaults.values()
    for instance in list(defaults)[:1]:
        _symbols(tree, arch).of(instance.name)


def with_symbol(tree: AiterTree, dispatch: Dispatch, arch: str) -> Dispatch:
    """The dispatch with the symbol of its instance's kernel, or the reason why there is not one.

    A dispatch without an instance, or whose library code does not say what it is compiled for, stays as it is.

    Args:
        tree: the aiter that the dispatch was resolved with.
        dispatch: what the library's rules chose.
        arch: target architecture.
    """
    use = dispatch.instantiation
    if use is None or dispatch.instance is None or dispatch.symbols:
        return dispatch
    shape = Problem(m=use.m, n=use.n, k=use.k, k_batch=use.k_batch, batch=use.batch)
    try:
        symbols_of = _symbols(tree, arch).of
        types = ", ".join(use.types) or None
        answer = symbols_of(dispatch.instance, types, shape, bias=use.bias, scales=use.scales)
    except KtraceError as error:
        return msgspec.structs.replace(dispatch, symbols_reason=error.message)
    symbols = tuple(found.symbol for found in answer.symbols if found.symbol is not None)
    reason = None
    if len(symbols) != 1:
        reasons = [*(found.reason for found in answer.symbols if found.reason is not None), *answer.notes]
        reason = reasons[0] if reasons else "no kernel of this instance runs for this shape"
    return msgspec.structs.replace(dispatch, symbols=symbols, symbols_reason=reason)
