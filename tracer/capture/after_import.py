"""Changes modules as they are imported: a module's name and what is to be done to it in, an import hook out."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import types
from collections.abc import Callable, Mapping, Sequence


class AfterImport(importlib.abc.MetaPathFinder):
    """Calls a function with a module as soon as its code has run, before anybody else sees its names.

    Args:
        changes: dotted module name -> what is called with the module.
    """

    def __init__(self, changes: Mapping[str, Callable[[types.ModuleType], None]]) -> None:
        self._changes = dict(changes)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._changes:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Changed(spec.loader, self._changes[fullname])
        return spec


class _Changed(importlib.abc.Loader):
    """A loader that changes what another one loaded."""

    def __init__(self, loader: importlib.abc.Loader, change: Callable[[types.ModuleType], None]) -> None:
        self._loader = loader
        self._change = change

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._change(module)
