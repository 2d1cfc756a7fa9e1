"""The pieces that name patterns are made of: each knows its regular expression, its fields, and how to write them back.

A pattern (see `pattern.py`, which offers all of these too) is a list of such parts. Nothing is compiled before its use.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from tracer.model.kernel import FieldValue
from tracer.names.converters import NOT_STATED, NUMBERS, Convert, Fresh, Table, optional

#: a decimal number without leading zeros; 18 digits at most, so that no text makes int() refuse it
NUMBER = r"(?:0|[1-9][0-9]{0,17})"


_group_numbers = itertools.count()


class Part:
    """A piece of a pattern: a regular expression with one group a field, and how to write it back.

    Attributes:
        regex: expression with exactly len(captures) capturing groups.
        captures: (key, convert) in group order.
        expected: what stands here, for error messages.
        children: the parts that this one is a plain sequence of; itself alone when it is not.
        optional: keys that may have no text, because the part that holds them is left out.
        open_keys: keys that may come out as NOT_STATED.
    """

    def __init__(
        self,
        regex: str,
        captures: Sequence[tuple[str, Convert]],
        write: Callable[[Mapping[str, FieldValue]], str],
        expected: str,
        children: Sequence[Part] = (),
        optional: Iterable[str] = (),
        open_keys: Iterable[str] = (),
    ) -> None:
        self.children: tuple[Part, ...] = tuple(children) or (self,)
        self.regex = regex
        self.captures = tuple(captures)
        self.write = write
        self.expected = expected
        self.optional: frozenset[str] = frozenset(optional).union(
            *(child.optional for child in self.children if child is not self)
        )
        self.open_keys: frozenset[str] = frozenset(open_keys).union(
            *(child.open_keys for child in self.children if child is not self)
        )

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


def num(key: str, other_than: int | None = None) -> Part:
    """A decimal number without leading zeros, as an int; one number can be refused (the one that is never printed)."""
    guard = "" if other_than is None else f"(?!{other_than}(?![0-9]))"
    return Part(f"{guard}({NUMBER})", ((key, NUMBERS),), lambda f: _write_int(_need(f, key), key), f"a number ({key})")


def signed(key: str) -> Part:
    """A decimal number that may be negative, as an int."""

    def write(fields: Mapping[str, FieldValue]) -> str:
        value = _need(fields, key)
        return f"-{_write_int(-value, key)}" if isinstance(value, int) and value < 0 else _write_int(value, key)

    return Part(f"(-[1-9][0-9]{{0,17}}|{NUMBER})", ((key, NUMBERS),), write, f"a number ({key})")


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
        ((key, Fresh(lambda printed: [int(v) for v in printed.split(sep)])),),
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
        ((key, Fresh(lambda printed: [int(printed.replace(sep, ""))])),),
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
        ((key, Table(values)),),
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


def text(key: str, regex: str, before: str = "") -> Part:
    """Free text of a given shape, kept as printed; what comes after it must match `before`. Neither has groups."""

    def write(fields: Mapping[str, FieldValue]) -> str:
        value = _need(fields, key)
        if not isinstance(value, str) or not re.fullmatch(regex, value):
            raise ValueError(f"field {key!r} cannot be {value!r}")
        return value

    return Part(f"({regex})(?={before})" if before else f"({regex})", ((key, str),), write, f"text ({key})")


def flag(
    key: str, token: str, absent: str = "", present_value: FieldValue = True, absent_value: FieldValue = False
) -> Part:
    """A token that is there or not; the absent spelling may be a token too (`_mask` / `_nmask`)."""
    return choice(key, {token: present_value, absent: absent_value})


def also(key: str, regex: str, convert: Convert) -> Part:
    """A second field stated by the token that follows: looks at its text (`regex`, no groups) and prints nothing.

    `convert` may answer NOT_STATED.
    """
    return Part(f"(?=({regex}))", ((key, convert),), lambda _: "", f"text ({key})", open_keys=[key])


def table(keys: Sequence[str], rows: Mapping[str, Sequence[Any]]) -> Part:
    """One of several words that each state several fields at once; NOT_STATED where a word leaves a key open.

    The longest word that fits is taken. Rows must differ in what they state, so that writing is possible.
    """
    tokens = sorted(rows, key=len, reverse=True)
    group = f"t{next(_group_numbers)}"
    same = "".join(f"(?=((?P={group})))" for _ in keys[1:])

    def column(i: int) -> Table:
        return Table({token: row[i] for token, row in rows.items()})

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
        open_keys=keys,
    )


def opt(part: Part, absent: Mapping[str, FieldValue] | None = None) -> Part:
    """A part that may be left out.

    Leaving it out states `absent` (fields with an empty span); keys of the part that `absent` does not name are then
    not stated at all. It is written when the fields say something else than its absence would.
    """
    stated = dict(absent or {})
    keys = [key for key, _ in part.captures]

    def write(fields: Mapping[str, FieldValue]) -> str:
        left_out = all(
            (fields[k] == stated[k] and type(fields[k]) is type(stated[k]))
            if k in stated and k in fields
            else k not in fields and k not in stated
            for k in keys
        )
        return "" if left_out else part.write(fields)

    return Part(
        f"(?:{part.regex})?",
        [(key, optional(convert, stated.get(key, NOT_STATED))) for key, convert in part.captures],
        write,
        f"{part.expected} or nothing",
        optional=keys,
        open_keys=part.open_keys.union(key for key in keys if key not in stated),
    )


def seq(*parts: Part) -> Part:
    """Several parts after each other."""
    return Part(
        "".join(p.regex for p in parts),
        [c for p in parts for c in p.captures],
        lambda fields: "".join(p.write(fields) for p in parts),
        parts[0].expected if parts else "nothing",
        [child for p in parts for child in p.children],
    )
