"""Modules where aiter's JIT-built extensions would be: a name that aiter imports or loads in, a stand-in out.

pybind modules come from an import hook, torch-free ones (main, 2026) from a stand-in for `ctypes.CDLL`; what they are
asked for is answered by the boundary.
"""

from __future__ import annotations

import ctypes
import importlib.abc
import importlib.machinery
import os
import sys
import types
from collections.abc import Sequence
from typing import Any, Protocol

#: modules whose frames lie between an import and what asked for it
_IMPORTING = frozenset({__name__, "importlib", "importlib._bootstrap", "importlib._bootstrap_external"})


class Answering(Protocol):
    """What answers for the members of the modules."""

    def member(self, module: str, name: str) -> Any:
        """What `module.name` is."""

    def cross_ctypes(self, module: str, name: str, caller: types.FrameType, args: tuple[Any, ...]) -> Any:
        """Answers a call through ctypes."""


def install_modules(boundary: Answering, jit_folder: str) -> None:
    """Sets the import hook and the stand-in for ctypes in this process, for good.

    Args:
        boundary: answers for every member.
        jit_folder: where aiter looks for built modules.
    """
    sys.meta_path.insert(0, ModuleFinder(boundary, jit_folder))
    real, prefix = ctypes.CDLL, jit_folder + os.sep

    class Library(real):  # type: ignore[misc, valid-type]
        def __new__(cls, name: Any = None, *args: Any, **kwargs: Any) -> Any:
            if isinstance(name, str) and name.startswith(prefix):
                return CtypesLibrary(boundary, os.path.basename(name).removesuffix(".so"))
            return super().__new__(cls)

    Library.__name__ = Library.__qualname__ = "CDLL"
    ctypes.CDLL = Library  # type: ignore[misc]


class ModuleFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `module_*`, `aiter.jit.module_*` and whatever aiter's JIT loads before the file system is asked."""

    def __init__(self, boundary: Answering, jit_folder: str) -> None:
        self._boundary = boundary
        self._jit_folder = jit_folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        parent, _, name = fullname.rpartition(".")
        if parent not in ("", "aiter.jit"):
            return None
        if name.startswith("module_") or (parent and name == "aiter_") or _asked_by_jit(name):
            return importlib.machinery.ModuleSpec(fullname, self)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = BoundaryModule(spec.name, self._boundary)
        module.__file__ = os.path.join(self._jit_folder, spec.name.rpartition(".")[2] + ".so")
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""


def _asked_by_jit(name: str) -> bool:
    """Whether aiter's JIT is loading a module of this name: a recipe that is narrowed for each call gives any name."""
    core = sys.modules.get("aiter.jit.core")
    if core is None:
        return False
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") in _IMPORTING:
        frame = frame.f_back
    return frame is not None and frame.f_globals is vars(core) and frame.f_locals.get("md_name") == name


class BoundaryModule(types.ModuleType):
    """A module whose every public name is a function of the boundary, made when it is first asked for."""

    def __init__(self, name: str, boundary: Answering) -> None:
        super().__init__(name, "A stand-in for an extension module, made by a dry run.")
        self._boundary = boundary

    def __getattr__(self, name: str) -> Any:
        short = self.__name__.rpartition(".")[2]
        # `aiter_` is the prebuilt module of everything: empty here, so that aiter names the module of each function
        if name.startswith("__") or short == "aiter_":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        member = self._boundary.member(short, name)
        setattr(self, name, member)
        return member


class CtypesLibrary:
    """A loaded library as `ctypes.CDLL` gives it, for main's torch-free modules."""

    def __init__(self, boundary: Answering, module: str) -> None:
        self._boundary = boundary
        self._module = module

    def __getattr__(self, name: str) -> Any:
        # without these three the caller takes the first version of aiter's ctypes ABI: the value returned is the answer
        if name.startswith("__") or name in (
            "aiter_ctypes_abi_version",
            "aiter_get_last_error",
            "aiter_clear_last_error",
        ):
            raise AttributeError(name)
        function = CtypesFunction(self._boundary, self._module, name)
        setattr(self, name, function)
        return function


class CtypesFunction:
    """A symbol of such a library; argtypes and restype may be set, as on the real one."""

    argtypes: Any = None
    restype: Any = None

    def __init__(self, boundary: Answering, module: str, name: str) -> None:
        self._boundary = boundary
        self._module = module
        self._name = name

    def __call__(self, *args: Any) -> Any:
        return self._boundary.cross_ctypes(self._module, self._name, sys._getframe(1), args)
