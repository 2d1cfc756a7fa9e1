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

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from tracer.model.kernel import DecodedName, FieldValue, Unparsed

#: a decimal number without leading zeros; 18 digits at most, so that no text makes int() refuse it
NUMBER = r"(?:0|[1-9][0-9]{0,17})"


class _NotStated:
    """Marks a field that an absent part leaves open."""


NOT_STATED = _NotStated()
_group_numbers = itertools.count()


class Part:
    """A piece of a pattern: a regular expression with one group a field, and how to write it back.

    Attributes:
        regex: expression with exactly len(captures) capturing groups.
        captures: (key, convert) in group order.
        expected: what stands here, for error messages.
        children: the parts that this one is a plain sequence of; itself alone when it is not.
    """

    def __init__(
        self,
        regex: str,
        captures: Sequence[tuple[str, Callable[[str], FieldValue]]],
        write: Callable[[Mapping[str, FieldValue]], str],
        expected: str,
        children: Sequence[Part] = (),
    ) -> None:
        self.children: tuple[Part, ...] = tuple(children) or (self,)
        self.regex = regex
        self.captures = tuple(captures)
        self.write = write
        self.expected = expected

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The expression, compiled when first asked for: importing all grammars compiles nothing."""
        compiled = re.compile(self.regex)
        if compiled.groups != len(self.captures):
            raise ValueError(f"part {self.expected!r} has {compiled.groups} groups for {len(self.captures)} fields")
        return compiled

    def __add__(self, other: Part) -> Part:
        return seq(self, other)


def _need(fields: Mapping[str, FieldValue], key: str) -> Any:
    if key not in fields:
        raise ValueError(f"field {key!r} is missing")
    return fields[key]


def _write_int(value: Any, key: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"field {key!r} must be a non-negative integer, not {value!r}")
    return str(value)


def lit(text: str) -> Part:
    """Literal text without a field."""
    return Part(re.escape(text), (), lambda _: text, repr(text))


def num(key: str) -> Part:
    """A decimal number without leading zeros, as an int."""
    return Part(f"({NUMBER})", ((key, int),), lambda f: _write_int(_need(f, key), key), f"a number ({key})")


def nums(keys: Sequence[str], sep: str = "x") -> Part:
    """Several numbers with a separator, one field each."""
    return seq(*[part for i, key in enumerate(keys) for part in ([lit(sep)] if i else []) + [num(key)]])


def groups(*parts: Part, sep: str = "_") -> Part:
    """Parts joined by a separator."""
    return seq(*[p for i, part in enumerate(parts) for p in ([lit(sep)] if i else []) + [part]])


def followed_by(regex: str) -> Part:
    """Prints nothing; stands where `regex` (no groups) comes next."""
    return Part(f"(?={regex})", (), lambda _: "", f"{regex} next")


def int_list(key: str, sep: str = "x", count: int | None = None) -> Part:
    """Numbers with a separator as one list-valued field; any length of at least one unless `count` is given."""
    more = f"{{{count - 1}}}" if count is not None else "*"
    esc = re.escape(sep)

    def write(fields: Mapping[str, FieldValue]) -> str:
        values = _need(fields, key)
        if not isinstance(values, (list, tuple)) or not values or (count is not None and len(values) != count):
            raise ValueError(f"field {key!r} must be a list of {count or 'one or more'} numbers, not {values!r}")
        return sep.join(_write_int(v, key) for v in values)

    return Part(
        f"({NUMBER}(?:{esc}{NUMBER}){more})",
        ((key, lambda s: [int(v) for v in s.split(sep)]),),
        write,
        f"numbers joined by {sep!r} ({key})",
    )


def digits_list(key: str, sep: str = "x") -> Part:
    """One number printed digit by digit, as a list of one: `1x6` is [16] (Python's "x".join(str(16)))."""
    esc = re.escape(sep)

    def write(fields: Mapping[str, FieldValue]) -> str:
        values = _need(fields, key)
        if not isinstance(values, (list, tuple)) or len(values) != 1:
            raise ValueError(f"field {key!r} must be a list of one number, not {values!r}")
        return sep.join(_write_int(values[0], key))

    return Part(
        f"(0|[1-9](?:{esc}[0-9]){{0,17}})",
        ((key, lambda s: [int(s.replace(sep, ""))]),),
        write,
        f"digits joined by {sep!r} ({key})",
    )


def choice(key: str, values: Mapping[str, FieldValue]) -> Part:
    """One of several words; the field holds the mapped value. Values must be distinct, so that writing is possible."""
    words = sorted(values, key=len, reverse=True)
    back: list[tuple[FieldValue, str]] = [(v, k) for k, v in values.items()]

    def write(fields: Mapping[str, FieldValue]) -> str:
        value = _need(fields, key)
        for v, word in back:
            if v == value and type(v) is type(value):
                return word
        raise ValueError(f"field {key!r} cannot be {value!r}; one of {[v for v, _ in back]}")

    return Part(
        "(" + "|".join(re.escape(w) for w in words) + ")",
        ((key, dict(values).__getitem__),),
        write,
        f"one of {', '.join(sorted(values))} ({key})",
    )


def bit(key: str) -> Part:
    """A flag printed as 0 or 1."""
    return choice(key, {"0": False, "1": True})


def true_false(key: str) -> Part:
    """A flag printed as Python prints it."""
    return choice(key, {"True": True, "False": False})


def words(key: str, *options: str) -> Part:
    """One of several words, kept as printed."""
    return choice(key, {w: w for w in options})


def text(key: str, regex: str) -> Part:
    """Free text of a given shape (no capturing groups in `regex`), kept as printed."""
    full = re.compile(regex)

    def write(fields: Mapping[str, FieldValue]) -> str:
        value = _need(fields, key)
        if not isinstance(value, str) or not full.fullmatch(value):
            raise ValueError(f"field {key!r} cannot be {value!r}")
        return value

    return Part(f"({regex})", ((key, str),), write, f"text ({key})")


def flag(
    key: str, token: str, absent: str = "", present_value: FieldValue = True, absent_value: FieldValue = False
) -> Part:
    """A token that is there or not; the absent spelling may be a token too (`_mask` / `_nmask`)."""
    return choice(key, {token: present_value, absent: absent_value})


def also(key: str, regex: str, convert: Callable[[str], FieldValue]) -> Part:
    """A second field stated by the token that follows: looks at its text (`regex`, no groups) and prints nothing."""
    return Part(f"(?=({regex}))", ((key, convert),), lambda _: "", f"text ({key})")


def table(keys: Sequence[str], rows: Mapping[str, Sequence[Any]]) -> Part:
    """One of several words that each state several fields at once; NOT_STATED where a word leaves a key open.

    The longest word that fits is taken. Rows must differ in what they state, so that writing is possible.
    """
    tokens = sorted(rows, key=len, reverse=True)
    group = f"t{next(_group_numbers)}"
    same = "".join(f"(?=((?P={group})))" for _ in keys[1:])

    def column(i: int) -> Callable[[str], FieldValue]:
        return {token: row[i] for token, row in rows.items()}.__getitem__

    def write(fields: Mapping[str, FieldValue]) -> str:
        said = tuple(fields.get(key, NOT_STATED) for key in keys)
        for token, row in rows.items():
            if all(a is b or (a == b and type(a) is type(b)) for a, b in zip(said, row, strict=True)):
                return token
        raise ValueError(f"no word says {dict(zip(keys, said, strict=True))}")

    return Part(
        f"(?=(?P<{group}>{'|'.join(map(re.escape, tokens))})){same}(?P={group})",
        [(key, column(i)) for i, key in enumerate(keys)],
        write,
        f"one of {', '.join(sorted(rows))} ({', '.join(keys)})",
    )


def opt(part: Part, absent: Mapping[str, FieldValue] | None = None) -> Part:
    """A part that may be left out.

    Leaving it out states `absent` (fields with an empty span); keys of the part that `absent` does not name are then
    not stated at all. It is written when the fields say something else than its absence would.
    """
    stated = dict(absent or {})
    keys = [key for key, _ in part.captures]

    def convert(key: str, inner: Callable[[str], FieldValue]) -> Callable[[str | None], FieldValue]:
        missing = stated.get(key, NOT_STATED)
        return lambda s: missing if s is None else inner(s)

    def write(fields: Mapping[str, FieldValue]) -> str:
        left_out = all(
            (fields[k] == stated[k] and type(fields[k]) is type(stated[k]))
            if k in stated and k in fields
            else k not in fields and k not in stated
            for k in keys
        )
        return "" if left_out else part.write(fields)

    captures: list[tuple[str, Any]] = [(k, convert(k, c)) for k, c in part.captures]
    return Part(f"(?:{part.regex})?", captures, write, f"{part.expected} or nothing")


def seq(*parts: Part) -> Part:
    """Several parts after each other."""
    return Part(
        "".join(p.regex for p in parts),
        [c for p in parts for c in p.captures],
        lambda fields: "".join(p.write(fields) for p in parts),
        parts[0].expected if parts else "nothing",
        [child for p in parts for child in p.children],
    )


class Pattern:
    """A family's whole name.

    Args:
        family: the family that a match states.
        parts: the parts in the order printed.
        constants: fields that the family itself states (empty span at the end of the name).
    """

    def __init__(self, family: str, *parts: Part, constants: Mapping[str, FieldValue] | None = None) -> None:
        self.family = family
        self.constants = dict(constants or {})
        whole = seq(*parts)
        self.children = whole.children
        self.keys = tuple(key for key, _ in whole.captures) + tuple(self.constants)
        if len(set(self.keys)) != len(self.keys):
            raise ValueError(f"{family}: a key stands twice in {self.keys}")
        self._converts = tuple((i, key, convert) for i, (key, convert) in enumerate(whole.captures))
        self._whole = whole
        # a `table` (the only part with named groups) may leave a key open though its word is there
        self._leaves_open = "(?P<" in whole.regex

    def match(self, name: str, grammar: str) -> DecodedName | None:
        """Reads a whole, well-formed name; None when it is not one."""
        m = self._whole.compiled.fullmatch(name)
        if m is None:
            return None
        groups = m.groups()
        fields = {key: convert(groups[i]) for i, key, convert in self._converts}
        regs = m.regs
        spans = {key: regs[i + 1] for i, key, _ in self._converts}
        if self._leaves_open or (-1, -1) in regs:
            spans = self._absent_spans(spans)
            for key in [k for k, v in fields.items() if v is NOT_STATED]:
                del fields[key], spans[key]
        if self.constants:
            fields.update(self.constants)
            spans.update(dict.fromkeys(self.constants, (0, 0)))
        return DecodedName(name, name, grammar, self.family, fields, spans)

    @staticmethod
    def _absent_spans(spans: dict[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
        """Gives an absent part the empty span at the place where it would stand: just after what precedes it."""
        here = 0
        result = {}
        for key, span in spans.items():
            if span[0] < 0:
                result[key] = (here, here)
            else:
                here = span[1]
                result[key] = span
        return result

    def read(self, name: str, grammar: str) -> DecodedName:
        """Reads a well-formed name whole, a broken one part by part."""
        return self.match(name, grammar) or self.repair(name, grammar)

    def repair(self, name: str, grammar: str) -> DecodedName:
        """Reads a broken name part by part; what follows the first break is kept as unparsed.

        The token (between underscores) that breaks is kept whole, so that no half of it passes for a field.
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
            if at < len(name) and "_" not in name[at - 1 : at + 1]:
                at = name.rfind("_", 0, at) + 1
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
