"""The chain below one compiled op: its declaration in, every hop to the launch and the kernel's source out.

Python function -> registered op -> JIT module and recipe -> binding -> C++ function -> launches -> kernel source. Each
hop is `resolved` where the text of the hop before it leads there, `inferred` where only a name does, and `unresolved`
with a reason from a fixed list else. Nothing runs and nothing of aiter is imported.
"""

from __future__ import annotations

import enum
import re

import msgspec

from tracer.index.bindings import Binding, bound_definitions, find_bindings
from tracer.index.citations import Citations
from tracer.index.launches import LaunchSearch, find_launches
from tracer.index.recipes import CONFIG, Recipe
from tracer.index.scope import Place, Scope
from tracer.index.tree_index import Op, TreeIndex
from tracer.model.evidence import Evidence
from tracer.model.source import Hop, Layer, UnresolvedReason
from tracer.resolve.checked_hops import checked_hop, instances_hop, kernel_hop, launch_hop
from tracer.resolve.ends import Ends, LaunchEnd

_GUARD = "aiter/jit/utils/torch_guard.py"
_CORE = "aiter/jit/core.py"
#: C library and runtime calls that launch nothing; a function that calls only these is read completely
_HOST = frozenset((
    "printf", "fprintf", "fflush", "exit", "abort", "assert", "min", "max", "memcpy", "memset", "strlen", "strcmp",
    "atoi", "ceil", "floor", "ceilf", "floorf", "sqrt", "sqrtf", "log2", "log2f", "exp", "expf", "abs", "fabs", "pow",
    "free", "malloc", "getenv", "move", "swap", "device_of", "dim3", "size_to_dim_", "make_pair", "make_tuple", "fn",
    "get_num_cu_local", "is_same_v", "dtype_to_string", "name", "integer_divide_ceil", "integer_least_multiple",
))  # fmt: skip
#: kinds of launches that an op is about where it also launches plain helper kernels
_MAIN_KINDS = ("ck", "ck_tile", "asm")
#: functions that CK's attention generator writes, by which aiter enters it
_CK_ENTRY = re.compile(r"fmha_(?:fwd|bwd|batch_prefill)\w*")
#: kinds of bindings that are no functions
_TYPES = ("enum", "class")
_HOST_PREFIXES = ("hipblas", "rocblas_", "opus::", "hipblaslt_ext::get", "hipblaslt_ext::matmulIs")


class LaunchStatus(enum.StrEnum):
    """What became of the search for an op's launches."""

    RESOLVED = "resolved"  #: at least one launch site or instance set, each step by the sources' own text
    INFERRED = "inferred"  #: launches were found, each over a step that a bare name or a generated table took
    HOST_ONLY = "host_only"  #: everything it calls was followed, and nothing launches a kernel
    UNRESOLVED = "unresolved"  #: no launch was found, and not everything could be followed


class OpChain(msgspec.Struct, frozen=True, kw_only=True):
    """The chain of one op.

    Attributes:
        op: the Python function's name.
        python: its dotted name.
        registered: the torch.library op (`aiter::...`), or None when the guard leaves it a plain function.
        module: the JIT module, or None.
        symbol: what is looked up in the module.
        ffi: "pybind" or "ctypes".
        hops: from Python to the C++ function, and to the launch and kernel where there is one of each.
        launches: every launch found, nearest first.
        definition: how the C++ definition is known.
        definition_reason: why it is not resolved.
        launch: what became of the launches.
        launch_reason: why they are not resolved.
        notes: sentences for the reader.
    """

    op: str
    python: str
    registered: str | None = None
    module: str | None = None
    symbol: str
    ffi: str = "pybind"
    hops: tuple[Hop, ...] = ()
    launches: tuple[LaunchEnd, ...] = ()
    definition: Evidence = Evidence.UNRESOLVED
    definition_reason: UnresolvedReason | None = None
    launch: LaunchStatus = LaunchStatus.UNRESOLVED
    launch_reason: UnresolvedReason | None = None
    notes: tuple[str, ...] = ()


