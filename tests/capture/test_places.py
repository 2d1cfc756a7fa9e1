"""Files as records name them: whose tree they belong to, and no folder of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracer.capture.places import Places


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the import path with one package and one script in it."""
    (tmp_path / "pack").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_a_package_in_a_folder_that_pip_installed_into_is_a_tree_of_its_own(folder: Path) -> None:
    (folder / "pack-1.0.dist-info").mkdir()
    assert Places(()).locate(str(folder / "pack/core.py")) == ("pack", "pack/core.py")


def test_a_file_in_a_folder_of_the_users_is_the_users(folder: Path) -> None:
    (folder / "pack.egg-info").mkdir()  # what a development install leaves beside its sources
    assert Places(()).locate(str(folder / "pack/core.py")) == ("user", "pack/core.py")


def test_a_root_wins_over_the_import_path(folder: Path) -> None:
    (folder / "pack-1.0.dist-info").mkdir()
    places = Places([(str(folder / "pack"), "aiter", "aiter/")])
    assert places.locate(str(folder / "pack/core.py")) == ("aiter", "aiter/core.py")


def test_a_file_outside_the_import_path_is_named_without_its_folder(tmp_path: Path) -> None:
    assert Places(()).locate(str(tmp_path / "elsewhere/run.py")) == ("user", "run.py")
