"""The installed wheel's code objects, where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError


@pytest.fixture(scope="session")
def hsa() -> Path:
    """The folder of assembly code objects of the aiter that is installed beside ktrace."""
    try:
        tree = AiterTree.find()
    except SourceTreeError:
        pytest.skip("amd-aiter is not installed")
    if not tree.hsa_root.is_dir():
        pytest.skip("the installed aiter has no code objects")
    return tree.hsa_root
