"""Assembly kernels and code objects by name: a symbol or a file name in, the table's row and the object out."""

from __future__ import annotations

import re
from functools import cached_property

import msgspec

from tracer.index.assembly import AssemblyRow
from tracer.model.kernel import DecodedName
from tracer.model.source import Hop, Layer, UnresolvedReason
from tracer.names import itanium
from tracer.resolve.answers import Candidate, Where, WhereKind, led_to
from tracer.resolve.chain import Chains, OpChain
from tracer.resolve.checked_hops import checked_hop, launch_hop
from tracer.resolve.kernel_names import bare_name
from tracer.resolve.users import Users

_CODE_OBJECT = re.compile(r"[\w./+-]+\.(?:co|hsaco)\Z")


class AsmSources:
    """Finds assembly kernels and code objects, in one tree."""

    def __init__(self, chains: Chains, users: Users) -> None:
        """Reads nothing yet."""
        self.chains = chains
        self.citations = chains.citations
        self.users = users

    def code_object(self, name: str) -> Where | None:
        """A shipped code object by its file name."""
        if not _CODE_OBJECT.match(name):
            return None
        leaf = name.rpartition("/")[2]
        files = [f for f in self.chains.ends.assembly.objects.get(leaf, ()) if f.endswith(name.removeprefix("./"))]
        if not files:
            return None
        rows = [row for file in files for row in self._rows_of(file)]
        chains = self._launching({leaf, *_tables(rows)})
        answer = self._assembly_answer(name, WhereKind.CODE_OBJECT, files, rows, chains)
        if rows or chains:
            return answer
        return msgspec.structs.replace(
            answer, notes=(*answer.notes, "no table of this tree lists it and no source names it")
        )

    def kernel(self, name: str, decoded: DecodedName) -> Where | None:
        """An assembly kernel by its symbol, mangled or not."""
        table = self.chains.ends.assembly.by_symbol
        plain = name.removesuffix(".kd")
        rows = table.get(plain) or self._by_demangled.get(bare_name(decoded.spelled)) or []
        if not rows:
            return self._unlisted(name, plain, decoded)
        files = list(dict.fromkeys(row.object for row in rows))
        return self._assembly_answer(name, WhereKind.ASM_KERNEL, files, rows, self._launching(_tables(rows)))

    @cached_property
    def _by_demangled(self) -> dict[str, list[AssemblyRow]]:
        found: dict[str, list[AssemblyRow]] = {}
        for symbol, rows in self.chains.ends.assembly.by_symbol.items():
            text = itanium.demangle(symbol) or itanium.unwrap_wrong_length(symbol) or symbol
            found.setdefault(bare_name(text), []).extend(rows)
        return found

    def _unlisted(self, name: str, symbol: str, decoded: DecodedName) -> Where | None:
        """A symbol that no table lists: the code objects are searched for it."""
        if not (decoded.family or "").startswith("aiter_asm"):
            return None
        leaf = bare_name(decoded.spelled).rpartition("::")[2]
        spellings = (symbol, f"_ZN5aiter{len(leaf)}{leaf}E", leaf)
        files: list[str] = []
        for spelling in dict.fromkeys(spellings):
            files = files or self.chains.ends.assembly.holding(spelling)
        if not files:
            return None
        chains = self._launching({files[0].rpartition("/")[2]}) or self._naming(files[0])
        answer = self._assembly_answer(name, WhereKind.ASM_KERNEL, files, [], chains)
        return msgspec.structs.replace(answer, notes=(*answer.notes, "no table lists it: the objects were searched"))

    def _naming(self, file: str) -> list[OpChain]:
        """The chains of modules whose sources or generators name a code object."""
        stem = file.rpartition("/")[2].rpartition(".")[0]
        modules = [scope.module for scope in self.users.naming(stem)]
        chains = [self.chains.chain(op) for op in self.users.ops_in(modules)]
        return [chain for chain in chains if any(end.kind == "asm" for end in chain.launches)]

    def _rows_of(self, file: str) -> list[AssemblyRow]:
        return [r for rows in self.chains.ends.assembly.by_symbol.values() for r in rows if r.object == file]

    def _assembly_answer(
        self, name: str, kind: WhereKind, files: list[str], rows: list[AssemblyRow], chains: list[OpChain]
    ) -> Where:
        hops: list[Hop] = []
        if len(chains) == 1:
            hops += chains[0].hops
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
        return led_to(
            there[0][1] if there else None,
            UnresolvedReason.SOURCE_MISSING,
            chains,
            name=name,
            kind=kind,
            hops=tuple(hops),
            candidates=tuple(Candidate(file.rpartition("/")[2], source) for file, source in there[1:]),
            notes=tuple(notes),
        )

    def _launching(self, names: set[str]) -> list[OpChain]:
        """The chains whose launches take their kernel from some tables or objects, each led to such a launch."""
        found: dict[str, OpChain] = {}
        for name in sorted(names):
            for scope in self.users.naming(name.partition(".")[0]):
                for op in self.users.ops_in([scope.module]):
                    chain = self.chains.chain(op)
                    end = next((e for e in chain.launches if any(k.name == name for k in e.kernels)), None)
                    if end is not None and chain.python not in found:
                        above = (h for h in chain.hops if h.layer not in (Layer.LAUNCH, Layer.INSTANCE, Layer.KERNEL))
                        found[chain.python] = msgspec.structs.replace(chain, hops=(*above, launch_hop(end)))
        return list(found.values())


def _tables(rows: list[AssemblyRow]) -> set[str]:
    """The variables under which aiter's C++ has the tables of some rows."""
    return {f"cfg_{row.file.rpartition('/')[2].removesuffix('.csv')}" for row in rows}
