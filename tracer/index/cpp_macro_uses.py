"""Macro calls that stand as statements or declarations: code in, code that a parser takes out, the uses noted."""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping

from tracer.index.cpp_macros import Macro, blank, closing, expand, mask, split_arguments

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b[^\n]*", re.MULTILINE)
_MACRO_LINE = re.compile(r"(?:^|(?<=[;{}:)]))[ \t]*([A-Za-z_]\w*)[ \t]*(?=[(\n};])", re.MULTILINE)
#: a name of this shape is a macro's, also where no `#define` is at hand
_MACRO_NAME = re.compile(r"_?[A-Z][A-Z0-9_]{3,}(?:_[A-Za-z]+)?\Z")
_PLAIN_TYPE = re.compile(
    r"\s*(?:const\s+)?(?:float|double|bool|char|void|short|int|long|signed|unsigned|auto)\s*[*&]*\s*"
)
_STATEMENT = re.compile(r"[{};]|(?:\A|(?<=,))\s*(?:if|for|while|switch|do)\b")
_NAMESPACE = re.compile(r"(?:\bnamespace\b[^;{}()]*|\bextern\s*\"[^\"]*\"\s*)\Z")


def namespace_depths(masked: str) -> list[tuple[int, bool]]:
    """(offset, whether the code after it stands at namespace scope) at each brace; strings must be masked."""
    out: list[tuple[int, bool]] = [(0, True)]
    stack: list[bool] = []
    for m in re.finditer(r"[{}]", masked):
        if m.group() == "{":
            head = masked[max(0, m.start() - 160) : m.start()]
            stack.append((not stack or stack[-1]) and bool(_NAMESPACE.search(head)))
        elif stack:
            stack.pop()
        out.append((m.end(), all(stack)))
    return out


def macro_lines(code: str, table: Mapping[str, Macro]) -> tuple[str, list[tuple[str, str, int]]]:
    """Makes macro calls that stand as statements or declarations parse.

    At namespace scope a known macro is expanded in place. Elsewhere its missing semicolon is added, and one whose
    arguments hold statements becomes a block. The uses are returned with their offset in the returned text.
    """
    masked = _INCLUDE.sub(lambda m: blank(m.group()), mask(code, strings=True))
    scopes = namespace_depths(masked)
    offsets = [o for o, _ in scopes]
    edits: list[tuple[int, int, str]] = []
    found: list[tuple[str, str, int]] = []
    # offsets of brackets and commas behind which a statement begins, because it is an argument
    breaks: set[int] = set()
    done = 0  # where the macro handled last ends
    skip = 0  # nothing inside an expanded macro is looked at
    for m in _MACRO_LINE.finditer(masked):
        name, at = m.group(1), m.start(1)
        if at < skip or not _is_macro(name, table, masked[m.end() : m.end() + 1]):
            continue
        window = masked[max(0, at - 400) : at]
        head = window.rstrip()
        before = head[-1:]
        chained = 0 < done == at - len(window) + len(head)
        begins = not before or before in ";{}:" or at - len(window) + len(head) - 1 in breaks
        if not begins and not chained:
            continue
        if not chained and (head.endswith("::") or (before == "{" and _is_initializer(head))):
            continue
        macro = table.get(name)
        if macro is not None and macro.is_attribute:
            continue
        end = m.end(1)
        argument = None
        opening = m.end()
        if masked[opening : opening + 1] == "(":
            close = closing(masked, opening)
            if close < 0:
                continue
            argument, end = code[opening + 1 : close], close + 1
        follow = masked[end : end + 400].lstrip()[:1]
        outside = scopes[bisect.bisect_right(offsets, at) - 1][1]
        expands = outside and macro is not None and (macro.parameters is None) == (argument is None)
        if argument is not None and not expands:
            edits += _plain_types(masked, opening + 1, end - 1)
        if expands and macro is not None:
            text = expand(macro, split_arguments(argument or ""), table)
            if follow != "{" and not text.rstrip().endswith((";", "}")):
                text += ";"
            edits.append((at, end, text + "\n" * code.count("\n", at, end)))
            skip = end
        elif argument is not None and not outside and _holds_statements(masked[opening + 1 : end - 1]):
            edits.append((opening, opening + 1, ";{"))
            commas = _top_commas(masked, opening + 1, end - 1)
            edits += [(comma, comma + 1, ";") for comma in commas]
            breaks.update((opening, *commas))
            edits.append((end - 1, end, ";}"))
        elif follow == ";" and not outside:
            pass  # complete as it stands; only the use is noted
        elif follow in (";", ",", ".", "=", "-", "+", "*", "/", "?", ">", ")", "[") or (follow == "{" and argument):
            continue
        else:
            edits.append((end, end, ";"))
        found.append((name, (argument or "").strip(), at))
        done = end
    return _apply(code, edits, found)


