"""The merge of tuned CSVs: which rows survive, which are lost, and that aiter's own merge agrees."""

from __future__ import annotations

import ast
import csv
import inspect
import logging
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.aiter.conftest import write_package
from tracer.aiter.configs import LossReason, MergedConfig, merge
from tracer.aiter.tree import AiterTree
from tracer.aiter.variables import config_variables, merge_rules

#: a core.py with the merge of the wheel (0.1.7) and one with the merge of main (2026), cut down to what is read
OLD_CORE = """
import os, re
def update_config_files(file_path, merge_name):
    merge_df.sort_values("us").drop_duplicates(subset=keys, keep="first")
def get_config_file(env_name, default_file, tuned_file_name):
    [p for p in d.glob(f"*{tuned_file_name}*") if (p.is_file() and "untuned" not in str(p))]
AITER_CONFIG_X = os.getenv("AITER_CONFIG_X", f"{AITER_ROOT_DIR}/aiter/configs/x_tuned_gemm.csv")
AITER_CONFIG_X_FILE = get_config_file("AITER_CONFIG_X", AITER_CONFIG_X, "x_tuned_gemm")
"""
NEW_CORE = """
import os
AITER_CONFIG_X = os.getenv("AITER_CONFIG_X", f"{AITER_ROOT_DIR}/aiter/configs/x_tuned_gemm.csv")
class AITER_CONFIG:
    @property
    def AITER_CONFIG_X_FILE(self):
        return self.get_config_file("AITER_CONFIG_X", AITER_CONFIG_X, "x_tuned_gemm")
    def update_config_files(self, file_path, merge_name):
        _FILL_DEFAULTS = {}
        has_tag = "_tag" in merge_df.columns
        if "cu_num" not in keys:
            keys.append("cu_num")
        if "gfx" in merge_df.columns:
            keys.append("gfx")
        raise RuntimeError("duplicate")
    def get_config_file(self, env_name, default_file, tuned_file_name):
        return [p for p in d.glob(f"*{tuned_file_name}*.csv") if "untuned" not in p.name]
"""
HEADER = "cu_num,M,N,K,kernelId,us,kernelName\n"


def tree(root: Path, files: dict[str, str], core: str = OLD_CORE) -> AiterTree:
    write_package(root)
    (root / "csrc").mkdir(exist_ok=True)
    (root / "aiter" / "jit" / "core.py").write_text(core)
    for name, text in {"x_untuned_gemm.csv": "M,N,K\n", **files}.items():
        file = root / "aiter" / "configs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return AiterTree.find(root)


def merged(root: Path, files: dict[str, str], core: str = OLD_CORE, **environment: str) -> MergedConfig:
    aiter = tree(root, files, core)
    (variable,) = config_variables(aiter)
    return merge(aiter, variable, environment)


def places(rows: object) -> list[str]:
    return [f"{row.file.rsplit('/', 1)[-1]}:{row.line}" for row in rows]  # type: ignore[attr-defined]


def test_one_file_is_taken_as_it_is(tmp_path: Path) -> None:
    answer = merged(tmp_path, {"x_tuned_gemm.csv": HEADER + "80,1,2,3,0,5.0,a\n304,1,2,3,1,4.0,b\n"})
    assert places(answer.rows) == ["x_tuned_gemm.csv:2", "x_tuned_gemm.csv:3"]
    assert (answer.key, answer.lost) == ((), ())


def test_the_old_merge_loses_the_rows_of_all_gpus_but_the_fastest(tmp_path: Path) -> None:
    answer = merged(
        tmp_path,
        {
            "x_tuned_gemm.csv": HEADER + "80,1,2,3,0,5.0,a\n\n304,1,2,3,1,4.0,b\n",
            "model_configs/x_tuned_gemm_m.csv": HEADER + "304,1,2,3,1,4.5,b\n304,9,2,3,1,1.0,b\n",
        },
    )
    assert answer.files == ("aiter/configs/x_tuned_gemm.csv", "aiter/configs/model_configs/x_tuned_gemm_m.csv")
    assert answer.key == ("M", "N", "K")
    assert places(answer.rows) == ["x_tuned_gemm_m.csv:3", "x_tuned_gemm.csv:4"]  # by time, as the merged file is
    assert [(lost.reason, *places([lost.row, lost.kept])) for lost in answer.lost] == [
        (LossReason.OTHER_GPU, "x_tuned_gemm.csv:2", "x_tuned_gemm.csv:4"),
        (LossReason.SLOWER, "x_tuned_gemm_m.csv:2", "x_tuned_gemm.csv:4"),
    ]


