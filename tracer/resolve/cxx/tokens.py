"""C++ text as tokens, and a cursor over them: what comes next, and where a bracket closes."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"\s+|(?P<word>[A-Za-z_]\w*)|(?P<number>0[xX][0-9a-fA-F]+|\d[\d.]*(?:[eE][+-]?\d+)?)[uUlLfFzZ]*"
    r'|(?P<string>"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\')'
    r"|(?P<mark>\.\.\.|::|->|<=|>=|==|!=|&&|\|\||<<|\+\+|--|[-+*/%&|^!=]=|.)",
    re.DOTALL,
)


def tokenize(text: str) -> list[str]:
    """The tokens of a text, numbers without their suffix."""
    out = []
    for match in _TOKEN.finditer(text):
        token = match.group("word") or match.group("number") or match.group("string") or match.group("mark")
        if token:
            out.append(token)
    return out


class Cursor:
    """A place in a list of tokens."""

    def __init__(self, tokens: list[str]) -> None:
        """Stands at the first token."""
        self.tokens = tokens
        self.at = 0

    def peek(self, ahead: int = 0) -> str:
        """The next token, or "" at the end."""
        index = self.at + ahead
        return self.tokens[index] if index < len(self.tokens) else ""

    def take(self) -> str:
        """Reads the next token."""
        self.at += 1
        return self.peek(-1)

    def closing(self, start: int) -> int:
        """The index of the bracket that closes the one at `start`; the end when none does."""
        pairs = {"(": ")", "[": "]", "{": "}"}
        opener, closer, depth = self.tokens[start], pairs[self.tokens[start]], 0
        for index in range(start, len(self.tokens)):
            if self.tokens[index] == opener:
                depth += 1
            elif self.tokens[index] == closer:
                depth -= 1
                if depth == 0:
                    return index
        return len(self.tokens)

    def split_arguments(self) -> list[list[str]]:
        """The tokens of `<a, b<c>, d>` as lists, split at the commas of its own level."""
        out: list[list[str]] = [[]]
        depth = 0
        for token in self.tokens:
            if token in "<([{" and token:
                depth += 1
                if depth == 1:
                    continue
            elif token in (">", ")", "]", "}"):
                depth -= 1
                if depth == 0:
                    break
            if token == "," and depth == 1:
                out.append([])
            else:
                out[-1].append(token)
        return [tokens for tokens in out if tokens]
