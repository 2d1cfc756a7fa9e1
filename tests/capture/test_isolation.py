"""A dry run leaves the machine byte for byte as it was, and two at once do not meet."""

from __future__ import annotations

import glob
import hashlib
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.capture.conftest import DTYPE, gemm, triton_gemm
from tracer.aiter.tree import AiterTree
from tracer.capture.dry import capture_dry
from tracer.capture.protocol import CallRequest
from tracer.model.capture import CaptureRecord

pytestmark = pytest.mark.dry

#: what aiter, Triton and torch would leave in the shared folder for temporary files
LEFT_BEHIND = ("/tmp/*.csv", "/tmp/aiter*", "/tmp/aiter*/**", "/tmp/triton*", "/tmp/torchinductor*")
#: files below this size are read, larger ones are told apart by size and times
READ_BELOW = 1 << 20


def fingerprint(*folders: Path) -> dict[str, tuple[int, int, int, str]]:
    """Name -> size, modification time, change time and contents of every file and folder."""
    found = {}
    for folder in folders:
        for root, names, files in os.walk(folder):
            for name in (*names, *files):
                path = Path(root, name)
                stat = path.lstat()
                read = path.is_file() and stat.st_size < READ_BELOW
                digest = hashlib.sha256(path.read_bytes()).hexdigest() if read else ""
                found[str(path)] = (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, digest)
    return found


def shared() -> dict[str, int]:
    names = {name for pattern in LEFT_BEHIND for name in glob.glob(pattern, recursive=True)}
    return {name: os.lstat(name).st_mtime_ns for name in names}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder and a folder for temporary files of our own, both with something in them."""
    for name in ("home", "home/.triton", "home/.cache", "home/.aiter", "temporary"):
        (tmp_path / name).mkdir()
    (tmp_path / "home" / ".aiter" / "kept").write_text("kept")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def capture(cu_num: int) -> list[CaptureRecord]:
    requests = [
        gemm(128, 1536, 7168),
        triton_gemm(16, 256, 256, BLOCK_SIZE_K=64, SPLITK_BLOCK_SIZE=256),
        CallRequest(op="torch_mm", shape={"M": 4, "N": 4, "K": 4}, options=DTYPE),
    ]
    return capture_dry(requests, cu_num=cu_num)


def test_two_runs_at_once_change_nothing_and_each_sees_its_own_target(needs_wheel: None, place: Path) -> None:
    tree = AiterTree.find()
    watched = [tree.python_root / "aiter", tree.meta_root, place / "home"]
    before, shared_before = fingerprint(*watched), shared()
    with ThreadPoolExecutor(2) as pool:
        whole, small = pool.map(capture, (304, 80))
    assert fingerprint(*watched) == before
    assert shared() == shared_before
    assert list((place / "temporary").iterdir()) == []
    missed = "not found tuned config"
    assert not any(missed in line for line in whole[0].log)
    assert any(missed in line for line in small[0].log)
    assert [len(r.launches) for r in whole] == [len(r.launches) for r in small] == [1, 1, 0]
    assert [r.exception for r in (*whole, *small)] == [None] * 6
