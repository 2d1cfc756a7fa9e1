"""Kernels, instances and code objects by name: what a trace or a tuned CSV calls them in, their source out."""

from __future__ import annotations

import re
from collections.abc import Callable

from tracer.aiter import ck as aiter_ck
from tracer.aiter.ck_flow import core_flow as ck_core_flow
from tracer.aiter.families import CK_FAMILIES
from tracer.aiter.instances import Instance, instance_table
from tracer.errors import SourceTreeError
from tracer.index.assembly import AssemblyRow
from tracer.index.tree_index import TreeIndex
from tracer.model.evidence import Evidence
from tracer.model.kernel import DecodedName
from tracer.model.source import FlowStep, Hop, Layer, SourceRef, UnresolvedReason
from tracer.names import itanium
from tracer.names.cpp import read_function
from tracer.names.registry import decode
from tracer.resolve.answers import Candidate, Where, WhereKind, WhereStatus
from tracer.resolve.chain import Chains, OpChain, checked_hop
from tracer.resolve.core_flow import CoreFlows
from tracer.resolve.kernel_names import CppName, Definition, definitions, read_name
from tracer.resolve.python_routes import PythonRoutes
from tracer.resolve.source_templates import SourceTemplates
from tracer.resolve.symbol_instances import InstanceMatch, instances_of, rows_naming
from tracer.resolve.users import Users

_CODE_OBJECT = re.compile(r"[\w./+-]+\.(?:co|hsaco)\Z")
#: beginnings of names of CK-tile's kernel classes and launchers
_TILE = "ck_tile::"
_NO_CK = "Composable Kernel is not in this tree: its submodule was not fetched"
_CHAINS_SHOWN = 6


