"""Keeps aiter from compiling: its two ways to start ROCm's compiler in, a refusal and libraries that stand in out.

Modules by recipe never come to a build, since the boundary answers their import: one that does is refused. Templates
that are compiled when they are called (csrc/cpp_itfs) are filled in as ever, and a stand-in is loaded for the library.
"""

from __future__ import annotations

import ctypes
import sys
import types
from collections.abc import Callable
from typing import Any, Protocol

from tracer.capture.after_import import AfterImport

#: the function that fills a template in and has it compiled, if its library is not there yet
_FILLS_IN = "compile_template_op"


class Template:
    """A function of a library that aiter compiles from a source template when it is called.

    Attributes:
        module: what the template's Python calls it ("pa").
        function: the symbol, which is made from the template's arguments.
        arguments: the template's arguments by name; None where the function is another one of the library.
        file, line, maker: where the library is asked for, and in which Python function.
    """

    def __init__(self, function: str, asked_by: types.FrameType) -> None:
        """Reads what was asked from the frame that loads the function."""
        self.function = function
        self.arguments: dict[str, Any] | None = None
        values = asked_by.f_locals
        asker = asked_by
        if asked_by.f_code.co_name == _FILLS_IN:
            self.arguments = dict(values["kwargs"])
            asker = asked_by.f_back or asked_by
        self.module = str(values.get("md_name") or asker.f_globals.get("MD_NAME") or function)
        self.file, self.line, self.maker = asker.f_code.co_filename, asker.f_lineno, asker.f_code.co_name


class AnsweringTemplates(Protocol):
    """What answers for functions compiled from templates."""

    def cross_template(self, template: Template, caller: types.FrameType, args: tuple[Any, ...]) -> Any:
        """Answers a call."""


class TemplateFunction:
    """Such a function as `ctypes` gives it; argtypes and restype may be set, as on the real one."""

    argtypes: Any = None
    restype: Any = None

    def __init__(self, boundary: AnsweringTemplates, template: Template) -> None:
        self._boundary = boundary
        self._template = template
        self.__name__ = template.function

    def __call__(self, *args: Any) -> Any:
        return self._boundary.cross_template(self._template, sys._getframe(1), args)


def tensors_passed(caller: types.FrameType, args: tuple[Any, ...], is_tensor: Callable[[Any], bool]) -> dict[str, Any]:
    """The tensors whose addresses such a call is given, by the names that its Python caller has for them."""
    pointers = [arg for arg in args if isinstance(arg, (ctypes.c_void_p, ctypes._Pointer))]
    addresses = {ctypes.cast(pointer, ctypes.c_void_p).value for pointer in pointers} - {None}
    held = {name: value for name, value in caller.f_locals.items() if is_tensor(value)}
    return {name: value for name, value in held.items() if value.data_ptr() in addresses}


def install_refusals(boundary: AnsweringTemplates) -> None:
    """Sets the import hook that keeps aiter's own modules from compiling, for good."""

    def refuse_modules(core: types.ModuleType) -> None:
        vars(core)["build_module"] = _refuse

    def answer_templates(utils: types.ModuleType) -> None:
        def run_lib(func_name: str, folder: str | None = None) -> TemplateFunction:
            return TemplateFunction(boundary, Template(func_name, sys._getframe(1)))

        vars(utils).update(run_lib=run_lib, compile_lib=lambda *_, **__: None, not_built=lambda _: True)

    changes = {"aiter.jit.core": refuse_modules, "csrc.cpp_itfs.utils": answer_templates}
    sys.meta_path.insert(0, AfterImport(changes))


def _refuse(md_name: str, *_: Any, **__: Any) -> None:
    raise RuntimeError(f"aiter would build {md_name} with ROCm's compiler here; a dry run builds nothing")
