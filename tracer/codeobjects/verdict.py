"""Whether a built module is what its sources would build now: a module and what is expected of it in, a verdict out.

Nothing is read here: tracer.resolve.built_modules gathers what an aiter at hand expects of a module.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from tracer.codeobjects.module import BuiltModule
from tracer.codeobjects.targets import TargetId, runs_on
from tracer.model.evidence import Evidence
from tracer.model.source import CsvRow


class ModuleState(enum.StrEnum):
    """What a built module is worth, the worst first."""

    WRONG_TARGET = "wrong target"  #: no code in it runs on the target
    STALE = "stale"  #: what it was built from has changed since
    CURRENT = "current"  #: everything that could be compared agrees
    UNKNOWN = "unknown"  #: nothing could be compared


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was compared.

    Attributes:
        kind: "target", "lacks instances", "lacks table instances", "lacks assembly kernels", "lacks defaults",
            "holds all", "stripped", "newer file", "age".
        text: a sentence.
        evidence: how it is known: the module's own content is `stated`, times of files only let infer.
        state: what it alone makes of the module.
        names: the names that it is about (at most ten).
        rows: the rows of the CSVs that it is about (at most ten).
    """

    kind: str
    text: str
    evidence: Evidence
    state: ModuleState
    names: tuple[str, ...] = ()
    rows: tuple[CsvRow, ...] = ()


class WantedInstance(msgspec.Struct, frozen=True):
    """An instance that a row of a tuned CSV names, and that the instance table has."""

    name: str
    row: CsvRow


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """What an aiter at hand expects of one of its modules.

    Attributes:
        wanted: instances that rows of the tuned CSVs name, for the GPU.
        table: instances of a table that the module asks by name, all of which are compiled in: name -> file:line.
        defaults: instances that its own heuristics may choose: name -> file:line.
        assembly: kernels that its tables of assembly kernels name, with their rows.
        files: files it is built from whose change counts -> when they were written, nanoseconds since the epoch.
        by_name: the module is asked by the instance's name: the rows as such are not baked into it.
        assumption: what must hold for the expectation to be the right one; None for nothing.
        reason: why nothing is expected, or less than could be.
    """

    wanted: tuple[WantedInstance, ...] = ()
    table: dict[str, str] = {}
    defaults: dict[str, str] = {}
    assembly: tuple[WantedInstance, ...] = ()
    files: dict[str, int] = {}
    by_name: bool = False
    assumption: str | None = None
    reason: str | None = None


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a module is worth, and why.

    Attributes:
        state: the worst that a finding makes of it.
        findings: everything that was compared, the deciding first.
        assumption: what must hold for it.
        reason: why something was not compared.
    """

    state: ModuleState
    findings: tuple[Finding, ...] = ()
    assumption: str | None = None
    reason: str | None = None


_SHOWN = 10
_ORDER = tuple(ModuleState)


def judge(module: BuiltModule, expected: Expectation, targets: tuple[TargetId, ...] = ()) -> Verdict:
    """Compares a built module with what is expected of it.

    Args:
        module: the module.
        expected: what the aiter at hand expects.
        targets: what it is to run on; empty where nobody says.
    """
    findings = sorted(
        (*_target(module, targets), *_content(module, expected), *_age(module, expected)),
        key=lambda finding: _ORDER.index(finding.state),
    )
    return Verdict(
        state=findings[0].state if findings else ModuleState.UNKNOWN,
        findings=tuple(findings),
        assumption=expected.assumption,
        reason=expected.reason,
    )


def _target(module: BuiltModule, targets: tuple[TargetId, ...]) -> Iterator[Finding]:
    inside = ", ".join(map(str, module.targets))
    if not targets or not module.objects:
        return
    for target in targets:
        fits = [runs_on(code, target) for code in module.targets]
        if any(fits):
            text, state = f"it holds code for {inside}, and {target} runs it", ModuleState.CURRENT
        elif None in fits:
            text, state = f"whether {target} runs its code ({inside}) is not known", ModuleState.UNKNOWN
        else:
            text, state = f"it holds code for {inside}, and nothing that {target} runs", ModuleState.WRONG_TARGET
        yield Finding(kind="target", text=text, evidence=Evidence.STATED, state=state)


def _content(module: BuiltModule, expected: Expectation) -> Iterator[Finding]:
    """What the names inside say. A name that is missing proves something only where all of the module was read."""
    lost = " (parts of it could not be read)" if module.lost else ""
    evidence = Evidence.INFERRED if module.lost else Evidence.STATED
    hidden = module.stripped and not module.instances
    if hidden and (expected.wanted or expected.table or expected.defaults):
        yield Finding(
            kind="stripped",
            text="its symbol table is stripped, so that instances without a text constant have no name in it",
            evidence=Evidence.STATED,
            state=ModuleState.UNKNOWN,
        )
    rows = {entry.name: entry.row for entry in reversed((*expected.wanted, *expected.assembly))}
    groups = [("lacks assembly kernels", "assembly kernels that its tables name", [e.name for e in expected.assembly])]
    if not hidden:
        groups += [
            ("lacks instances", "instances that tuned rows name and its table has", [e.name for e in expected.wanted]),
            ("lacks table instances", "instances of its table", list(expected.table)),
        ]
    compared = complete = 0
    for kind, what, listed in groups:
        names = list(dict.fromkeys(listed))
        missing = [name for name in names if name not in module.names]
        compared += len(names)
        complete += len(names) - len(missing)
        if missing:
            yield Finding(
                kind=kind,
                text=f"{len(missing)} of {len(names)} {what} are not in it{lost}: it was built from other tables",
                evidence=evidence,
                state=ModuleState.STALE,
                names=tuple(missing[:_SHOWN]),
                rows=tuple(rows[name] for name in missing[:_SHOWN] if name in rows),
            )
    absent = [] if hidden else [name for name in expected.defaults if name not in module.names]
    if absent:
        yield Finding(
            kind="lacks defaults",
            text=f"{len(absent)} of {len(expected.defaults)} default instances are not in it{lost}, first that of "
            f"{expected.defaults[absent[0]]}: a linker drops those that nothing refers to",
            evidence=Evidence.INFERRED,
            state=ModuleState.UNKNOWN,
            names=tuple(absent[:_SHOWN]),
        )
    if compared and complete == compared:
        yield Finding(
            kind="holds all",
            text=f"all {compared} names that rows and tables at hand expect are in it",
            evidence=Evidence.STATED,
            state=ModuleState.CURRENT,
        )


def _age(module: BuiltModule, expected: Expectation) -> Iterator[Finding]:
    if module.modified_ns is None or not expected.files:
        return
    newer = {file: at for file, at in expected.files.items() if at > module.modified_ns}
    built = _when(module.modified_ns)
    if not newer:
        yield Finding(
            kind="age",
            text=f"it was written at {built}, after all {len(expected.files)} files that it is built from",
            evidence=Evidence.INFERRED,
            state=ModuleState.CURRENT,
        )
        return
    latest = max(newer, key=lambda file: newer[file])
    yield Finding(
        kind="newer file",
        text=f"{len(newer)} files that it is built from were written after it ({built}), last {latest} at "
        f"{_when(newer[latest])}"
        + ("" if not expected.by_name else "; it is asked by name, so that this alone changes nothing"),
        evidence=Evidence.INFERRED,
        state=ModuleState.CURRENT if expected.by_name else ModuleState.STALE,
        names=tuple(sorted(newer)[:_SHOWN]),
    )


def _when(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
