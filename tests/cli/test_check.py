"""`ktrace check`: its text, its JSON, its gates and its refusals."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tracer.aiter.tree import AiterTree
from tracer.cli.main import main

PLAIN = ["check", "gemm_a8w8_blockscale", "--shape", "128,1536,7168"]


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KTRACE_AITER", "AITER_CONFIG_GEMM_A8W8_BLOCKSCALE"):
        monkeypatch.delenv(name, raising=False)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    captured = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, captured.out, captured.err


def objects(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_a_hit_names_its_row(wheel: AiterTree, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *PLAIN)
    assert code == 0
    assert "exact" in out
    assert "aiter/configs/a8w8_blockscale_tuned_gemm.csv:29" in out


def test_a_lost_row_is_named_with_the_line_to_append(wheel: AiterTree, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *PLAIN, "--cu-num", "80")
    assert code == 0
    assert "miss (dropped_by_merge)" in out
    assert "a8w8_blockscale_tuned_gemm.csv:224" in out
    assert "append '128,1536,7168' to aiter/configs/a8w8_blockscale_untuned_gemm.csv" in out


def test_a_moe_is_asked_for_by_its_own_extents(wheel: AiterTree, capsys: pytest.CaptureFixture[str]) -> None:
    shape = "token=300,model_dim=6144,inter_dim=4096,expert=8,topk=2"
    code, out, _ = run(capsys, "check", "fused_moe", "--shape", shape, "--cu-num", "80", "--json")
    (answer,) = objects(out)
    assert code == 0
    assert (answer["status"], answer["padded_m"]) == ("padded_coarse", 512)
    first, _, second = answer["kernel"].partition(" + ")
    assert first.startswith("moe_ck2stages_gemm1_")
    assert second.startswith("moe_ck2stages_gemm2_")
    code, out, _ = run(capsys, "check", "fused_moe", "--shape", shape, "--key", "q_type=QuantType.per_1x32")
    assert "token=512 cu_num=80" in out


def test_json_is_one_object_a_shape_in_order(wheel: AiterTree, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *PLAIN, "--shape", "M=100,N=1536,K=7168", "--json")
    first, second = objects(out)
    assert code == 0
    assert (first["status"], first["padded_m"], first["row"]["line"], first["recorded_us"]) == (
        "exact",
        128,
        29,
        18.2772,
    )
    assert (second["status"], second["key"]["M"], second["lost_row"]) == ("padded_coarse", "100", None)


def test_a_miss_fails_the_gate_that_was_asked_for(wheel: AiterTree, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, *PLAIN, "--fail-on", "miss")[0] == 0
    code, _, err = run(capsys, *PLAIN, "--cu-num", "80", "--fail-on", "miss")
    assert code == 3
    assert "1 of 1 shapes missed" in err


def test_lint_fails_the_gate_on_errors(wheel: AiterTree, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "--lint", "--json", "--fail-on", "lint")
    assert code == 3
    assert {found["kind"] for found in objects(out)} >= {"lost_other_gpu"}
    assert run(capsys, "check", "--lint")[0] == 0


def test_a_log_is_explained(wheel: AiterTree, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "aiter.log"
    log.write_text(
        "[aiter] shape is M:128, N:1536, K:7168, not found tuned config in /tmp/a8w8_blockscale_tuned_gemm.csv, \n"
    )
    code, out, _ = run(capsys, "check", "--log", str(log), "--cu-num", "80", "--json")
    (answer,) = objects(out)
    assert code == 0
    assert (answer["reason"], answer["log"]["count"], answer["disagrees"]) == ("dropped_by_merge", 1, False)
    (other,) = objects(run(capsys, "check", "--log", str(log), "--json")[1])
    assert (other["status"], other["disagrees"]) == ("exact", True)


def test_an_op_that_looks_nothing_up_says_so(wheel: AiterTree, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "quant_per_1x128", "--json")
    assert code == 0
    assert objects(out)[0]["reason"] == "not_consulted"
    _, text, _ = run(capsys, "check", "quant_per_1x128")
    assert "consults no tuned config" in text
    assert "miss (" not in text
    assert "0 hit" not in text


def test_a_file_that_aiter_looks_for_in_vain_is_named(
    wheel: AiterTree, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["check", "gemm_a8w8_blockscale", "--shape", "128,1536,7168"]
    monkeypatch.setenv("AITER_CONFIG_GEMM_A8W8_BLOCKSCALE", "/nowhere/tuned.csv")
    assert "not there  /nowhere/tuned.csv, as AITER_CONFIG_GEMM_A8W8_BLOCKSCALE says" in run(capsys, *asked)[1]
    (answer,) = objects(run(capsys, *asked, "--json")[1])
    assert (answer["reason"], answer["files"], answer["missing"]) == ("file_missing", [], ["/nowhere/tuned.csv"])
    monkeypatch.delenv("AITER_CONFIG_GEMM_BF16", raising=False)
    text = run(capsys, "check", "gemm_a16w16", "--shape", "128,1536,7168")[1]
    if "file_missing" in text:  # by default releases of aiter without that file look for it all the same
        assert "configs/tuned_gemm.csv, the default of AITER_CONFIG_GEMM_BF16 in aiter/jit/core.py" in text


def test_a_log_without_a_look_up_says_that_it_holds_none(
    wheel: AiterTree, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log = tmp_path / "other.log"
    log.write_text("nothing of aiter\n")
    code, out, _ = run(capsys, "check", "--log", str(log))
    assert (code, "0 hit" in out) == (0, False)
    assert f"{log} has no line by which aiter says" in out
    code, out, err = run(capsys, "check", "--log", str(log), "--json")
    assert (code, out) == (0, "")
    assert "has no line by which" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check"], "--log FILE or --lint"),
        (["check", "gemm_a8w8_blockscale", "--lint"], "--log FILE or --lint"),
        (["check", "gemm_a8w8_blokscale", "--shape", "1,2,3"], "did you mean gemm_a8w8_blockscale"),
        (["check", "gemm_a8w8_blockscale"], "no shape was given"),
        (["check", "gemm_a8w8_blockscale", "--shape", "1,2"], "has 2 values"),
        (["check", "gemm_a8w8_blockscale", "--shape", "1,-2,3"], "not positive"),
        (["check", "gemm_a8w8_blockscale", "--shape", "1,2,3", "--key", "nonsense"], "COLUMN=VALUE"),
        (["check", "gemm_a8w8_blockscale", "--shape", "1,2,3", "--target", "gfx1"], "gfx1"),
        (["check", "gemm_a8w8_blockscale", "--shape", "1,2,3", "--target", "mi300x"], "--device MI300X"),
        (["check", "--log", "/nowhere/aiter.log"], "can't be read"),
    ],
)
def test_wrong_usage_is_refused_with_exit_code_2(
    wheel: AiterTree, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert said in err


def test_a_checkout_of_another_project_is_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = run(capsys, *PLAIN, "--aiter", str(tmp_path))
    assert code == 1
    assert "holds no aiter" in err


def test_checking_loads_neither_torch_nor_triton_nor_pandas(
    wheel: AiterTree, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {name for name in ("torch", "triton", "pandas", "aiter") if name in sys.modules}
    run(capsys, *PLAIN)
    assert {name for name in ("torch", "triton", "pandas", "aiter") if name in sys.modules} == before


def test_key_columns_of_a_shapes_file_are_named_as_not_read(
    wheel: AiterTree, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shapes.csv").write_text("M,N,K,q_dtype_w\n128,1536,7168,torch.int8\n")
    code, _, err = run(capsys, "check", "gemm_a8w8_blockscale", "--shape", f"@{tmp_path}/shapes.csv")
    assert code == 0
    assert "not read: q_dtype_w (give them with --key, --target and --cu-num)" in err
