"""The C++ that a generator script writes for one CK instance: script and instance in, its types and padding rule out.

The script's f-strings are filled in by interpreting the few expressions that they use (`k.NPerBLOCK`,
`k.CBLOCK_SPV[0]`, `", ".join(map(str, k.ABLOCK_TRANSFER))`); no code of the tree is run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tracer.resolve.cxx.preprocess import active_text

_USING = re.compile(r"\busing\s+(\w*Instance)\s*=\s*(\w+\s*<.*?>)\s*;", re.DOTALL)
_LOCAL_USING = re.compile(r"\busing\s+(\w+)\s*=\s*([^;{}]+);")
_TEMPLATE = re.compile(r"\btemplate\s*<([^<>]*)>")
_INCLUDE = re.compile(r'#include\s+"([\w/]+_common\w*\.cuh)"')
_PAD = re.compile(r"\bbool\s+pad\s*=\s*([^;]+);")
HOLE = "KTRACE_HOLE"


class InstanceCode(msgspec.Struct, frozen=True, kw_only=True):
    """What the generated file of one instance states.

    Attributes:
        header: the header that it includes.
        type: the device operation's type, with `{GemmSpec}` where the specialisation stands.
        aliases: local `using` declarations, in order.
        parameters: template parameters of the generated function.
        defaults: their defaults, where they have one.
        instantiations: the argument lists that it is explicitly instantiated with, as written.
        specs: the specialisations that are written out, in order.
        pad: the condition under which the padded specialisation is taken, or "".
        tiles: the tile extents that a `Get...Spec(M, N, K, ...)` computes the specialisation from, or ().
        line: line of the type in the script.
    """

    header: str
    type: str
    aliases: tuple[tuple[str, str], ...]
    parameters: tuple[str, ...]
    defaults: dict[str, str]
    instantiations: tuple[str, ...]
    specs: tuple[str, ...]
    pad: str
    tiles: tuple[str, ...]
    line: int


def read_instance_code(script: str, fields: Mapping[str, Any], variant: str = "nobias") -> InstanceCode | None:
    """The generated C++ of an instance.

    Args:
        script: text of the generator script.
        fields: the instance's own field names and values.
        variant: which of several types to take, by a part of the Python variable's name.
    """
    tree = ast.parse(script)
    strings = _strings(tree, fields)
    typed = [(name, text, line) for name, text, line in strings if _USING.search(text)]
    if not typed:
        return None
    chosen = next((item for item in typed if variant in item[0].lower()), typed[0])
    match = _USING.search(chosen[1])
    assert match is not None
    impl = next((text for _, text, _ in strings if _INCLUDE.search(text) and "INSTANCE_CONTENT" in text), "")
    included = _INCLUDE.search(impl) or _INCLUDE.search(script)
    template = _TEMPLATE.search(impl)
    names, defaults = _parameters(template.group(1) if template else "")
    pad = _PAD.search(active_text(impl))
    rule = re.search(r"\bGet\w*Spec\s*\(\s*M,\s*N,\s*K,\s*(\w+),\s*(\w+),\s*(\w+)\s*\)", impl)
    aliases = [(n, t.strip()) for n, t in _LOCAL_USING.findall(impl) if "Instance" not in n]
    return InstanceCode(
        header=included.group(1) if included else "",
        type=" ".join(match.group(2).split()),
        aliases=tuple(aliases),
        parameters=names,
        defaults=defaults,
        instantiations=_instantiations(tree),
        specs=_specs(tree, impl),
        pad=" ".join(pad.group(1).split()) if pad else "",
        tiles=rule.groups() if rule else (),
        line=chosen[2] + chosen[1][: match.start()].count("\n"),
    )


def _parameters(text: str) -> tuple[tuple[str, ...], dict[str, str]]:
    names, defaults = [], {}
    for part in text.split(","):
        declared, _, default = part.partition("=")
        words = declared.split()
        if words:
            names.append(words[-1])
            if default.strip():
                defaults[words[-1]] = default.strip()
    return tuple(names), defaults


def _specs(tree: ast.Module, impl: str) -> tuple[str, ...]:
    """The specialisations that fill the places which the generated function keeps for them."""
    found: list[str] = []
    for node in ast.walk(tree):
        place, filled = "", None
        if isinstance(node, ast.keyword) and node.arg and "CONTENT" in node.arg:
            place, filled = f"{{{node.arg}}}", node.value
        elif isinstance(node, ast.Call) and len(node.args) == 2 and isinstance(node.args[0], ast.Constant):
            place, filled = str(node.args[0].value), node.args[1]
        if filled is not None and "CONTENT" in place and place in impl:
            texts = [str(n.value) for n in ast.walk(filled) if isinstance(n, ast.Constant)]
            found += [text for text in texts if text == "Default" or text.endswith("Padding")]
    return tuple(dict.fromkeys(found)) or ("Default",)


def _strings(tree: ast.Module, fields: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """(variable, text, line) of the strings that are assigned to a name anywhere in the script."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            text = _text(node.value, fields)
            if text is not None:
                found.append((node.targets[0].id, text, node.lineno))
    return found


