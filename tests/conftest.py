"""Shared switches of the test suite: goldens are rewritten by flag, data folders come from the environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="rewrite the expected texts; say why in the commit")


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-goldens"))


@pytest.fixture(scope="session")
def ktrace_data() -> Path:
    """The folder of public names and traces, where the environment names one."""
    folder = os.environ.get("KTRACE_DATA")
    if not folder:
        pytest.skip("KTRACE_DATA names no folder")
    return Path(folder)


@pytest.fixture(scope="session")
def aiter_main() -> Path:
    """A checkout of aiter's main, where the environment names one."""
    folder = os.environ.get("KTRACE_AITER")
    if not folder:
        pytest.skip("KTRACE_AITER names no checkout")
    return Path(folder)
