"""What is answered about the kernels of an instance: each kernel with its symbol, and what the reader should know."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tracer.aiter.ck_launch import Problem
from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError
from tracer.index.recipes import CK


class CkSymbol(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel of an instance.

    Attributes:
        symbol: mangled name; None when it can't be written, and `reason` says why.
        gemm_spec: CK's GemmSpecialization; "" where a kernel has none.
        main_k_loop: whether the main K loop runs.
        mem_op: how the output is written: Set or AtomicAdd.
        tail: which tail of the K loop is compiled in.
        min_occupancy: waves per SIMD that `__launch_bounds__` asks for.
        scales: whether it multiplies by scales, where there are kernels with and without.
        reason: why there is no symbol, or None.
        file, line: where the kernel is defined.
    """

    symbol: str | None
    gemm_spec: str
    main_k_loop: bool | None = None
    mem_op: str | None = None
    tail: str | None = None
    min_occupancy: int | None = None
    scales: bool | None = None
    reason: str | None = None
    file: str | None = None
    line: int | None = None


class InstanceSymbols(msgspec.Struct, frozen=True, kw_only=True):
    """The kernels of one instance.

    Attributes:
        instance: its name.
        family: key of `tracer.aiter.instances.MODULES`.
        file, line: where the instance is constructed.
        types: the argument list of the instantiation, in the generator's words.
        other_types: the other argument lists that the generator instantiates.
        symbols: the kernels; with a shape only the one that runs.
        refused: with a shape, why CK does not take it, where one of its checks that are known here says so.
        notes: what the reader should know.
    """

    instance: str
    family: str
    file: str
    line: int
    types: str
    other_types: tuple[str, ...] = ()
    symbols: tuple[CkSymbol, ...] = ()
    refused: str | None = None
    notes: tuple[str, ...] = ()


def require_ck(tree: AiterTree, name: str) -> None:
    """Raises SourceTreeError where a tree has no Composable Kernel, whose headers define the kernels of an instance."""
    if tree.ck_root is None:
        raise SourceTreeError(
            f"the kernels of {name} are CK's, and this tree has no {CK}",
            expected="the Composable Kernel submodule",
            hint="git submodule update --init, or give the installed wheel with --aiter",
        )


def usual_notes(instantiations: int, shape: Problem | None, symbols: Sequence[CkSymbol]) -> tuple[str, ...]:
    """What the reader should know of an answer.

    Args:
        instantiations: how many argument lists the answer could be for.
        shape: the problem, where there is one.
        symbols: the kernels.
    """
    notes = []
    if instantiations > 1:
        notes.append("each instantiation has symbols of its own; these are the first one's unless types are given")
    if shape is not None and len(symbols) > 1:
        notes.append("the text does not decide which of these runs")
    return tuple(notes)
