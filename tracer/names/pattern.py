"""A name's grammar as a value: one list of parts gives the reader, the spans and the writer.

Parts compile to one regular expression, so a well-formed name is read by a single match. A name that breaks is read
part by part, and what follows the break is kept as unparsed. `format` walks the same parts, so reading and writing
can't drift apart.

    PATTERN = Pattern(
        "aiter_ck_example",
        lit("example_"),
        nums(("m_per_block", "n_per_block")),
        flag("persistent", "_ps"),
        opt(lit("_v") + num("pipeline_version"), absent={"pipeline_version": 1}),
    )
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from tracer.model.kernel import DecodedName, FieldValue, Unparsed
from tracer.names.compiled_reader import Reader, compile_reader
from tracer.names.converters import NOT_STATED
from tracer.names.parts import (
    NUMBER,
    Part,
    also,
    bit,
    choice,
    digits_list,
    flag,
    followed_by,
    groups,
    int_list,
    lit,
    num,
    nums,
    opt,
    seq,
    signed,
    table,
    text,
    true_false,
    words,
)

__all__ = [
    "NOT_STATED",
    "NUMBER",
    "Part",
    "Pattern",
    "also",
    "bit",
    "choice",
    "digits_list",
    "flag",
    "followed_by",
    "groups",
    "int_list",
    "lit",
    "num",
    "nums",
    "opt",
    "seq",
    "signed",
    "table",
    "text",
    "true_false",
    "words",
]


class Pattern:
    """A family's whole name.

    Args:
        family: the family that a match states.
        parts: the parts in the order printed.
        constants: fields that the family itself states (empty span at the end of the name).
        breaks: the characters between the tokens of a name.
    """

    def __init__(
        self, family: str, *parts: Part, constants: Mapping[str, FieldValue] | None = None, breaks: str = "_"
    ) -> None:
        self.family = family
        self.breaks = breaks
        self.constants = dict(constants or {})
        whole = seq(*parts)
        self.children = whole.children
        self.keys = (*(key for key, _ in whole.captures), *self.constants)
        if len(set(self.keys)) != len(self.keys):
            raise ValueError(f"{family}: a key stands twice in {self.keys}")
        self._whole = whole

    @cached_property
    def match(self) -> Reader:
        """Reads a whole, well-formed name, given with the grammar's name; None when it is not one."""
        whole = self._whole
        open_keys = [key for key, _ in whole.captures if key in whole.open_keys]
        return compile_reader(
            self.family, whole.compiled.fullmatch, whole.captures, whole.optional, open_keys, self.constants
        )

    def read(self, name: str, grammar: str) -> DecodedName:
        """Reads a well-formed name whole, a broken one part by part."""
        return self.match(name, grammar) or self.repair(name, grammar)

    def repair(self, name: str, grammar: str) -> DecodedName:
        """Reads a broken name part by part; what follows the first break is kept as unparsed.

        The token (between two of `breaks`) that breaks is kept whole, so that no half of it passes for a field.
        """
        fields: dict[str, FieldValue] = {}
        spans: dict[str, tuple[int, int]] = {}
        at = 0
        reason: str | None = "nothing more"
        for part in self.children:
            m = part.compiled.match(name, at)
            if m is None:
                reason = part.expected
                break
            for (key, convert), group, span in zip(part.captures, m.groups(), m.regs[1:], strict=True):
                value = convert(group)
                if value is NOT_STATED:
                    continue
                fields[key] = value
                spans[key] = span if span[0] >= 0 else (m.start(), m.start())
            at = m.end()
        if at < len(name) or reason != "nothing more":
            # a token that breaks in its middle was misread from its start (a pair of numbers that has a third)
            at_break = any(c in name[at - 1 : at + 1] for c in self.breaks)
            if not at_break and (at < len(name) or part.regex[:1] not in self.breaks):
                at = max(name.rfind(c, 0, at) for c in self.breaks) + 1
            # and whether a token is left out just before the break is not known
            for key in [k for k, (start, end) in spans.items() if start >= at or end > at]:
                del fields[key], spans[key]
        rest = (Unparsed(name[at:], at, f"expected {reason}"),) if at < len(name) or reason != "nothing more" else ()
        for key, value in self.constants.items():
            fields[key] = value
            spans[key] = (0, 0)
        return DecodedName(name, name, grammar, self.family, fields, spans, rest)

    def format(self, fields: Mapping[str, FieldValue]) -> str:
        """Writes the name that `fields` describe. Raises ValueError for a missing, unknown or impossible field."""
        extra = set(fields) - set(self.keys)
        if extra:
            raise ValueError(f"{self.family}: no such field: {', '.join(sorted(extra))}")
        for key, value in self.constants.items():
            if fields.get(key, value) != value:
                raise ValueError(f"{self.family}: {key} is always {value!r}, not {fields[key]!r}")
        return self._whole.write(fields)
