"""From a JIT module to the C++ function that is called: module and function in, the binding's own lines out.

The module's recipe names its sources; the pybind file among them uses a macro of csrc/include/rocm_ops.hpp (or writes
the `m.def` itself), and that macro names the C++ function and its arguments.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

import msgspec

from tracer.aiter import text
from tracer.aiter.cpp_source import load
from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError

RECIPES = "aiter/jit/optCompilerConfig.json"
MACROS = "csrc/include/rocm_ops.hpp"
#: main's macro (2026) that writes the C function which ctypes calls
ENTRY_MACRO = "AITER_CTYPES_DEFINE_ENTRYPOINT_VOID"
#: ... and the one that marks a definition as such
C_LINKAGE = "AITER_C_ITFS"
_FOLDERS = {"AITER_CSRC_DIR": "csrc", "AITER_META_DIR": "", "AITER_ROOT_DIR": "", "AITER_GRADLIB_DIR": "gradlib"}
_ARGUMENT = re.compile(r'py::arg\(\s*"(\w+)"\s*\)\s*(?:=\s*([^,;()]+))?')


class Recipe(msgspec.Struct, frozen=True):
    """How a JIT module is built, as far as dispatch needs it.

    Attributes:
        sources: source files, relative to the tree.
        generators: Python scripts that write more sources, relative to the tree.
        tuned: environment variables of the tuned CSVs that are handed to a generator (`--tune_file`).
        line: line of the module's entry in aiter/jit/optCompilerConfig.json.
        commands: the commands that write more sources, as they stand in the recipe.
    """

    sources: tuple[str, ...]
    generators: tuple[str, ...]
    tuned: tuple[str, ...]
    line: int | None
    commands: tuple[str, ...] = ()


class Binding(msgspec.Struct, frozen=True, kw_only=True):
    """Where Python's name becomes a C++ function.

    Attributes:
        kind: "pybind" or "ctypes".
        symbol: the C++ function, without its namespace.
        used: (file, line) where the module uses the macro, or writes the binding itself.
        macro: the macro's name, or None.
        defined: (file, line) of the `m.def` in the macro; None where the module writes it itself.
        arguments: (name, default as written or None), in the C++ function's order; empty when not stated.
        function: (file, line) of the C++ function's definition among the module's sources; None when not found.
    """

    kind: str
    symbol: str
    used: tuple[str, int] | None
    macro: str | None = None
    defined: tuple[str, int] | None = None
    arguments: tuple[tuple[str, str | None], ...] = ()
    function: tuple[str, int] | None = None


def recipe(tree: AiterTree, module: str) -> Recipe | None:
    """The recipe of a JIT module; None when this aiter has no such module.

    Raises:
        SourceTreeError: the recipes can't be read.
    """
    content = text.read(tree.absolute(RECIPES))
    entry = _recipes(content).get(module)
    if entry is None:
        return None
    commands = entry.get("blob_gen_cmd") or []
    commands = [commands] if isinstance(commands, str) else commands
    joined = " ".join(map(str, commands))
    return Recipe(
        sources=tuple(_path(str(source)) for source in entry.get("srcs", ())),
        generators=tuple(dict.fromkeys(_path(found) for found in re.findall(r"(\{\w+\}/[\w/]+\.py)", joined))),
        tuned=tuple(dict.fromkeys(re.findall(r"(AITER_CONFIG_\w+?)_FILE", joined))),
        line=text.find_line(tree.absolute(RECIPES), rf'^\s*"{re.escape(module)}"\s*:'),
        commands=tuple(map(str, commands)),
    )


@lru_cache(maxsize=8)
def _recipes(content: str) -> dict[str, Any]:
    try:
        loaded = json.loads(content)
    except ValueError as error:
        raise SourceTreeError(f"{RECIPES} is no JSON: {error}", hint="check the tree") from None
    if not isinstance(loaded, dict):
        raise SourceTreeError(f"{RECIPES} is no table of modules", hint="check the tree")
    return loaded


def _path(written: str) -> str:
    """`f'{AITER_CSRC_DIR}/pybind/x.cu'` -> `csrc/pybind/x.cu`."""
    plain = written.strip().removeprefix("f").strip("'\"")
    return re.sub(r"\{(\w+)\}", lambda found: _FOLDERS.get(found.group(1), found.group(0)), plain).lstrip("/")


def find_binding(tree: AiterTree, module: str, function: str) -> Binding | None:
    """Where a function of a JIT module is bound; None when the module or the function is not found.

    Raises:
        SourceTreeError: a source file can't be read.
    """
    how = recipe(tree, module)
    if how is None:
        return None
    with_pybind = False
    for source in how.sources:
        path = tree.absolute(source)
        if not path.is_file() or "PYBIND11_MODULE" not in text.read(path):
            continue
        with_pybind = True
        found = _in_pybind(tree, source, function)
        if found is not None:
            return msgspec.structs.replace(found, function=definition(tree, how.sources, found.symbol))
    place = None if with_pybind else definition(tree, how.sources, function)
    if place is None:
        return None
    line, macro = _entry(tree, place, function)
    used = (place[0], line) if line is not None else None
    return Binding(kind="ctypes", symbol=function, used=used, macro=macro, function=place)


def _entry(tree: AiterTree, place: tuple[str, int], function: str) -> tuple[int | None, str | None]:
    """What makes a definition a C function that ctypes finds by its name: the line, and the macro or linkage on it."""
    path = tree.absolute(place[0])
    lines = text.lines(path)
    named = re.compile(rf"\b{re.escape(function)}\b")
    for number in range(place[1], max(0, place[1] - 3), -1):
        nearby = "".join(lines[number - 1 : number + 1])
        for macro in (ENTRY_MACRO, C_LINKAGE, 'extern "C"'):
            if macro in lines[number - 1] and named.search(nearby):
                return number, macro
    return None, None


def _in_pybind(tree: AiterTree, source: str, function: str) -> Binding | None:
    path = tree.absolute(source)
    body = text.read(path).partition("PYBIND11_MODULE")[2].partition("{")[2]
    used_macros = dict.fromkeys(re.findall(r"(?<![\w:(\"])([A-Z][A-Z0-9_]{3,})\b(?!\s*[(:\"])", body))
    macros = tree.absolute(MACROS)
    for macro in used_macros:
        start = text.find_line(macros, rf"^\s*#\s*define\s+{macro}\b")
        if start is None:
            continue
        lines = text.lines(macros)
        end = start
        while end < len(lines) and lines[end - 1].rstrip().endswith("\\"):
            end += 1
        bound = _definition("\n".join(line.rstrip().rstrip("\\") for line in lines[start - 1 : end]), function)
        if bound is not None:
            offset, symbol, arguments = bound
            used = text.find_line(path, rf"^[^/#]*\b{macro}\b")
            return Binding(
                kind="pybind",
                symbol=symbol,
                used=(source, used) if used else None,
                macro=macro,
                defined=(MACROS, start + offset),
                arguments=arguments,
            )
    bound = _definition(text.read(path), function)
    if bound is None:
        return None
    offset, symbol, arguments = bound
    return Binding(kind="pybind", symbol=symbol, used=(source, 1 + offset), arguments=arguments)


def _definition(body: str, function: str) -> tuple[int, str, tuple[tuple[str, str | None], ...]] | None:
    """(lines before it, C++ symbol, arguments) of `m.def("function", ...)` in a piece of text."""
    found = re.search(rf'm\.def\(\s*"{re.escape(function)}"\s*,\s*&?([\w:]+)', body)
    if found is None:
        return None
    end = body.find("m.def(", found.end())
    arguments = tuple(
        (name, default.strip() if default else None)
        for name, default in _ARGUMENT.findall(body[found.end() : end if end >= 0 else None])
    )
    return body.count("\n", 0, found.start()), found.group(1).rsplit("::", 1)[-1], arguments


def definition(tree: AiterTree, sources: tuple[str, ...], symbol: str) -> tuple[str, int] | None:
    """(file, line) of a C++ function's definition among source files; None when it is not found there."""
    for source in sources:
        path = tree.absolute(source)
        if path.is_file() and symbol in text.read(path):
            node = load(path).functions.get(symbol)
            if node is not None:
                name_line = text.find_line(path, rf"\b{re.escape(symbol)}\s*\(", start=int(node.start_point[0]) + 1)
                return source, name_line or int(node.start_point[0]) + 1
    return None
