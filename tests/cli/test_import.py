"""`ktrace import` and `ktrace diff`: text, JSON, pages, exit codes, and light imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Answer
from tests.importers.handmade import MI300X, call, frame, kernel, op, trace, write
from tests.importers.test_compare import TENSILE, side
from tests.importers.test_replay import captured, replayed
from tests.importers.test_summary import example
from tests.render.markup import to_html

Ktrace = Callable[..., Answer]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path, trace(example(), deviceProperties=[MI300X]))


def test_the_summary_is_text_for_people(path: Path, ktrace: Ktrace) -> None:
    answer = ktrace("import", str(path))
    assert (answer.code, answer.err) == (0, "")
    text = answer.out.replace(str(path), "trace.json")
    assert text == (
        "trace.json: torch.profiler JSON, torch.profiler (Kineto)\n"
        "  device 0: AMD Instinct MI300X (MI300X, gfx942, 304 CUs; stated), 4 kernels, 100.0 µs, "
        "busy 25.9 % of 540.0 µs\n"
        "  kernels 4, 100.0 µs\n"
        "  with a Python stack 60.0 %; decoded 60.0 %, with fields 60.0 %, with a tile 60.0 %\n"
        "\n"
        "time by family\n"
        "   60.0 %             60.0 µs        3  tensile_hipblaslt\n"
        "   40.0 %             40.0 µs        1  (no family: not decoded)\n"
        "\n"
        "time by operator\n"
        "   60.0 %             60.0 µs        3  aten::mm\n"
        "   40.0 %             40.0 µs        1  (no operator)\n"
        "\n"
        "top 2 of 2 kernels (by name and stack)\n"
        "   1   60.0 %             60.0 µs       3 x 20.0 µs  tensile_hipblaslt  tile 256x192x64\n"
        "      Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_K1\n"
        "      main m.py:1 -> aten::mm -> hipExtModuleLaunchKernel\n"
        "   2   40.0 %             40.0 µs       1 x 40.0 µs  unknown family\n"
        "      nobody_knows_me\n"
        "      no stack: its runtime call is not in the trace: launched before the trace began, or not recorded\n"
        "\n"
        "lost, or not joined\n"
        "        1  kernels without a runtime call: launched before the trace began, or the call was not recorded; "
        "they have no stack, and no operator without an id of one\n"
    )


def test_json_is_one_object_a_trace_with_the_promised_keys(path: Path, ktrace: Ktrace) -> None:
    answer = ktrace("import", str(path), str(path), "--json")
    first, second = (json.loads(line) for line in answer.out.splitlines())
    assert first == second
    assert first["kernel_count"] == 4
    times = [first[key] for key in ("kernel_us", "with_stack_us", "decoded_us", "fields_us", "tile_us")]
    assert times == [100.0, 60.0, 60.0, 60.0, 60.0]
    assert [(lost["what"], lost["count"]) for lost in first["lost"]] == [("kernels without a runtime call", 1)]
    assert first["devices"][0]["device"] == "MI300X"
    assert [(k["family"], k["count"], k["us"], k["stack"]) for k in first["kernels"]] == [
        ("tensile_hipblaslt", 3, 60.0, ["m.py(1): main", "nn.Module: Layer_0"]),
        (None, 1, 40.0, []),
    ]
    assert first["kernels"][0]["fields"]["m_per_block"] == 256


def test_every_key_of_the_json_is_documented() -> None:
    import msgspec

    from tracer.importers import answers, compare

    page = (Path(__file__).parents[2] / "docs" / "import.md").read_text(encoding="utf-8")
    structs = [
        *(answers.Summary, answers.SummaryDevice, answers.KernelGroup, answers.Share, answers.ReplaySummary),
        *(compare.Diff, compare.Side, compare.PlaceDiff, compare.KernelChange, compare.SideKernel),
    ]
    fields = {field.encode_name for struct in structs for field in msgspec.structs.fields(struct)}
    assert [field for field in sorted(fields) if f"`{field}`" not in page] == []


def test_picks_get_pages_and_records(path: Path, ktrace: Ktrace, tmp_path: Path) -> None:
    out = tmp_path / "site"
    answer = ktrace("import", str(path), "--op", "aten::mm", "--out", str(out), "--json", "--lang", "en")
    told = json.loads(answer.out)
    (page,), (record,) = told["pages"], told["records"]
    assert (answer.code, answer.err) == (0, "")
    assert "aten::mm" in Path(page).read_text(encoding="utf-8")
    again = ktrace("render", record, "--out", str(out), "--lang", "en")
    assert again.out == f"{page}\n"


def test_hostile_names_are_escaped_on_the_page_and_in_the_terminal(ktrace: Ktrace, tmp_path: Path) -> None:
    hostile = "a\n```\n\n<script>alert(1)</script>\x1b[31m|`x`\n# heading"
    events = [
        frame(f"{hostile}.py(1): {hostile}", 0, 9),
        op(hostile, 1, 8, 1),
        call("hipLaunchKernel", 2, 1, 7, external=1),
    ]
    path = write(tmp_path, trace([*events, kernel(hostile, 20, 1, 7, external=1)], deviceProperties=[MI300X]))
    answer = ktrace("import", str(path), "--top", "1", "--out", str(tmp_path / "site"), "--lang", "en")
    assert answer.code == 0
    assert "\x1b" not in answer.out
    page = Path(answer.out.strip().splitlines()[-1].strip()).read_text(encoding="utf-8")
    shown = to_html(page)
    assert "<script" not in shown
    assert shown.count("<h1") == 1


def test_a_pattern_that_fits_nothing_is_told_and_no_failure(path: Path, ktrace: Ktrace, tmp_path: Path) -> None:
    answer = ktrace("import", str(path), "--kernel", "nothing*", "--out", str(tmp_path / "site"))
    assert answer.code == 0
    assert "nothing fits --kernel 'nothing*'; no page was written" in answer.err
    assert not (tmp_path / "site").exists()


def test_a_replay_and_its_capture_are_joined(ktrace: Ktrace, tmp_path: Path) -> None:
    replay = write(tmp_path, trace(replayed(["a", "b"]), deviceProperties=[MI300X]), "replay.json")
    capture = write(tmp_path, trace(captured(["a"]), deviceProperties=[MI300X]), "capture.json")
    answer = ktrace("import", str(replay), "--capture-trace", str(capture))
    assert "hipGraphLaunch replayed 2 kernels, 2.0 µs: 1 matched to 1 launches of its capture; " in answer.out
    assert "the capture is INCOMPLETE\n    missing in the capture: 1 x b\n" in answer.out
    assert "(stack inferred)" in answer.out
    assert "graph launches whose capture is incomplete" in answer.out


def test_what_cannot_be_read_at_all_is_exit_code_1(ktrace: Ktrace, tmp_path: Path) -> None:
    page = write(tmp_path, b"<!doctype html><title>Login</title>")
    answer = ktrace("import", str(page))
    assert answer.code == 1
    assert "is a web page ('Login'), no trace" in answer.err
    assert "expected: torch.profiler JSON" in answer.err


def test_one_bad_file_among_several_does_not_stop_the_others(path: Path, ktrace: Ktrace, tmp_path: Path) -> None:
    bad = write(tmp_path, b"nonsense", "bad.json")
    answer = ktrace("import", str(bad), str(path), "--json")
    first, second = (json.loads(line) for line in answer.out.splitlines())
    assert (answer.code, first["file"], second["kernel_count"]) == (1, str(bad), 4)
    assert "is no trace that ktrace knows" in first["error"]


def test_a_broken_trace_is_exit_code_0_and_says_what_was_lost(ktrace: Ktrace, tmp_path: Path) -> None:
    content = trace(example(), deviceProperties=[MI300X])
    answer = ktrace("import", str(write(tmp_path, content[: len(content) // 2])))
    assert answer.code == 0
    assert "truncated: the text ends inside an event: first at byte" in answer.out


@pytest.mark.parametrize("arguments", [[], ["--top", "0", "x.json"], ["--nonsense", "x.json"]])
def test_wrong_usage_is_exit_code_2(arguments: list[str], ktrace: Ktrace) -> None:
    assert ktrace("import", *arguments).code == 2


def test_diff_says_what_changed(ktrace: Ktrace, tmp_path: Path) -> None:
    a = write(tmp_path, trace(side(TENSILE.format("256x192x64"), 20), deviceProperties=[MI300X]), "a.json")
    b = write(tmp_path, trace(side(TENSILE.format("128x192x32"), 30), deviceProperties=[MI300X]), "b.json")
    answer = ktrace("diff", str(a), str(b))
    assert (answer.code, answer.err) == (0, "")
    text = answer.out.replace(f"{tmp_path}/", "")
    assert text == (
        "A: a.json: MI300X, 2 kernels, 25.0 µs\n"
        "B: b.json: MI300X, 2 kernels, 35.0 µs\n"
        "B takes 1.40x the kernel time of A\n"
        "1 place runs different kernels, 1 runs the same\n"
        "\n"
        "different kernels (A -> B), largest difference in time first\n"
        "           20.0 µs ->          30.0 µs     1.50x  1 -> 1  aten::mm <- forward model.py:7\n"
        "    -      1 x  tensile_hipblaslt  tile 256x192x64  "
        "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_K1\n"
        "    +      1 x  tensile_hipblaslt  tile 128x192x32  "
        "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x192x32_MI16x16x1_SN_K1\n"
        "        m_per_block 256 -> 128, k_per_block 64 -> 32\n"
        "\n"
        "the same kernels (A -> B)\n"
        "            5.0 µs ->           5.0 µs     1.00x  1 -> 1  aten::add <- forward model.py:7\n"
        "    =      1 x  unknown family  add  (5.0 µs -> 5.0 µs)\n"
    )
    told: dict[str, Any] = json.loads(ktrace("diff", str(a), str(b), "--json").out)
    assert (told["changed_count"], told["unchanged_count"]) == (1, 1)
    assert told["places"][0]["kernels"][0]["fields"] == {"m_per_block": [256, 128], "k_per_block": [64, 32]}


def test_diff_takes_records(path: Path, ktrace: Ktrace, tmp_path: Path) -> None:
    told = json.loads(ktrace("import", str(path), "--top", "1", "--out", str(tmp_path / "site"), "--json").out)
    answer = ktrace("diff", told["records"][0], str(path))
    assert answer.code == 0
    assert "aten::mm <- main m.py:1" in answer.out


def test_diff_of_records_without_times_speaks_of_none(ktrace: Ktrace) -> None:
    records = Path(__file__).parents[1] / "data" / "records"
    split, block = (records / "dry" / f"gemm_{name}_gfx942.json" for name in ("a16w16_split_k", "a8w8_blockscale"))
    text = ktrace("diff", str(split), str(block)).out
    assert "no kernel times to compare: A and B have none\n" in text
    assert "different kernels (A -> B)\n" in text
    assert "kernel time of A" not in text
    assert "not timed ->" not in text
    timed = str(records / "live" / "gemm_a16w16_h200.json")
    assert "no kernel times to compare: A has none\n" in ktrace("diff", str(split), timed).out


def test_diff_of_two_records_says_how_their_calls_and_launches_differ(ktrace: Ktrace) -> None:
    live = Path(__file__).parents[1] / "data" / "records" / "live"
    answer = ktrace("diff", str(live / "gemm_a16w16_h200.json"), str(live / "gemm_a16w16_split_k_h200.json"))
    assert answer.code == 0
    assert (
        "the records differ in\n"
        "        call.config.NUM_KSPLIT 1 -> 4, call.config.SPLITK_BLOCK_SIZE 7168 -> 1792\n"
        "        only A states call.config.waves_per_eu, call.config.matrix_instr_nonkdim\n"
    ) in answer.out
    assert (
        "        constexprs.NUM_KSPLIT 1 -> 4, constexprs.SPLITK_BLOCK_SIZE 7168 -> 1792, split_k 1 -> 4\n"
        "        launch: grid (192, 1, 1) -> (768, 1, 1), resources.registers 56 -> 64, "
        "resources.occupancy_percent 9.0 -> 36.0\n"
    ) in answer.out


def test_diff_of_a_missing_file_names_it(ktrace: Ktrace, path: Path) -> None:
    answer = ktrace("diff", str(path), "absent.json")
    assert answer.code == 1
    assert "absent.json can't be read" in answer.err


@pytest.mark.parametrize("verb", ["import", "diff"])
def test_neither_torch_nor_triton_is_loaded(verb: str, path: Path) -> None:
    arguments = [verb, str(path), *([str(path)] if verb == "diff" else [])]
    code = (
        "import sys; from tracer.cli.main import main\n"
        f"try: main({arguments!r})\n"
        "except SystemExit as left: assert not left.code\n"
        "print([m for m in ('torch', 'triton', 'aiter', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_capture_trace_without_a_capture_is_named_as_such(ktrace: Ktrace, tmp_path: Path) -> None:
    replay = write(tmp_path, trace(replayed(["a", "b"])), "replay.json")
    ordinary = [call("hipLaunchKernel", 1, 1, 5), kernel("a", 10, 1, 5)]
    capture = write(tmp_path, trace(ordinary), "capture.json")
    answer = ktrace("import", str(replay), "--capture-trace", str(capture))
    line = next(line for line in answer.out.splitlines() if "replayed" in line)
    assert line.endswith("holds no capture: every launch call in it ran its kernel")
    assert "missing in the capture" not in answer.out


@pytest.mark.skipif(sys.platform != "linux", reason="file names of any bytes")
def test_a_file_name_that_is_no_utf8_is_no_problem(tmp_path: Path, ktrace: Ktrace) -> None:
    path = tmp_path / os.fsdecode("轨迹.json".encode("gbk"))
    path.write_bytes(trace(example(), deviceProperties=[MI300X]))
    answer = ktrace("import", str(path), "--json", "--top", "1", "--out", str(tmp_path / "site"))
    assert (answer.code, answer.err) == (0, "")
    told = json.loads(answer.out)
    assert (told["file"], len(told["pages"])) == (f"{tmp_path}/\ufffd켣.json", 1)
    assert ktrace("diff", str(path), told["records"][0], "--json").code == 0
    answer = ktrace("import", str(path) + "x", str(path) + "y", "--json")
    assert [json.loads(line)["file"][-1] for line in answer.out.splitlines()] == ["x", "y"]
