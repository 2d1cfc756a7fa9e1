"""What a lint of aiter's tuned CSVs can find: the kinds, how much each matters, and findings with file and line."""

from __future__ import annotations

import enum

import msgspec

from tracer.aiter.configs import MergedConfig
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


def finding_of(
    merged: MergedConfig,
    kind: FindingKind,
    row: CsvRow,
    message: str,
    other: CsvRow | None = None,
    severity: Severity | None = None,
) -> Finding:
    """A finding about a row; `severity` where it matters more or less than its kind does."""
    return Finding(
        kind=kind,
        severity=severity or SEVERITY[kind],
        variable=merged.variable.name,
        file=row.file,
        line=row.line,
        message=message,
        other=f"{other.file}:{other.line}" if other is not None else None,
    )
