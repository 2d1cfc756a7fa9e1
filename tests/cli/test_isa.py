"""`ktrace isa`: files of every kind, what can't be read, JSON, and the dry run of an op."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Answer
from tests.codeobjects.handmade import bundle, code_object, host_module, kernel, wave
from tests.codeobjects.texts import AMDGCN, PTX
from tests.test_package import loaded_by

Ktrace = Callable[..., Answer]
GEMM = "_ZN5aiter28bf16gemm_outf32_tn_48x64_pf3E"
STATED = {"group_segment_fixed_size": 65536, "reqd_workgroup_size": [256, 1, 1], "max_flat_workgroup_size": 256}


@pytest.fixture
def gemm(tmp_path: Path) -> Path:
    """A code object with one kernel of aiter's name."""
    file = tmp_path / "gemm.co"
    arguments = [{".name": "D", ".offset": 0, ".size": 8, ".value_kind": "global_buffer"}]
    file.write_bytes(code_object([kernel(GEMM, vgpr_count=512, args=arguments, **STATED)]))
    return file


def _module(folder: Path, name: str = "module_x.so") -> Path:
    both = [(wave(arch), code_object([kernel("k"), kernel("other")], machine=m)) for arch, m in ARCHS.items()]
    file = folder / name
    file.write_bytes(host_module(bundle(both)))
    return file


ARCHS = {"gfx942": 0x4C, "gfx950": 0x4F}


def test_a_code_object_is_shown_with_name_resources_and_occupancy(ktrace: Ktrace, gemm: Path) -> None:
    answer = ktrace("isa", str(gemm), "--no-count")
    assert answer.code == 0
    for line in (
        f"{gemm}: AMD code object, gfx942, code object V5, 1 kernel",
        "reads as     aiter_asm_gemm: gemm, tile 48x64, A/B/C ?/?/fp32",
        "registers    512 VGPR (128 allocated: 64 architectural, 64 accumulation), 32 SGPR",
        "block        required 256x1x1, waves of 64",
        "occupancy    1 block a CU, 1 * 4 / 4 = 1 wave a SIMD, limited by registers",
        "registers: min(8, 512 // 512) * 4 // 4 = 1 * 4 // 4 = 1 (512 VGPR, rounded up to 512)",
    ):
        assert line in answer.out
    assert "D  " not in answer.out


