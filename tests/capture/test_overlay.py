"""The shadow of the disk: what a process writes outside its folder, it reads back, and nobody else sees."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tracer

ROOT = Path(tracer.__file__).parents[1]


def in_a_child(code: str, tmp_path: Path) -> str:
    """Runs code in a process with an overlay; `outside` and `inside` are folders."""
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    for folder in (outside, inside):
        folder.mkdir(exist_ok=True)
    program = f"""
import os, sys
sys.path.append({str(ROOT)!r})
from tracer.capture.overlay import Overlay
outside, inside = {str(outside)!r}, {str(inside)!r}
Overlay(inside).install()
{textwrap.dedent(code)}
"""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def outside_of(tmp_path: Path) -> dict[str, str]:
    return {p.name: p.read_text() for p in sorted((tmp_path / "outside").iterdir())}


def test_a_written_file_is_read_back_and_is_not_there(tmp_path: Path) -> None:
    code = """
    with open(outside + "/new.csv", "w") as file:
        file.write("a")
    path = outside + "/new.csv"
    print(open(path).read(), os.path.exists(path), os.stat(path).st_size)
    """
    assert in_a_child(code, tmp_path).split() == ["a", "True", "1"]
    assert outside_of(tmp_path) == {}


def test_a_changed_file_keeps_its_contents_on_the_disk(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "old.csv").write_text("old")
    code = """
    from pathlib import Path
    with open(outside + "/old.csv", "a") as file:
        file.write("er")
    print(Path(outside, "old.csv").read_text())
    Path(outside, "old.csv").write_text("new")
    print(Path(outside, "old.csv").read_text())
    os.remove(outside + "/old.csv")
    print(os.path.exists(outside + "/old.csv"))
    """
    assert in_a_child(code, tmp_path).split() == ["older", "new", "False"]
    assert outside_of(tmp_path) == {"old.csv": "old"}


def test_folders_locks_and_renames_work_as_on_the_disk(tmp_path: Path) -> None:
    code = """
    os.makedirs(outside + "/a/b", exist_ok=True)
    handle = os.open(outside + "/a/b/lock", os.O_CREAT | os.O_EXCL)
    try:
        os.open(outside + "/a/b/lock", os.O_CREAT | os.O_EXCL)
    except FileExistsError:
        print("held")
    os.close(handle)
    os.remove(outside + "/a/b/lock")
    with open(outside + "/a/b/x.tmp", "w") as file:
        file.write("x")
    os.replace(outside + "/a/b/x.tmp", outside + "/a/b/x")
    print(open(outside + "/a/b/x").read(), os.path.exists(outside + "/a/b/x.tmp"))
    try:
        open(outside + "/missing/y", "w")
    except FileNotFoundError:
        print("no such folder")
    """
    assert in_a_child(code, tmp_path).split("\n")[:3] == ["held", "x False", "no such folder"]
    assert outside_of(tmp_path) == {}


def test_its_own_folder_is_written_directly(tmp_path: Path) -> None:
    in_a_child('open(inside + "/here", "w").write("x")', tmp_path)
    assert (tmp_path / "inside" / "here").read_text() == "x"


@pytest.mark.parametrize(
    "call",
    [
        'os.symlink("x", outside + "/link")',
        "os.rmdir(outside)",
        "os.chmod(outside, 0o700)",
        'os.truncate(outside + "/f", 0)',
    ],
)
def test_what_has_no_shadow_is_refused(call: str, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_text("kept")
    code = f"""
    try:
        {call}
    except PermissionError as error:
        print(error.strerror)
    """
    assert in_a_child(code, tmp_path).strip() == "a dry run writes nothing outside its own folder"
    assert outside_of(tmp_path) == {"f": "kept"}