def _is_macro(name: str, table: Mapping[str, Macro], follow: str) -> bool:
    """Whether a name is a macro's: by its shape, or because it is defined as one that takes what follows."""
    if _MACRO_NAME.match(name):
        return True
    macro = table.get(name)
    return macro is not None and macro.parameters is not None and follow == "("


def _plain_types(masked: str, start: int, end: int) -> list[tuple[int, int, str]]:
    """Arguments that are built-in types, as identifiers of the same length: the parser takes no type as an argument."""
    edits = []
    begin = start
    for comma in [*_top_commas(masked, start, end), end]:
        word = masked[begin:comma]
        if _PLAIN_TYPE.fullmatch(word):
            edits.append(
                (begin, comma, re.sub(r"\S", lambda m: m.group().upper() if m.group().isalpha() else "_", word))
            )
        begin = comma + 1
    return edits


def _apply(
    code: str, edits: list[tuple[int, int, str]], found: list[tuple[str, str, int]]
) -> tuple[str, list[tuple[str, str, int]]]:
    """Carries out replacements, and moves the offsets of what was found along."""
    edits.sort(key=lambda e: (e[0], e[1]))
    parts: list[str] = []
    shifts: list[tuple[int, int]] = [(0, 0)]
    done = shift = 0
    for start, end, text in edits:
        parts += [code[done:start], text]
        shift += len(text) - (end - start)
        shifts.append((end, shift))
        done = end
    keys = [s for s, _ in shifts]
    moved = [(n, a, at + shifts[bisect.bisect_right(keys, at) - 1][1]) for n, a, at in found]
    return "".join([*parts, code[done:]]), moved


def _is_initializer(head: str) -> bool:
    """Whether the `{` that ends a text opens a list of values rather than a block."""
    rest = head[:-1].rstrip()
    if rest.endswith(("=", "(", ",", "{", "]", ">", "return")):
        return True
    word = re.search(r"(\w+)\Z", rest)
    if word is None or word.group(1) in ("else", "do", "try", "const", "noexcept", "override", "mutable", "namespace"):
        return False
    return not re.search(r"\b(?:namespace|struct|class|union|enum|extern)\b[^;{}]*\Z", rest)


def _holds_statements(masked: str) -> bool:
    """Whether macro arguments hold a semicolon outside braces, or begin with a word that no expression begins with."""
    depth = 0
    for m in _STATEMENT.finditer(masked):
        c = m.group()
        if c not in "{}" and depth == 0:
            return True
        depth += (c == "{") - (c == "}")
    return False


def _top_commas(masked: str, start: int, end: int) -> list[int]:
    """Offsets of the commas that separate macro arguments; template arguments count as one piece."""
    found = []
    depth = angle = 0
    for m in re.compile(r"[()\[\]{},<>]").finditer(masked, start, end):
        c = m.group()
        at = m.start()
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif depth:
            continue
        elif c == "<":
            if re.match(r"\w", masked[at - 1 : at]) and masked[at + 1 : at + 2] not in ("<", " ", "="):
                angle += 1
        elif c == ">":
            if angle and masked[at - 1 : at] != "-" and masked[at : at + 3] != ">>>":
                angle -= 1
        elif angle == 0:
            found.append(at)
    return found
