"""Shared switches of the test suite: goldens are rewritten by flag, data folders come from the environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError

DATA = Path(__file__).parent / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="rewrite the expected texts; say why in the commit")


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-goldens"))


def _named_by(variable: str) -> Path:
    folder = os.environ.get(variable)
    if not folder:
        pytest.skip(f"{variable} names no folder")
    return Path(folder)


@pytest.fixture(scope="session")
def ktrace_data() -> Path:
    """The folder of public names and traces, where the environment names one."""
    return _named_by("KTRACE_DATA")


@pytest.fixture(scope="session")
def aiter_main() -> Path:
    """A checkout of aiter's main, where the environment names one."""
    return _named_by("KTRACE_AITER")


@pytest.fixture(scope="session")
def main_tree(aiter_main: Path) -> AiterTree:
    """The same, as a tree."""
    return AiterTree.find(aiter_main)


@pytest.fixture(scope="session")
def installed_aiter() -> AiterTree:
    """The aiter that is installed beside ktrace, of whatever layout."""
    try:
        return AiterTree.find()
    except SourceTreeError:
        pytest.skip("amd-aiter is not installed")


@pytest.fixture(scope="session")
def wheel(installed_aiter: AiterTree) -> AiterTree:
    """The aiter that is installed beside ktrace, where it is a wheel."""
    if installed_aiter.layout != "wheel":
        pytest.skip("the importable aiter is a checkout")
    return installed_aiter


@pytest.fixture(scope="session")
def aiter_with_ck(installed_aiter: AiterTree) -> AiterTree:
    """The aiter that is installed beside ktrace, where it brings Composable Kernel."""
    if installed_aiter.ck_root is None:
        pytest.skip("the installed aiter has no Composable Kernel")
    return installed_aiter
