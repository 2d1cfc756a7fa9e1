"""`ktrace doctor` and `ktrace ops`."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.cli.conftest import Answer
from tracer.cli import doctor
from tracer.importers import kineto_plain
from tracer.ops.registry import OPS

Ktrace = Callable[..., Answer]


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    part = doctor.Part(name="gpu", state="none", detail="torch sees no GPU")
    monkeypatch.setattr(doctor, "_gpu", lambda: (part, {}))


@pytest.mark.usefixtures("no_gpu")
def test_the_doctor_says_for_every_mode_whether_it_works(ktrace: Ktrace) -> None:
    answer = ktrace("doctor", "--json")
    assert answer.code == 0
    found = json.loads(answer.out)
    assert set(found["modes"]) == {"dry", "live", "import", "site"}
    assert found["modes"]["live"] == "no: torch sees no GPU"


@pytest.mark.usefixtures("no_gpu")
def test_what_is_missing_comes_with_the_command_that_adds_it(ktrace: Ktrace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "installed_version", lambda name: "3.11.7" if name == "python" else None)
    answer = ktrace("doctor")
    assert "amd-aiter        missing" in answer.out
    assert "pip install 'ktrace[dry]'" in answer.out
    assert "dry              no: torch, triton, amd-aiter" in answer.out


@pytest.mark.usefixtures("no_gpu")
def test_a_version_outside_the_supported_range_is_refused(ktrace: Ktrace, monkeypatch: pytest.MonkeyPatch) -> None:
    real = doctor.installed_version
    monkeypatch.setattr(doctor, "installed_version", lambda name: "1.13.1" if name == "torch" else real(name))
    found = json.loads(ktrace("doctor", "--json").out)
    (torch,) = [part for part in found["parts"] if part["name"] == "torch"]
    assert torch["state"] == "unsupported"
    assert ">=" in torch["detail"]
    assert found["modes"]["dry"].startswith("no: torch")


def test_a_rocm_gpu_is_called_unproven(ktrace: Ktrace, monkeypatch: pytest.MonkeyPatch) -> None:
    part = doctor.Part(
        name="gpu", state="unproven", found="AMD Instinct MI300X (gfx942, 304 CUs)", detail="unproven so far"
    )
    monkeypatch.setattr(doctor, "_gpu", lambda: (part, {"rocm": "6.4"}))
    found = json.loads(ktrace("doctor", "--json").out)
    assert found["modes"]["live"].startswith("unproven")


def test_ops_are_listed_with_dimensions_and_options(ktrace: Ktrace) -> None:
    rows = [json.loads(line) for line in ktrace("ops", "--json").out.splitlines()]
    assert [row["name"] for row in rows] == [op.name for op in OPS]
    text = ktrace("ops").out
    for op in OPS:
        assert f"{op.name}  --shape {','.join(d.name for d in op.dims)}" in text


@pytest.mark.usefixtures("no_gpu")
def test_a_trace_reader_that_was_not_compiled_is_told_and_costs_nothing_but_time(
    ktrace: Ktrace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kineto_plain, "EventReader", None)
    found = json.loads(ktrace("doctor", "--json").out)
    (reader,) = [part for part in found["parts"] if part["name"] == "trace reader"]
    assert (reader["state"], found["modes"]["import"]) == ("missing", "yes")
    assert "C compiler" in reader["add"]
