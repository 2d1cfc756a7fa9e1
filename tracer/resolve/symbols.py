"""Kernel symbols of CK instances: an instance's name in, the symbols that it compiles to out; and the other way.

Nothing of CK's rules is written down here: aiter's generator script is filled in for the instance, its helper alias and
CK's device operation are evaluated from their headers, and the body that launches is walked. Without a shape every
kernel that is compiled comes out; with one, the kernel that runs.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import msgspec

from tracer.aiter.instances import MODULES, Instance, instance_table, module_file
from tracer.aiter.moe_generated import FAMILY as MOE_FAMILY
from tracer.errors import KtraceError, SourceTreeError
from tracer.index.recipes import CK
from tracer.index.tree_index import TreeIndex
from tracer.resolve.cxx.environment import Env, Function
from tracer.resolve.cxx.headers import Headers
from tracer.resolve.cxx.kernel_uses import KernelUse
from tracer.resolve.cxx.mangling import NotMangledError, mangle
from tracer.resolve.cxx.values import Constant, Named, Object, integer
from tracer.resolve.cxx.walk import Walker
from tracer.resolve.instance_code import InstanceCode, read_instance_code
from tracer.resolve.moe_code import device_operations, is_moe_name, moe_code

#: families on ck_tile, whose kernels have no such symbols, and MoE stages, whose tables depend on types
_OTHER_GENERATORS = ("a8w8_blockscale_cktile", "a8w8_bpreshuffle_cktile", "deepgemm", MOE_FAMILY,
                     "moe_cktile2stages")  # fmt: skip
_FOLDERS = (f"{CK}/include", "3rdparty/ck_helper", f"{CK}/library/include")
_SPEC = "ck::tensor_operation::device::GemmSpecialization"


class CkSymbol(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel of an instance.

    Attributes:
        symbol: mangled name; None when it can't be written, and `reason` says why.
        gemm_spec: CK's GemmSpecialization.
        main_k_loop: whether the main K loop runs.
        mem_op: how the output is written: Set or AtomicAdd.
        tail: which tail of the K loop is compiled in.
        min_occupancy: waves per SIMD that `__launch_bounds__` asks for.
        reason: why there is no symbol, or None.
        file, line: where the kernel is defined.
    """

    symbol: str | None
    gemm_spec: str
    main_k_loop: bool | None = None
    mem_op: str | None = None
    tail: str | None = None
    min_occupancy: int | None = None
    reason: str | None = None
    file: str | None = None
    line: int | None = None


class Shape(msgspec.Struct, frozen=True):
    """A problem: extents, and the number of parts K is split into."""

    m: int
    n: int
    k: int
    k_batch: int = 1
    batch: int = 1


class InstanceSymbols(msgspec.Struct, frozen=True, kw_only=True):
    """The kernels of one instance.

    Attributes:
        instance: its name.
        family: key of `tracer.aiter.instances.MODULES`.
        file, line: where the instance is constructed.
        types: the argument list of the instantiation, in the generator's words.
        other_types: the other argument lists that the generator instantiates.
        symbols: the kernels; with a shape only the one that runs.
        notes: what the reader should know.
    """

    instance: str
    family: str
    file: str
    line: int
    types: str
    other_types: tuple[str, ...] = ()
    symbols: tuple[CkSymbol, ...] = ()
    notes: tuple[str, ...] = ()