def test_equal_times_are_told_apart_by_whether_the_choice_matters(tmp_path: Path) -> None:
    answer = merged(
        tmp_path,
        {
            "x_tuned_gemm.csv": HEADER + "80,1,2,3,0,5.0,a\n80,4,2,3,0,5.0,a\n",
            "model_configs/x_tuned_gemm_m.csv": HEADER + "80,1,2,3,0,5.00,a\n80,4,2,3,7,5.0,b\n",
        },
    )
    assert [lost.reason for lost in answer.lost] == [LossReason.REPEATED, LossReason.TIE]


def test_a_row_without_a_time_is_lost_to_one_with_a_time(tmp_path: Path) -> None:
    answer = merged(
        tmp_path,
        {"x_tuned_gemm.csv": HEADER + "80,1,2,3,0,,a\n", "model_configs/x_tuned_gemm.csv": HEADER + "80,1,2,3,1,9,b\n"},
    )
    assert [row.values["kernelId"] for row in answer.rows] == ["1"]


def test_untuned_files_do_not_join(tmp_path: Path) -> None:
    files = {"x_tuned_gemm.csv": HEADER, "model_configs/x_untuned_gemm_m.csv": "M,N,K\n1,2,3\n"}
    assert merged(tmp_path, files).files == ("aiter/configs/x_tuned_gemm.csv",)


def test_the_environment_names_the_files(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(HEADER + "80,1,2,3,0,5.0,a\n")
    answer = merged(tmp_path, {"x_tuned_gemm.csv": HEADER}, AITER_CONFIG_X=str(other))
    assert answer.environment == {"AITER_CONFIG_X": str(other)}
    assert answer.files == ("other.csv",)
    gone = merged(tmp_path, {}, AITER_CONFIG_X="/nowhere/x.csv")
    assert (gone.files, gone.missing, gone.failure) == ((), ("/nowhere/x.csv",), None)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"x_tuned_gemm.csv": HEADER, "model_configs/x_tuned_gemm_m.csv": "M,N,K,us\n"}, "columns"),
        ({"x_tuned_gemm.csv": HEADER + "1,2,3,4,5,6,7,8\n", "model_configs/x_tuned_gemm_m.csv": HEADER}, ":2 has 8"),
        ({"model_configs/x_tuned_gemm_m.csv": HEADER}, "does not exist"),
        (
            {"x_untuned_gemm.csv": "M, N\n", "x_tuned_gemm.csv": HEADER, "model_configs/x_tuned_gemm_m.csv": HEADER},
            "( N)",
        ),
    ],
)
def test_what_makes_aiter_itself_fail_is_said(tmp_path: Path, files: dict[str, str], said: str) -> None:
    failure = merged(tmp_path, files).failure
    assert failure is not None
    assert said in failure
    assert "raises" in failure


def test_main_keeps_gpus_apart_and_refuses_duplicates(tmp_path: Path) -> None:
    answer = merged(
        tmp_path,
        {
            "x_tuned_gemm.csv": "gfx," + HEADER + "gfx942,80,1,2,3,0,5.0,a\ngfx942,304,1,2,3,1,4.0,b\n",
            "model_configs/m_x_tuned_gemm.csv": HEADER + "304,1,2,3,1,4.5,b\n256,9,2,3,1,1.0,b\n",
        },
        core=NEW_CORE,
    )
    assert answer.key == ("M", "N", "K", "cu_num", "gfx")
    assert places(answer.rows) == ["x_tuned_gemm.csv:2", "x_tuned_gemm.csv:3", "m_x_tuned_gemm.csv:3"]
    assert answer.value(answer.rows[2], "gfx") == "gfx950"
    assert [lost.reason for lost in answer.lost] == [LossReason.SLOWER]
    assert answer.failure is not None
    assert "rewrites" in answer.failure


def test_main_does_without_a_default_file_that_is_missing(tmp_path: Path) -> None:
    answer = merged(tmp_path, {"model_configs/x_tuned_gemm_m.csv": HEADER + "80,1,2,3,0,1,a\n"}, core=NEW_CORE)
    assert (answer.failure, len(answer.rows), answer.missing) == (None, 1, ("aiter/configs/x_tuned_gemm.csv",))