class KernelSources:
    """Finds what is no Python function, in one tree."""

    def __init__(self, chains: Chains, users: Users, flows: CoreFlows, routes: PythonRoutes) -> None:
        """Reads nothing yet."""
        self.chains = chains
        self.index: TreeIndex = chains.index
        self.citations = chains.citations
        self.users = users
        self.flows = flows
        self.routes = routes
        self.templates = SourceTemplates(self.index, self.citations)

    # -- Triton -------------------------------------------------------------------------------------------------

    def triton(self, name: str, kernel: str) -> Where:
        """A Triton kernel by its function's name."""
        places = []
        for file in self.routes.triton_kernels[kernel]:
            facts = self.index.module(file)
            function = facts.named(kernel) if facts is not None else None
            if function is not None and function.triton:
                places.append((file, function))
        cited = [(f, p, self.citations.ref(f, p.line, kernel, p.last)) for f, p in places]
        candidates = tuple(Candidate(kernel, source, "Triton kernel") for _, _, source in cited)
        if len(cited) != 1:
            return Where(
                name=name,
                kind=WhereKind.TRITON,
                status=WhereStatus.AMBIGUOUS if cited else WhereStatus.UNRESOLVED,
                reason=UnresolvedReason.AMBIGUOUS if cited else UnresolvedReason.CHANGED,
                candidates=candidates,
            )
        file, function, source = cited[0]
        callers = self.routes.callers(file, function)
        hops = []
        if len(callers) == 1:
            step = callers[0]
            launch = self.citations.ref(step.file, step.call_line)
            module = step.file.removesuffix(".py").replace("/", ".")
            hops.append(checked_hop(Layer.PYTHON, f"{module}.{step.function.name}", launch, note="launches it here"))
        hops.append(checked_hop(Layer.KERNEL, kernel, source, note="Triton kernel"))
        notes = []
        sure = kernel == name.rpartition(".")[2] or decode(name).family == "aiter_triton_repr"
        if kernel != name.rpartition(".")[2]:
            notes.append(f"the name is {kernel} with {'values of its constants' if sure else 'something'} behind it")
        if len(callers) > 1:
            notes.append("launched from several functions; see ops")
        return Where(
            name=name,
            kind=WhereKind.TRITON,
            status=(WhereStatus.RESOLVED if sure else WhereStatus.INFERRED)
            if source is not None
            else WhereStatus.UNRESOLVED,
            reason=None if source is not None else UnresolvedReason.CHANGED,
            source=source,
            hops=tuple(hops),
            ops=tuple(f"{s.file.removesuffix('.py').replace('/', '.')}.{s.function.name}" for s in callers),
            core_flow=self.flows.triton(file, kernel),
            notes=tuple(notes),
        )

    # -- code objects and assembly ------------------------------------------------------------------------------

    def code_object(self, name: str) -> Where | None:
        """A shipped code object by its file name."""
        if not _CODE_OBJECT.match(name):
            return None
        leaf = name.rpartition("/")[2]
        files = [f for f in self.chains.ends.assembly.objects.get(leaf, ()) if f.endswith(name.removeprefix("./"))]
        if not files:
            return None
        rows = [row for file in files for row in self._rows_of(file)]
        return self._assembly_answer(name, WhereKind.CODE_OBJECT, files, rows)

    def assembly(self, name: str, decoded: DecodedName) -> Where | None:
        """An assembly kernel by its symbol, mangled or not."""
        table = self.chains.ends.assembly.by_symbol
        plain = name.removesuffix(".kd")
        rows = table.get(plain) or self._by_demangled.get(_bare(decoded.spelled)) or []
        if not rows:
            return None
        files = list(dict.fromkeys(row.object for row in rows))
        return self._assembly_answer(name, WhereKind.ASM_KERNEL, files, rows)

    @property
    def _by_demangled(self) -> dict[str, list[AssemblyRow]]:
        if not hasattr(self, "_demangled"):
            self._demangled: dict[str, list[AssemblyRow]] = {}
            for symbol, rows in self.chains.ends.assembly.by_symbol.items():
                text = itanium.demangle(symbol) or itanium.unwrap_wrong_length(symbol) or symbol
                self._demangled.setdefault(_bare(text), []).extend(rows)
        return self._demangled

    def _rows_of(self, file: str) -> list[AssemblyRow]:
        return [r for rows in self.chains.ends.assembly.by_symbol.values() for r in rows if r.object == file]

    def _assembly_answer(self, name: str, kind: WhereKind, files: list[str], rows: list[AssemblyRow]) -> Where:
        chains = self._launching_tables({row.file.rpartition("/")[2].removesuffix(".csv") for row in rows})
        hops: list[Hop] = []
        if len(chains) == 1:
            hops += [hop for hop in chains[0].hops if hop.layer is not Layer.KERNEL]
        for row in rows[:1]:
            source = self.citations.ref(row.file, row.line)
            hops.append(checked_hop(Layer.INSTANCE, row.symbol, source, note="the row that names symbol and object"))
        cited = [(file, self.citations.file(file)) for file in files]
        there = [(file, source) for file, source in cited if source is not None]
        for file, source in there[:1]:
            hops.append(checked_hop(Layer.KERNEL, file.rpartition("/")[2], source, note="code object"))
        notes = []
        if len(there) > 1:
            notes.append("one object for each target: " + ", ".join(file for file, _ in there[:6]))
        return Where(
            name=name,
            kind=kind,
            status=WhereStatus.RESOLVED if there else WhereStatus.UNRESOLVED,
            reason=None if there else UnresolvedReason.SOURCE_MISSING,
            source=there[0][1] if there else None,
            hops=tuple(hops),
            chains=tuple(chains[:_CHAINS_SHOWN]),
            ops=tuple(dict.fromkeys(c.python for c in chains)),
            candidates=tuple(Candidate(file.rpartition("/")[2], source) for file, source in there[1:]),
            notes=tuple(notes),
        )

    def _launching_tables(self, tables: set[str]) -> list[OpChain]:
        """The chains whose launches take their kernel from one of some tables."""
        names = {f"cfg_{table}" for table in tables}
        found: list[OpChain] = []
        for table in sorted(names):
            for scope in self.users.naming(table):
                for op in self.users.ops_in([scope.module]):
                    chain = self.chains.chain(op)
                    kernels = {kernel.name for end in chain.launches for kernel in end.kernels}
                    if table in kernels and chain not in found:
                        found.append(chain)
        return found

    # -- CK -----------------------------------------------------------------------------------------------------

    def ck(self, name: str, decoded: DecodedName) -> Where | None:
        """A kernel of Composable Kernel, printed or mangled."""
        if decoded.family != "ck_template":
            return None
        kernel, gridwise = decoded.fields.get("kernel"), decoded.fields.get("gridwise")
        matches = instances_of(decoded, self.index.tree)
        families = {match.family for match in matches}
        modules = [f.module for f in CK_FAMILIES.values() if f.instances in families]
        chains = [self.chains.chain(op) for op in self.users.ops_in(modules)]
        chains = [chain for chain in chains if any(end.kind == "ck" for end in chain.launches)]
        places = self._places(matches[0].family, matches[0].file, decoded.fields.get("pipeline_version")) if matches else None
        hops: list[Hop] = []
        if len(chains) == 1:
            hops += [hop for hop in chains[0].hops if hop.layer not in (Layer.KERNEL, Layer.INSTANCE)]
        for match in matches[:1]:
            source = self.citations.ref(match.file, match.line)
            others = tuple(m.instance for m in matches[1:])
            hops.append(
                checked_hop(Layer.INSTANCE, match.instance, source, note="compiles to this symbol", candidates=others)
            )
        found: list[SourceRef | None] = []
        for word, note in ((kernel, "the __global__ function"), (gridwise, "the grid-wise kernel that it runs")):
            for file, line in self._ck_places(str(word or "")):
                found.append(self.citations.ref(file, line, str(word)))
                hops.append(checked_hop(Layer.KERNEL, str(word), found[-1], note=note))
        missing = self.index.tree.ck_root is None
        end = next((source for source in found if source is not None), None)
        return Where(
            name=name,
            kind=WhereKind.CK_KERNEL,
            status=WhereStatus.RESOLVED if end is not None else WhereStatus.UNRESOLVED,
            reason=None
            if end is not None
            else (UnresolvedReason.CK_MISSING if missing else UnresolvedReason.NO_SUCH_NAME),
            source=end,
            hops=tuple(hops),
            chains=tuple(chains[:_CHAINS_SHOWN]),
            ops=tuple(chain.python for chain in chains),
            instances=tuple(matches),
            core_flow=ck_core_flow(self.index.tree, places) if places is not None else (),
            notes=(_NO_CK,) if missing else (),
        )

    def _ck_places(self, name: str) -> list[tuple[str, int]]:
        """(header, line) of a kernel or struct of CK, one where several headers define it alike."""
        classes = self.chains.ends.ck
        return (classes.kernel(name) or classes.struct(name))[:1] if name else []

    def _places(self, family: str, file: str, version: int | None) -> aiter_ck.CkPlaces:
        del family
        return aiter_ck.ck_places(self.index.tree, f"{file.rpartition('/')[0]}/gen_instances.py", version)

    def ck_tile(self, name: str, decoded: DecodedName) -> Where | None:
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
        hops: list[Hop] = []
        chains: list[OpChain] = []
        if leaf:
            modules = [scope.module for scope in self.users.naming(leaf)]
            made = [self.chains.chain(op) for op in self.users.ops_in(modules)]
            chains = [c for c in made if any(end.kind in ("ck_tile", "ck") for end in c.launches)]
        if len(chains) == 1:
            hops += [hop for hop in chains[0].hops if hop.layer is not Layer.KERNEL]
        for file, line in classes.kernel(function.leaf)[:1]:
            source = self.citations.ref(file, line, function.leaf)
            hops.append(checked_hop(Layer.LAUNCH, function.name, source, note="the __global__ function of every kernel"))
        end = None
        for file, line in classes.struct(leaf)[:1] if leaf else ():
            end = self.citations.ref(file, line, leaf)
            hops.append(checked_hop(Layer.KERNEL, kernel or leaf, end, note="CK-tile's kernel class"))
        missing = self.index.tree.ck_root is None
        if end is None and not missing:
            return None
        return Where(
            name=name,
            kind=WhereKind.CK_TILE_KERNEL,
            status=WhereStatus.RESOLVED if end is not None else WhereStatus.UNRESOLVED,
            reason=None if end is not None else UnresolvedReason.CK_MISSING,
            source=end,
            hops=tuple(hops),
            chains=tuple(chains[:_CHAINS_SHOWN]),
            ops=tuple(dict.fromkeys(chain.python for chain in chains)),
            notes=(_NO_CK,) if missing else (),
        )

    # -- C++ ----------------------------------------------------------------------------------------------------

    def cpp(self, name: str, decoded: DecodedName) -> Where | None:
        """A C++ function or HIP kernel of aiter's own sources."""
        wanted = read_name(_bare(decoded.spelled) if "(" not in decoded.spelled else decoded.spelled)
        if wanted is None or len(wanted.leaf) < 3:
            return None
        matches = definitions(self.index, wanted)
        if not matches.found:
            return None
        kernel = matches.found[0].function.kernel
        kind = WhereKind.HIP_KERNEL if kernel else WhereKind.CPP
        if len(matches.found) > 1:
            return self._several(name, kind, matches.found, matches.fit)
        answer = self._one(name, kind, wanted, matches.found[0])
        if matches.fit != "all":
            note = (
                "its template or parameters are not what the name shows: the name is of another version of aiter, or of "
                "another project that has a function of that name"
            )
            return _replaced(answer, status=WhereStatus.INFERRED, notes=(*answer.notes, note))
        return answer

    def _several(self, name: str, kind: WhereKind, found: tuple[Definition, ...], fit: str) -> Where:
        candidates = tuple(
            Candidate(d.function.name, self.citations.ref(d.file, d.function.line, d.function.leaf, d.function.last))
            for d in found
        )
        notes = ["the name shows nothing that tells them apart"]
        if fit != "all":
            notes = ["none has the template or parameters that the name shows: it is of another version of aiter"]
        return Where(
            name=name,
            kind=kind,
            status=WhereStatus.AMBIGUOUS,
            reason=UnresolvedReason.AMBIGUOUS,
            candidates=candidates,
            notes=tuple(notes),
        )

    def _one(self, name: str, kind: WhereKind, wanted: CppName, definition: Definition) -> Where:
        del wanted
        function = definition.function
        source = self.citations.ref(definition.file, function.line, function.leaf, function.last)
        if kind is WhereKind.HIP_KERNEL:
            chains = self.users.launching(definition.file, function.first, function.last)
        else:
            chains = self.users.calling(definition.file, function.line)
        hops: list[Hop] = []
        if len(chains) == 1 and kind is WhereKind.CPP:
            hops += chains[0].hops
        elif kind is WhereKind.HIP_KERNEL:
            hops += self._launch_hops(chains, definition)
            hops.append(checked_hop(Layer.KERNEL, function.name, source))
        else:
            hops.append(checked_hop(Layer.CPP, function.name, source))
        notes = []
        if not chains and kind is WhereKind.HIP_KERNEL:
            notes.append("no op that is declared with compile_ops launches it")
        return Where(
            name=name,
            kind=kind,
            status=WhereStatus.RESOLVED if source is not None else WhereStatus.UNRESOLVED,
            reason=None if source is not None else UnresolvedReason.CHANGED,
            source=source,
            hops=tuple(hops),
            chains=tuple(chains[:_CHAINS_SHOWN]),
            ops=tuple(dict.fromkeys(c.python for c in chains)),
            core_flow=self.flows.hip(definition.file, function.line) if function.kernel else (),
            notes=tuple(notes),
        )

    def _launch_hops(self, chains: list[OpChain], definition: Definition) -> list[Hop]:
        """Where a kernel is launched: over one chain the whole way, else the launch sites alone."""
        hops: list[Hop] = []
        if len(chains) == 1:
            hops += [h for h in chains[0].hops if h.layer not in (Layer.KERNEL, Layer.LAUNCH)]
        seen: set[SourceRef | None] = set()
        for chain in chains:
            for end in chain.launches:
                fits = any(
                    k.source is not None
                    and k.source.file == definition.file
                    and k.source.line is not None
                    and definition.function.first <= k.source.line <= definition.function.last
                    for k in end.kernels
                )
                if fits and end.source not in seen:
                    seen.add(end.source)
                    conditions = " and ".join(end.conditions) if end.conditions else None
                    hops.append(checked_hop(Layer.LAUNCH, end.kernel, end.source, note=conditions))
        if not seen:
            hops += self._template_launches(definition)
        return hops[:12]

    def template_hops(self, template: str) -> list[Hop]:
        """What a source template launches, and the kernels' sources."""
        hops = []
        for launch in self.templates.launches(template):
            source = self.citations.ref(template, launch.line, launch.kernel.rpartition("::")[2])
            hops.append(checked_hop(Layer.LAUNCH, launch.kernel, source, note="in a template that Python compiles"))
            for place in launch.found[:1]:
                function = place.function
                source = self.citations.ref(place.file, function.line, function.leaf, function.last)
                hops.append(checked_hop(Layer.KERNEL, function.name, source))
        return hops

    def _template_launches(self, definition: Definition) -> list[Hop]:
        """Launches in source templates that Python fills in and compiles (csrc/cpp_itfs)."""
        hops = []
        for template, launch in self.templates.launching(definition):
            compiled = self.templates.compiled_by(template)
            if compiled is not None:
                hops.append(checked_hop(Layer.JIT, "compile_template_op", self.citations.ref(*compiled)))
            source = self.citations.ref(template, launch.line, definition.function.leaf)
            hops.append(checked_hop(Layer.LAUNCH, launch.kernel, source, note="in a template that Python compiles"))
        return hops

    # -- instances ----------------------------------------------------------------------------------------------

    def instance(self, name: str, match: InstanceMatch, instance: Instance, chains: list[OpChain]) -> Where:
        """An instance of one of aiter's generators."""
        hops: list[Hop] = []
        if len(chains) == 1:
            hops += [hop for hop in chains[0].hops if hop.layer not in (Layer.KERNEL, Layer.INSTANCE)]
        for file, line in match.rows[:1]:
            source = self.citations.ref(file, line, name)
            hops.append(checked_hop(Layer.TUNED_CONFIG, f"{file}:{line}", source, note=f"{match.rows_in_total} rows name it"))
        source = self.citations.ref(match.file, match.line)
        note = f"entry {match.id} of {instance.table}"
        hops.append(checked_hop(Layer.INSTANCE, name, source, note=note))
        places = self._places(match.family, match.file, instance.values.get("pipeline_version"))
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
                Hop(
                    layer=Layer.KERNEL, name="?", evidence=Evidence.UNRESOLVED, reason=reason, note=places.missing
                )
            )
            notes.append(places.missing)
        return Where(
            name=name,
            kind=WhereKind.INSTANCE,
            status=WhereStatus.RESOLVED if source is not None else WhereStatus.UNRESOLVED,
            reason=None if source is not None else UnresolvedReason.CHANGED,
            source=source,
            hops=tuple(hops),
            chains=tuple(chains[:_CHAINS_SHOWN]),
            ops=tuple(chain.python for chain in chains),
            instances=(match,),
            core_flow=ck_core_flow(self.index.tree, places),
            notes=tuple(notes),
        )

    def tuned_name(self, name: str, chains_in: Callable[[list[str]], list[OpChain]]) -> Where | None:
        """A kernel name that only tuned CSVs hold: its rows, and the table of its family by the family's grammar."""
        if name in self.chains.ends.assembly.by_symbol:
            return None
        rows = rows_naming(self.index.tree, name)
        if not rows:
            return None
        modules = [m for m in self.index.recipes if name.startswith("moe_ck2stages") and "moe_ck2stages" in m]
        modules += [m for m in self.index.recipes if name.startswith("moe_cktile2stages") and "moe_cktile2stages" in m]
        chains = chains_in(modules)
        hops: list[Hop] = []
        for file, line in rows[:1]:
            source = self.citations.ref(file, line, name)
            hops.append(checked_hop(Layer.TUNED_CONFIG, f"{file}:{line}", source, note=f"{len(rows)} rows name it"))
        for chain in chains[:1]:
            hops += [hop for hop in chain.hops if hop.layer in (Layer.INSTANCE, Layer.KERNEL)]
        return Where(
            name=name,
            kind=WhereKind.INSTANCE,
            status=WhereStatus.INFERRED,
            source=hops[0].source,
            hops=tuple(hops),
            chains=tuple(chains[:_CHAINS_SHOWN]),
            ops=tuple(chain.python for chain in chains),
            notes=("tuned CSVs name it; its generator makes the name from types that are known only when it is built",),
        )

    # -- flows --------------------------------------------------------------------------------------------------

    def flow_of(self, chain: OpChain) -> tuple[FlowStep, ...]:
        """The core flow of the first kernel that an op surely launches."""
        for end in chain.launches:
            if end.evidence is not Evidence.RESOLVED:
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


def _bare(text: str) -> str:
    """A printed name without return type, parameters and the mark of a kernel descriptor."""
    plain = text.strip().removesuffix(".kd")
    plain = re.sub(r"^void\s+", "", plain)
    return plain.partition("(")[0].strip() if "<" not in plain else plain


def _template_name(item: str) -> str | None:
    found = re.match(r"([A-Za-z_][\w:]*)<", item) or re.match(r"([A-Za-z_][\w:]*)\Z", item)
    return found.group(1) if found else None


def _replaced(answer: Where, *, status: WhereStatus, notes: tuple[str, ...]) -> Where:
    import msgspec

    return msgspec.structs.replace(answer, status=status, notes=notes)
