"""Kernels of Composable Kernel and instances of aiter's generators by name: their source and the way to it out."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from tracer.aiter import ck as aiter_ck
from tracer.aiter.ck_flow import core_flow as ck_core_flow
from tracer.aiter.ck_tile import tile_places
from tracer.aiter.families import CK_FAMILIES
from tracer.aiter.instances import Instance, instance_table
from tracer.errors import SourceTreeError
from tracer.index.recipes import CK
from tracer.model.evidence import Evidence
from tracer.model.kernel import DecodedName
from tracer.model.source import FlowStep, Hop, Layer, SourceRef, UnresolvedReason
from tracer.names.cpp import read_function
from tracer.resolve.answers import Candidate, Where, WhereKind, WhereStatus, led_to
from tracer.resolve.chain import Chains, OpChain
from tracer.resolve.checked_hops import checked_hop
from tracer.resolve.core_flow import CoreFlows
from tracer.resolve.generated_instances import GeneratedInstance, generated_instance
from tracer.resolve.generated_names import maker_of
from tracer.resolve.symbol_instances import InstanceMatch, instances_of, rows_naming
from tracer.resolve.users import Users

#: what CK-tile's kernel classes and launchers begin with
_TILE = "ck_tile::"
_NO_CK = "Composable Kernel is not in this tree: its submodule was not fetched"


class CkSources:
    """Finds kernels of CK and instances, in one tree."""

    def __init__(self, chains: Chains, users: Users, flows: CoreFlows) -> None:
        """Reads nothing yet."""
        self.chains = chains
        self.index = chains.index
        self.citations = chains.citations
        self.users = users
        self.flows = flows

    # -- CK -----------------------------------------------------------------------------------------------------

    def kernel(self, name: str, decoded: DecodedName) -> Where | None:
        """A kernel of Composable Kernel, printed or mangled."""
        if decoded.family != "ck_template":
            return None
        kernel, gridwise = decoded.fields.get("kernel"), decoded.fields.get("gridwise")
        if gridwise is None and len(self.chains.ends.ck.kernel(str(kernel or ""))) > 1:
            return self.bare(name, decoded)
        matches = instances_of(decoded, self.index.tree)
        made = generated_instance(self.index.tree, matches[0].instance) if matches else None
        chains = [self.chains.chain(op) for op in self.users.ops_in(_modules(matches, made))]
        chains = [chain for chain in chains if any(end.kind == "ck" for end in chain.launches)]
        places = made.places if made is not None else None
        if places is None and matches:
            places = self._places(matches[0].file, decoded.fields.get("pipeline_version"))
        hops: list[Hop] = []
        if len(chains) == 1:
            hops += [hop for hop in chains[0].hops if hop.layer not in (Layer.KERNEL, Layer.INSTANCE)]
        hops += self._instance_hops(matches)
        found: list[SourceRef | None] = []
        homes = {file for file, _ in self._ck_places(str(gridwise or ""))}
        for word, note in ((kernel, "the __global__ function"), (gridwise, "the grid-wise kernel that it runs")):
            for file, line in self._ck_places(str(word or ""), homes):
                found.append(self.citations.ref(file, line, str(word)))
                hops.append(checked_hop(Layer.KERNEL, str(word), found[-1], note=note))
        missing = self.index.tree.ck_root is None
        end = next((source for source in found if source is not None), None)
        return led_to(
            end,
            UnresolvedReason.CK_MISSING if missing else UnresolvedReason.NO_SUCH_NAME,
            chains,
            name=name,
            kind=WhereKind.CK_KERNEL,
            hops=tuple(hops),
            instances=tuple(matches),
            core_flow=ck_core_flow(self.index.tree, places) if places is not None else (),
            notes=(_NO_CK,) if missing else (),
        )

    def _instance_hops(self, matches: list[InstanceMatch]) -> list[Hop]:
        """The first instance that compiles to a symbol; the others are its candidates."""
        others = tuple(match.instance for match in matches[1:])
        return [
            checked_hop(
                Layer.INSTANCE,
                match.instance,
                self.citations.ref(match.file, match.line),
                note="compiles to this symbol",
                candidates=others,
            )
            for match in matches[:1]
        ]

    def bare(self, name: str, decoded: DecodedName) -> Where | None:
        """A kernel or class of CK by its name alone, perhaps qualified."""
        plain = read_function(decoded.spelled).name
        if not re.fullmatch(r"(?:[A-Za-z_]\w*::)*[A-Za-z_]\w{7,}", plain):
            return None
        classes = self.chains.ends.ck
        kernels = classes.kernel(plain)
        places = kernels or classes.struct(plain)
        leaf = plain.rpartition("::")[2]
        cited = list(dict.fromkeys(self.citations.ref(file, line, leaf) for file, line in places))
        if not cited:
            return None
        note = "a __global__ function of Composable Kernel" if kernels else "a class of Composable Kernel"
        tile = any("/ck_tile/" in file for file, _ in places)
        kind = WhereKind.CK_TILE_KERNEL if tile else WhereKind.CK_KERNEL
        if len(cited) == 1:
            hop = checked_hop(Layer.KERNEL, leaf, cited[0], note=note)
            return led_to(cited[0], UnresolvedReason.CHANGED, (), name=name, kind=kind, hops=(hop,))
        return Where(
            name=name,
            kind=kind,
            status=WhereStatus.AMBIGUOUS,
            reason=UnresolvedReason.AMBIGUOUS,
            candidates=tuple(Candidate(leaf, source, note) for source in cited),
            notes=("its template arguments, as a trace shows them, would tell them apart",),
        )

    def _ck_places(self, name: str, homes: Collection[str] = ()) -> list[tuple[str, int]]:
        """(header, line) of a kernel or struct of CK; of several headers that define it alike the one among `homes`."""
        classes = self.chains.ends.ck
        found = classes.kernel(name) or classes.struct(name) if name else []
        at_home = [place for place in found if place[0] in homes]
        return at_home[:1] or (found[:1] if len({file for file, _ in found}) == 1 else [])

    def _places(self, file: str, version: int | None) -> aiter_ck.CkPlaces:
        """What the generator beside an instance table leads to."""
        generator = f"{file.rpartition('/')[0]}/gen_instances.py"
        return tile_places(self.index.tree, generator) or aiter_ck.ck_places(self.index.tree, generator, version)

    def tile_kernel(self, name: str, decoded: DecodedName) -> Where | None:
        """A kernel of CK-tile: `ck_tile::kentry<..., Kernel<...>, ...>`, printed or mangled."""
        text = decoded.spelled
        if _TILE not in text[:60] and not re.match(r"\s*(?:void\s+)?kentry\b", text):
            return None
        function = read_function(text)
        classes = self.chains.ends.ck
        kernel = next((word for word in map(_template_name, function.items) if word and classes.struct(word)), None)
        if kernel is None:
            kernel = next((w for w in map(_template_name, function.items) if w and w.endswith("Kernel")), None)
        leaf = (kernel or "").rpartition("::")[2]
        matches = instances_of(decoded, self.index.tree)
        modules = [scope.module for scope in self.users.naming(leaf)] if leaf else []
        modules += _modules(matches, generated_instance(self.index.tree, matches[0].instance) if matches else None)
        chains = [self.chains.chain(op) for op in self.users.ops_in(modules)]
        chains = [chain for chain in chains if any(end.kind in ("ck_tile", "ck") for end in chain.launches)]
        hops: list[Hop] = []
        if len(chains) == 1:
            known = (Layer.KERNEL, *((Layer.INSTANCE,) if matches else ()))
            hops += [hop for hop in chains[0].hops if hop.layer not in known]
        hops += self._instance_hops(matches)
        for file, line in classes.kernel(function.leaf)[:1]:
            source = self.citations.ref(file, line, function.leaf)
            hops.append(
                checked_hop(Layer.LAUNCH, function.name, source, note="the __global__ function of every kernel")
            )
        end = None
        for file, line in classes.struct(leaf)[:1] if leaf else ():
            end = self.citations.ref(file, line, leaf)
            hops.append(checked_hop(Layer.KERNEL, kernel or leaf, end, note="CK-tile's kernel class"))
        missing = self.index.tree.ck_root is None
        if end is None and not missing:
            return None
        return led_to(
            end,
            UnresolvedReason.CK_MISSING,
            chains,
            name=name,
            kind=WhereKind.CK_TILE_KERNEL,
            hops=tuple(hops),
            instances=tuple(matches),
            notes=(_NO_CK,) if missing else (),
        )

    # -- instances ----------------------------------------------------------------------------------------------

    def instance(
        self,
        name: str,
        match: InstanceMatch,
        instance: Instance,
        chains: list[OpChain],
        places: aiter_ck.CkPlaces | None = None,
    ) -> Where:
        """An instance of one of aiter's generators; its places, where its table's folder does not lead to them."""
        hops: list[Hop] = []
        if len(chains) == 1:
            hops += [hop for hop in chains[0].hops if hop.layer not in (Layer.KERNEL, Layer.INSTANCE)]
        for file, line in match.rows[:1]:
            source = self.citations.ref(file, line, name)
            hops.append(
                checked_hop(Layer.TUNED_CONFIG, f"{file}:{line}", source, note=f"{match.rows_in_total} rows name it")
            )
        source = self.citations.ref(match.file, match.line)
        note = f"entry {match.id} of {instance.table}"
        hops.append(checked_hop(Layer.INSTANCE, name, source, note=note))
        places = places or self._places(match.file, instance.values.get("pipeline_version"))
        for place, layer, what in (
            (places.device_op, Layer.CPP, "CK's device operation"),
            (places.kernel, Layer.KERNEL, "the kernel that it launches"),
            (places.gridwise, Layer.KERNEL, "the grid-wise kernel"),
        ):
            if place is not None:
                cited = self.citations.ref(place.file, place.line)
                hops.append(checked_hop(layer, place.name, cited, note=what))
        notes = []
        if places.kernel is None and places.missing is not None:
            reason = UnresolvedReason.CK_MISSING if self.index.tree.ck_root is None else UnresolvedReason.NOT_STATED
            hops.append(
                Hop(layer=Layer.KERNEL, name="?", evidence=Evidence.UNRESOLVED, reason=reason, note=places.missing)
            )
            notes.append(places.missing)
        return led_to(
            source,
            UnresolvedReason.CHANGED,
            chains,
            name=name,
            kind=WhereKind.INSTANCE,
            hops=tuple(hops),
            instances=(match,),
            core_flow=ck_core_flow(self.index.tree, places),
            notes=tuple(notes),
        )

    def made_name(self, name: str, chains_in: Callable[[list[str]], list[OpChain]]) -> Where | None:
        """A name that no table lists: the rows of tuned CSVs that hold it, and the script that puts it together."""
        if name in self.chains.ends.assembly.by_symbol:
            return None
        rows = rows_naming(self.index.tree, name)
        maker = maker_of(self.index, name)
        if not rows and maker is None:
            return None
        hops: list[Hop] = []
        for file, line in rows[:1]:
            source = self.citations.ref(file, line, name)
            hops.append(checked_hop(Layer.TUNED_CONFIG, f"{file}:{line}", source, note=f"{len(rows)} rows name it"))
        chains: list[OpChain] = []
        reason = None
        if maker is not None:
            chains = chains_in(list(maker.modules))
            if maker.line is not None:
                source = self.citations.ref(maker.file, maker.line)
                hops.append(checked_hop(Layer.INSTANCE, name, source, note="put together here when a module is built"))
            else:
                lacking = maker.file.startswith(CK) and self.index.tree.ck_root is None
                reason = UnresolvedReason.CK_MISSING if lacking else UnresolvedReason.SOURCE_MISSING
        source = next((hop.source for hop in reversed(hops) if hop.source is not None), None)
        return led_to(
            source,
            reason,
            chains,
            name=name,
            kind=WhereKind.INSTANCE,
            status=WhereStatus.INFERRED,
            hops=tuple(hops),
            notes=(
                "no table lists it: whether a module has it depends on what the module is built for"
                if maker is not None
                else "rows of tuned CSVs alone hold it: the code that makes a kernel of the name is not followed",
            ),
        )

    # -- flows --------------------------------------------------------------------------------------------------

    def flow_of(self, chain: OpChain) -> tuple[FlowStep, ...]:
        """The core flow of the kernel that an op's chain ends at, where the op surely launches it."""
        shown = next((hop.source for hop in chain.hops if hop.layer is Layer.LAUNCH), None)
        for end in chain.launches:
            if end.evidence is not Evidence.RESOLVED or end.source != shown:
                continue
            for kernel in end.kernels:
                source = kernel.source
                if end.kind == "hip" and source is not None and source.line is not None:
                    return self.flows.hip(source.file, source.line)
            if end.kind == "ck":
                recipe = self.index.recipes.get(chain.module or "")
                script = next((g.script for g in recipe.generators if recipe), None) if recipe is not None else None
                if script is not None and script.endswith("gen_instances.py"):
                    version = self._usual_version(chain.module or "")
                    return ck_core_flow(self.index.tree, aiter_ck.ck_places(self.index.tree, script, version))
        return ()

    def _usual_version(self, module: str) -> int | None:
        """The pipeline version of a module's default instances: what runs where no tuned row says otherwise."""
        family = CK_FAMILIES.get(module)
        try:
            table = instance_table(self.index.tree, family.instances, "gfx942") if family is not None else None
        except SourceTreeError:
            return None
        versions = [i.values.get("pipeline_version") for i in table.defaults.values()] if table is not None else []
        return next((v for v in versions if isinstance(v, int)), None)


def _modules(matches: list[InstanceMatch], made: GeneratedInstance | None) -> list[str]:
    """The JIT modules that can hold instances: those of their families, and the one that a generated one is of."""
    families = {match.family for match in matches}
    listed = [family.module for family in CK_FAMILIES.values() if family.instances in families]
    return [*listed, *([made.module] if made is not None else [])]


def _template_name(item: str) -> str | None:
    found = re.match(r"([A-Za-z_][\w:]*)<", item) or re.match(r"([A-Za-z_][\w:]*)\Z", item)
    return found.group(1) if found else None