class Chains:
    """Makes chains for one tree, reading each module's sources once.

    Attributes:
        index: the tree's index.
        citations: what checks every cited line.
        ends: what leads launches to kernels' own sources.
    """

    def __init__(self, index: TreeIndex) -> None:
        """Reads nothing yet."""
        self.index = index
        self.citations = Citations(index.tree)
        self.ends = Ends(index, self.citations)
        self._scopes: dict[str, Scope] = {}
        self._searches: dict[tuple[str, tuple[str, int, str]], LaunchSearch] = {}
        self._chains: dict[str, OpChain] = {}

    def scope(self, recipe: Recipe) -> Scope:
        """The scope of a module."""
        if recipe.module not in self._scopes:
            self._scopes[recipe.module] = Scope(self.index, recipe)
        return self._scopes[recipe.module]

    def search(self, scope: Scope, place: Place) -> LaunchSearch:
        """The launches that a function of a module leads to."""
        key = (scope.module, place.key)
        if key not in self._searches:
            self._searches[key] = find_launches(scope, place)
        return self._searches[key]

    def bound(self, op: Op) -> tuple[Scope, Place] | None:
        """The C++ function that an op is bound to, in its module's scope; None where none or several can be meant."""
        recipe = self.index.recipes.get(op.declaration.module or "")
        if recipe is None:
            return None
        scope = self.scope(recipe)
        found = find_bindings(scope, op.declaration.symbol, op.declaration.ffi)
        if found and found[0].kind in _TYPES:
            return None
        places = bound_definitions(scope, found[0]) if found else scope.definitions(op.declaration.symbol)
        return (scope, places[0]) if len(places) == 1 else None

    def all(self) -> list[OpChain]:
        """The chains of every declared op."""
        return [self.chain(op) for op in self.index.ops]

    def chain(self, op: Op) -> OpChain:
        """The chain of one op."""
        key = f"{op.file}:{op.declaration.line}"
        if key not in self._chains:
            self._chains[key] = self._make(op)
        return self._chains[key]

    def _make(self, op: Op) -> OpChain:
        declared = op.declaration
        registered = None if declared.name in self.index.unregistered else f"aiter::{declared.name}"
        chain = OpChain(
            op=declared.name,
            python=op.qualified,
            registered=registered,
            module=declared.module,
            symbol=declared.symbol,
            ffi=declared.ffi,
            hops=tuple(self._python_hops(op, registered)),
        )
        recipe = self.index.recipes.get(declared.module or "")
        if recipe is None:
            return self._stop(chain, Layer.JIT, declared.module or declared.module_text, UnresolvedReason.NO_RECIPE)
        chain = self._with(chain, self._recipe_hop(recipe, declared.gen_func))
        scope = self.scope(recipe)
        found = find_bindings(scope, declared.symbol, declared.ffi)
        if not found:
            return self._unbound(chain, scope, declared.symbol)
        binding = found[0]
        chain = self._with(chain, *self._binding_hops(binding))
        if binding.kind in _TYPES:
            return self._type(chain, scope, binding)
        return self._defined(chain, scope, binding)

    # -- hops ---------------------------------------------------------------------------------------------------

    def _python_hops(self, op: Op, registered: str | None) -> list[Hop]:
        declared = op.declaration
        source = self.citations.ref(op.file, declared.line, declared.name, declared.last)
        hops = [checked_hop(Layer.PYTHON, declared.name, source, note=f"@compile_ops({declared.module_text}) on it")]
        if registered is not None:
            line = self.citations.line_of(_GUARD, r"\.define\(")
            place = self.citations.ref(_GUARD, line) if line is not None else None
            hops.append(checked_hop(Layer.REGISTERED_OP, registered, place))
        line = self.citations.line_of(_CORE, r"^def compile_ops\b")
        place = self.citations.ref(_CORE, line, "compile_ops") if line is not None else None
        note = "ctypes: the symbol is looked up with C linkage" if declared.ffi == "ctypes" else None
        hops.append(checked_hop(Layer.JIT, "compile_ops", place, note=note))
        return hops

    def _recipe_hop(self, recipe: Recipe, gen_func: str | None) -> Hop:
        parts = [f"built from {len(recipe.sources)} source files"]
        if recipe.generators:
            parts.append("after " + ", ".join(dict.fromkeys(g.script for g in recipe.generators)))
        if gen_func:
            parts.append(f"{gen_func} narrows the recipe for each call")
        if recipe.missing:
            parts.append("not in this tree: " + ", ".join(recipe.missing))
        source = self.citations.ref(CONFIG, recipe.line, recipe.module)
        return checked_hop(Layer.JIT, recipe.module, source, note="; ".join(parts), candidates=recipe.sources)

    def _binding_hops(self, binding: Binding) -> list[Hop]:
        if binding.kind == "ctypes":
            token = binding.macro or binding.target
            source = self.citations.ref(binding.file, binding.line, token)
            note = f"through the macro {binding.macro}" if binding.macro else 'extern "C"'
            return [checked_hop(Layer.BINDING, binding.symbol, source, note=note)]
        hops = []
        if binding.module_file is not None and binding.module_line is not None:
            token = binding.macro or binding.symbol
            source = self.citations.ref(binding.module_file, binding.module_line, binding.macro or "")
            if binding.macro is not None:
                hops.append(checked_hop(Layer.BINDING, token, source, note="used in PYBIND11_MODULE"))
        source = self.citations.ref(binding.file, binding.line, binding.symbol)
        hops.append(checked_hop(Layer.BINDING, f'm.def("{binding.symbol}")', source, note=f"bound to {binding.target}"))
        return hops

    def _type(self, chain: OpChain, scope: Scope, binding: Binding) -> OpChain:
        places = scope.types(binding.target)
        if not places:
            return self._stop(chain, Layer.CPP, binding.target, UnresolvedReason.NO_DEFINITION)
        file, alias = places[0]
        leaf = alias.name.rpartition("::")[2]
        hop = checked_hop(Layer.CPP, alias.name, self.citations.ref(file, alias.line, leaf), note=f"an {binding.kind}")
        chain = self._with(chain, hop)
        return msgspec.structs.replace(
            chain,
            definition=hop.evidence,
            definition_reason=_reason(hop),
            launch=LaunchStatus.HOST_ONLY,
            notes=(*chain.notes, "a type, not a function: nothing is launched"),
        )

    def _unbound(self, chain: OpChain, scope: Scope, symbol: str) -> OpChain:
        """No binding names the symbol: a definition of that name is a guess, and said to be one."""
        named = scope.definitions(symbol)
        if len(named) == 1:
            place = named[0]
            hop = Hop(
                layer=Layer.CPP,
                name=place.function.name,
                source=self.citations.ref(place.file, place.function.line, place.function.leaf),
                evidence=Evidence.INFERRED,
                reason=UnresolvedReason.NO_BINDING,
                note="no source of the module binds the symbol; this is the only function of its name there",
            )
            chain = msgspec.structs.replace(
                self._with(chain, hop), definition=Evidence.INFERRED, definition_reason=UnresolvedReason.NO_BINDING
            )
            return self._launched(chain, scope, place)
        reason = (
            UnresolvedReason.CK_MISSING if scope.ck_missing and scope.recipe.missing else UnresolvedReason.NO_BINDING
        )
        return self._stop(chain, Layer.BINDING, symbol, reason)

    def _defined(self, chain: OpChain, scope: Scope, binding: Binding) -> OpChain:
        places = bound_definitions(scope, binding)
        if not places:
            reason = UnresolvedReason.NO_DEFINITION
            if scope.ck_missing and scope.recipe.missing:
                reason = UnresolvedReason.CK_MISSING
            elif scope.recipe.missing:
                reason = UnresolvedReason.SOURCE_MISSING
            return self._stop(chain, Layer.CPP, binding.target, reason)
        if len(places) > 1:
            names = tuple(f"{p.file}:{p.function.line}" for p in places)
            return self._stop(chain, Layer.CPP, binding.target, UnresolvedReason.AMBIGUOUS, names)
        place = places[0]
        hop = self._function_hop(Layer.CPP, place)
        chain = msgspec.structs.replace(self._with(chain, hop), definition=hop.evidence, definition_reason=_reason(hop))
        return self._launched(chain, scope, place)

    def _function_hop(self, layer: Layer, place: Place) -> Hop:
        function = place.function
        token = self.ends.token(place)
        source = self.citations.ref(place.file, function.line, token, function.last)
        note = f"defined through the macro {function.via}" if function.via else None
        if place.file.endswith(".py"):
            note = "written by this generator before the build"
        return checked_hop(layer, function.name, source, note=note)

    # -- launches -----------------------------------------------------------------------------------------------

    def _launched(self, chain: OpChain, scope: Scope, place: Place) -> OpChain:
        search = self.search(scope, place)
        ends = self.ends.of(scope, search)
        kernels = [e for e in ends if e.kind != "memory" and not _is_preparation(e)]
        sure = [e for e in kernels if e.evidence is Evidence.RESOLVED]
        main = [e for e in kernels if e.kind in _MAIN_KINDS]
        if main and not any(e in sure for e in main):
            sure = []  # what is surely launched are helper kernels; what the op is about is not sure
        notes = list(chain.notes)
        reason = None
        lost = [n for n in search.open_ends if _CK_ENTRY.fullmatch(n)] if scope.ck_missing else []
        if kernels and lost:
            notes.append(f"Composable Kernel is not in this tree: the way through {', '.join(lost)} is not followed")
        if sure:
            status = LaunchStatus.RESOLVED
        elif kernels:
            status = LaunchStatus.INFERRED
            notes.append("the way to the launches leads over a table that a generator fills, or over a bare name")
        else:
            open_ends = [n for n in search.open_ends if not _harmless(n)]
            status = LaunchStatus.UNRESOLVED if open_ends else LaunchStatus.HOST_ONLY
            if open_ends:
                reason = UnresolvedReason.CK_MISSING if scope.ck_missing else UnresolvedReason.NO_LAUNCH
                notes.append("calls that no source here defines: " + ", ".join(open_ends[:8]))
            else:
                notes.append("everything it calls was followed: it launches no kernel")
        chain = msgspec.structs.replace(
            chain, launches=tuple(ends), launch=status, launch_reason=reason, notes=tuple(notes)
        )
        if status is LaunchStatus.UNRESOLVED:
            hop = Hop(layer=Layer.LAUNCH, name="?", evidence=Evidence.UNRESOLVED, reason=reason, note=notes[-1])
            return self._with(chain, hop)
        shown = sorted(sure or kernels, key=lambda end: end.kind not in _MAIN_KINDS)[:1]
        return self._with(chain, *(hop for end in shown for hop in self._end_hops(end, len(kernels))))

    def _end_hops(self, end: LaunchEnd, count: int) -> list[Hop]:
        hops = [launch_hop(end, note=f"one of {count} launch sites; see launches" if count > 1 else None)]
        if end.instances is not None:
            hops.append(instances_hop(end.instances))
        if end.kernels:
            hops.append(kernel_hop(end))
        return hops

    # -- endings ------------------------------------------------------------------------------------------------

    @staticmethod
    def _with(chain: OpChain, *hops: Hop) -> OpChain:
        return msgspec.structs.replace(chain, hops=(*chain.hops, *hops))

    def _stop(
        self, chain: OpChain, layer: Layer, name: str, reason: UnresolvedReason, candidates: tuple[str, ...] = ()
    ) -> OpChain:
        hop = Hop(layer=layer, name=name, evidence=Evidence.UNRESOLVED, reason=reason, candidates=candidates)
        return msgspec.structs.replace(
            self._with(chain, hop),
            definition=Evidence.UNRESOLVED,
            definition_reason=reason,
            launch=LaunchStatus.UNRESOLVED,
            launch_reason=reason,
        )


def _reason(hop: Hop) -> UnresolvedReason | None:
    return UnresolvedReason(hop.reason) if hop.reason is not None else None


def _is_preparation(end: LaunchEnd) -> bool:
    """Whether a launch only copies a random state: no op is about it, so it does not count as the op's launch."""
    return end.kernel.rpartition("::")[2] == "ParsePhiloxCudaState"


def _harmless(name: str) -> bool:
    return name.rpartition("::")[2] in _HOST or name.startswith(_HOST_PREFIXES)
