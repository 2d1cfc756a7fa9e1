"""Readers of names and of argument lists as Python code: keys and converters in, functions to their fields out.

The fields of a name are a dict display and not a loop, as in the classes that `dataclasses` makes: a loop over keys and
converters takes twice as long, and reading fields is what decoding a list of names spends its time on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

from tracer.model.kernel import DecodedName, FieldValue
from tracer.names.converters import NOT_STATED, Convert, Fresh, Optional, Table

Reader = Callable[[str, str], DecodedName | None]
ListReader = Callable[[Sequence[str]], dict[str, FieldValue]]
Match = Callable[[str], Any]
#: a longer dict display is built item by item and grows as it goes (CPython 3.11 to 3.14)
_DISPLAY = 15


def compile_reader(
    family: str,
    fullmatch: Match,
    captured: Sequence[tuple[str, Convert]],
    optional: Collection[str],
    open_keys: Collection[str],
    constants: Mapping[str, FieldValue],
) -> Reader:
    """Makes the function that reads a whole, well-formed name, and answers None to any other.

    Args:
        family: the family that a match states.
        fullmatch: matches a whole name; its groups are `captured` in order.
        captured: key and converter of each group.
        optional: the keys whose group may have no text; their span is then empty, behind the group before.
        open_keys: the keys that may come out as NOT_STATED, and are then no fields.
        constants: the fields that the family itself states.
    """
    scope: dict[str, Any] = {
        "fullmatch": fullmatch, "DecodedName": DecodedName, "family": family, "NOT_STATED": NOT_STATED,
    }  # fmt: skip
    lines = ["def read(name, grammar):", "m = fullmatch(name)", "if m is None: return None"]
    fields, spans = [], []
    if captured:
        lines.append("".join(f"g{i}, " for i in range(len(captured))) + "= m.groups()")
        lines.append("_, " + "".join(f"s{i}, " for i in range(len(captured))) + "= m.regs")
    for i, (key, convert) in enumerate(captured):
        if key in optional:
            lines.append(f"if g{i} is None: s{i} = (s{i - 1}[1], s{i - 1}[1])" if i else "if g0 is None: s0 = (0, 0)")
        fields.append((key, _value(f"g{i}", i, convert, scope)))
        spans.append((key, f"s{i}"))
    for i, (key, value) in enumerate(constants.items()):
        scope[f"k{i}"] = value
        fields.append((key, f"k{i}"))
        spans.append((key, "(0, 0)"))
    lines += [*_display("fields", fields), *_display("spans", spans)]
    lines += [f"if fields[{key!r}] is NOT_STATED: del fields[{key!r}], spans[{key!r}]" for key in open_keys]
    lines.append("return DecodedName(name, name, grammar, family, fields, spans)")
    exec("\n    ".join(lines), scope)  # the code holds keys (by repr) and numbers of groups, and nothing from a name
    return cast("Reader", scope["read"])


def compile_list(entries: Mapping[str, tuple[int, Convert]]) -> ListReader:
    """Makes the function from the items of an argument list to its fields.

    Args:
        entries: key -> index of the item that states it, and the converter of that item.
    """
    scope: dict[str, Any] = {}
    fields = []
    for i, (key, (index, convert)) in enumerate(entries.items()):
        fields.append((key, _value(f"items[{index}]", i, convert, scope)))
    lines = ["def read(items):", *_display("fields", fields), "return fields"]
    exec("\n    ".join(lines), scope)  # as above
    return cast("ListReader", scope["read"])


def _value(printed: str, i: int, convert: Convert, scope: dict[str, Any]) -> str:
    """The expression for what the text of the expression `printed` stands for; what it needs is added to `scope`."""
    if isinstance(convert, Optional):
        scope[f"absent{i}"] = convert.missing
        return f"absent{i} if {printed} is None else {_value(printed, i, convert.inner, scope)}"
    if convert is str:
        return printed
    scope[f"c{i}"] = convert
    if isinstance(convert, Fresh):
        return f"c{i}[{printed}].copy()"
    return f"c{i}[{printed}]" if isinstance(convert, Table) else f"c{i}({printed})"


def _display(name: str, items: Sequence[tuple[str, str]]) -> list[str]:
    """The statements that make the dict `name` of keys and expressions."""
    first = ", ".join(f"{key!r}: {value}" for key, value in items[:_DISPLAY])
    return [f"{name} = {{{first}}}", *(f"{name}[{key!r}] = {value}" for key, value in items[_DISPLAY:])]
