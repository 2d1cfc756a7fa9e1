"""Kernel symbols of instances on CK-tile: an instance's name in, the symbols that it compiles to out.

The function that aiter's generator writes for the instance is evaluated with aiter's and CK's headers, from the
arguments that it builds to the launch. Without a shape every kernel that is compiled comes out; with one, the kernel
that runs.
"""

from __future__ import annotations

import msgspec

from tracer.aiter.ck_launch import Problem
from tracer.aiter.generator_run import arguments
from tracer.aiter.tile_functions import TileFunctions, tile_family, tile_functions
from tracer.errors import KtraceError, SourceTreeError
from tracer.index.recipes import CK
from tracer.index.tree_index import TreeIndex
from tracer.names.registry import decode
from tracer.resolve.cxx.environment import Env, Function
from tracer.resolve.cxx.headers import Headers
from tracer.resolve.cxx.kernel_uses import KernelUse
from tracer.resolve.cxx.mangling import NotMangledError, mangle
from tracer.resolve.cxx.walk import Walker
from tracer.resolve.symbol_answers import CkSymbol, InstanceSymbols, require_ck, usual_notes


class TileSymbols:
    """Symbols of the instances of one tree; for one thread at a time."""

    def __init__(self, index: TreeIndex, arch: str) -> None:
        """Takes the tree's index and the target whose instances count."""
        self.index = index
        self.arch = arch
        self._walkers: dict[str, Walker] = {}

    def of(self, name: str, types: str | None, shape: Problem | None, scales: bool | None) -> InstanceSymbols:
        """The kernels of an instance.

        Args:
            name: the instance.
            types: the instantiation, in the generator's words ("fp8, float, bf16"); its first one without.
            shape: the problem; with it only the kernel that runs is given.
            scales: whether it is called with scales, where that makes another kernel; None for both.

        Raises:
            SourceTreeError: the tree does not hold what leads to the kernel.
            KtraceError: the generator writes no such instantiation.
        """
        family = tile_family(name) or ""
        written = tile_functions(self.index.tree, family, self.arch)
        if name not in written.texts or name not in written.instances:
            raise SourceTreeError(
                f"{written.generator} writes no {name!r} for {self.arch}",
                expected=f"one of its {len(written.texts)} instances, as {next(iter(written.texts), 'none')}",
                hint="tables can depend on the target: give it with --target",
            )
        every = written.types.get(name, ())
        chosen = every[0] if types is None and every else arguments(types or "")
        if chosen not in every:
            listed = " or ".join(", ".join(one) for one in every)
            raise KtraceError(f"{written.generator} does not instantiate {name}<{types or ''}>", expected=listed)
        require_ck(self.index.tree, name)
        symbols = self._symbols(written, f"{name}<{', '.join(chosen)}>", shape)
        asked = [symbol for symbol in symbols if scales is None or symbol.scales in (None, scales)]
        return InstanceSymbols(
            instance=name,
            family=family,
            file=written.instances[name].file,
            line=written.instances[name].line,
            types=", ".join(chosen),
            other_types=tuple(", ".join(one) for one in every if one != chosen),
            symbols=tuple(asked),
            notes=_notes(len(every) if types is None else 1, shape, asked),
        )

    def _symbols(self, written: TileFunctions, function: str, shape: Problem | None) -> list[CkSymbol]:
        walker = self._walker(written)
        found = walker.evaluate(function, Env(""))
        if not isinstance(found, Function):
            return [_without_symbol(f"the function that {written.generator} writes for it can't be read")]
        # the extents stand in variables of these names in every generated function
        walker.follow(found, {"M": shape.m, "N": shape.n, "K": shape.k} if shape is not None else None)
        if walker.undecided:
            return [_without_symbol(f"the text does not decide `{walker.undecided[0]}`")]
        if not walker.uses:
            return [_without_symbol("the function that is generated for it launches nothing that can be followed")]
        return [_symbol(use) for use in walker.uses]

    def _walker(self, written: TileFunctions) -> Walker:
        """The walker of a family: its generated functions as one file, among the headers of its JIT module."""
        if written.family not in self._walkers:
            recipe = self.index.recipes.get(f"module_{written.family}")
            folders = (*(recipe.includes if recipe is not None else ()), f"{CK}/include")
            file = f"{written.generator.rpartition('/')[0]}/{written.family}.generated"
            self._walkers[written.family] = Walker(
                Headers(self.index, file, folders, "\n".join(written.texts.values()))
            )
        return self._walkers[written.family]


def _symbol(use: KernelUse) -> CkSymbol:
    """A kernel; what its symbol states of it is read off the symbol."""
    try:
        symbol = mangle(use.kernel, use.parameters, use.types, use.result)
    except NotMangledError as error:
        return msgspec.structs.replace(_without_symbol(str(error)), file=use.file, line=use.line)
    stated = decode(symbol).fields
    return CkSymbol(
        symbol=symbol,
        gemm_spec="",
        main_k_loop=stated.get("hot_loop"),
        mem_op=stated.get("mem_op"),
        tail=stated.get("tail"),
        min_occupancy=stated.get("min_occupancy"),
        scales=stated.get("scaled_a"),
        file=use.file,
        line=use.line,
    )


def _without_symbol(reason: str) -> CkSymbol:
    return CkSymbol(symbol=None, gemm_spec="", reason=reason)


def _notes(instantiations: int, shape: Problem | None, symbols: list[CkSymbol]) -> tuple[str, ...]:
    by_call = shape is not None and len(symbols) == 2 and {symbol.scales for symbol in symbols} == {True, False}
    notes = list(usual_notes(instantiations, None if by_call else shape, symbols))
    if by_call:
        notes.append("whether the call passes scales decides which of these runs")
    if shape is not None and shape.k_batch > 1:
        notes.append("the generated function itself says into how many parts K is split")
    return tuple(notes)
