"""What is wrong in aiter's tuned CSVs: a tree and an environment in, findings with file and line out.

Every shipped row is looked at: those that survive aiter's merge, and those that are lost in it. Kinds of findings:
docs/tuned-config.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tracer.aiter.configs import LossReason, LostRow, MergedConfig, merge
from tracer.aiter.csvfile import KeyValue, key_value, microseconds, read_csv
from tracer.aiter.findings import Finding, FindingKind, LintResult, Severity, finding_of
from tracer.aiter.lint_kernels import Checked, findings_of_kernels, readers_of
from tracer.aiter.lookups import LookupRule, lookup_rule, ops
from tracer.aiter.tree import AiterTree
from tracer.aiter.variables import ConfigVariable, config_variables
from tracer.errors import SourceTreeError
from tracer.model.source import CsvRow

_LOSSES = {
    LossReason.OTHER_GPU: FindingKind.LOST_OTHER_GPU,
    LossReason.TIE: FindingKind.LOST_TIE,
    LossReason.SLOWER: FindingKind.LOST_SLOWER,
    LossReason.REPEATED: FindingKind.LOST_REPEATED,
}
#: topk is not among them: -1 stands for "any" there (tuned_grouped_fmoe.csv, 2026)
_EXTENTS = frozenset({"M", "N", "K", "B", "token", "model_dim", "inter_dim", "expert", "cu_num", "m", "n", "k", "b"})
_GPU = ("gfx", "cu_num")


def lint(tree: AiterTree, environment: Mapping[str, str]) -> LintResult:
    """Looks at every tuned CSV that this aiter would read.

    Raises:
        SourceTreeError: a file that is there can't be read.
    """
    findings: list[Finding] = []
    rows = 0
    checked = Checked(tree)
    for variable in config_variables(tree):
        merged = merge(tree, variable, environment)
        rows += len(merged.rows) + len(merged.lost)
        findings += _of_merge(tree, merged)
        findings += sorted(_of_rows(tree, merged, checked), key=lambda f: (f.file, f.line or 0, f.kind))
    return LintResult(tuple(findings), rows, checked.unchecked)


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
        yield finding_of(merged, _LOSSES[lost.reason], lost.row, _loss_sentence(merged, lost), lost.kept)
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
            yield finding_of(merged, FindingKind.DUPLICATE_KEY, row, message, seen, severity)


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


def _of_rows(tree: AiterTree, merged: MergedConfig, checked: Checked) -> Iterator[Finding]:
    readers = readers_of(tree, merged.variable)
    key = merged.key or _key(tree, merged) or tuple(c for c in merged.columns if c in _EXTENTS)
    untuned = _untuned_columns(tree, merged.variable)
    wanted = tuple(dict.fromkeys((*key, *(c for c in untuned if c in merged.columns))))
    timed = "us" in merged.columns
    for row in (*merged.rows, *(entry.row for entry in merged.lost)):
        for column in wanted:
            value = key_value(merged.value(row, column))
            if column in _EXTENTS and (not isinstance(value, int) or value <= 0):
                yield finding_of(
                    merged, FindingKind.BAD_KEY, row, f"{column}={merged.value(row, column)!r} is no extent"
                )
        us = microseconds(row)
        if timed and (us is None or us <= 0):
            yield finding_of(
                merged, FindingKind.BAD_TIME, row, f"the recorded time is {row.values.get('us') or 'missing'}"
            )
        yield from findings_of_kernels(tree, merged, row, readers, checked)


def _untuned_columns(tree: AiterTree, variable: ConfigVariable) -> tuple[str, ...]:
    path = tree.absolute(variable.untuned)
    return read_csv(path, variable.untuned).columns if path.is_file() else ()
