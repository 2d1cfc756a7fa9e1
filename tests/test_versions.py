"""The supported ranges in code and in the packaging file are one."""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tracer import versions

PYPROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_ranges_of_the_extras_are_the_supported_ranges() -> None:
    extras = {r.name: r.specifier for r in map(Requirement, PYPROJECT["project"]["optional-dependencies"]["dry"])}
    for package in ("torch", "triton", "amd-aiter"):
        assert extras[package] == versions.SUPPORTED[package]
    assert SpecifierSet(PYPROJECT["project"]["requires-python"]) == versions.SUPPORTED["python"]


def test_the_set_up_installs_supported_versions() -> None:
    lines = (Path(__file__).parents[1] / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = {r.name: r.specifier for r in (Requirement(line) for line in lines if line and not line.startswith("#"))}
    for package in ("torch", "triton", "amd-aiter"):
        (pin,) = pins[package]
        assert versions.is_supported(package, pin.version)


def test_a_rocm_build_of_a_supported_torch_is_supported() -> None:
    assert versions.is_supported("torch", "2.8.0+rocm6.4")


def test_versions_outside_the_range_or_unreadable_are_not_supported() -> None:
    assert not versions.is_supported("torch", "1.13.1")
    assert not versions.is_supported("triton", "not a version")


def test_base_dependencies_are_light() -> None:
    base = {Requirement(r).name for r in PYPROJECT["project"]["dependencies"]}
    assert not base & {"torch", "triton", "amd-aiter", "mkdocs", "mkdocs-material", "pandas", "numpy"}
