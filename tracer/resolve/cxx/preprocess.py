"""The C preprocessor as far as it decides which lines count: a file and its include folders in, active text out.

Macros are not expanded: names that stand for types or values are looked up later. Conditions are evaluated with the
macros that were defined on the way; what the compiler itself defines is given for HIP's host side.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tracer.aiter.conditionals import condition_value, without_comments

_DIRECTIVE = re.compile(
    r"^[ \t]*#[ \t]*(include|define|undef|if|ifdef|ifndef|elif|else|endif)\b((?:[^\n\\]|\\.|\\\n)*)",
    re.MULTILINE,
)
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
        plain = without_comments(text)
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
        try:
            return bool(condition_value(rest, self.macros))
        except ValueError:
            return False


def active_text(text: str) -> str:
    """A text without the branches that the preprocessor leaves out."""
    return Preprocessed("text", {"text": text}.get, lambda name, file: None).texts["text"]
