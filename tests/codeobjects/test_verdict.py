"""What a built module is worth: wrong target, stale, current, unknown, and why."""

from __future__ import annotations

import msgspec
import pytest

from tracer.codeobjects.kernel import CodeObject
from tracer.codeobjects.module import BuiltModule
from tracer.codeobjects.targets import TargetId, parse_target
from tracer.codeobjects.verdict import Expectation, Finding, ModuleState, Verdict, WantedInstance, judge
from tracer.model.capture import Lost
from tracer.model.evidence import Evidence
from tracer.model.source import CsvRow

ROW = CsvRow("aiter/configs/a8w8_blockscale_tuned_gemm.csv", 17, {"kernelName": "wanted"})
SECOND = 1_000_000_000


def _target(text: str) -> TargetId:
    found = parse_target(text)
    assert found is not None
    return found


def _module(*names: str, targets: tuple[str, ...] = ("gfx942",), **more: object) -> BuiltModule:
    return BuiltModule(
        name="module_x",
        path="module_x.so",
        modified_ns=100 * SECOND,
        objects=tuple(CodeObject(target=_target(target), kernels=()) for target in targets),
        names=frozenset(names),
        instances=tuple(names),
        **more,  # type: ignore[arg-type]
    )


def _finding(verdict: Verdict, kind: str) -> Finding:
    return next(finding for finding in verdict.findings if finding.kind == kind)


WANTED = Expectation(wanted=(WantedInstance("wanted", ROW),))


def test_a_module_that_has_what_rows_name_is_current() -> None:
    verdict = judge(_module("wanted", "other"), WANTED)
    assert verdict.state is ModuleState.CURRENT
    assert _finding(verdict, "holds all").evidence is Evidence.STATED


def test_a_module_that_lacks_an_instance_of_a_tuned_row_is_stale() -> None:
    verdict = judge(_module("other"), WANTED)
    found = _finding(verdict, "lacks instances")
    assert verdict.state is ModuleState.STALE
    assert (found.evidence, found.names, found.rows) == (Evidence.STATED, ("wanted",), (ROW,))
    assert "1 of 1 instances" in found.text


def test_what_could_not_be_read_makes_a_missing_name_an_inference() -> None:
    verdict = judge(_module("other", lost=(Lost("bundles that can't be read", 1),)), WANTED)
    found = _finding(verdict, "lacks instances")
    assert (verdict.state, found.evidence) == (ModuleState.STALE, Evidence.INFERRED)
    assert "could not be read" in found.text


def test_a_module_for_another_target_is_wrong_whatever_else_holds() -> None:
    verdict = judge(_module("wanted", targets=("gfx942",)), WANTED, (_target("gfx950"),))
    assert verdict.state is ModuleState.WRONG_TARGET
    assert verdict.findings[0].text == "it holds code for gfx942, and nothing that gfx950 runs"
    assert _finding(verdict, "holds all").state is ModuleState.CURRENT


@pytest.mark.parametrize(
    ("inside", "wanted", "state"),
    [
        (("gfx942", "gfx950"), "gfx950", ModuleState.CURRENT),
        (("gfx9-4-generic",), "gfx942", ModuleState.CURRENT),
        (("gfx942:xnack+",), "gfx942:xnack-", ModuleState.WRONG_TARGET),
    ],
)
def test_one_fitting_target_is_enough(inside: tuple[str, ...], wanted: str, state: ModuleState) -> None:
    assert judge(_module(targets=inside), Expectation(), (_target(wanted),)).state is state


def test_a_module_without_device_code_has_no_target_to_be_wrong() -> None:
    assert judge(_module("wanted", targets=()), WANTED, (_target("gfx950"),)).state is ModuleState.CURRENT


def test_a_file_that_is_newer_makes_it_stale_by_inference() -> None:
    verdict = judge(_module("wanted"), Expectation(files={"old.csv": 99 * SECOND, "new.csv": 101 * SECOND}))
    found = _finding(verdict, "newer file")
    assert (verdict.state, found.evidence, found.names) == (ModuleState.STALE, Evidence.INFERRED, ("new.csv",))
    assert "1970-01-01 00:01:40 UTC" in found.text


def test_a_newer_file_changes_nothing_where_the_module_is_asked_by_name() -> None:
    verdict = judge(_module("wanted"), Expectation(wanted=WANTED.wanted, files={"new.csv": 101 * SECOND}, by_name=True))
    assert verdict.state is ModuleState.CURRENT


def test_a_module_newer_than_its_files_is_current() -> None:
    assert judge(_module(), Expectation(files={"old.csv": 99 * SECOND})).state is ModuleState.CURRENT


def test_defaults_that_are_missing_prove_nothing() -> None:
    verdict = judge(_module("wanted"), Expectation(wanted=WANTED.wanted, defaults={"unused": "table.py:9"}))
    found = _finding(verdict, "lacks defaults")
    assert (verdict.state, found.state, found.evidence) == (
        ModuleState.CURRENT,
        ModuleState.UNKNOWN,
        Evidence.INFERRED,
    )
    assert "table.py:9" in found.text


def test_an_instance_of_a_table_that_is_asked_by_name_must_be_there() -> None:
    verdict = judge(_module("wanted"), Expectation(table={"wanted": "t.py:1", "absent": "t.py:2"}))
    assert (verdict.state, _finding(verdict, "lacks table instances").names) == (ModuleState.STALE, ("absent",))


def test_assembly_kernels_that_a_table_names_must_be_there() -> None:
    expected = Expectation(assembly=(WantedInstance("wanted", ROW), WantedInstance("_ZN5aiter4goneE", ROW)))
    verdict = judge(_module("wanted"), expected)
    assert (verdict.state, _finding(verdict, "lacks assembly kernels").names) == (
        ModuleState.STALE,
        ("_ZN5aiter4goneE",),
    )


def test_a_stripped_module_can_not_be_judged_by_its_instances() -> None:
    verdict = judge(
        msgspec.structs.replace(_module(), stripped=True), Expectation(wanted=WANTED.wanted, defaults={"d": "t.py:1"})
    )
    assert verdict.state is ModuleState.UNKNOWN
    assert [finding.kind for finding in verdict.findings] == ["stripped"]


def test_nothing_to_compare_is_unknown_with_the_reason() -> None:
    verdict = judge(_module(), Expectation(reason="this aiter builds no module called module_x"))
    assert (verdict.state, verdict.findings) == (ModuleState.UNKNOWN, ())
    assert verdict.reason == "this aiter builds no module called module_x"
