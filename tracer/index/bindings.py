"""Which C++ function a JIT module's symbol is bound to: a scope and a symbol in, the binding's own text out.

pybind: `m.def("symbol", &function, ...)`, `py::enum_<T>(m, "symbol")` or `py::class_<T>(m, "symbol")` inside a
`PYBIND11_MODULE` of the module's sources, written there or through macros (csrc/include/rocm_ops.hpp). ctypes: a
function of that name with C linkage in the module's sources.
"""

from __future__ import annotations

import re

import msgspec

from tracer.index.cpp_facts import Call
from tracer.index.cpp_macros import split_arguments
from tracer.index.scope import Place, Scope

_STRING = re.compile(r'^"((?:[^"\\]|\\.)*)"$')
_TARGET = re.compile(r"^&\s*([\w:]+)(?:\s*<.*>)?$", re.DOTALL)
_CAST = re.compile(r"^(?:static_cast|py::overload_cast)\s*<.*>\s*\(\s*&\s*([\w:]+)", re.DOTALL)
_CALLED = re.compile(r"([A-Za-z_][\w:]*)\s*(?:<[^;{}]*?>)?\s*\(")
_MACRO_DEPTH = 4


class Binding(msgspec.Struct, frozen=True):
    """One binding.

    Attributes:
        symbol: the name in the module.
        kind: "function", "lambda", "enum", "class", or "ctypes".
        target: the C++ name that the binding's text gives.
        file: file of the `def` (or of the C function).
        line: its line.
        module_file: file of the PYBIND11_MODULE; None for ctypes.
        module_line: line at which the module's body names the binding, or the macro that holds it.
        macro: the macro that holds the `def`, or None.
        entry: for ctypes, the function itself.
    """

    symbol: str
    kind: str
    target: str
    file: str
    line: int
    module_file: str | None = None
    module_line: int | None = None
    macro: str | None = None
    entry: Place | None = None


def bindings(scope: Scope) -> list[Binding]:
    """Every pybind binding of a module, in source order."""
    out: list[Binding] = []
    for file in scope.recipe.sources:
        facts = scope.index.cpp(file)
        for function in facts.functions if facts is not None else ():
            if function.leaf == "PYBIND11_MODULE":
                for call in function.calls:
                    out += _of_call(scope, call, file, file, call.line, None, _MACRO_DEPTH)
    return out


def find_bindings(scope: Scope, symbol: str, ffi: str) -> list[Binding]:
    """The bindings of one symbol: what `getattr(module, symbol)` or `ctypes.CDLL(module).symbol` gives."""
    if ffi != "ctypes":
        return [b for b in bindings(scope) if b.symbol == symbol]
    found = []
    for place in scope.definitions(symbol):
        if place.function.extern_c and place.file in scope.recipe.sources:
            line = place.function.line
            macro = place.function.via or None
            found.append(Binding(symbol, "ctypes", place.function.name, place.file, line, macro=macro, entry=place))
    return found


def bound_definitions(scope: Scope, binding: Binding) -> list[Place]:
    """The definitions that a binding's target can mean, where several overloads stand: those the headers declare."""
    if binding.entry is not None:
        return [binding.entry]
    found = scope.definitions(binding.target)
    if len(found) > 1:
        declared = {
            p.function.parameters for p in scope.declarations(binding.target) if p.file not in {f.file for f in found}
        }
        found = [p for p in found if p.function.parameters in declared] or found
    return found or scope.generated(binding.target)


def _of_call(
    scope: Scope, call: Call, file: str, module_file: str, module_line: int, macro: str | None, depth: int
) -> list[Binding]:
    leaf = call.name.rpartition("::")[2]
    if leaf == "def" and call.receiver == "m":
        found = _definition(call, file, module_file, module_line, macro)
        return [found] if found is not None else []
    if leaf in ("enum_", "class_"):
        arguments = split_arguments(call.text)
        name = _STRING.match(arguments[1]) if len(arguments) > 1 else None
        if name is None:
            return []
        target = split_arguments(call.template)[0] if call.template else ""
        kind = leaf.removesuffix("_")
        return [Binding(name.group(1), kind, target, file, call.line, module_file, module_line, macro)]
    out: list[Binding] = []
    if depth:
        for place in scope.macros(call.name):
            for inner in place.function.calls:
                out += _of_call(scope, inner, place.file, module_file, module_line, place.function.name, depth - 1)
    return out


def _definition(call: Call, file: str, module_file: str, module_line: int, macro: str | None) -> Binding | None:
    arguments = split_arguments(call.text)
    name = _STRING.match(arguments[0]) if arguments else None
    if name is None or len(arguments) < 2:
        return None
    target = arguments[1]
    found = _TARGET.match(target) or _CAST.match(target)
    if found is not None:
        return Binding(name.group(1), "function", found.group(1), file, call.line, module_file, module_line, macro)
    kind = "lambda" if target.startswith("[") else "function"
    called = [c for c in _CALLED.findall(target) if c not in ("if", "return", "reinterpret_cast", "static_cast")]
    text = called[0] if kind == "lambda" and called else target
    return Binding(name.group(1), kind, text, file, call.line, module_file, module_line, macro)
