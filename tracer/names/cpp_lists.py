"""Kernels whose template arguments are known by position: a demangled name and parameter lists in, typed fields out.

A list belongs to a function (`elementwise_kernel`) or to a struct among its arguments (`ReduceOp`); `ck_lists` has the
notation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import msgspec

from tracer.model.kernel import DecodedName, FieldValue, Span, Unparsed
from tracer.names import ck_lists, cpp
from tracer.names.ck_values import Convert

CUT = "the name is cut off: the template arguments behind the cut are not known"
MORE = "more template arguments; the name is cut off"
#: how many structs are looked through before a struct with a list is given up
_DEEPEST = 4
Lists = Mapping[str, tuple[ck_lists.Variant, ...]]


class Reading(msgspec.Struct):
    """What a name states.

    Attributes:
        function: the head of the name.
        fields: the fields, `kernel` (the unqualified function) first; without it when the name is cut off before.
        spans: where each stands.
        unparsed: arguments that no list explains.
        likely: what a list that does not fit says by position.
        notes: what a reader should know.
    """

    function: cpp.Function
    fields: dict[str, FieldValue]
    spans: dict[str, Span]
    unparsed: list[Unparsed] = []
    likely: dict[str, FieldValue] = {}
    notes: tuple[str, ...] = ()

    def answer(self, grammar: str, family: str) -> DecodedName:
        """The answer of a grammar."""
        text = self.function.text
        likely = {key: value for key, value in self.likely.items() if key not in self.fields}
        return DecodedName(
            text, text, grammar, family, self.fields, self.spans, tuple(self.unparsed), likely, self.notes
        )

    def add(self, key: str, value: FieldValue, span: Span) -> None:
        """Adds a field; the first reading of a key stands."""
        if key not in self.fields:
            self.fields[key] = value
            self.spans[key] = span

    def take(self, found: ck_lists.Reading, args: cpp.Arguments, of: str) -> None:
        """Adds what the argument list of a function or struct states; `of` names that where the list does not fit."""
        fields, spans, where = self.fields, args.spans(), found.where
        for key, value in found.fields.items():
            if key not in fields:
                fields[key] = value
                self.spans[key] = spans[where[key]]
        for key, value in found.likely.items():
            self.likely.setdefault(key, value)
        if found.beyond is not None and found.beyond < len(args):
            start, end = args.starts[found.beyond], spans[-1][1]
            self.unparsed.append(Unparsed(self.function.text[start:end], start, f"{of}: {found.reason}"))


def read(
    function: cpp.Function,
    lists: Lists,
    choose: Callable[[str], Convert],
    complete: bool = True,
    through: Collection[str] = (),
) -> Reading:
    """Reads a kernel's name by the lists of its function and of the structs among its arguments.

    Args:
        function: the head of the demangled name.
        lists: function or struct -> its parameter lists.
        choose: gives the converter of a key.
        complete: whether arguments of a function without a list are to be shown as not understood.
        through: structs whose own arguments are looked through for structs with lists.
    """
    name = function.text
    leaf, span = function.leaf, function.leaf_span
    args = function.arguments
    if not leaf or (args is None and function.parameters is None and function.start > 0):
        # a return type is printed before templates only, so arguments are missing, and perhaps some of the name
        rest = Unparsed(name[span[0] :], span[0], "a function and its template arguments; the name is cut off")
        return Reading(function, {}, {}, [rest], {}, (CUT,))
    reading = Reading(function, {"kernel": leaf}, {"kernel": span})
    if args is None:
        return reading
    if complete or leaf in lists:
        reading.take(ck_lists.read(lists.get(leaf, ()), args.whole(name), args.cut, choose), args, leaf)
    _structs(reading, args, lists, choose, through, _DEEPEST)
    if args.cut:
        reading.unparsed.append(Unparsed("", len(name), MORE))
        reading.notes = (CUT,)
    return reading


def _structs(
    reading: Reading,
    args: cpp.Arguments,
    lists: Lists,
    choose: Callable[[str], Convert],
    through: Collection[str],
    depth: int,
) -> None:
    """Takes what the structs among the arguments state."""
    text = reading.function.text
    for index, item in enumerate(args.items):
        opening = item.find("<")
        leaf = item[:opening].rpartition("::")[2] if opening > 0 else ""
        if leaf in lists or leaf in through:
            struct = cpp.template(text, args.span(index), args.plain)
            if struct.arguments is not None and leaf in through and depth:
                _structs(reading, struct.arguments, lists, choose, through, depth - 1)
            elif struct.arguments is not None and struct.leaf in lists:
                inner, items = struct.arguments, struct.arguments.whole(text)
                reading.take(ck_lists.read(lists[struct.leaf], items, inner.cut, choose), inner, struct.leaf)