def test_a_folder_of_an_ops_name_does_not_hide_the_op(
    ktrace: Ktrace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gemm_a16w16").mkdir()
    monkeypatch.chdir(tmp_path)
    answer = ktrace("isa", "gemm_a16w16", "--shape", "1,2,3", "--option", "colour=red")
    assert (answer.code, "no option 'colour'" in answer.err) == (2, True)


def test_arguments_are_listed_when_asked_for(ktrace: Ktrace, gemm: Path) -> None:
    out = ktrace("isa", str(gemm), "--no-count", "--arguments").out
    assert "    0    8  D                        global_buffer" in out


def test_json_has_one_object_a_file_in_input_order(ktrace: Ktrace, gemm: Path, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(PTX)
    (tmp_path / "k.s").write_text(AMDGCN)
    files = [str(gemm), str(tmp_path / "k.ptx"), str(tmp_path / "k.s")]
    answer = ktrace("isa", *files, "--no-count", "--json")
    objects = [json.loads(line) for line in answer.out.splitlines()]
    assert [(o["file"], o["kind"]) for o in objects] == list(
        zip(files, ["AMD code object", "PTX", "AMD assembly"], strict=True)
    )
    first = objects[0]["kernels"][0]
    assert (first["name"], first["target"], first["family"]) == (GEMM, "gfx942", "aiter_asm_gemm")
    assert first["resources"]["vgprs"] == 512
    assert first["resources"]["vgpr_spills"] is None
    assert first["occupancy"]["waves_per_simd"] == 1.0
    assert first["instructions"] is None
    assert objects[2]["kernels"][0]["instructions"]["kinds"]["matrix"] == 2
    assert objects[1]["kernels"][0]["occupancy"] is None
    assert objects[1]["kernels"][0]["occupancy_note"] == "neither registers nor LDS are stated"


def _keys(value: Any) -> Any:
    return {key: _keys(item) for key, item in value.items()} if isinstance(value, dict) else None


def test_every_file_has_the_same_keys(ktrace: Ktrace, gemm: Path, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(PTX)
    out = ktrace("isa", str(gemm), str(tmp_path / "k.ptx"), str(_module(tmp_path)), "--no-count", "--json").out
    objects = [json.loads(line) for line in out.splitlines()]
    assert len({tuple(o) for o in objects}) == 1
    assert len({tuple(k) for o in objects for k in o["kernels"]}) == 1


def test_what_can_not_be_read_does_not_stop_the_others(ktrace: Ktrace, gemm: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.co").write_bytes(gemm.read_bytes()[:500])
    given = [str(tmp_path / "broken.co"), str(tmp_path / "missing.co"), str(gemm)]
    answer = ktrace("isa", *given, "--no-count", "--json")
    objects = [json.loads(line) for line in answer.out.splitlines()]
    assert answer.code == 1
    assert [o["error"] is None for o in objects] == [False, False, True]
    assert "broken or cut off" in objects[0]["error"]
    text = ktrace("isa", *given, "--no-count")
    assert (text.code, "broken or cut off" in text.err, "aiter_asm_gemm" in text.out) == (1, True, True)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "no input was given"),
        (("nothing_of_that_name",), 2, "neither a file nor an op called"),
        (("aiter.rms_norm",), 2, "called as aiter:rms_norm"),
        (("missing.co",), 1, "can't be read"),
        (("gemm_a16w16", "--shape", "1,2,3", "--option", "dtype"), 2, "NAME=VALUE"),
        (("gemm_a16w16", "--shape", "1,2,3", "--option", "colour=red"), 2, "no option 'colour'"),
        (("gemm_a16w16", "--shape", "1,2,3", "--option", "dtype=fp4"), 2, "takes no dtype 'fp4'"),
        (("gemm_a16w16", "--shape", "1,2,3", "--config", "[]"), 2, "no JSON object"),
        (("a.co", "--target", "mi300"), 2, "'mi300' is no target"),
        (("a.co", "--target", "mi300x"), 2, "the target of MI300X is gfx942"),
    ],
)
def test_wrong_usage_is_told_from_failure(ktrace: Ktrace, arguments: tuple[str, ...], code: int, said: str) -> None:
    answer = ktrace("isa", *arguments)
    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err


@pytest.mark.parametrize("name", ["absent.md", "kernels.txt", "module.PY"])
def test_a_file_that_is_not_there_is_not_taken_for_a_callable(ktrace: Ktrace, name: str) -> None:
    answer = ktrace("isa", name)
    assert answer.code == 2
    assert f"there is neither a file nor an op called {name!r}" in answer.err
    assert "called as" not in answer.err


@pytest.mark.parametrize(("glob", "shown"), [("k", 2), ("oth*", 2), ("*", 4), ("nothing", 0)])
def test_kernels_are_picked_by_name(ktrace: Ktrace, tmp_path: Path, glob: str, shown: int) -> None:
    file = _module(tmp_path)
    (answer,) = [json.loads(ktrace("isa", str(file), "--kernel", glob, "--no-count", "--json").out)]
    assert len(answer["kernels"]) == shown


def test_a_module_for_another_target_is_called_that(ktrace: Ktrace, tmp_path: Path, installed_aiter: object) -> None:
    file = _module(tmp_path)
    answer = json.loads(ktrace("isa", str(file), "--target", "gfx90a", "--no-count", "--json").out)
    # no module of aiter, but its targets are known all the same
    assert answer["module"]["state"] == "wrong target"
    assert len(answer["kernels"]) == 4
    one = json.loads(ktrace("isa", str(file), "--target", "gfx950", "--no-count", "--json").out)
    assert {k["target"] for k in one["kernels"]} == {"gfx950"}
    assert (one["module"]["state"], one["targets"]) == ("current", ["gfx942", "gfx950"])


def test_a_module_without_an_aiter_to_hold_it_against_says_so(ktrace: Ktrace, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    file = _module(tmp_path)
    answer = json.loads(ktrace("isa", str(file), "--aiter", str(tmp_path / "empty"), "--no-count", "--json").out)
    assert answer["module"]["state"] is None
    assert "not held against an aiter" in answer["module"]["reason"]
    assert len(answer["kernels"]) == 4


def test_many_kernels_are_shown_a_line_each(ktrace: Ktrace, tmp_path: Path) -> None:
    file = tmp_path / "many.co"
    file.write_bytes(code_object([kernel(f"k{i}", vgpr_count=64 + i, **STATED) for i in range(9)]))
    lines = ktrace("isa", str(file), "--no-count").out.splitlines()
    assert lines[1].split() == ["VGPR", "SGPR", "LDS", "scratch", "threads", "waves/SIMD", "kernel"]
    assert lines[2].split() == ["64", "32", "65,536", "-", "256", "1", "k0"]
    assert len(lines) == 11


def test_names_from_a_file_can_not_steer_the_terminal(ktrace: Ktrace, tmp_path: Path) -> None:
    file = tmp_path / "hostile.co"
    file.write_bytes(code_object([kernel("evil\x1b[31m", args=[{".name": "a\nb"}])]))
    out = ktrace("isa", str(file), "--arguments", "--no-count").out
    assert "\x1b" not in out
    assert "evil\\x1b[31m" in out
    assert "a\\nb" in out


def test_files_need_neither_torch_nor_triton_nor_aiters_rules(gemm: Path) -> None:
    code = f"from tracer.cli.main import main\ntry:\n main(['isa', {str(gemm)!r}])\nexcept SystemExit: pass"
    assert not loaded_by(code) & {"torch", "triton", "aiter", "tree_sitter", "libcst", "jinja2"}


@pytest.mark.dry
def test_a_triton_op_is_dry_run_and_its_kernel_shown(ktrace: Ktrace) -> None:
    pytest.importorskip("triton")
    pytest.importorskip("aiter_meta")
    answer = ktrace("isa", "gemm_a16w16", "--shape", "32,64,128", "--target", "gfx950", "--json")
    shown = json.loads(answer.out)
    found = shown["kernels"][0]
    assert (answer.code, shown["op"], shown["target"], found["target"]) == (0, "gemm_a16w16", "gfx950", "gfx950")
    assert found["family"] == "aiter_triton_repr"
    assert found["resources"]["vgprs"]
    assert found["instructions"]["kinds"]["matrix"] == sum(found["instructions"]["matrix"].values())
    assert set(found["instructions"]["kinds"]) >= {"matrix", "global_load", "lds_read", "wait", "valu", "salu"}
    assert found["occupancy"]["complete"]
