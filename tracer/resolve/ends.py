"""Where launches end: the launches of a search in, each with its checked place, its kernels' own sources out.

A `__global__` function ends at its definition, a CK device op at CK's headers and the generator's table of instances, a
ck_tile kernel at its kernel class, an assembly kernel at the code object or the table that lists it, a library's kernel
at the library's name.
"""

from __future__ import annotations

import re
from itertools import pairwise

import msgspec

from tracer.aiter import ck
from tracer.index.assembly import Assembly
from tracer.index.citations import Citations
from tracer.index.ck_classes import CkClasses
from tracer.index.conditions import conditions_at
from tracer.index.cpp_facts import TypeAlias
from tracer.index.generated import HOLE
from tracer.index.instance_tables import instance_tables
from tracer.index.launches import Launch, LaunchSearch
from tracer.index.scope import Place, Scope
from tracer.index.tree_index import TreeIndex
from tracer.model.evidence import Evidence
from tracer.model.source import SourceRef, UnresolvedReason

#: conditions are read for this many launches of an op; the rest carry none
_CONDITIONS = 12
#: so many conditions of one launch are given
_CONDITIONS_EACH = 6
#: of a folder of code objects, so many are named
_OBJECTS_SHOWN = 8
_DEVICE_OP = re.compile(r"ck::tensor_operation::device::(Device\w+)")


