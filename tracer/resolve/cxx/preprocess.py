"""The C preprocessor as far as it decides which lines count: a file and its include folders in, active text out.

Macros are not expanded: names that stand for types or values are looked up later. Conditions are evaluated with the
macros that were defined on the way; what the compiler itself defines is given for HIP's host side.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

_DIRECTIVE = re.compile(
    r"^[ \t]*#[ \t]*(include|define|undef|if|ifdef|ifndef|elif|else|endif)\b((?:[^\n\\]|\\.|\\\n)*)",
    re.MULTILINE,
)
_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TARGET = re.compile(r'[<"]([^>"]+)[>"]')
#: what hipcc and PyTorch's build define for the host side
PREDEFINED = {
    "USE_ROCM": "1", "__HIP_PLATFORM_AMD__": "1", "__HIP__": "1", "__HIPCC__": "1", "__clang__": "1",
    "__clang_major__": "19", "__cplusplus": "202002", "__x86_64__": "1", "__linux__": "1", "HIP_VERSION": "60300000",
    "HIP_VERSION_MAJOR": "6", "HIP_VERSION_MINOR": "3",
}  # fmt: skip


class Preprocessed:
    """The files that one source file includes, with inactive branches blanked.

    Attributes:
        texts: file -> its text; lines stand where they stand in the file.
        macros: the macros that are defined at the end, and their replacement text.
    """

    def __init__(self, file: str, read: Callable[[str], str | None], find: Callable[[str, str], str | None]) -> None:
        """Follows a file.

        Args:
            file: where to begin.
            read: a file's text, or None when there is none.
            find: (name in `#include`, file that includes it) -> file, or None when it isn't in the tree.
        """
        self.texts: dict[str, str] = {}
        self.macros: dict[str, str] = dict(PREDEFINED)
        self._read = read
        self._find = find
        self._enter(file, 0)

    def _enter(self, file: str, depth: int) -> None:
        if file in self.texts or depth > 200:
            return
        text = self._read(file)
        if text is None:
            return
        self.texts[file] = text  # so that a header that includes itself ends
        plain = _COMMENT.sub(lambda m: m.group() if m.group()[0] == '"' else re.sub(r"[^\n]", " ", m.group()), text)
        active: list[bool] = []  # per open #if: whether its current branch counts
        taken: list[bool] = []  # ... and whether a branch of it was taken already
        cuts: list[tuple[int, int]] = []
        since: int | None = None
        for match in _DIRECTIVE.finditer(plain):
            word, rest = match.group(1), match.group(2).replace("\\\n", " ").strip()
            counts = all(active)
            if word in ("if", "ifdef", "ifndef"):
                value = counts and self._holds(word, rest)
                active.append(value)
                taken.append(value or not counts)
            elif word in ("elif", "else") and active:
                value = all(active[:-1]) and not taken[-1] and (word == "else" or self._holds("if", rest))
                active[-1] = value
                taken[-1] = taken[-1] or value
            elif word == "endif" and active:
                active.pop()
                taken.pop()
            elif counts:
                self._obey(word, rest, file, depth)
            now = all(active)
            if counts and not now:
                since = match.end()
            elif not counts and now and since is not None:
                cuts.append((since, match.start()))
                since = None
        if since is not None:
            cuts.append((since, len(text)))
        for start, end in cuts:
            text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
        self.texts[file] = text

    def _obey(self, word: str, rest: str, file: str, depth: int) -> None:
        if word == "include":
            target = _TARGET.search(rest)
            found = self._find(target.group(1), file) if target else None
            if found is not None:
                self._enter(found, depth + 1)
        elif word == "define":
            name = re.match(r"\w+", rest)
            if name is not None:
                self.macros[name.group()] = rest[name.end() :].strip()
        elif word == "undef":
            self.macros.pop(rest.split()[0] if rest else "", None)

    def _holds(self, word: str, rest: str) -> bool:
        if word != "if":
            name = rest.split()[0] if rest else ""
            return (name in self.macros) == (word == "ifdef")
        return bool(self._number(rest))

    def _number(self, condition: str) -> int:
        text = re.sub(
            r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))",
            lambda m: str(int((m.group(1) or m.group(2)) in self.macros)),
            condition,
        )
        text = re.sub(r"\b__has_\w+\s*\([^()]*\)", "0", text)
        for _ in range(8):  # macros that stand for macros
            text = re.sub(r"\b[A-Za-z_]\w*\b(?!\s*\()", lambda m: f"({self.macros.get(m.group()) or 0})", text)
            if not re.search(r"[A-Za-z_]\w*\s*\b", re.sub(r"\b\d\w*", "", text)):
                break
        text = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text).replace("&&", " and ").replace("||", " or ")
        text = re.sub(r"!(?!=)", " not ", text)
        try:
            return _value(ast.parse(text.strip(), mode="eval").body)
        except (SyntaxError, ValueError):
            return 0


def active_text(text: str) -> str:
    """A text without the branches that the preprocessor leaves out."""
    return Preprocessed("text", {"text": text}.get, lambda name, file: None).texts["text"]


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
