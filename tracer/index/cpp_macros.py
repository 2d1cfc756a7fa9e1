"""C++ text below the parser: comments masked, brackets matched, `#define`s read and expanded, argument lists split."""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping

import msgspec

_COMMENT_OR_STRING = re.compile(
    r"//(?:[^\n\\]|\\\n|\\.)*"
    r"|/\*.*?(?:\*/|\Z)"
    r'|\bR"([^()\s\\]{0,16})\(.*?(?:\)\1"|\Z)'
    r'|"(?:[^"\\\n]|\\.|\\\n)*"?'
    r"|(?<![0-9A-Za-z_])'(?:[^'\\\n]|\\.)*'?",
    re.DOTALL,
)
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^()]*\))?((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE)
_PRAGMA = re.compile(r"\b_Pragma\s*\(\s*\"[^\"\n]*\"\s*\)")
_WORD = re.compile(r"[A-Za-z_]\w*")
#: a macro body made of nothing but these is an attribute
_DECORATION = re.compile(
    r"(?:\b(?:inline|static|constexpr|extern|const|volatile|_Pragma)\b|\"C\"|__\w+__(?:\s*\([\w\s,*+]*\))?|__attribute__\s*\(\([^()]*(?:\([^()]*\))?[^()]*\)\)|"
    r"\bvisibility\b|\[\[[^\]]*\]\]|\s)*\Z"
)


class Macro(msgspec.Struct, frozen=True):
    """One `#define`.

    Attributes:
        name: its name.
        parameters: its parameters, or None for an object-like macro.
        body: replacement text with comments blanked and line continuations as plain line ends.
        line: 1-based line of the `#define`.
        end_line: its last line.
        body_line: line on which the body begins.
    """

    name: str
    parameters: tuple[str, ...] | None
    body: str
    line: int
    end_line: int
    body_line: int

    @property
    def is_attribute(self) -> bool:
        """Whether it stands for declaration specifiers only (`extern "C" __attribute__(...)`, `__device__ inline`)."""
        return self.parameters is None and bool(_DECORATION.match(self.body))


def blank(text: str) -> str:
    """Spaces of the same shape: line ends stay."""
    return "\n".join(" " * len(line) for line in text.split("\n"))


def mask(text: str, *, strings: bool = False) -> str:
    """The text with comments blanked, and with the contents of string and character literals blanked when asked."""

    def replace(m: re.Match[str]) -> str:
        found = m.group()
        if found.startswith("/"):
            return blank(found)
        if not strings:
            return found
        if len(found) < 2:
            return found
        return found[0] + blank(found[1:-1]) + found[-1]

    return _COMMENT_OR_STRING.sub(replace, text)


def closing(text: str, start: int, limit: int = 200_000) -> int:
    """Offset of the bracket that closes the one at `start`, or -1. Strings must be masked."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    stack: list[str] = []
    for m in re.compile(r"[()\[\]{}]").finditer(text, start, start + limit):
        c = m.group()
        if c in pairs:
            stack.append(pairs[c])
        elif not stack or stack.pop() != c:
            return -1
        if not stack:
            return m.start()
    return -1


def read_macros(text: str) -> tuple[Macro, ...]:
    """The `#define`s of a text whose comments are blanked."""
    starts = line_starts(text)
    macros = []
    for m in DEFINE.finditer(text):
        parameters = m.group(2)
        names = None if parameters is None else tuple(p.strip() for p in parameters[1:-1].split(",") if p.strip())
        body = re.sub(r"\\(\r?\n)", r" \1", m.group(3))
        macros.append(
            Macro(
                m.group(1),
                names,
                body.rstrip(),
                line_at(starts, m.start(1)),
                line_at(starts, m.end() - 1 if m.end() > m.start() else m.end()),
                line_at(starts, m.start(3)),
            )
        )
    return tuple(macros)


def line_starts(text: str) -> list[int]:
    """Offsets at which the lines of a text begin."""
    return [0, *(m.end() for m in re.finditer(r"\n", text))]


def line_at(starts: list[int], offset: int) -> int:
    """1-based line of an offset."""
    return bisect.bisect_right(starts, offset)


def expand(macro: Macro, arguments: list[str], table: Mapping[str, Macro] | None = None, depth: int = 3) -> str:
    """A macro's body with its parameters replaced, on one line; `##` and `#` are carried out.

    With a `table`, function-like macros in the result are expanded too, `depth` levels deep.
    """
    body = " ".join(_PRAGMA.sub("", macro.body).split())
    if macro.parameters:
        names = list(macro.parameters)
        values = dict(zip(names, arguments, strict=False))
        if names[-1] == "...":
            values["__VA_ARGS__"] = ", ".join(arguments[len(names) - 1 :])
        for name in names:
            value = " ".join(values.get(name, "").split())
            quoted = '"' + value.replace('"', "'").replace("\\", "\\\\") + '"'
            body = re.sub(rf"(?<!#)#\s*{re.escape(name)}\b", quoted, body)
        body = _WORD.sub(lambda m: " ".join(values.get(m.group(), m.group()).split()), body)
    body = re.sub(r"\s*##\s*", "", body)
    if not table or depth == 0:
        return body
    parts: list[str] = []
    done = 0
    masked = mask(body, strings=True)
    for m in re.finditer(r"\b(_?[A-Z][A-Z0-9_]{3,})\s*\(", masked):
        inner = table.get(m.group(1))
        end = closing(masked, m.end() - 1)
        if m.start() < done or inner is None or not inner.parameters or inner.name == macro.name or end < 0:
            continue
        parts += [body[done : m.start()], expand(inner, split_arguments(body[m.end() : end]), table, depth - 1)]
        done = end + 1
    return "".join([*parts, body[done:]])


def split_arguments(text: str) -> list[str]:
    """Splits an argument list at its top-level commas; brackets of all kinds nest, angle brackets do not."""
    parts: list[str] = []
    depth = 0
    start = 0
    for m in re.finditer(r"[()\[\]{},]", text):
        c = m.group()
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif depth == 0:
            parts.append(text[start : m.start()].strip())
            start = m.end()
    last = text[start:].strip()
    return [*parts, last] if last or parts else []
