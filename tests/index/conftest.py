"""A miniature aiter and its index, for the tests of tracer.index and of what is resolved with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.index.mini import write_mini
from tracer.aiter.tree import AiterTree
from tracer.index.tree_index import TreeIndex


@pytest.fixture
def mini(tmp_path: Path) -> Path:
    return write_mini(tmp_path / "mini")


@pytest.fixture
def mini_index(mini: Path, tmp_path: Path) -> TreeIndex:
    return TreeIndex(AiterTree.find(mini), tmp_path / "cache")
