"""What becomes of a capture whose child dies, hangs, or can't import what it needs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.capture.conftest import gemm
from tracer.capture.dry import capture_dry
from tracer.capture.protocol import CallRequest
from tracer.errors import CaptureError, SourceTreeError, UsageError
from tracer.model.capture import CaptureRecord

pytestmark = pytest.mark.dry
FAULTS = "tests.capture.faults"


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch, needs_torch: None) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


def call(function: str, *arguments: str) -> CallRequest:
    return CallRequest(op=f"{FAULTS}:{function}", arguments=arguments)


def test_a_child_that_dies_gives_the_end_of_its_output_and_the_records_before_it(importable: None) -> None:
    seen: list[CaptureRecord] = []
    with pytest.raises(CaptureError) as error:
        capture_dry([call("leave"), call("die")], on_record=lambda _, record: seen.append(record))
    assert "exit status 7" in error.value.message
    assert "tests.capture.faults:die" in error.value.message
    assert "| last words" in error.value.message
    (first,) = seen
    assert first.exception is not None
    assert (first.exception.type, first.exception.message) == ("SystemExit", "built nothing")


def test_a_child_that_hangs_is_ended(importable: None) -> None:
    with pytest.raises(CaptureError) as error:
        capture_dry([call("hang")], timeout_s=2)
    assert "no sign of life for 2 s" in error.value.message
    assert "tests.capture.faults:hang" in error.value.message
    assert "| waiting for nothing" in error.value.message


def test_torch_works_without_a_gpu_writes_land_in_the_shadow_and_made_up_values_are_said_to_be(
    importable: None,
) -> None:
    gpuless = [CallRequest(op=f"tests.capture.gpuless:{name}") for name in ("index", "know_constants", "use_streams")]
    *worked, written, asked = capture_dry([*gpuless, call("write_outside"), call("ask_for_a_value", "x=fp32[4]")])
    assert [record.exception for record in worked] == [None] * 3
    assert [len(record.warnings) for record in worked] == [0, 2, 0]
    assert written.exception is None
    assert not Path("/tmp/ktrace-test-shadow.txt").exists()
    assert asked.exception is None
    (warning,) = asked.warnings
    assert warning == "a value was made up: 0.0 for a value of a float32 tensor of shape ()"


def test_wrong_requests_start_no_child() -> None:
    begun = time.monotonic()
    for request, target, message in (
        (CallRequest(op="gemm_a8w8"), "gfx942", "there is no op called"),
        (gemm(128, 1536, 100), "gfx942", "not a multiple of 128"),
        (gemm(128, 1536, 7168), "gfx1", "there is no target"),
        (CallRequest(op="gemm_a8w8_blockscale", shape={"M": 1, "N": 1, "K": 128}, config={}), "gfx942", "takes no"),
    ):
        with pytest.raises(UsageError, match=message):
            capture_dry([request], target=target)
    assert time.monotonic() - begun < 60


def test_an_aiter_that_needs_a_missing_module_is_named_with_the_module(needs_torch: None, tmp_path: Path) -> None:
    broken(tmp_path, "import no_such_module_at_all\n")
    with pytest.raises(SourceTreeError) as error:
        capture_dry([gemm(128, 1536, 7168)], aiter_path=tmp_path)
    assert "needs the module 'no_such_module_at_all'" in error.value.message
    assert error.value.hint == "pip install no_such_module_at_all"


def test_an_aiter_that_breaks_while_it_is_imported_says_where(needs_torch: None, tmp_path: Path) -> None:
    broken(tmp_path, "x = 1\nraise RuntimeError('not today')\n")
    with pytest.raises(SourceTreeError) as error:
        capture_dry([gemm(128, 1536, 7168)], aiter_path=tmp_path)
    assert "RuntimeError: not today (aiter/__init__.py:2)" in error.value.message


def broken(root: Path, text: str) -> None:
    """An aiter of our own that can't be imported."""
    files = {
        "aiter/__init__.py": text,
        "aiter/jit/core.py": "",
        "aiter/jit/optCompilerConfig.json": "{}",
        "csrc/include/aiter_enum.h": "enum class ActivationType { No }; enum class QuantType { No };",
    }
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def test_a_version_outside_the_range_is_refused_with_the_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracer.capture.dry.installed_version", lambda package: "1.0")
    with pytest.raises(CaptureError, match=r"torch 1\.0 is outside the range"):
        capture_dry([CallRequest(op="torch:mm")])
