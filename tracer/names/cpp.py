"""Demangled C++ text: a kernel's text in, its name and its template arguments with their offsets out.

The reader is a tokenizer over brackets and commas with an explicit stack, so nesting costs no recursion and every call
is linear in the text it covers. It knows `> >` and `>>`, casts `(ck::X)1`, comparisons inside parentheses,
`operator<`, `(anonymous namespace)`, lambdas as GNU and LLVM print them, and text that breaks off.
"""

from __future__ import annotations

import re
from itertools import accumulate
from operator import add

import msgspec

from tracer.model.kernel import Span

#: alternatives that all begin with a letter are looked for many times faster than a set of letters
_OPERATOR = r"operator(?<!\woperator)(?: ?(?:\(\)|\[\]|<=>|<<=?|>>=?|->\*?|[<>]=?|,))?"
_ANY = rf"{_OPERATOR}|->|'[a-z]+[0-9]*'|<|>|\(|\)|\{{|\}}|\[|\]"
_TOKEN = re.compile(rf"{_ANY}|,")
_HEAD_TOKEN = re.compile(rf"{_ANY}| ")


def _nested(depth: int) -> str:
    """Balanced text up to a depth; every group is possessive, so a mismatch costs one pass."""
    inner = r"[^<>(){}\[\]]*+"
    for _ in range(depth):
        inner = rf"(?:[^<>(){{}}\[\]]++|[<({{\[]{inner}[>)}}\]])*+"
    return inner


_PLAIN_LIST = re.compile(rf"[<({{\[]{_nested(12)}[>)}}\]]")
_PLAIN_ITEM = re.compile(rf"((?:[^<>(){{}}\[\],]++|[<({{\[]{_nested(12)}[>)}}\]])++)(?:, )?")
_GREATER = re.compile("[^>] > ")
_COMPARED = re.compile(r"\) ?[<>] ?\(")
_BRACKET = re.compile(r"[<>(){}\[\]]")
_CLOSES = {">": "<", ")": "(", "}": "{", "]": "["}
_ANONYMOUS = "(anonymous namespace)"
_INTEGER = re.compile(r"\(?(?:\([^()]*\))?(-?[0-9]{1,30})(?:u|l|ul|ll|ull|s|us)?\)?$", re.IGNORECASE)
_CAST = re.compile(r"\(([A-Za-z_][\w:]*|\(anonymous namespace\)[\w:]*)\)(-?[0-9]{1,30})$")
#: deeper text than any compiler prints is given up on
MAX_DEPTH = 200


class Arguments(msgspec.Struct, frozen=True):
    """A bracketed, comma-separated list.

    Attributes:
        items: the items as text, white space around them left out.
        starts: the offset of each item.
        end: offset just after the closing bracket, or the end of the text when it is cut off.
        cut: whether the text ends before the list is closed; then the last item may be incomplete.
        plain: whether every bracket in it, and so in the lists inside it, is surely a bracket.
    """

    items: tuple[str, ...]
    starts: tuple[int, ...]
    end: int
    cut: bool = False
    plain: bool = False

    def span(self, index: int) -> Span:
        """The offsets of an item."""
        start = self.starts[index]
        return start, start + len(self.items[index])

    def spans(self) -> list[Span]:
        """The offsets of all items."""
        return list(zip(self.starts, map(add, self.starts, map(len, self.items)), strict=True))

    def whole(self, text: str) -> tuple[str, ...]:
        """The items that are surely complete: all, or in a list that is cut off those that a comma follows."""
        if self.cut and self.items and not text.startswith(",", self.span(len(self.items) - 1)[1]):
            return self.items[:-1]
        return self.items

    def __len__(self) -> int:
        return len(self.items)


