"""Conditional compilation as far as a file's own text decides it: C++ in, the same text without its dead branches out.

`#if 0` and conditions on whole numbers that the file defines are decided. What a build sets from outside, or another
file defines, is not: all branches of such a condition stay. Lines and offsets stay where they are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

import msgspec

_DIRECTIVE = re.compile(
    r"^[ \t]*#[ \t]*(define|undef|if|ifdef|ifndef|elif|else|endif)\b((?:[^\n\\]|\\.|\\\n)*)", re.MULTILINE
)
_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_NUMBER = re.compile(r"\(?\s*-?\d+\s*\)?\Z")
_NAME = re.compile(r"\b[A-Za-z_]\w*")
#: how the names begin that aiter's recipes and CK's users set from outside, although files hold defaults
_SET_OUTSIDE = ("CK_", "ENABLE_", "USE_", "OPUS_WA_", "OPUS_FP32_")


class _Branch(msgspec.Struct):
    """One branch: the span of its directive, its keyword, whether its condition holds (None: not decided)."""

    start: int
    end: int
    word: str
    holds: bool | None


class _Open(msgspec.Struct):
    """An `#if` that is not closed yet: its branches, and the name that an `#ifndef` asks for."""

    branches: list[_Branch]
    guard: str | None = None

    @property
    def taken(self) -> bool | None:
        """Whether the branch that is being read is compiled; None where that is not decided."""
        before = [branch.holds for branch in self.branches[:-1]]
        if True in before or self.branches[-1].holds is False:
            return False
        return None if None in before else self.branches[-1].holds


class _Numbers:
    """The whole numbers that a file surely defines, as far as it was read.

    Attributes:
        known: name -> number, as written.
    """

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self._unsure: set[str] = set()

    def define(self, name: str, value: str, opened: list[_Open]) -> None:
        """Takes a `#define`. One that an `#ifndef` of its name stands before is a default, or an include guard."""
        inner = opened[-1] if opened else None
        if inner is not None and inner.guard == name and len(inner.branches) == 1 and not name.startswith(_SET_OUTSIDE):
            inner.branches[0].holds = True
        levels = [level.taken for level in opened]
        if False in levels:
            return
        sure = None not in levels and _NUMBER.match(value) and self.known.get(name, value) == value
        if sure and not name.startswith(_SET_OUTSIDE) and name not in self._unsure:
            self.known[name] = value
        else:
            self.forget(name)

    def forget(self, name: str) -> None:
        """Takes a name as unknown from here on."""
        self.known.pop(name, None)
        self._unsure.add(name)

    def decide(self, condition: str) -> bool | None:
        """Whether a condition holds; None where it asks for more than the known numbers."""
        if not all(name in self.known for name in _NAME.findall(condition)):
            return None
        try:
            return bool(condition_value(condition, self.known))
        except ValueError:
            return None


def live_text(text: str) -> str:
    """A text without the branches that its own definitions rule out, and without the directives that these decide."""
    plain = without_comments(text)
    cuts: list[tuple[int, int]] = []
    words: dict[int, str] = {}
    for closed, end in _conditionals(plain):
        live: list[_Branch] = []
        ends = [branch.start for branch in closed.branches[1:]] + [end.start()]
        for branch, until in zip(closed.branches, ends, strict=True):
            if branch.holds is False or (live and live[-1].holds):
                cuts.append((branch.start, until))
            else:
                live.append(branch)
        if not live or live[0].holds:
            cuts += [(branch.start, branch.end) for branch in live]
            cuts.append(end.span())
        else:
            if live[0] is not closed.branches[0]:
                words[live[0].start] = "if"
            if live[-1].holds and live[-1].word == "elif":
                words[live[-1].start] = "else"
    for start, word in words.items():
        directive = re.compile(r"([ \t]*#[ \t]*)(elif)([^\n]*)").match(text, start)
        if directive is not None:
            rest = directive.group(3) if word == "if" else " " * len(directive.group(3))
            text = text[:start] + directive.group(1) + word.ljust(4) + rest + text[directive.end() :]
    for start, end_at in cuts:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end_at]) + text[end_at:]
    return text


def _conditionals(plain: str) -> Iterator[tuple[_Open, re.Match[str]]]:
    """Every closed conditional, and the `#endif` that closes it."""
    numbers = _Numbers()
    opened: list[_Open] = []
    for m in _DIRECTIVE.finditer(plain):
        word, rest = m.group(1), m.group(2).replace("\\\n", " ").strip()
        name = re.match(r"\w*", rest).group()  # type: ignore[union-attr]
        if word in ("if", "ifdef", "ifndef"):
            holds = numbers.decide(rest) if word == "if" else None
            opened.append(_Open([_Branch(m.start(), m.end(), word, holds)], name if word == "ifndef" else None))
        elif word in ("elif", "else") and opened:
            if opened[-1].guard is not None:  # with another branch it is no plain default
                opened[-1].branches[0].holds = None
                numbers.forget(opened[-1].guard)
            holds = True if word == "else" else numbers.decide(rest)
            opened[-1].branches.append(_Branch(m.start(), m.end(), word, holds))
        elif word == "endif" and opened:
            yield opened.pop(), m
        elif word == "define":
            numbers.define(name, rest[len(name) :].strip(), opened)
        elif word == "undef":
            numbers.forget(name)


def without_comments(text: str) -> str:
    """The text with comments blanked."""
    return _COMMENT.sub(lambda m: m.group() if m.group()[0] == '"' else re.sub(r"[^\n]", " ", m.group()), text)


def condition_value(condition: str, macros: Mapping[str, str]) -> int:
    """The value of an `#if`'s condition; names that are no macros count as 0, as the language has it.

    Raises:
        ValueError: it is no condition that can be evaluated.
    """
    text = re.sub(
        r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))", lambda m: str(int((m.group(1) or m.group(2)) in macros)), condition
    )
    text = re.sub(r"\b__has_\w+\s*\([^()]*\)", "0", text)
    for _ in range(8):  # macros that stand for macros
        text = re.sub(r"\b[A-Za-z_]\w*\b(?!\s*\()", lambda m: f"({macros.get(m.group()) or 0})", text)
        if not re.search(r"[A-Za-z_]\w*\s*\b", re.sub(r"\b\d\w*", "", text)):
            break
    text = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text).replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"!(?!=)", " not ", text)
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError as error:
        raise ValueError(str(error)) from None


def _value(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, bool)):
        return int(node.value)
    if isinstance(node, ast.BoolOp):
        values = [_value(v) for v in node.values]
        return int(all(values) if isinstance(node.op, ast.And) else any(values))
    if isinstance(node, ast.UnaryOp):
        value = _value(node.operand)
        return int(not value) if isinstance(node.op, ast.Not) else -value
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right, op = _value(node.left), _value(node.comparators[0]), node.ops[0]
        holds = {
            ast.Eq: left == right, ast.NotEq: left != right, ast.Lt: left < right, ast.LtE: left <= right,
            ast.Gt: left > right, ast.GtE: left >= right,
        }  # fmt: skip
        return int(holds[type(op)])
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
            return {ast.Add: left + right, ast.Sub: left - right, ast.Mult: left * right}[type(node.op)]
        if isinstance(node.op, (ast.FloorDiv, ast.Div)) and right:
            return left // right
    raise ValueError("not a condition that the preprocessor can evaluate")
