"""aiter's own modules as a second opinion: runs files of an installed aiter or of a checkout, without importing it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest


def installed(package: str) -> Path:
    """The folder of an installed package, found without importing it; skips where it is not installed."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    return Path(next(iter(spec.submodule_search_locations)))


def load(path: Path) -> ModuleType:
    """Runs one file as a module of its own; skips where the release has no such file."""
    if not path.exists():
        pytest.skip(f"this aiter has no {path.name}")
    name = f"second_opinion_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module


def instances(module: ModuleType) -> Iterator[object]:
    """Every instance in the module's tables: objects with a `name`, values of dictionaries or items of tuples."""
    for table in vars(module).values():
        for row in table.values() if isinstance(table, dict) else table if isinstance(table, tuple) else ():
            if isinstance(getattr(row, "name", None), str) and hasattr(row, "__dataclass_fields__"):
                yield row
