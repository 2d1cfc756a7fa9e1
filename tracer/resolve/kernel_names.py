"""C++ functions by a name from a trace: printed or mangled text in, the definitions that it can be out.

Several kernels of aiter share a name (paged attention has five). The template arguments and the parameter list that the
text shows are compared with each definition's own template head; a definition that can't take them is no candidate.
"""

from __future__ import annotations

import re

import msgspec

from tracer.index.cpp_facts import Function
from tracer.index.cpp_templates import FACTS_VERSION, Head, Parameter, TemplateFacts, read_templates
from tracer.index.tree_index import TreeIndex
from tracer.names.cpp import arguments, read_function

_VALUE = re.compile(r"(?:-?\d+[uUlL]*|true|false|'.'|\(.*\)-?\d+)\Z", re.DOTALL)
_CAST = re.compile(r"\(([\w:]+(?: [\w:]+)*)\)-?\d+\Z")
_BOOLS = ("true", "false")
_EDGE = re.compile(r"\s*#\s*(?:if|el|endif)")


class CppName(msgspec.Struct, frozen=True):
    """A function's printed text, read.

    Attributes:
        name: the qualified name.
        items: its template arguments; None when the text shows none.
        parameters: the types of its parameters; None when the text does not show them.
        cut: whether the text breaks off.
    """

    name: str
    items: tuple[str, ...] | None = None
    parameters: tuple[str, ...] | None = None
    cut: bool = False

    @property
    def leaf(self) -> str:
        """The unqualified name."""
        return self.name.rpartition("::")[2]


class Definition(msgspec.Struct, frozen=True):
    """A C++ function that a name can mean."""

    file: str
    function: Function


def read_name(text: str) -> CppName | None:
    """A demangled text, read; None when it holds no C++ name."""
    found = read_function(text)
    if not re.fullmatch(r"(?:~?[A-Za-z_]\w*|\(anonymous namespace\))(?:::(?:~?[A-Za-z_]\w*|\(anonymous namespace\)))*",
                        found.name):  # fmt: skip
        return None
    types = None
    if found.parameters is not None:
        listed = arguments(found.text, found.parameters)
        if not listed.cut:
            types = () if listed.items == ("void",) else listed.items
    return CppName(found.name, found.items if found.arguments is not None else None, types, found.cut)


class Matches(msgspec.Struct, frozen=True):
    """The definitions that a name can mean.

    Attributes:
        found: the definitions; kernels alone where there are any.
        fit: "all" when template arguments and parameters fit (or the name shows none), "parameters" when only the
            parameter list does, "name" when neither does.
    """

    found: tuple[Definition, ...]
    fit: str = "all"


def definitions(index: TreeIndex, wanted: CppName) -> Matches:
    """The definitions in aiter's own sources that a name can mean."""
    found: list[Definition] = []
    for file in index.cpp_named(wanted.leaf):
        facts = index.cpp(file)
        found += [
            Definition(file, function)
            for function in (facts.functions if facts is not None else ())
            if function.kind == "definition" and function.leaf == wanted.leaf and _qualified(function.name, wanted.name)
        ]
    chosen = [d for d in found if d.function.kernel] or found
    fit = "all"
    if wanted.items is not None or wanted.parameters is not None:
        same_parameters = [d for d in chosen if _same_parameters(_head(index, d), wanted)]
        fitting = [d for d in same_parameters if _takes_all(_head(index, d), wanted)]
        if chosen and not fitting:
            fit = "parameters" if same_parameters else "name"
        chosen = fitting or same_parameters or chosen
    return Matches(_one_a_branch(index, chosen), fit)


def _one_a_branch(index: TreeIndex, chosen: list[Definition]) -> tuple[Definition, ...]:
    """Of definitions of one name in the branches of one `#if`, the longest; overloads stay."""
    best: list[Definition] = []
    for definition in chosen:
        held = best[-1] if best else None
        if held is None or not _are_branches(index, held, definition):
            best.append(definition)
        elif _length(definition) > _length(held):
            best[-1] = definition
    return tuple(best)


def _are_branches(index: TreeIndex, one: Definition, other: Definition) -> bool:
    """Whether two definitions are of one name in one file, with an edge of an `#if` between them."""
    if (one.file, one.function.name) != (other.file, other.function.name):
        return False
    early, late = sorted((one.function, other.function), key=lambda f: f.first)
    lines = (index.latin1(one.file) or "").split("\n")[early.last : late.first]
    return any(_EDGE.match(line) for line in lines)


def _length(definition: Definition) -> int:
    return definition.function.last - definition.function.first


def _qualified(defined: str, asked: str) -> bool:
    """Whether a qualified name can be meant by another; namespaces that either leaves out do not count."""
    defined = defined.replace("(anonymous namespace)::", "")
    asked = asked.replace("(anonymous namespace)::", "")
    return defined == asked or defined.endswith(f"::{asked}") or asked.endswith(f"::{defined}")


def _same_parameters(head: Head | None, wanted: CppName) -> bool:
    """Whether a definition takes as many parameters as the text shows, pointers and plain numbers in their places."""
    if head is None or wanted.parameters is None or wanted.cut:
        return True
    written = [t for t in head.text.split(";") if t]
    if len(written) != len(wanted.parameters):
        return False
    return all(_shape(w) in (None, _shape(g)) for w, g in zip(written, wanted.parameters, strict=True))


def _shape(type_: str) -> str | None:
    """What can be compared of a parameter's type: that it is a pointer, or which built-in type it is."""
    plain = re.sub(r"\b(?:const|volatile|__restrict__|__restrict|__grid_constant__)\b", " ", type_).strip()
    if plain.endswith("*"):
        return "*"
    return plain if plain in ("int", "float", "bool", "double", "unsigned int", "long") else None


def _takes_all(head: Head | None, wanted: CppName) -> bool:
    if head is None or wanted.items is None:
        return True
    parameters = head.parameters or ()
    packed = bool(parameters) and parameters[-1].pack
    least = sum(1 for p in parameters if not p.default and not p.pack)
    if len(wanted.items) > len(parameters) and not packed:
        return False
    if len(wanted.items) < least and not wanted.cut:
        return False
    return all(_takes(p, item) for p, item in zip(parameters, wanted.items, strict=False))


def _takes(parameter: Parameter, item: str) -> bool:
    """Whether a template parameter can take an argument as printed."""
    is_value = bool(_VALUE.match(item))
    if not parameter.type:
        return not is_value
    if not is_value:
        return False
    type_ = parameter.type.split()[-1]
    if type_ == "bool":
        return item in _BOOLS
    cast = _CAST.match(item)
    if cast is not None:
        return cast.group(1).rpartition("::")[2] == type_.rpartition("::")[2]
    return item not in _BOOLS or type_ == "auto"


def _head(index: TreeIndex, definition: Definition) -> Head | None:
    """The template head of a definition, read with the parameters' kinds and types."""
    path = index.tree.absolute(definition.file)
    facts = index.cache.get(
        path, f"templates{FACTS_VERSION}", TemplateFacts, lambda data: read_templates(data.decode("latin-1"))
    )
    near = [
        h
        for h in (facts.heads if facts is not None else ())
        if h.kind == "function" and h.leaf == definition.function.leaf
    ]
    return min(near, key=lambda h: abs(h.line - definition.function.line), default=None)


def bare_name(text: str) -> str:
    """A printed name without return type, parameters and the mark of a kernel descriptor."""
    plain = text.strip().removesuffix(".kd")
    plain = re.sub(r"^void\s+", "", plain)
    return plain.partition("(")[0].strip() if "<" not in plain else plain