class Template(msgspec.Struct, frozen=True):
    """A name with template arguments, `ns::Name<A, B>`.

    Attributes:
        name: the qualified name as printed, without the template arguments that end it.
        start: its offset in the text.
        arguments: the template arguments, or None when it has none.
    """

    name: str
    start: int
    arguments: Arguments | None = None

    @property
    def leaf(self) -> str:
        """The unqualified name: `b` of `ns::A<int>::b`."""
        return leaf(self.name)

    @property
    def leaf_span(self) -> Span:
        """The offsets of the unqualified name."""
        end = self.start + len(self.name)
        return end - len(self.leaf), end


class Function(Template, frozen=True):
    """The head of a function's text; what stands before its name is a return type.

    Attributes:
        parameters: the offset of the parameter list's `(`, or None when it is not there.
        text: the text that offsets index.
    """

    parameters: int | None = None
    text: str = ""

    @property
    def cut(self) -> bool:
        """Whether the text ends inside the template arguments."""
        return self.arguments is not None and self.arguments.cut

    @property
    def items(self) -> tuple[str, ...]:
        """The template arguments as text; empty when there are none."""
        return self.arguments.items if self.arguments is not None else ()


def leaf(name: str) -> str:
    """The last component of a qualified name; colons inside brackets do not count."""
    last = name.rpartition("::")[2]
    if _BRACKET.search(last) is None or ("<" not in name and "(" not in name):
        return last
    depth = 0
    for i in range(len(name) - 1, 0, -1):
        c = name[i]
        if c in ">)}]":
            depth += 1
        elif c in "<({[":
            depth -= 1
        elif c == ":" and depth == 0 and name[i - 1] == ":":
            return name[i + 1 :]
    return name


def arguments(text: str, start: int, plain: bool = False) -> Arguments:
    """Reads the list whose opening bracket is `text[start]`; `plain` when it stands in a list that is.

    A `>` closes only what a `<` opened: inside parentheses it is a comparison. A `<` opens unless it follows white
    space or a closing parenthesis, as comparisons do.
    """
    m = _PLAIN_LIST.match(text, start)
    if m is not None:
        end = m.end()
        inner = text[start + 1 : end - 1].rstrip(" ")
        if not inner:
            return Arguments((), (), end)
        if plain or not _is_odd(inner):
            items = _PLAIN_ITEM.findall(inner)
            starts = list(accumulate([len(item) + 2 for item in items], initial=start + 1))
            if starts.pop() - start - 3 == len(inner):
                return Arguments(tuple(items), tuple(starts), end, plain=True)
    return _walk(text, start)


def _is_odd(inner: str) -> bool:
    """Whether a bracket in the text may be something else than a bracket: a comparison, a shift, part of an operator.

    Single characters are asked for first: they are found many times faster than longer pieces.
    """
    return (
        ("> " in inner and (">> " in inner or (" > " in inner and _GREATER.search(inner) is not None)))
        or "<< " in inner
        or (")" in inner and _COMPARED.search(inner) is not None)
        or ("-" in inner and "->" in inner)
        or ("=" in inner and ("<=" in inner or ">=" in inner))
        or ("]" in inner and "]<" in inner)
        or ("operator" in inner and ("operator<" in inner or "operator>" in inner or "operator," in inner))
    )


def _walk(text: str, start: int) -> Arguments:
    """`arguments` token by token, for what one expression can't decide."""
    spans: list[Span] = []
    stack = [text[start]]
    item = start + 1
    operator_end = -1
    end = size = len(text)
    cut = True
    for m in _TOKEN.finditer(text, start + 1):
        token = m.group()
        at = m.start()
        if token == ",":
            if len(stack) == 1:
                spans.append((item, at))
                item = at + 1
        elif token == "<":
            if text[at - 1] not in " )" or at == operator_end:
                stack.append(token)
        elif token in "({[":
            stack.append(token)
        elif token in _CLOSES:
            if stack[-1] == _CLOSES[token]:
                stack.pop()
                if not stack:
                    end, size, cut = m.end(), at, False
                    break
            elif token != ">":
                break
        elif token.startswith("operator"):
            operator_end = m.end()
        if len(stack) > MAX_DEPTH:
            break
    if spans or text[item:size].strip():
        spans.append((item, size))
    starts = []
    items = []
    for a, b in spans:
        raw = text[a:b]
        starts.append(a + len(raw) - len(raw.lstrip(" ")))
        items.append(raw.strip(" "))
    return Arguments(tuple(items), tuple(starts), end, cut)


