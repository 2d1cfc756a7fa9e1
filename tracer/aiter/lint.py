"""What is wrong in aiter's tuned CSVs: a tree and an environment in, findings with file and line out.

Every shipped row is looked at: those that survive aiter's merge, and those that are lost in it. Kinds of findings:
docs/tuned-config.md.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping

import msgspec

from tracer.aiter.asm_tables import asm_kernels
from tracer.aiter.baked import BakeRule, bake_rule
from tracer.aiter.binding import RECIPES, recipe
from tracer.aiter.configs import LossReason, LostRow, MergedConfig, merge
from tracer.aiter.csvfile import KeyValue, key_value, microseconds, read_csv
from tracer.aiter.families import CK_FAMILIES, CkFamily
from tracer.aiter.instances import InstanceTable, instance_table, module_file
from tracer.aiter.lookups import LookupRule, lookup_rule, ops
from tracer.aiter.moe_generated import GENERATOR
from tracer.aiter.moe_names import has_instance
from tracer.aiter.tree import AiterTree
from tracer.aiter.variables import ConfigVariable, config_variables
from tracer.errors import SourceTreeError
from tracer.model.source import CsvRow


class Severity(enum.StrEnum):
    """How much a finding matters."""

    ERROR = "error"  #: a call gets another kernel than the row says, or aiter raises
    WARNING = "warning"  #: a row that does nothing, or whose effect is not certain
    INFO = "info"  #: nothing is lost by it


class FindingKind(enum.StrEnum):
    """What is wrong."""

    MERGE_FAILS = "merge_fails"  #: aiter's own merge raises on these files
    DUPLICATE_KEY = "duplicate_key"  #: two rows of one merged table have the same key: aiter's look-up raises
    LOST_OTHER_GPU = "lost_other_gpu"  #: lost in the merge to a row for another GPU
    LOST_TIE = "lost_tie"  #: lost (or not) to a row with the same time and another kernel
    LOST_SLOWER = "lost_slower"  #: lost to a faster row for the same GPU
    LOST_REPEATED = "lost_repeated"  #: says the same as the row that is kept
    UNKNOWN_INSTANCE = "unknown_instance"  #: names an instance or assembly kernel that is not there
    ID_NAME_MISMATCH = "id_name_mismatch"  #: kernelId and kernelName are two different instances
    ASM_ROW_BAKED = (
        "asm_row_baked"  #: names an assembly kernel, but its kernelId puts a CK instance into a module's table
    )
    NOT_BUILT = "not_built"  #: kernelId is outside the table of instances: the row never reaches the module
    BAD_KEY = "bad_key"  #: a key column is empty, or an extent is no positive whole number: no call has this key
    BAD_TIME = "bad_time"  #: the recorded time is missing, zero or negative
    UNSUPPORTED_LIBTYPE = "unsupported_libtype"  #: the op refuses rows of this libtype


SEVERITY = {
    FindingKind.MERGE_FAILS: Severity.ERROR,
    FindingKind.DUPLICATE_KEY: Severity.ERROR,
    FindingKind.LOST_OTHER_GPU: Severity.ERROR,
    FindingKind.LOST_TIE: Severity.WARNING,
    FindingKind.LOST_SLOWER: Severity.INFO,
    FindingKind.LOST_REPEATED: Severity.INFO,
    FindingKind.UNKNOWN_INSTANCE: Severity.ERROR,
    FindingKind.ID_NAME_MISMATCH: Severity.ERROR,
    FindingKind.ASM_ROW_BAKED: Severity.WARNING,
    FindingKind.NOT_BUILT: Severity.INFO,
    FindingKind.BAD_KEY: Severity.ERROR,
    FindingKind.BAD_TIME: Severity.WARNING,
    FindingKind.UNSUPPORTED_LIBTYPE: Severity.ERROR,
}
_LOSSES = {
    LossReason.OTHER_GPU: FindingKind.LOST_OTHER_GPU,
    LossReason.TIE: FindingKind.LOST_TIE,
    LossReason.SLOWER: FindingKind.LOST_SLOWER,
    LossReason.REPEATED: FindingKind.LOST_REPEATED,
}
#: topk is not among them: -1 stands for "any" there (tuned_grouped_fmoe.csv, 2026)
_EXTENTS = frozenset({"M", "N", "K", "B", "token", "model_dim", "inter_dim", "expert", "cu_num", "m", "n", "k", "b"})
_GPU = ("gfx", "cu_num")
ARCH_OF_CU_NUM = {80: "gfx942", 304: "gfx942", 256: "gfx950"}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong.

    Attributes:
        kind: what; severity: how much it matters.
        variable: the config variable whose files it was found in.
        file, line: the row; line is None for a whole file.
        message: one sentence.
        other: "file:line" of the other row it is about, or None.
    """

    kind: FindingKind
    severity: Severity
    variable: str
    file: str
    line: int | None
    message: str
    other: str | None = None


