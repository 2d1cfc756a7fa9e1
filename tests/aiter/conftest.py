"""Trees for the tests of tracer.aiter: the installed wheel where there is one, and miniature trees of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError

MARKS = {"__init__.py": "", "jit/core.py": "", "jit/optCompilerConfig.json": "{}"}


def write_package(root: Path) -> Path:
    """A package `aiter` that has nothing but the files by which it is known."""
    for name, text in MARKS.items():
        file = root / "aiter" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="session")
def wheel() -> AiterTree:
    """The aiter that is installed beside ktrace."""
    try:
        tree = AiterTree.find()
    except SourceTreeError:
        pytest.skip("amd-aiter is not installed")
    if tree.layout != "wheel":
        pytest.skip("the importable aiter is a checkout")
    return tree


@pytest.fixture(scope="session")
def main_tree(aiter_main: Path) -> AiterTree:
    """A checkout of aiter's main."""
    return AiterTree.find(aiter_main)
