"""The words of a page in one human language: a key and values in, a line of Markdown out.

A language is a TOML file of keys and texts beside the templates; English stands in for a key that it lacks.
"""

from __future__ import annotations

import re
import string
import tomllib
from functools import cache
from typing import Any

from markupsafe import Markup

from tracer.errors import RenderError, UsageError
from tracer.model.report import FieldRow, Note
from tracer.render.environment import templates_folder
from tracer.render.filters import code, markdown

#: the languages that pages are written in, the default first
LANGUAGES = ("zh", "en")
FALLBACK = "en"


def _flat(table: dict[str, Any], prefix: str = "") -> dict[str, str]:
    texts = {}
    for key, value in table.items():
        if isinstance(value, dict):
            texts.update(_flat(value, f"{prefix}{key}."))
        else:
            texts[f"{prefix}{key}"] = value
    return texts


@cache
def load_texts(language: str) -> dict[str, str]:
    """Every key of a language with its text.

    Raises:
        UsageError: there is no such language.
    """
    path = templates_folder() / "languages" / f"{language}.toml"
    if language not in LANGUAGES or not path.is_file():
        raise UsageError(f"there is no language {language!r}", expected="one of " + ", ".join(LANGUAGES))
    return _flat(tomllib.loads(path.read_text(encoding="utf-8")))


def placeholders(text: str) -> set[str]:
    """The names that a text wants values for."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@cache
def _phrases(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """English sentences that stand in records and reports, as patterns, with their translation."""
    path = templates_folder() / "languages" / f"{language}.phrases.toml"
    if not path.is_file():
        return ()
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple((_pattern(entry["en"]), entry["text"]) for entry in table["phrase"])


@cache
def _meanings(language: str) -> dict[str, str]:
    """What decoded fields mean, for a language other than the glossary's English: key -> text."""
    path = templates_folder() / "languages" / f"{language}.meanings.toml"
    if not path.is_file():
        return {}
    return {str(key): str(text) for key, text in tomllib.loads(path.read_text(encoding="utf-8")).items()}


def _pattern(text: str) -> re.Pattern[str]:
    """A sentence with `{names}` as a pattern that finds what stands for them; names of one letter stand for numbers."""
    parts = [
        re.escape(literal) + (f"(?P<{name}>{_NUMBER if len(name) == 1 else '.+?'})" if name else "")
        for literal, name, _, _ in string.Formatter().parse(text)
    ]
    return re.compile("".join(parts), re.DOTALL)


_NUMBER = r"-?\d+"

#: each vendor's words for the same things, which every text may use
VENDOR_WORDS = {
    "AMD": {"cu": "CU", "lds": "LDS", "wave": "wave", "simd": "SIMD"},
    "NVIDIA": {"cu": "SM", "lds": "shared memory", "wave": "warp", "simd": "SM sub-partition"},
}


def _escaped(value: Any) -> Markup:
    if isinstance(value, Markup):
        return value
    return markdown(f"{value:g}" if isinstance(value, float) else str(value))


def sentence(note: Note, vendor: str = "AMD") -> str:
    """A note in English, as plain text."""
    return load_texts(FALLBACK)[note.text_key].format(**VENDOR_WORDS[vendor], **note.values)


class Words:
    """The words of one language, with one vendor's terms."""

    def __init__(self, language: str, vendor: str = "AMD") -> None:
        self.language = language
        self._terms = {k: markdown(v) for k, v in VENDOR_WORDS[vendor].items()}
        self._texts = load_texts(language)
        self._fallback = load_texts(FALLBACK)

    def __call__(self, key: str, **values: Any) -> Markup:
        """The text of `key` with `values` put in, each escaped unless it is Markdown of ours.

        Raises:
            RenderError: no language has the key, or the text wants a value that was not given.
        """
        text = self._texts.get(key) or self._fallback.get(key)
        if text is None:
            raise RenderError(f"no language file has the text {key!r}", hint="add it to templates/languages/en.toml")
        escaped = self._terms | {key: _escaped(value) for key, value in values.items()}
        try:
            return Markup(text.format(**escaped))
        except KeyError as error:
            raise RenderError(f"the text {key!r} of {self.language} wants a value for {error}") from None

    def has(self, key: str) -> bool:
        """Whether the language (or English) has a text for `key`."""
        return key in self._texts or key in self._fallback

    def note(self, note: Note) -> Markup:
        """A note of a report; what it quotes from a record is translated where that is known."""
        return self(note.text_key, **{key: self.phrase(text) for key, text in note.values.items()})

    def reason(self, text: str) -> Markup:
        """Why something is no better known: documented reasons in the page's language, others as they stand."""
        for key in (f"tuned.reason.{text}", f"reason.{text}"):
            if self.has(key):
                return self(key)
        return self.phrase(text)

    def phrase(self, text: str) -> Markup:
        """A sentence that was written in English elsewhere, in the page's language where it has one for it.

        A sentence of several parts (`...; ...`) is translated when each part can be.
        """
        whole = self._translated(text)
        if whole is not None:
            return whole
        parts = [self._translated(part) for part in text.split("; ")]
        known = [part for part in parts if part is not None]
        return Markup("；").join(known) if len(known) == len(parts) > 1 else markdown(text)

    def _translated(self, text: str) -> Markup | None:
        for pattern, translated in _phrases(self.language):
            found = pattern.fullmatch(text)
            if found is not None:
                return Markup(translated.format(**{k: markdown(v) for k, v in found.groupdict().items()}))
        return None

    def cite(self, source: str) -> Markup:
        """Where a rule comes from: a key of the language files or a reference as it stands."""
        return self(source) if self.has(source) else markdown(source)

    def meaning(self, row: FieldRow) -> Markup:
        """What a decoded field means: in the page's language where it has the words, else in the glossary's English."""
        own = _meanings(self.language).get(row.key)
        if own:
            return Markup(own)
        pieces = (row.meaning or "–").split("`")  # the glossary writes `code` as Markdown does
        return Markup("").join(code(text) if number % 2 else markdown(text) for number, text in enumerate(pieces))

    def step(self, kind: str) -> Markup:
        """The name of a step in a kernel's core flow."""
        return Markup("**{}**").format(self(f"step.{kind}") if self.has(f"step.{kind}") else markdown(kind))