def _text(node: ast.expr, fields: Mapping[str, Any]) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = _value(part.value, fields)
                parts.append(HOLE if value is None else str(value))
            else:
                parts.append(_text(part, fields) or "")
        return "".join(parts)
    return None


def _value(node: ast.expr, fields: Mapping[str, Any]) -> Any:
    """The few expressions that stand in the generators' f-strings; None for any other."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Attribute):
        return fields.get(node.attr) if isinstance(node.value, ast.Name) else None
    if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        return _value(node.generators[0].iter, fields)
    if isinstance(node, ast.Subscript):
        base, index = _value(node.value, fields), _value(node.slice, fields)
        if isinstance(base, (list, tuple)) and isinstance(index, int) and -len(base) <= index < len(base):
            return base[index]
        return None
    if isinstance(node, ast.Call):
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr == "join" and len(node.args) == 1:
            separator, items = _value(called.value, fields), _value(node.args[0], fields)
            if isinstance(separator, str) and isinstance(items, (list, tuple)):
                return separator.join(str(item) for item in items)
        if isinstance(called, ast.Name) and called.id == "map" and len(node.args) == 2:
            return _value(node.args[1], fields)
        if isinstance(called, ast.Name) and called.id in ("str", "list", "tuple") and len(node.args) == 1:
            return _value(node.args[0], fields)
        if isinstance(called, ast.Attribute) and called.attr in ("lower", "upper") and not node.args:
            text = _value(called.value, fields)
            return getattr(text, called.attr)() if isinstance(text, str) else None
    return None


def _instantiations(tree: ast.Module) -> tuple[str, ...]:
    """The values of `dtypes=` in the order in which they stand, loops over type names written out."""
    loops: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.For)
            and isinstance(node.target, ast.Name)
            and isinstance(node.iter, (ast.List, ast.Tuple))
        ):
            loops[node.target.id] = [
                str(item.value) if isinstance(item, ast.Constant) else f"{{{item.id}}}"
                for item in node.iter.elts
                if isinstance(item, (ast.Constant, ast.Name))
            ]
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "dtypes":
            if isinstance(node.value, ast.Constant):
                found.append((node.value.lineno, str(node.value.value)))
            elif isinstance(node.value, ast.JoinedStr):
                found += [(node.value.lineno, text) for text in _expanded(_shape(node.value), loops)]
    return tuple(dict.fromkeys(text for _, text in sorted(found, key=lambda item: item[0])))


def _shape(node: ast.JoinedStr) -> str:
    parts = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name):
            parts.append(f"{{{part.value.id}}}")
        elif isinstance(part, ast.Constant):
            parts.append(str(part.value))
    return "".join(parts)


def _expanded(text: str, loops: Mapping[str, list[str]]) -> list[str]:
    out, changed = [text], True
    while changed and len(out) < 200:
        changed = False
        for name, values in reversed(list(loops.items())):  # inner loops first: theirs may name outer variables
            if any(f"{{{name}}}" in item for item in out):
                # the same variable has one value throughout
                out = [item.replace(f"{{{name}}}", value) for item in out for value in values]
                changed = True
    return out
