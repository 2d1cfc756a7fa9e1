"""Functions by name: a C++ function, a HIP kernel or a Triton kernel in, its definition, launches and core flow out."""

from __future__ import annotations

import re

import msgspec

from tracer.index.launch_calls import kernel_name, own_launches
from tracer.index.python_calls import PythonFunction, module_name
from tracer.model.kernel import DecodedName
from tracer.model.source import Hop, Layer, SourceRef, UnresolvedReason
from tracer.names.registry import decode
from tracer.resolve.answers import Candidate, Where, WhereKind, WhereStatus, led_to
from tracer.resolve.chain import Chains, OpChain
from tracer.resolve.checked_hops import checked_hop
from tracer.resolve.core_flow import CoreFlows
from tracer.resolve.kernel_names import Definition, bare_name, definitions, read_name
from tracer.resolve.python_routes import PythonRoutes
from tracer.resolve.source_templates import SourceTemplates
from tracer.resolve.users import Users


class FunctionSources:
    """Finds functions and kernels whose source is aiter's own, in one tree."""

    def __init__(self, chains: Chains, users: Users, flows: CoreFlows, routes: PythonRoutes) -> None:
        """Reads nothing yet."""
        self.index = chains.index
        self.citations = chains.citations
        self.users = users
        self.flows = flows
        self.routes = routes
        self.templates = SourceTemplates(self.index, self.citations)

    # -- Triton -------------------------------------------------------------------------------------------------

    def triton_candidates(self, name: str) -> tuple[Candidate, ...]:
        """The Triton kernels of exactly a name, perhaps dotted."""
        places = self._triton_places(name, name.rpartition(".")[2])
        return tuple(Candidate(f"{module_name(f)}.{p.name}", self._cited(f, p), "Triton kernel") for f, p in places)

    def _triton_places(self, name: str, kernel: str) -> list[tuple[str, PythonFunction]]:
        """The Triton kernels of a name; a dotted one tells those of several modules and classes apart."""
        read = ((file, self.index.module(file)) for file in self.routes.triton_kernels.get(kernel, ()))
        places = [
            (file, function)
            for file, facts in read
            for function in (facts.functions if facts is not None else ())
            if function.triton and function.name.rpartition(".")[2] == kernel
        ]
        if re.fullmatch(r"\w+(?:\.\w+)+", name):
            return [(f, p) for f, p in places if f".{module_name(f)}.{p.name}".endswith(f".{name}")]
        return places

    def _cited(self, file: str, function: PythonFunction) -> SourceRef | None:
        return self.citations.ref(file, function.line, function.name.rpartition(".")[2], function.last)

    def triton(self, name: str, kernel: str) -> Where | None:
        """A Triton kernel by its function's name; None where the files only mention one (in a text, say)."""
        places = self._triton_places(name, kernel)
        if not places and all(self.index.module(file) is not None for file in self.routes.triton_kernels[kernel]):
            return None
        cited = [(f, p, self._cited(f, p)) for f, p in places]
        candidates = tuple(Candidate(f"{module_name(f)}.{p.name}", source, "Triton kernel") for f, p, source in cited)
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
            note = "calls it here, on the device" if step.function.triton else "launches it here"
            hops.append(checked_hop(Layer.PYTHON, f"{module_name(step.file)}.{step.function.name}", launch, note=note))
        hops.append(checked_hop(Layer.KERNEL, kernel, source, note="Triton kernel"))
        notes = []
        sure = kernel == name.rpartition(".")[2] or decode(name).family == "aiter_triton_repr"
        if kernel != name.rpartition(".")[2]:
            notes.append(f"the name is {kernel} with {'values of its constants' if sure else 'something'} behind it")
        if len(callers) > 1:
            notes.append("launched or called from several functions; see ops")
        return Where(
            name=name,
            kind=WhereKind.TRITON,
            status=(WhereStatus.RESOLVED if sure else WhereStatus.INFERRED)
            if source is not None
            else WhereStatus.UNRESOLVED,
            reason=None if source is not None else UnresolvedReason.CHANGED,
            source=source,
            hops=tuple(hops),
            ops=tuple(f"{module_name(s.file)}.{s.function.name}" for s in callers),
            core_flow=self.flows.triton(file, kernel),
            notes=tuple(notes),
        )

    # -- C++ ----------------------------------------------------------------------------------------------------

    def cpp(self, name: str, decoded: DecodedName) -> Where | None:
        """A C++ function or HIP kernel of aiter's own sources."""
        wanted = read_name(bare_name(decoded.spelled) if "(" not in decoded.spelled else decoded.spelled)
        if wanted is None or len(wanted.leaf) < 3:
            return None
        matches = definitions(self.index, wanted)
        if not matches.found:
            return None
        kernel = matches.found[0].function.kernel
        kind = WhereKind.HIP_KERNEL if kernel else WhereKind.CPP
        if len(matches.found) > 1:
            return self._several(name, kind, matches.found, matches.fit)
        answer = self._one(name, kind, matches.found[0])
        if matches.fit != "all":
            note = (
                "its template or parameters are not what the name shows: the name is of another version of aiter, or "
                "of another project that has a function of that name"
            )
            return msgspec.structs.replace(answer, status=WhereStatus.INFERRED, notes=(*answer.notes, note))
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

    def _one(self, name: str, kind: WhereKind, definition: Definition) -> Where:
        function = definition.function
        source = self.citations.ref(definition.file, function.line, function.leaf, function.last)
        if kind is WhereKind.HIP_KERNEL:
            chains = self.users.launching(definition.file, function)
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
            notes.append("no op that is declared with compile_ops was found to launch it")
        return led_to(
            source,
            UnresolvedReason.CHANGED,
            chains,
            name=name,
            kind=kind,
            hops=tuple(hops),
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
            hops += self._template_launches(definition) or self._other_launches(definition)
        return hops[:12]

    def _other_launches(self, definition: Definition) -> list[Hop]:
        """Launches in host functions that no op leads to."""
        leaf = definition.function.leaf
        hops = []
        for file in self.index.cpp_named(leaf):
            facts = self.index.cpp(file)
            for function in facts.functions if facts is not None else ():
                for line, kernel in own_launches(function):
                    if kernel_name(kernel).rpartition("::")[2] == leaf:
                        source = self.citations.ref(file, line)
                        note = f"in {function.name}, which no op that is declared with compile_ops calls"
                        hops.append(checked_hop(Layer.LAUNCH, kernel, source, note=note))
        return hops

    def template_hops(self, template: str) -> list[Hop]:
        """What a source template launches, and the kernels' sources."""
        launches = self.templates.launches(template)
        return [hop for launch in launches for hop in self.templates.hops(template, launch)]

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