class CkSymbols:
    """Symbols of the instances of one tree."""

    def __init__(self, index: TreeIndex, arch: str = "gfx942") -> None:
        """Takes the tree's index and the target whose instance tables count."""
        self.index = index
        self.arch = arch
        self._walkers: dict[str, Walker] = {}
        self._turn = Lock()  # walkers remember where they stand: one evaluation at a time

    def find(self, name: str) -> tuple[str, Instance]:
        """(family, instance) of a name. Raises SourceTreeError when no table of this tree holds it."""
        for family in MODULES:
            if family not in _OTHER_GENERATORS and module_file(self.index.tree, family) is not None:
                found = instance_table(self.index.tree, family, self.arch).named(name)
                if found is not None:
                    return family, found
        raise SourceTreeError(
            f"no instance table of this aiter holds {name!r}",
            expected="an instance of " + ", ".join(f for f in MODULES if f not in _OTHER_GENERATORS),
            hint="names of ck_tile and assembly kernels have no device operation of CK behind them",
        )

    def of(
        self, name: str, types: str | None = None, shape: Shape | None = None, *, bias: bool = False
    ) -> InstanceSymbols:
        """The kernels of an instance.

        Args:
            name: the instance.
            types: the instantiation, in the generator's words ("F32, F16"); its first one without.
            shape: the problem; with it only the kernel that runs is given.
            bias: whether the instance is called with a bias, where that makes another kernel.

        Raises:
            SourceTreeError: the tree does not hold what leads to the kernel.
            KtraceError: the text can't be evaluated.
        """
        with self._turn:
            if is_moe_name(name):
                return self._of_moe(name, types, shape)
            return self._of_listed(name, types, shape, bias=bias)

    def _of_listed(self, name: str, types: str | None, shape: Shape | None, *, bias: bool) -> InstanceSymbols:
        """Those of an instance that a table lists, whose device operation the generator writes."""
        family, instance = self.find(name)
        generator = f"{instance.file.rpartition('/')[0]}/gen_instances.py"
        script = self.index.text(generator)
        variant = "bias" if bias else "nobias"
        code = read_instance_code(script, instance.fields, variant) if script is not None else None
        if code is None:
            raise SourceTreeError(
                f"{generator} writes no device operation for {name}", expected="a generator of CK code"
            )
        self._require_ck(name)
        every = code.instantiations or ("",)
        chosen = every[0] if types is None else next((e for e in every if _full(code, e) == _full(code, types)), None)
        if chosen is None:
            raise KtraceError(f"{generator} does not instantiate <{types}>", expected=" or ".join(every))
        walker = self._walker(generator, code)
        env = self._environment(walker, code, chosen)
        specs = code.specs if shape is None else (self._spec(walker, code, shape),)
        symbols: list[CkSymbol] = []
        for spec in specs:
            symbols += self._of_spec(walker, code, env, spec, shape)
        return InstanceSymbols(
            instance=name,
            family=family,
            file=instance.file,
            line=instance.line,
            types=chosen,
            other_types=tuple(item for item in every if item != chosen),
            symbols=tuple(symbols),
            notes=_notes(len(code.instantiations) if types is None else 1, shape, symbols),
        )

    def _of_moe(self, name: str, types: str | None, shape: Shape | None) -> InstanceSymbols:
        code = moe_code(self.index.tree, name, self.arch, types)
        self._require_ck(name)
        walker = self._walker_of(code.header)
        symbols: list[CkSymbol] = []
        for spec, operation in device_operations(walker, code):
            symbols += self._of_device(walker, operation, spec, shape)
        if not symbols:
            function = code.template.partition("<")[0]
            why = f"{code.header}: the device operation of CK in {function} can't be read"
            symbols = [CkSymbol(symbol=None, gemm_spec="", reason=why)]
        return InstanceSymbols(
            instance=name,
            family=MOE_FAMILY,
            file=code.instance.file,
            line=code.instance.line,
            types=code.types,
            other_types=code.other_types,
            symbols=tuple(symbols),
            notes=_notes(len(code.other_types) + 1 if types is None else 1, shape, symbols),
        )

    def _require_ck(self, name: str) -> None:
        if self.index.tree.ck_root is None:
            raise SourceTreeError(
                f"the kernels of {name} are CK's, and this tree has no {CK}",
                expected="the Composable Kernel submodule",
                hint="git submodule update --init, or give the installed wheel with --aiter",
            )

    # ---- evaluation -------------------------------------------------------------------------------------------------

    def _walker(self, generator: str, code: InstanceCode) -> Walker:
        folder = generator.rpartition("/")[0]
        header = next(
            (f for f in (f"{folder}/include/{code.header}", f"{folder}/{code.header}")
             if self.index.tree.absolute(f).is_file()),
            None,
        )  # fmt: skip
        if header is None:
            raise SourceTreeError(f"{generator} includes {code.header}, which this tree does not have")
        return self._walker_of(header)

    def _walker_of(self, header: str) -> Walker:
        if header not in self._walkers:
            self._walkers[header] = Walker(Headers(self.index, header, _FOLDERS))
        walker = self._walkers[header]
        walker.undecided.clear()
        return walker

    @staticmethod
    def _environment(walker: Walker, code: InstanceCode, types: str) -> Env:
        """The template arguments of the generated function, and its local type names."""
        env = Env("", {})
        given = [part.strip() for part in types.split(",") if part.strip()]
        for number, parameter in enumerate(code.parameters):
            text = given[number] if number < len(given) else code.defaults.get(parameter, "")
            env.bindings[parameter] = walker.evaluate(text, env)
        for name, text in code.aliases:
            env.bindings[name] = walker.evaluate(text, env)
        return env

    @staticmethod
    def _spec(walker: Walker, code: InstanceCode, shape: Shape) -> str:
        """The specialisation that the generated function takes for a shape."""
        if len(code.specs) == 1:
            return code.specs[0]
        bound = {"M": shape.m, "N": shape.n, "K": shape.k, "KBatch": shape.k_batch}
        env = Env("", {name: integer(value) for name, value in bound.items()})
        if code.pad:
            padded = walker.evaluate(code.pad, env)
            if isinstance(padded, Constant):
                return next(s for s in code.specs if (s == "Default") != bool(padded.value))
        if code.tiles:
            letters = ""
            for letter, text in zip("MNK", code.tiles, strict=True):
                rest = walker.evaluate(f"{letter} % {text}", env)
                letters += letter if isinstance(rest, Constant) and rest.value else ""
            wanted = f"{letters}Padding" if letters else "Default"
            if wanted in code.specs:
                return wanted
        raise KtraceError(
            "the generated code does not say which specialisation a shape takes", expected="a padding rule"
        )

    def _of_spec(self, walker: Walker, code: InstanceCode, env: Env, spec: str, shape: Shape | None) -> list[CkSymbol]:
        device = walker.evaluate(code.type.replace("{GemmSpec}", spec), env)
        if not isinstance(device, Named):
            return [
                CkSymbol(symbol=None, gemm_spec=spec, reason=f"{code.header}: {code.type.split('<')[0]} can't be read")
            ]
        return self._of_device(walker, device, spec, shape)

    def _of_device(self, walker: Walker, device: Named, spec: str, shape: Shape | None) -> list[CkSymbol]:
        uses = self._uses(walker, device, shape)
        if not uses:
            why = "its device operation compiles no kernel for wavefronts of 64"
            if shape is not None:
                why = "its device operation launches nothing for this shape"
            if walker.undecided:
                why = f"the text does not decide `{walker.undecided[0]}`"
            return [CkSymbol(symbol=None, gemm_spec=spec, reason=why)]
        return [_symbol(use, spec) for use in uses]

    def _uses(self, walker: Walker, device: Named, shape: Shape | None) -> list[KernelUse]:
        outer = walker.env_of(device)
        invokers = walker.headers.find(f"{device.name}::Invoker", "")
        if outer is None or not invokers:
            return []
        invoker = Named(invokers[0].head.name, None, device)
        env = Env(invoker.name, {}, (invoker, invokers[0]), outer)
        walker.restart()
        waves = walker.member(device, "NXdlPerWave64")
        if isinstance(waves, Constant) and waves.value == 0:
            return []
        extents: dict[str, int] = {}
        if shape is not None:
            extents = {"M": shape.m, "N": shape.n, "K": shape.k, "KBatch": shape.k_batch, "k_batch": shape.k_batch}
            extents["Batch"] = shape.batch
        arg = Object(Named("Argument"), tuple((name, integer(value)) for name, value in extents.items()))
        for name in ("RunImp", "Run"):
            places = walker.headers.members(invokers[0], name)
            for place in places:
                taken = place.head.parameters
                given = [walker.member(device, "GridwiseGemm64")] if taken else None
                function = walker.apply([place], given, env)
                if isinstance(function, Function):
                    walker.call(function, [arg, Object(Named("StreamConfig"))])
                if walker.uses:
                    return list(walker.uses)
        return []