def test_a_csv_that_changes_is_read_again(tmp_path: Path) -> None:
    assert len(merged(tmp_path, {"x_tuned_gemm.csv": HEADER}).rows) == 0
    assert len(merged(tmp_path, {"x_tuned_gemm.csv": HEADER + "80,1,2,3,0,5.0,a\n"}).rows) == 1


def test_the_wheel_drops_rows_by_the_untuned_columns(wheel: AiterTree) -> None:
    rules = merge_rules(wheel)
    assert (rules.refuses_duplicates, rules.extra_keys, rules.fills_columns) == (False, (), False)


def test_the_wheel_keeps_28_of_117_blockscale_rows_for_304_cus_and_none_of_117_for_80(wheel: AiterTree) -> None:
    variable = next(v for v in config_variables(wheel) if v.name == "AITER_CONFIG_GEMM_A8W8_BLOCKSCALE")
    answer = merge(wheel, variable, {})
    for cu_num, kept, lost in (("304", 28, 89), ("80", 0, 117)):
        assert sum(row.values["cu_num"] == cu_num for row in answer.rows) == kept
        assert sum(entry.row.values["cu_num"] == cu_num for entry in answer.lost) == lost


def python_text(file: Path, *names: str) -> str:
    """The text of some functions and assignments of a Python file."""
    wanted = []
    for node in ast.walk(ast.parse(file.read_text())):
        targets = [t.id for t in getattr(node, "targets", []) if isinstance(t, ast.Name)]
        if getattr(node, "name", None) in names or set(targets) & set(names):
            wanted.append(ast.unparse(node))
    return "\n".join(wanted)


def aiters_own_merge(aiter: AiterTree, files: tuple[str, ...], merge_name: str, folder: Path) -> list[dict[str, str]]:
    """Runs the text of aiter's update_config_files with pandas on copies of the files (it may rewrite them)."""
    chip_info = aiter.absolute("aiter/jit/utils/chip_info.py")
    source = python_text(chip_info, "gfx_from_cu_num", "_LEGACY_CU_NUM_TO_GFX") + "\n"
    source += python_text(aiter.absolute("aiter/jit/core.py"), "update_config_files")
    source = source.replace("from aiter.jit.utils.chip_info import gfx_from_cu_num", "pass")
    source = source.replace("/tmp/aiter_configs/", f"{folder}/").replace("/tmp/", f"{folder}/")
    scope: dict[str, object] = {
        "os": os,
        "re": re,
        "logger": logging.getLogger("test"),
        "AITER_ROOT_DIR": str(aiter.python_root),
        "mp_lock": lambda _, main: main(),
    }
    exec(source, scope)
    copies = [shutil.copy(aiter.absolute(file), folder) for file in files]
    arguments = [os.pathsep.join(map(str, copies)), merge_name]
    update = scope["update_config_files"]
    assert callable(update)
    path = update(*arguments) if "self" not in inspect.signature(update).parameters else update(None, *arguments)
    with open(path) as file:
        return list(csv.DictReader(file))


def choice(row: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """What a row says of the kernel and the shape; figures as numbers, times and derived columns left out."""
    skip = ("tflops", "bw", "errRatio", "err_ratio", "us", "us1", "us2", "err1", "err2")

    def plain(text: str) -> str:
        try:
            return str(float(text))
        except ValueError:
            return text

    return tuple(sorted((column, plain(text)) for column, text in row.items() if column not in skip))


def check_against_aiter(aiter: AiterTree, folder: Path) -> None:
    pytest.importorskip("pandas")
    compared = 0
    for variable in config_variables(aiter):
        ours = merge(aiter, variable, {})
        if len(ours.files) < 2:
            continue
        theirs = aiters_own_merge(aiter, ours.files, variable.merge_name, folder)
        with_all = [{column: ours.value(row, column) for column in ours.columns} for row in ours.rows]
        assert sorted(map(choice, with_all)) == sorted(map(choice, theirs)), variable.name
        compared += 1
    assert compared >= 3


def test_our_merge_of_the_wheel_equals_aiters_own(wheel: AiterTree, tmp_path: Path) -> None:
    check_against_aiter(wheel, tmp_path)


def test_our_merge_of_main_equals_aiters_own(main_tree: AiterTree, tmp_path: Path) -> None:
    check_against_aiter(main_tree, tmp_path)
