"""`ktrace run`: what is refused before anything runs. What a capture gives is tested in tests/capture."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests import handmade
from tests.cli.conftest import Answer
from tracer.cli.answers import run_answer, run_text
from tracer.cli.run import _command_line
from tracer.ops.registry import get_op
from tracer.pipeline import build_report
from tracer.store import load_record

Ktrace = Callable[..., Answer]
RECORDS = Path(__file__).parents[1] / "data" / "records"
OP = "gemm_a8w8_blockscale"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--shape", "128,1536"], "has 2 values"),
        (["--shape", "0,1536,7168"], "M=0"),
        (["--shape", "128,1536,100"], "multiple of 128"),
        (["--shape", "128,1536,99999999999999999999999"], "absurdly large"),
        ([], "no shape was given"),
        (["--shape", "128,1536,7168", "--target", "gfx999"], "gfx999"),
        (["--shape", "128,1536,7168", "--device", "MI999"], "MI999"),
        (["--shape", "128,1536,7168", "--device", "MI355X", "--target", "gfx942"], "MI355X is gfx950"),
        (["--shape", "128,1536,7168", "--target", "gfx942", "--cu-num", "305"], "305"),
        (["--shape", "128,1536,7168", "--config", "{}"], "takes no kernel configuration"),
        (["--shape", "128,1536,7168", "--dtype", "fp64"], "fp64"),
        (["--shape", "@/nothing/like/this.csv"], "this.csv"),
    ],
)
def test_what_cannot_be_is_wrong_usage_and_named(
    ktrace: Ktrace, tmp_path: Path, arguments: list[str], part: str
) -> None:
    answer = ktrace(OP, *arguments, "--out", str(tmp_path / "site"))
    assert answer.code == 2
    assert part in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("config", "part"),
    [
        ("{", "no JSON"),
        ("[1]", "no JSON object"),
        ('{"BLOCK_SIZE_Q": 16}', "BLOCK_SIZE_Q"),
        ('{"BLOCK_SIZE_M": "16"}', "BLOCK_SIZE_M"),
    ],
)
def test_a_configuration_that_the_kernel_does_not_take_is_named(
    ktrace: Ktrace, tmp_path: Path, config: str, part: str
) -> None:
    answer = ktrace("gemm_a16w16", "--shape", "16,3072,3072", "--config", config, "--out", str(tmp_path / "site"))
    assert answer.code == 2
    assert part in answer.err


def test_an_output_folder_that_cannot_be_written_is_refused_before_the_run(ktrace: Ktrace, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    answer = ktrace(OP, "--shape", "128,1536,7168", "--out", str(tmp_path / "file" / "site"))
    assert answer.code == 1  # as where the folder can no longer be written once the run is under way
    assert "can't be written" in answer.err


def test_columns_of_a_shapes_file_that_are_not_read_are_named_with_what_holds_instead(
    ktrace: Ktrace, tmp_path: Path
) -> None:
    (tmp_path / "shapes.csv").write_text("cu_num,dtype,M,N,K,us\n304,fp16,128,1536,7168,8.5\n")
    answer = ktrace(OP, "--shape", f"@{tmp_path}/shapes.csv", "--target", "gfx999", "--out", str(tmp_path / "site"))
    assert "shapes.csv: a row gives a shape alone; not read: cu_num, dtype, us" in answer.err
    assert "every row is taken with dtype=bf16" in answer.err


def test_live_without_a_gpu_says_what_was_looked_for(
    ktrace: Ktrace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracer.capture.live._NODES", {"cuda": tmp_path / "no", "rocm": tmp_path / "none"})
    answer = ktrace("torch_mm", "--shape", "1,2,3", "--mode", "live", "--out", str(tmp_path / "site"))
    assert answer.code == 1
    assert "no GPU" in answer.err
    assert "--mode dry" in answer.err


def test_a_missing_aiter_checkout_is_named(ktrace: Ktrace, tmp_path: Path) -> None:
    answer = ktrace(OP, "--shape", "128,1536,7168", "--aiter", str(tmp_path), "--out", str(tmp_path / "site"))
    assert answer.code == 1
    assert str(tmp_path) in answer.err


def test_a_callable_takes_arguments_and_no_shape(ktrace: Ktrace, tmp_path: Path) -> None:
    answer = ktrace("torch:mm", "--shape", "1", "--out", str(tmp_path / "site"))
    assert answer.code == 2
    assert "--arg" in answer.err
    answer = ktrace("torch:mm", "--arg", "nonsense", "--out", str(tmp_path / "site"))
    assert answer.code == 2
    assert "nonsense" in answer.err


@pytest.mark.dry
def test_arguments_that_a_callable_can_not_take_are_a_usage_error_and_leave_no_record(
    ktrace: Ktrace, tmp_path: Path
) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    out = tmp_path / "site"
    answer = ktrace("torch.nn.functional:softmax", "--arg", "inputs=bf16[4,8]", "--mode", "dry", "--out", str(out))
    assert answer.code == 2
    assert "torch.nn.functional:softmax has no argument 'inputs'" in answer.err
    assert "softmax(input: " in answer.err
    assert list(out.iterdir()) == []


KEYS = {
    "op", "mode", "target", "cu_num", "device", "shape", "page", "record", "tuned", "launches", "hops", "roofline",
    "exception", "warnings",
}  # fmt: skip


@pytest.mark.parametrize("path", sorted(RECORDS.rglob("*.json")), ids=lambda p: p.stem)
def test_the_json_answer_of_any_record_has_the_documented_keys(path: Path) -> None:
    answer = run_answer(build_report(load_record(path)), page="page.md", record=str(path))
    assert set(answer) == KEYS
    for launch in answer["launches"]:
        assert set(launch) == {"kernel", "instance", "family", "fields", "grid", "block", "lds_bytes", "evidence"}
    for hop in answer["hops"]:
        assert set(hop) == {"layer", "name", "file", "line", "evidence", "reason"}
    json.dumps(answer)


def test_what_the_page_warns_of_stands_in_the_answer_too() -> None:
    record = handmade.blockscale()
    call = msgspec.structs.replace(record.call, shape={"M": 100_000_000, "N": 1536, "K": 7168})
    report = build_report(msgspec.structs.replace(record, call=call, warnings=("said by the record",)))
    said, large = run_answer(report, page=None, record=None)["warnings"]
    assert said == "said by the record"
    assert large.startswith("The operands take at least 975 GiB, more than the 192 GiB of MI300X")
    assert run_answer(build_report(record), page=None, record=None)["warnings"] == []


def test_the_text_answer_names_kernel_roof_and_page() -> None:
    record = load_record(RECORDS / "live" / "gemm_a16w16_h200.json")
    text = run_text(build_report(record), page="page.md")
    assert "_gemm_a16_w16_kernel" in text
    assert "memory-bound on H200" in text
    assert text.endswith("page.md")


def test_the_text_answer_says_why_there_is_no_kernel() -> None:
    record = msgspec.structs.replace(handmade.failed(), exception=None, warnings=())
    assert "  kernel     none: no kernel was reached\n" in run_text(build_report(record), page="page.md")


@pytest.mark.dry
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_leaves_no_temporary_folder(tmp_path: Path, number: signal.Signals) -> None:
    if any(importlib.util.find_spec(name) is None for name in ("torch", "triton", "aiter")):
        pytest.skip("torch, Triton or amd-aiter is not installed")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    command = [sys.executable, "-m", "tracer", OP, "--shape", "128,1536,7168", "--mode", "dry"]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path / "site")], env={**os.environ, "TMPDIR": str(temporary)}
    )
    while not list(temporary.glob("ktrace-*/job.json")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    assert process.wait() == 128 + number
    assert list(temporary.iterdir()) == []


def test_the_command_of_a_record_says_that_it_took_a_checkout() -> None:
    given = {"target": "gfx942", "cu-num": None, "aiter": "PATH"}
    line = _command_line(get_op(OP), {"M": 128, "N": 1536, "K": 7168}, {"dtype": "bf16"}, (), given)
    assert line == f"ktrace {OP} --shape 128,1536,7168 --target gfx942 --aiter PATH"
