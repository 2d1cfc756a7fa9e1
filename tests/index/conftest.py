"""A miniature aiter and its index, for the tests of tracer.index and of what is resolved with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.index.mini import write_mini


@pytest.fixture
def mini(tmp_path: Path) -> Path:
    return write_mini(tmp_path / "mini")
