"""Markdown as MkDocs would show it, with the extensions of the site: text in, HTML out; and the words a reader sees."""

from __future__ import annotations

import html.parser

import markdown


def to_html(text: str) -> str:
    body = text.split("---\n", 2)[2] if text.startswith("---\n") else text
    extensions = ["admonition", "attr_list", "md_in_html", "tables", "pymdownx.details", "pymdownx.superfences"]
    return markdown.markdown(body, extensions=extensions)


class Words(html.parser.HTMLParser):
    """Collects the text of a page, and every tag with its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(page: str) -> Words:
    words = Words()
    words.feed(page)
    return words
