"""Kernel symbols of CK instances: an instance's name in, the symbols that it compiles to out; and the other way.

Nothing of CK's rules is written down here: aiter's generator script is filled in for the instance, its helper alias and
CK's device operation are evaluated from their headers, and the body that launches is walked. Without a shape every
kernel that is compiled comes out; with one, the kernel that runs.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import msgspec

from tracer.aiter.ck import ck_places
from tracer.aiter.ck_launch import Problem
from tracer.aiter.ck_refusal import refusal
from tracer.aiter.instances import MODULES, Instance, instance_table, module_file
from tracer.aiter.moe_generated import FAMILY as MOE_FAMILY
from tracer.aiter.tile_functions import TILE_FAMILIES, tile_family
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
from tracer.resolve.symbol_answers import CkSymbol, InstanceSymbols, require_ck, usual_notes
from tracer.resolve.tile_symbols import TileSymbols
from tracer.resolve.wide_extents import narrowed_at, too_wide

#: families of 2026 on CK-tile, which no aiter that brings CK's headers has
_NOT_FOLLOWED = ("a8w8_blockscale_cktile", "a8w8_bpreshuffle_cktile")
#: families whose generators are evaluated, because no table says what they write
_WRITTEN = (MOE_FAMILY, *TILE_FAMILIES)
_LISTED = tuple(family for family in MODULES if family not in (*_NOT_FOLLOWED, *_WRITTEN))
_EXPECTED = f"an instance of {', '.join((*_LISTED, *_WRITTEN))}"
_FOLDERS = (f"{CK}/include", "3rdparty/ck_helper", f"{CK}/library/include")
_SPEC = "ck::tensor_operation::device::GemmSpecialization"


class CkSymbols:
    """Symbols of the instances of one tree."""

    def __init__(self, index: TreeIndex, arch: str = "gfx942") -> None:
        """Takes the tree's index and the target whose instance tables count."""
        self.index = index
        self.arch = arch
        self._tile = TileSymbols(index, arch)
        self._walkers: dict[str, Walker] = {}
        self._turn = Lock()  # walkers remember where they stand: one evaluation at a time

    def find(self, name: str) -> tuple[str, Instance]:
        """(family, instance) of a name. Raises SourceTreeError when no table of this tree holds it."""
        for family in (*_LISTED, *_NOT_FOLLOWED):
            if module_file(self.index.tree, family) is not None:
                found = instance_table(self.index.tree, family, self.arch).named(name)
                if found is not None and family in _NOT_FOLLOWED:
                    raise SourceTreeError(
                        f"{name} is an instance of {family}, which is not followed to its kernels",
                        expected=_EXPECTED,
                        hint="ktrace where names the kernel's class",
                    )
                if found is not None:
                    return family, found
        raise SourceTreeError(
            f"no instance table of this aiter holds {name!r}",
            expected=_EXPECTED,
            hint="assembly kernels are no instances: ktrace where finds them by their symbols",
        )

    def of(
        self,
        name: str,
        types: str | None = None,
        shape: Problem | None = None,
        *,
        bias: bool = False,
        scales: bool | None = None,
    ) -> InstanceSymbols:
        """The kernels of an instance.

        Args:
            name: the instance.
            types: the instantiation, in the generator's words ("F32, F16"); its first one without.
            shape: the problem; with it only the kernel that runs is given.
            bias: whether the instance is called with a bias, where that makes another kernel.
            scales: whether it is called with scales, where that makes another kernel; None for both.

        Raises:
            SourceTreeError: the tree does not hold what leads to the kernel.
            KtraceError: the text can't be evaluated.
        """
        wide = shape is not None and too_wide(shape)
        with self._turn:
            if is_moe_name(name):
                answer = self._of_moe(name, types, None if wide else shape)
            elif tile_family(name) is not None:
                answer = self._tile.of(name, types, None if wide else shape, scales)
            else:
                answer = self._of_listed(name, types, None if wide else shape, bias=bias)
        if not wide:
            return answer
        why = f"{wide}{narrowed_at(self.index, answer.file.rpartition('/')[0])}"
        return msgspec.structs.replace(
            answer, symbols=(CkSymbol(symbol=None, gemm_spec="", reason=why),), refused=None, notes=()
        )

    def _of_listed(self, name: str, types: str | None, shape: Problem | None, *, bias: bool) -> InstanceSymbols:
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
        require_ck(self.index.tree, name)
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
            refused=self._refused(generator, instance, shape, specs[0]) if shape is not None else None,
            notes=usual_notes(len(code.instantiations) if types is None else 1, shape, symbols),
        )

    def _refused(self, generator: str, instance: Instance, shape: Problem, spec: str) -> str | None:
        """Why aiter raises before it launches, where CK's own check does not take the shape."""
        places = ck_places(self.index.tree, generator, instance.values.get("pipeline_version"))
        found = refusal(self.index.tree, places, instance.values, shape, padded="K" in spec)
        return f"{found.what}: aiter raises at {found.file}:{found.line}" if found is not None else None

    def _of_moe(self, name: str, types: str | None, shape: Problem | None) -> InstanceSymbols:
        code = moe_code(self.index.tree, name, self.arch, types)
        require_ck(self.index.tree, name)
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
            notes=usual_notes(len(code.other_types) + 1 if types is None else 1, shape, symbols),
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
    def _spec(walker: Walker, code: InstanceCode, shape: Problem) -> str:
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

    def _of_spec(
        self, walker: Walker, code: InstanceCode, env: Env, spec: str, shape: Problem | None
    ) -> list[CkSymbol]:
        device = walker.evaluate(code.type.replace("{GemmSpec}", spec), env)
        if not isinstance(device, Named):
            return [
                CkSymbol(symbol=None, gemm_spec=spec, reason=f"{code.header}: {code.type.split('<')[0]} can't be read")
            ]
        return self._of_device(walker, device, spec, shape)

    def _of_device(self, walker: Walker, device: Named, spec: str, shape: Problem | None) -> list[CkSymbol]:
        uses = self._uses(walker, device, shape)
        if not uses:
            why = "its device operation compiles no kernel for wavefronts of 64"
            if shape is not None:
                why = "its device operation launches nothing for this shape"
            if walker.undecided:
                why = f"the text does not decide `{walker.undecided[0]}`"
            return [CkSymbol(symbol=None, gemm_spec=spec, reason=why)]
        return [_symbol(use, spec) for use in uses]

    def _uses(self, walker: Walker, device: Named, shape: Problem | None) -> list[KernelUse]:
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
