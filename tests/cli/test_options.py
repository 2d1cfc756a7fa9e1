"""Options that several commands take."""

from __future__ import annotations

from tracer.cli.options import LANG, languages
from tracer.render.languages import LANGUAGES


def test_lang_takes_every_language_that_pages_have_and_all_of_them() -> None:
    assert list(LANG["type"].choices) == [*LANGUAGES, "all"]
    assert languages("all") == LANGUAGES
    assert languages("en") == ("en",)