class LintResult(msgspec.Struct, frozen=True):
    """All findings, and how much was looked at.

    Attributes:
        findings: in the order of variables, files and lines.
        rows: rows looked at.
        unchecked: names of kernels whose existence can't be told here (FlyDSL, opus), by how many rows name them.
    """

    findings: tuple[Finding, ...]
    rows: int
    unchecked: int


class _Checked(msgspec.Struct):
    """What one run keeps: how many names were not looked up, and the assembly kernels of each target."""

    tree: AiterTree
    unchecked: int = 0
    assembly: dict[str, frozenset[str]] = {}

    def has_assembly(self, arch: str, name: str) -> bool:
        if arch not in self.assembly:
            self.assembly[arch] = frozenset(asm_kernels(self.tree, arch))
        return name in self.assembly[arch]


class _Reader(msgspec.Struct, frozen=True):
    """A CK family that reads a config, and how its generator takes rows (None: not known)."""

    family: CkFamily
    rule: BakeRule | None
    tables: dict[str, InstanceTable]

    def table(self, tree: AiterTree, arch: str) -> InstanceTable:
        if arch not in self.tables:
            self.tables[arch] = instance_table(tree, self.family.instances, arch)
        return self.tables[arch]


def lint(tree: AiterTree, environment: Mapping[str, str]) -> LintResult:
    """Looks at every tuned CSV that this aiter would read.

    Raises:
        SourceTreeError: a file that is there can't be read.
    """
    findings: list[Finding] = []
    rows = 0
    checked = _Checked(tree)
    for variable in config_variables(tree):
        merged = merge(tree, variable, environment)
        rows += len(merged.rows) + len(merged.lost)
        findings += _of_merge(tree, merged)
        findings += sorted(_of_rows(tree, merged, checked), key=lambda f: (f.file, f.line or 0, f.kind))
    return LintResult(tuple(findings), rows, checked.unchecked)


def _finding(
    merged: MergedConfig,
    kind: FindingKind,
    row: CsvRow,
    message: str,
    other: CsvRow | None = None,
    severity: Severity | None = None,
) -> Finding:
    return Finding(
        kind=kind,
        severity=severity or SEVERITY[kind],
        variable=merged.variable.name,
        file=row.file,
        line=row.line,
        message=message,
        other=f"{other.file}:{other.line}" if other is not None else None,
    )


def _of_merge(tree: AiterTree, merged: MergedConfig) -> Iterator[Finding]:
    if merged.failure is not None:
        yield Finding(
            kind=FindingKind.MERGE_FAILS,
            severity=Severity.ERROR,
            variable=merged.variable.name,
            file=merged.files[0] if merged.files else merged.variable.default,
            line=None,
            message=merged.failure,
        )
    for lost in sorted(merged.lost, key=lambda entry: (entry.row.file, entry.row.line)):
        yield _finding(merged, _LOSSES[lost.reason], lost.row, _loss_sentence(merged, lost), lost.kept)
    key = _key(tree, merged)
    rule = _rule(tree, merged)
    first_wins = rule is not None and rule.first_wins
    first: dict[tuple[KeyValue, ...], CsvRow] = {}
    for row in merged.rows if key else ():
        values = tuple(key_value(merged.value(row, column)) for column in key)
        seen = first.setdefault(values, row)
        if seen is not row and seen.values != row.values:
            same = ", ".join(f"{c}={merged.value(row, c)}" for c in key)
            message = f"another row has the same key ({same})" + ("; the first counts" if first_wins else "")
            severity = Severity.WARNING if first_wins else None
            yield _finding(merged, FindingKind.DUPLICATE_KEY, row, message, seen, severity)


def _loss_sentence(merged: MergedConfig, lost: LostRow) -> str:
    gpu = " ".join(merged.value(lost.kept, c) for c in _GPU if c in merged.columns)
    mine = " ".join(merged.value(lost.row, c) for c in _GPU if c in merged.columns)
    if lost.reason is LossReason.OTHER_GPU:
        return f"lost in aiter's merge: the row kept is for {gpu}, this one for {mine}; calls on {mine} miss"
    if lost.reason is LossReason.TIE:
        return "lost in aiter's merge to a row with the same time and another kernel: aiter's sort may keep either"
    if lost.reason is LossReason.SLOWER:
        return f"lost in aiter's merge to a faster row ({lost.kept.values.get('us')} us) for the same GPU"
    return "says the same as the row that is kept"


def _key(tree: AiterTree, merged: MergedConfig) -> tuple[str, ...]:
    """The columns of the look-up that reads this config; () where none is known."""
    rule = _rule(tree, merged)
    fitting = [key for key in rule.keys if all(column in merged.columns for column in key)] if rule else []
    return fitting[0] if fitting else ()


