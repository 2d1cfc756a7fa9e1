"""The port of getPaddedM against the C++ that it ports."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tracer.aiter.padding import get_padded_m
from tracer.aiter.tree import AiterTree


def compiled(tree: AiterTree, folder: Path) -> ctypes.CDLL:
    """aiter's own file, its includes replaced by the one header that it needs, compiled for this machine."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is not there")
    source = tree.absolute("csrc/py_itfs_cu/gemm_common.cu").read_text()
    source = "#include <climits>\n" + re.sub(r'#include [<"].*?[>"]', "", source)
    if 'extern "C"' not in source:
        source = source.replace("int getPaddedM(", 'extern "C" int getPaddedM(')
    (folder / "gemm_common.cpp").write_text(source)
    command = ["g++", "-shared", "-fPIC", "-O1", "-o", str(folder / "gemm_common.so"), str(folder / "gemm_common.cpp")]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(folder / "gemm_common.so"))


def check(tree: AiterTree, folder: Path) -> None:
    original = compiled(tree, folder).getPaddedM
    edges = [2**i + d for i in range(16) for d in (-1, 0, 1)]
    for m in sorted({*range(1, 5000), *edges, 8191, 8192, 8193, 10**6} - {0, -1}):
        for n in (1, 4096, 4097):
            for level in (0, 1, 2):
                assert get_padded_m(m, n, 7168, level) == original(m, n, 7168, level), (m, n, level)


def test_the_port_equals_the_wheels_cpp(wheel: AiterTree, tmp_path: Path) -> None:
    check(wheel, tmp_path)


def test_the_port_equals_mains_cpp(main_tree: AiterTree, tmp_path: Path) -> None:
    check(main_tree, tmp_path)


def test_levels_round_as_the_look_ups_expect() -> None:
    assert [get_padded_m(m, 1536, 7168, 0) for m in (1, 16, 100, 257, 1025, 4097)] == [16, 16, 112, 288, 1088, 4224]
    assert [get_padded_m(m, 1536, 7168, 1) for m in (1, 100, 8193)] == [1, 128, 16384]
    assert get_padded_m(8193, 4097, 7168, 1) == 8192
