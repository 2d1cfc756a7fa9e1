"""Whether the kernels that rows of aiter's tuned CSVs name are there: a row in, findings out.

A CK or CK-tile name is looked up in the tables of the generators that read the row's file, an assembly kernel in the
tables beside its code objects, a MoE name in what its generator writes.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tracer.aiter.asm_tables import asm_kernels
from tracer.aiter.baked import BakeRule, bake_rule
from tracer.aiter.binding import RECIPES, recipe
from tracer.aiter.configs import MergedConfig
from tracer.aiter.csvfile import KeyValue, key_value
from tracer.aiter.families import CK_FAMILIES, CkFamily
from tracer.aiter.findings import Finding, FindingKind, Severity, finding_of
from tracer.aiter.instances import InstanceTable, instance_table, module_file
from tracer.aiter.moe_generated import GENERATOR
from tracer.aiter.moe_names import has_instance
from tracer.aiter.tree import AiterTree
from tracer.aiter.variables import ConfigVariable
from tracer.model.source import CsvRow

ARCH_OF_CU_NUM = {80: "gfx942", 304: "gfx942", 256: "gfx950"}


class Checked(msgspec.Struct):
    """What one run keeps: how many names were not looked up, and the assembly kernels of each target."""

    tree: AiterTree
    unchecked: int = 0
    assembly: dict[str, frozenset[str]] = {}

    def has_assembly(self, arch: str, name: str) -> bool:
        if arch not in self.assembly:
            self.assembly[arch] = frozenset(asm_kernels(self.tree, arch))
        return name in self.assembly[arch]


class Reader(msgspec.Struct, frozen=True):
    """A CK family that reads a config, and how its generator takes rows (None: not known)."""

    family: CkFamily
    rule: BakeRule | None
    tables: dict[str, InstanceTable]

    def table(self, tree: AiterTree, arch: str) -> InstanceTable:
        if arch not in self.tables:
            self.tables[arch] = instance_table(tree, self.family.instances, arch)
        return self.tables[arch]


def readers_of(tree: AiterTree, variable: ConfigVariable) -> tuple[Reader, ...]:
    """The CK families whose generator is given this config."""
    if not tree.absolute(RECIPES).is_file():
        return ()
    found = []
    for family in CK_FAMILIES.values():
        how = recipe(tree, family.module)
        if how is not None and variable.name in how.tuned and module_file(tree, family.instances) is not None:
            found.append(Reader(family, bake_rule(tree, how.generators[0]) if how.generators else None, {}))
    return tuple(found)


def _arch(merged: MergedConfig, row: CsvRow) -> str | None:
    stated = merged.value(row, "gfx")
    number = key_value(merged.value(row, "cu_num"))
    return stated or (ARCH_OF_CU_NUM.get(number) if isinstance(number, int) else None)


def findings_of_kernels(
    tree: AiterTree, merged: MergedConfig, row: CsvRow, readers: tuple[Reader, ...], checked: Checked
) -> Iterator[Finding]:
    """Whether the kernels that a row names are there."""
    libtype = row.values.get("libtype")
    arch = _arch(merged, row)
    for column in ("kernelName", "kernelName1", "kernelName2"):
        name = row.values.get(column, "").strip()
        if not name or name.lower() in ("null", "nan", "none", "auto"):
            continue
        if name.startswith("_ZN5aiter"):
            if arch is not None and not checked.has_assembly(arch, name):
                yield finding_of(
                    merged, FindingKind.UNKNOWN_INSTANCE, row, f"no table under hsa/{arch} has the kernel {name}"
                )
            if column == "kernelName":
                yield from _of_assembly(tree, merged, row, readers, arch or "gfx942")
        elif column == "kernelName" and readers and libtype in (None, "", "ck", "cktile"):
            yield from _of_instance(tree, merged, row, readers, arch or "gfx942")
        else:
            known = has_instance(tree, name, arch or "gfx942")
            checked.unchecked += known is None
            if known is False:
                yield finding_of(
                    merged, FindingKind.UNKNOWN_INSTANCE, row, f"{GENERATOR} writes no instance {name} for {arch}"
                )


def _of_assembly(
    tree: AiterTree, merged: MergedConfig, row: CsvRow, readers: tuple[Reader, ...], arch: str
) -> Iterator[Finding]:
    """Whether a generator that goes by kernelId takes an assembly row for one of its own instances."""
    number = key_value(row.values.get("kernelId", ""))
    for reader in readers:
        rule = reader.rule
        if rule is None or rule.by_name or rule.libtype or rule.without_asm or not isinstance(number, int):
            continue
        instance = reader.table(tree, arch).by_id.get(number)
        if instance is not None:
            yield finding_of(
                merged,
                FindingKind.ASM_ROW_BAKED,
                row,
                f"names an assembly kernel, but {rule.file} takes kernelId {number} for {instance.name}",
            )


def _of_instance(
    tree: AiterTree, merged: MergedConfig, row: CsvRow, readers: tuple[Reader, ...], arch: str
) -> Iterator[Finding]:
    name, libtype = row.values["kernelName"].strip(), row.values.get("libtype")
    by_lib = libtype not in (None, "")
    fitting = [r for r in readers if not by_lib or ("cktile" in r.family.instances) is (libtype == "cktile")]
    if not fitting:
        yield finding_of(
            merged, FindingKind.UNSUPPORTED_LIBTYPE, row, f"no module that reads this file has instances of {libtype!r}"
        )
        return
    tables = [reader.table(tree, arch) for reader in fitting]
    number = key_value(row.values.get("kernelId", ""))
    known = [instance for table in tables for instance in (*table.by_id.values(), *table.defaults.values())]
    by_name = [instance for instance in known if instance.name == name]
    if not by_name:
        yield finding_of(
            merged, FindingKind.UNKNOWN_INSTANCE, row, f"{' and '.join(t.file for t in tables)} know no instance {name}"
        )
        return
    by_id = any(reader.rule is None or not reader.rule.by_name for reader in fitting)
    yield from _of_id(merged, row, tables, number, None if by_id else Severity.WARNING)


def _of_id(
    merged: MergedConfig, row: CsvRow, tables: list[InstanceTable], number: KeyValue, severity: Severity | None
) -> Iterator[Finding]:
    """Whether `kernelId` and `kernelName` are one instance; only a warning where the generator goes by the name."""
    name = row.values["kernelName"].strip()
    if not isinstance(number, int):
        return
    ids = [table.by_id[number] for table in tables if number in table.by_id]
    if not ids:
        yield finding_of(merged, FindingKind.NOT_BUILT, row, f"kernelId {number} is not in {tables[0].file}")
    elif all(instance.name != name for instance in ids):
        yield finding_of(
            merged,
            FindingKind.ID_NAME_MISMATCH,
            row,
            f"kernelId {number} is {ids[0].name} ({ids[0].file}:{ids[0].line}), kernelName says {name}",
            severity=severity,
        )