def _rule(tree: AiterTree, merged: MergedConfig) -> LookupRule | None:
    """The look-up that reads this config."""
    for op in ops():
        try:
            rule = lookup_rule(tree, op)
        except SourceTreeError:
            continue
        if rule.variable == merged.variable.name:
            return rule
    return None


def _of_rows(tree: AiterTree, merged: MergedConfig, checked: _Checked) -> Iterator[Finding]:
    readers = _readers(tree, merged.variable)
    key = merged.key or _key(tree, merged) or tuple(c for c in merged.columns if c in _EXTENTS)
    untuned = _untuned_columns(tree, merged.variable)
    wanted = tuple(dict.fromkeys((*key, *(c for c in untuned if c in merged.columns))))
    timed = "us" in merged.columns
    for row in (*merged.rows, *(entry.row for entry in merged.lost)):
        for column in wanted:
            value = key_value(merged.value(row, column))
            if column in _EXTENTS and (not isinstance(value, int) or value <= 0):
                yield _finding(merged, FindingKind.BAD_KEY, row, f"{column}={merged.value(row, column)!r} is no extent")
        us = microseconds(row)
        if timed and (us is None or us <= 0):
            yield _finding(
                merged, FindingKind.BAD_TIME, row, f"the recorded time is {row.values.get('us') or 'missing'}"
            )
        yield from _of_kernel(tree, merged, row, readers, checked)


def _untuned_columns(tree: AiterTree, variable: ConfigVariable) -> tuple[str, ...]:
    path = tree.absolute(variable.untuned)
    return read_csv(path, variable.untuned).columns if path.is_file() else ()


def _readers(tree: AiterTree, variable: ConfigVariable) -> tuple[_Reader, ...]:
    """The CK families whose generator is given this config."""
    if not tree.absolute(RECIPES).is_file():
        return ()
    found = []
    for family in CK_FAMILIES.values():
        how = recipe(tree, family.module)
        if how is not None and variable.name in how.tuned and module_file(tree, family.instances) is not None:
            found.append(_Reader(family, bake_rule(tree, how.generators[0]) if how.generators else None, {}))
    return tuple(found)


def _arch(merged: MergedConfig, row: CsvRow) -> str | None:
    stated = merged.value(row, "gfx")
    number = key_value(merged.value(row, "cu_num"))
    return stated or (ARCH_OF_CU_NUM.get(number) if isinstance(number, int) else None)


def _of_kernel(
    tree: AiterTree, merged: MergedConfig, row: CsvRow, readers: tuple[_Reader, ...], checked: _Checked
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
                yield _finding(
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
                yield _finding(
                    merged, FindingKind.UNKNOWN_INSTANCE, row, f"{GENERATOR} writes no instance {name} for {arch}"
                )


def _of_assembly(
    tree: AiterTree, merged: MergedConfig, row: CsvRow, readers: tuple[_Reader, ...], arch: str
) -> Iterator[Finding]:
    """Whether a generator that goes by kernelId takes an assembly row for one of its own instances."""
    number = key_value(row.values.get("kernelId", ""))
    for reader in readers:
        rule = reader.rule
        if rule is None or rule.by_name or rule.libtype or rule.without_asm or not isinstance(number, int):
            continue
        instance = reader.table(tree, arch).by_id.get(number)
        if instance is not None:
            yield _finding(
                merged,
                FindingKind.ASM_ROW_BAKED,
                row,
                f"names an assembly kernel, but {rule.file} takes kernelId {number} for {instance.name}",
            )


def _of_instance(
    tree: AiterTree, merged: MergedConfig, row: CsvRow, readers: tuple[_Reader, ...], arch: str
) -> Iterator[Finding]:
    name, libtype = row.values["kernelName"].strip(), row.values.get("libtype")
    by_lib = libtype not in (None, "")
    fitting = [r for r in readers if not by_lib or ("cktile" in r.family.instances) is (libtype == "cktile")]
    if not fitting:
        yield _finding(
            merged, FindingKind.UNSUPPORTED_LIBTYPE, row, f"no module that reads this file has instances of {libtype!r}"
        )
        return
    tables = [reader.table(tree, arch) for reader in fitting]
    number = key_value(row.values.get("kernelId", ""))
    known = [instance for table in tables for instance in (*table.by_id.values(), *table.defaults.values())]
    by_name = [instance for instance in known if instance.name == name]
    if not by_name:
        yield _finding(
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
        yield _finding(merged, FindingKind.NOT_BUILT, row, f"kernelId {number} is not in {tables[0].file}")
    elif all(instance.name != name for instance in ids):
        yield _finding(
            merged,
            FindingKind.ID_NAME_MISMATCH,
            row,
            f"kernelId {number} is {ids[0].name} ({ids[0].file}:{ids[0].line}), kernelName says {name}",
            severity=severity,
        )