def template(text: str, span: Span, plain: bool = False) -> Template:
    """Reads the item at `span` as `name<arguments>`; what follows the closing bracket (`*`, `const&`) is left out.

    `plain` says that the item stands in a list that is.
    """
    start, end = span
    opening = text.find("<", start, end)
    if opening < 0:
        return Template(text[start:end], start)
    if text.startswith(_ANONYMOUS, start) or text.find("(", start, opening) < 0:
        args = arguments(text, opening, plain)
        if args.end < end and text.startswith("::", args.end):
            return _last_template(text, start, end)
        return Template(text[start:opening], start, args)
    return _last_template(text, start, end)


def _last_template(text: str, start: int, end: int) -> Template:
    """A name with brackets before its own arguments: `A<int>::B<char>`, `(anonymous namespace)::f(int)::...`."""
    function = read_function(text[start:end])
    args = function.arguments
    if args is not None:
        args = Arguments(args.items, tuple(a + start for a in args.starts), args.end + start, args.cut)
    return Template(function.name, start + function.start, args)


def read_function(text: str) -> Function:
    """Reads the head of a function's demangled text: `void ns::name<arguments>(parameters)`.

    The return type, the parameters and what follows them may be missing, and so may the end of the text.
    """
    start = opening = 0
    args: Arguments | None = None
    pos = 0
    size = len(text)
    skip = -1
    while True:
        m = _HEAD_TOKEN.search(text, pos)
        if m is None:
            if args is None or args.end != size:
                return Function(text[start:].rstrip(), start, text=text)
            return Function(text[start:opening], start, args, text=text)
        token = m.group()
        at = m.start()
        pos = m.end()
        if token == " ":
            if at != skip and not text.startswith(("const", "&", "*", "volatile"), pos):
                start, args = pos, None
            continue
        if token == "<":
            opening = at
            args = arguments(text, at)
            pos = args.end
            if args.cut:
                return Function(text[start:at], start, args, text=text)
            continue
        if token == "(":
            if text.startswith(_ANONYMOUS, at):
                pos = at + len(_ANONYMOUS)
                continue
            if args is not None and args.end == at and text.endswith(")"):
                return Function(text[start:opening], start, args, at, text)
            group = arguments(text, at)
            if not group.cut and text.startswith("::", group.end):
                pos = group.end
                continue
            const = text.startswith(" const::", group.end)
            if not group.cut and const:
                pos = group.end + len(" const")
                continue
            if at == start and not group.cut:
                pos = group.end
                continue
            if args is not None and args.end == at:
                return Function(text[start:opening], start, args, at, text)
            return Function(text[start:at], start, None, at, text)
        if token in "{[":
            pos = arguments(text, at).end
            continue
        if token.startswith("operator"):
            skip = pos
        elif token in ")}]>":
            return Function(text[start:at], start, text=text)


def integer(item: str) -> int | None:
    """The value of an integer argument: `256`, `-1`, `2ul`, `(ck::Tail)10`; None for all else, booleans too."""
    if item.isdecimal() and item.isascii() and len(item) <= 30:
        return int(item)
    m = _INTEGER.match(item)
    return int(m.group(1)) if m else None


def boolean(item: str) -> bool | None:
    """The value of a boolean argument; None when it is none."""
    return True if item == "true" else False if item == "false" else None


def cast(item: str) -> tuple[str, int] | None:
    """The enum and the number of `(ns::Enum)3`; None when it is no cast."""
    m = _CAST.match(item)
    return (m.group(1), int(m.group(2))) if m else None
