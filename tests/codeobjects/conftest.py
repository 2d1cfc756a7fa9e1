"""The installed wheel's code objects, where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracer.aiter.tree import AiterTree


@pytest.fixture(scope="session")
def hsa(installed_aiter: AiterTree) -> Path:
    """The folder of assembly code objects of the aiter that is installed beside ktrace."""
    if not installed_aiter.hsa_root.is_dir():
        pytest.skip("the installed aiter has no code objects")
    return installed_aiter.hsa_root