class KernelSource(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel and where its own source (or its code object) lies.

    Attributes:
        name: the kernel.
        source: its place; None when there is none in this tree.
        reason: why there is none, from the fixed list.
        note: one more sentence.
    """

    name: str
    source: SourceRef | None = None
    reason: UnresolvedReason | None = None
    note: str | None = None


class InstanceSet(msgspec.Struct, frozen=True, kw_only=True):
    """The instances that a generator can write.

    Attributes:
        name: the table in the generator's module; that module, where it has several; or the generator.
        source: where it stands; of several tables, the first.
        count: how many entries its text shows; None when they are made by loops.
        tables: the tables, where there are several: which of them, the generator and the call's types decide.
    """

    name: str
    source: SourceRef | None
    count: int | None = None
    tables: tuple[str, ...] = ()


class LaunchEnd(msgspec.Struct, frozen=True, kw_only=True):
    """One launch site and where it leads.

    Attributes:
        kind: "hip", "ck", "ck_tile", "asm", "library" or "memory".
        kernel: the kernel as the launch writes it; several, with commas, when a macro launches several.
        source: the launch's line.
        configuration: grid, block, LDS bytes and stream as written, or "".
        conditions: the conditions around it and around the calls that lead to it, innermost first.
        evidence: resolved, or inferred when some step was taken by a bare name or a generated table.
        path: the functions from the C++ entry to the launch, as `name (file:line)`.
        kernels: the kernels it can start.
        instances: the set of instances it is compiled for, or None.
    """

    kind: str
    kernel: str
    source: SourceRef | None
    configuration: str = ""
    conditions: tuple[str, ...] = ()
    evidence: Evidence = Evidence.RESOLVED
    path: tuple[str, ...] = ()
    kernels: tuple[KernelSource, ...] = ()
    instances: InstanceSet | None = None


class Ends:
    """Leads launches to their kernels' sources, for one tree."""

    def __init__(self, index: TreeIndex, citations: Citations) -> None:
        """Reads nothing yet."""
        self.index = index
        self.citations = citations
        self.assembly = Assembly(index)
        self._ck: CkClasses | None = None

    @property
    def ck(self) -> CkClasses:
        """CK's structs and kernels."""
        if self._ck is None:
            self._ck = CkClasses(self.index)
        return self._ck

    def token(self, place: Place) -> str:
        """What must stand on a function's line: its name, or the macro or placeholder that it comes from."""
        function = place.function
        if HOLE in function.name or function.kind == "fragment":
            return ""
        if function.via and not self.citations.ref(place.file, function.line, function.leaf):
            return function.via
        return function.leaf

    def of(self, scope: Scope, search: LaunchSearch) -> list[LaunchEnd]:
        """The launches of a search, one for each line that launches."""
        grouped: dict[tuple[str, int, str], list[Launch]] = {}
        for launch in search.launches:
            grouped.setdefault((launch.file, launch.line, launch.kind), []).append(launch)
        ends: list[LaunchEnd] = []
        for group in grouped.values():
            end = self._end(scope, search, group, with_conditions=len(ends) < _CONDITIONS)
            ends.append(end)
        order = {Evidence.RESOLVED: 0, Evidence.INFERRED: 1}
        return sorted(ends, key=lambda e: (e.kind == "memory", order.get(e.evidence, 2)))

    def _end(self, scope: Scope, search: LaunchSearch, group: list[Launch], with_conditions: bool) -> LaunchEnd:
        first = next((launch for launch in group if not launch.inferred), group[0])
        kernels: dict[str, KernelSource] = {}
        for launch in group:
            for kernel in self._kernels(scope, search, launch):
                kernels.setdefault(f"{kernel.name} {kernel.source}", kernel)
        conditions = self._conditions(first) if with_conditions else ()
        return LaunchEnd(
            kind=first.kind,
            kernel=", ".join(dict.fromkeys(_shown(launch.kernel) for launch in group)) or "?",
            source=self.citations.ref(first.file, first.line),
            configuration=first.configuration,
            conditions=conditions,
            evidence=Evidence.INFERRED if first.inferred else Evidence.RESOLVED,
            path=tuple(f"{_shown(p.function.name or 'template')} ({p.file}:{p.function.line})" for p in first.path),
            kernels=tuple(kernels.values()),
            instances=self._instances(scope, first),
        )

    def _conditions(self, launch: Launch) -> tuple[str, ...]:
        """The conditions of a launch, and of the calls on the way to it where each stands once in its function."""
        lines = [(launch.file, launch.line)]
        for caller, callee in reversed(list(pairwise(launch.path))):
            leaf = callee.function.leaf
            calls = {call.line for call in caller.function.calls if call.name.rpartition("::")[2] == leaf}
            if len(calls) == 1:
                lines.append((caller.file, calls.pop()))
        found: list[str] = []
        for file, line in lines:
            text = None if file.endswith(".py") else self.index.latin1(file)
            found += conditions_at(text, line) if text is not None else ()
        return tuple(dict.fromkeys(found[:_CONDITIONS_EACH]))

    # -- kernels ------------------------------------------------------------------------------------------------

    def _kernels(self, scope: Scope, search: LaunchSearch, launch: Launch) -> list[KernelSource]:
        if launch.kind == "hip":
            return self._hip(scope, launch)
        if launch.kind == "ck":
            return self._device_op(scope, launch)
        if launch.kind == "ck_tile":
            return self._tile(scope, launch)
        if launch.kind == "asm":
            return self._objects(search, launch)
        if launch.kind == "library":
            name = (
                "hipBLASLt" if "lasLt" in launch.kernel else "rocBLAS" if "rocblas" in launch.kernel else launch.kernel
            )
            return [
                KernelSource(
                    name=name,
                    reason=UnresolvedReason.OTHER_LIBRARY,
                    note="the library chooses the kernel when it is called",
                )
            ]
        return []

    def _hip(self, scope: Scope, launch: Launch) -> list[KernelSource]:
        out = []
        for place in launch.targets:
            source = self.citations.ref(place.file, place.function.line, self.token(place), place.function.last)
            note = "declared here; defined in no source of the module" if place.function.kind == "declaration" else None
            out.append(KernelSource(name=_shown(place.function.name), source=source, note=note))
        if out:
            return out
        name = re.match(r"[\w:]+", launch.kernel)
        reason = (
            UnresolvedReason.CK_MISSING if scope.ck_missing and "ck" in launch.kernel else UnresolvedReason.NOT_STATED
        )
        return [KernelSource(name=_shown(name.group() if name else launch.kernel), reason=reason)]

    def _device_op(self, scope: Scope, launch: Launch) -> list[KernelSource]:
        """The device op that aiter's wrapper is instantiated with, its kernel, and the header that holds both."""
        generator = next((g.script for g in scope.recipe.generators if g.script.endswith("gen_instances.py")), None)
        if generator is not None:
            places = ck.ck_places(self.index.tree, generator, None)
            if places.device_op is not None:
                found = []
                for place in (places.kernel, places.device_op):
                    if place is not None:
                        source = self.citations.ref(place.file, place.line, place.name)
                        found.append(KernelSource(name=place.name, source=source, note="Composable Kernel"))
                return found
        names = dict.fromkeys(_DEVICE_OP.findall(scope.lines(launch.file, 1, 1_000_000)))
        out = []
        for name in names:
            for file, line in self.ck.struct(name):
                source = self.citations.ref(file, line, name)
                out.append(KernelSource(name=name, source=source, note="Composable Kernel's device operation"))
        if out:
            return out
        reason = UnresolvedReason.CK_MISSING if scope.ck_missing else UnresolvedReason.NOT_STATED
        return [KernelSource(name=n, reason=reason) for n in names] or [KernelSource(name=launch.kernel, reason=reason)]

    def _tile(self, scope: Scope, launch: Launch) -> list[KernelSource]:
        """The kernel class of a `make_kernel<...>(Kernel{}, ...)`: aliases are followed to a struct of CK or aiter."""
        text, file, line = _first_name(launch.kernel) or launch.kernel, launch.file, launch.line
        seen: set[str] = set()
        while text and text not in seen:
            seen.add(text)
            leaf = text.rpartition("::")[2]
            for struct, at in self.ck.struct(leaf):
                return [
                    KernelSource(name=text, source=self.citations.ref(struct, at, leaf), note="ck_tile kernel class")
                ]
            local = self._local_alias(scope, launch, leaf)
            if local:
                text = _first_name(local)
                continue
            visible = _visible_type(scope.types(leaf), file, line)
            if visible is None:
                break
            file, line = visible[0], visible[1].line
            if not visible[1].target:
                return [KernelSource(name=visible[1].name, source=self.citations.ref(file, line, leaf))]
            text = _first_name(visible[1].target)
        if self.index.tree.ck_root is None:
            return [KernelSource(name=launch.kernel, reason=UnresolvedReason.CK_MISSING)]
        found = self._tile_classes(scope, launch)
        return found or [
            KernelSource(
                name=launch.kernel,
                reason=UnresolvedReason.NOT_STATED,
                note="a template parameter: the instances give the kernel class",
            )
        ]

    def _local_alias(self, scope: Scope, launch: Launch, name: str) -> str:
        """What `using name = ...` in the text of the function or macro that launches makes a name stand for, or ""."""
        if not launch.path:
            return ""
        text = scope.lines(launch.file, launch.path[-1].function.first, launch.line).replace("\\\n", " \n")
        found = re.findall(rf"\busing\s+{re.escape(name)}\s*=([^;]+);", text)
        return found[-1].strip() if found and "{" not in found[-1] else ""

    def _tile_classes(self, scope: Scope, launch: Launch) -> list[KernelSource]:
        """The kernel classes of CK that the functions on the way name in their own text."""
        named: dict[str, None] = {}
        for place in reversed(launch.path):
            named.update(dict.fromkeys(re.findall(r"\bck_tile::(\w*Kernel\w*)", scope.body(place))))
            if named:
                break
        out = []
        for name in named:
            for file, line in self.ck.struct(name):
                source = self.citations.ref(file, line, name)
                out.append(KernelSource(name=f"ck_tile::{name}", source=source, note="ck_tile kernel class"))
        return out

    def _objects(self, search: LaunchSearch, launch: Launch) -> list[KernelSource]:
        out: list[KernelSource] = []
        for name in launch.objects or search.objects:
            if name.startswith("cfg_"):
                for file in self.assembly.tables.get(name.removeprefix("cfg_"), ()):
                    rows = len(self.assembly.rows(file))
                    note = f"a table of {rows} assembly kernels and their code objects"
                    out.append(KernelSource(name=name, source=self.citations.ref(file, 1), note=note))
                continue
            leaf = name.rpartition("/")[2]
            named = self.assembly.objects.get(leaf, [])
            files = [f for f in named if f.endswith("/" + name.lstrip("/"))] or named
            out += [KernelSource(name=leaf, source=self.citations.file(f), note="code object") for f in files]
            if not named:
                out.append(KernelSource(name=name, reason=UnresolvedReason.SOURCE_MISSING, note="code object"))
        if not out and launch.file.startswith("hsa/"):  # a generator beside the code objects that its C++ loads
            folder = launch.file.rpartition("/")[0] + "/"
            beside = sorted(f for files in self.assembly.objects.values() for f in files if f.startswith(folder))
            note = f"one of the {len(beside)} code objects beside the generator"
            for file in beside[:_OBJECTS_SHOWN]:
                out.append(KernelSource(name=file.rpartition("/")[2], source=self.citations.file(file), note=note))
        return out or [KernelSource(name="?", reason=UnresolvedReason.NOT_STATED, note="no table or object is named")]

    # -- instances ----------------------------------------------------------------------------------------------

    def _instances(self, scope: Scope, launch: Launch) -> InstanceSet | None:
        """The tables of the generator's own module, where the launch came through that generator."""
        scripts = [p.file for p in launch.path if p.file in scope.scripts]
        if not scripts:
            return None
        script = scripts[-1]  # the one whose template launches
        folder = script.rpartition("/")[0]
        for module in [s for s in scope.scripts if s.startswith(folder + "/")]:
            tables = instance_tables(self.citations.lines(module) or [])
            if not tables:
                continue
            first = tables[0]
            source = self.citations.ref(module, first.line, first.name)
            if len(tables) == 1:
                return InstanceSet(name=first.name, source=source, count=first.count)
            names = tuple(table.name for table in tables)
            return InstanceSet(name=module.rpartition("/")[2], source=source, tables=names)
        return InstanceSet(name=script.rpartition("/")[2], source=self.citations.ref(script, 1))


def _first_name(text: str) -> str:
    """The name that a type expression begins with, without template arguments."""
    found = re.match(r"(?:typename\s+)?([\w:]+)", text.strip())
    return found.group(1) if found else ""


def _visible_type(found: list[tuple[str, TypeAlias]], file: str, line: int) -> tuple[str, TypeAlias] | None:
    """Of types of one name, the one that a line can mean: the last before it in its file, else the only one there is.

    None where types of several meanings are in other files: which of them is meant is not stated.
    """
    before = [(f, alias) for f, alias in found if f == file and alias.line <= line]
    if before:
        return max(before, key=lambda item: item[1].line)
    stated = [(f, alias) for f, alias in found if alias.target] or found
    return stated[0] if len({alias.target or alias.name for _, alias in stated}) == 1 else None


def _shown(text: str) -> str:
    """A placeholder as the generator's text has it: `{k_name}`."""
    return re.sub(rf"{HOLE}(\w+)", r"{\1}", text)
