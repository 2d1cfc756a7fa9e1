"""The grammar of a group of formal families: literal beginnings and their readers in, a whole `Grammar` out.

A family with several forms (two MoE stages, an optional block of tokens) is an `OneOf`: its forms are tried in order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

from tracer.model.kernel import DecodedName, FieldValue
from tracer.names.base import NO_CONTEXT, Context, Grammar
from tracer.names.compiled_reader import Reader
from tracer.names.pattern import Pattern


class OneOf:
    """The forms of one family, in the order in which they are tried.

    Attributes:
        family: the family that every form states.
    """

    def __init__(self, *forms: Pattern) -> None:
        self.forms = forms
        self.family = forms[0].family
        if any(form.family != self.family for form in forms):
            raise ValueError(f"forms of several families: {sorted({form.family for form in forms})}")

    @cached_property
    def _matches(self) -> tuple[Reader, ...]:
        return tuple(form.match for form in self.forms)

    def read(self, name: str, grammar: str) -> DecodedName:
        """Reads `name` by the first form that fits; a broken name by the form that gets furthest."""
        for match in self._matches:
            answer = match(name, grammar)
            if answer is not None:
                return answer
        return max((form.repair(name, grammar) for form in self.forms), key=lambda a: a.unparsed[0].start)

    def format(self, fields: Mapping[str, FieldValue]) -> str:
        """Writes the name by the first form that has these fields. Raises ValueError when none has."""
        problem = None
        for form in self.forms:
            try:
                return form.format(fields)
            except ValueError as error:
                problem = error
        raise ValueError(f"no form of {self.family} has these fields; the last one says: {problem}")


class FormalGrammar(Grammar):
    """Formal families told apart by how their names begin.

    A subclass states `readers`; families, formal and prefixes follow from it. A name is accepted when it begins with
    one of the literals and what `guard` says comes next.
    """

    #: literal beginning -> how to read such a name
    readers: ClassVar[Mapping[str, Pattern | OneOf]]
    #: regular expression that must follow the beginning
    guard: ClassVar[str] = "[0-9]"
    #: further formal families that the subclass reads and writes itself
    others: ClassVar[tuple[str, ...]] = ()
    #: literal beginnings of the names that the subclass accepts itself
    other_prefixes: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Derives families, formal and prefixes from `readers`."""
        super().__init_subclass__()
        cls.families = (*dict.fromkeys(reader.family for reader in cls.readers.values()), *cls.others)
        cls.formal = frozenset(cls.families)
        cls.prefixes = (*cls.readers, *cls.other_prefixes)

    @cached_property
    def _head(self) -> re.Pattern[str]:
        heads = sorted(self.readers, key=len, reverse=True)
        return re.compile(f"(?:{'|'.join(map(re.escape, heads))})(?={self.guard})")

    def accepts(self, name: str) -> bool:
        """Says whether `name` begins as one of the families does."""
        return self._head.match(name) is not None

    def read(self, name: str, context: Context = NO_CONTEXT) -> DecodedName | None:
        """Reads `name` if it begins as one of the families does."""
        head = self._head.match(name)
        if head is None:
            return None
        return self.read_by(self.readers[head[0]], name, context)

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        """Reads `name`; a broken one keeps what follows the break as unparsed."""
        answer = self.read(name, context)
        if answer is None:
            raise ValueError(f"{self.name} was asked to decode {name[:80]!r}, which it does not accept")
        return answer

    def read_by(self, reader: Pattern | OneOf, name: str, context: Context) -> DecodedName:
        """Reads `name` by the reader that its beginning calls for; a subclass may add to what that answers."""
        return reader.read(name, self.name)

    def format(self, family: str, fields: Mapping[str, FieldValue]) -> str:
        """Writes the name that `fields` describe. Raises ValueError where no form of the family has these fields."""
        problem = None
        for reader in self.readers.values():
            if reader.family == family:
                try:
                    return reader.format(fields)
                except ValueError as error:
                    problem = error
        if problem is not None:
            raise problem
        return super().format(family, fields)