def _symbol(use: KernelUse, spec: str) -> CkSymbol:
    named: dict[str, Any] = dict(zip(use.parameters, use.kernel.args or (), strict=False))
    loop = named.get("HasMainKBlockLoop")
    memory = next((v for v in named.values() if _is_enum(v, "InMemoryDataOperationEnum")), None)
    tail = next((v for v in named.values() if _is_enum(v, "TailNumber")), None)
    occupancy = named.get("MinimumOccupancy")
    symbol, reason = None, None
    try:
        symbol = mangle(use.kernel, use.parameters, use.types, use.result)
    except NotMangledError as error:
        reason = str(error)
    return CkSymbol(
        symbol=symbol,
        gemm_spec=spec,
        main_k_loop=bool(loop.value) if isinstance(loop, Constant) else None,
        mem_op=memory.label if memory is not None else None,
        tail=tail.label if tail is not None else None,
        min_occupancy=occupancy.value if isinstance(occupancy, Constant) else None,
        reason=reason,
        file=use.file,
        line=use.line,
    )


def _full(code: InstanceCode, types: str) -> list[str]:
    """Template arguments with the defaults of those that are not written."""
    given = [part.strip() for part in types.split(",") if part.strip()]
    bound = dict(zip(code.parameters, given, strict=False))
    for parameter in code.parameters[len(given) :]:
        default = code.defaults.get(parameter, "")
        bound[parameter] = bound.get(default, default)
    return [*bound.values(), *given[len(code.parameters) :]]


def _is_enum(value: Any, leaf: str) -> bool:
    return isinstance(value, Constant) and value.type.rpartition("::")[2] == leaf


def _notes(instantiations: int, shape: Shape | None, symbols: list[CkSymbol]) -> tuple[str, ...]:
    notes = []
    if instantiations > 1:
        notes.append("each instantiation has symbols of its own; these are the first one's unless types are given")
    if shape is not None and len(symbols) > 1:
        notes.append("the text does not decide which of these runs")
    return tuple(notes)
