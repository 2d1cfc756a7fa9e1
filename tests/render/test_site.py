"""The built site: strict, complete in both languages, and nothing in it is loaded from the internet."""

from __future__ import annotations

import html.parser
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest

from tests import handmade
from tracer.errors import RenderError
from tracer.render import site as module
from tracer.render.publish import publish, refresh_index
from tracer.render.site import build_site, write_scaffold

pytest.importorskip("material", reason="the site extra is not installed")

#: attributes by which a page makes a browser load something, by tag; a link that a reader clicks is none
LOADS = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "use": ("href", "xlink:href"),
    "image": ("href", "xlink:href"),
}
LOADING_LINKS = {"stylesheet", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload", "icon", "manifest"}


class Loads(html.parser.HTMLParser):
    """Collects every address that a page makes a browser load, and every link that it offers."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []
        self.inline: list[str] = []
        self._inside: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._inside = tag if tag in ("script", "style") else None
        self.loaded += [value for key in LOADS.get(tag, ()) if (value := given.get(key))]
        if tag == "link" and LOADING_LINKS & set((given.get("rel") or "").split()):
            self.loaded.append(given.get("href") or "")
        if tag == "a" and given.get("href"):
            self.linked.append(given["href"] or "")
        if given.get("style"):
            self.inline.append(given["style"] or "")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.inline.append(data)


def loads(page: Path) -> Loads:
    found = Loads()
    found.feed(page.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    for _, record in handmade.records():
        publish(record, out, refresh=False)
    refresh_index(out)
    return build_site(out).parent


def test_every_record_has_a_page_in_both_languages(built: Path) -> None:
    for root in (built, built / "en"):
        pages = [p for p in root.glob("*/*.html") if p.parent.name not in ("en", "assets")]
        assert len(pages) == len(handmade.ALL)


def test_no_page_loads_anything_from_the_internet(built: Path) -> None:
    pages = list(built.rglob("*.html"))
    assert len(pages) >= 2 * len(handmade.ALL) + 2
    for page in pages:
        found = loads(page)
        outside = [a for a in found.loaded if urlsplit(a).scheme in ("http", "https") or a.startswith("//")]
        assert outside == [], page
        for text in found.inline:
            assert not re.search(r"url\(\s*['\"]?(?:https?:)?//|@import", text), page


def test_no_link_takes_a_folder_for_a_host(built: Path) -> None:
    for page in built.rglob("*.html"):
        assert [a for a in loads(page).linked if a.startswith("//")] == [], page


def test_no_style_sheet_of_the_site_loads_anything_from_the_internet(built: Path) -> None:
    sheets = list(built.rglob("*.css"))
    assert sheets
    for sheet in sheets:
        assert not re.search(r"url\(\s*['\"]?(?:https?:)?//|@import\s+['\"]?(?:https?:)?//", sheet.read_text()), sheet


def test_everything_that_a_page_loads_is_there(built: Path) -> None:
    for page in built.rglob("*.html"):
        if page.name == "404.html":
            continue  # a server shows it at any depth, so its addresses begin at the root
        for address in loads(page).loaded:
            assert (page.parent / urlsplit(address).path).resolve().is_file(), (page, address)


def test_each_page_leads_to_itself_in_the_other_language(built: Path) -> None:
    for page in built.rglob("*.html"):
        if page.name == "404.html":
            continue
        here = page.relative_to(built)
        other = built / Path(*here.parts[1:]) if here.parts[0] == "en" else built / "en" / here
        targets = {(page.parent / urlsplit(a).path).resolve() for a in loads(page).linked if not urlsplit(a).scheme}
        assert other.resolve() in targets, page


def test_the_pages_are_in_their_language(built: Path) -> None:
    assert re.search(r'<html lang="zh"', (built / "index.html").read_text(encoding="utf-8"))
    assert re.search(r'<html lang="en"', (built / "en" / "index.html").read_text(encoding="utf-8"))


def test_the_search_index_holds_chinese_and_names_and_needs_no_dictionary(built: Path) -> None:
    index = json.loads((built / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert index["config"]["lang"] == ["en"]
    assert "trimmer" not in index["config"]["pipeline"]  # it would take Chinese characters off every word
    separator = index["config"]["separator"]
    assert "u3400" in separator
    words = " ".join(doc["title"] + " " + doc["text"] for doc in index["docs"])
    assert "屋顶线" in words
    assert "a8w8_blockscale_1x128x128" in words
    assert (built / "search" / "search_index.js").is_file()  # search without a server


def test_hostile_text_is_text_in_the_built_page(built: Path) -> None:
    page = next(p for p in (built / "en" / "gemm_a8w8_blockscale").glob("1x1x128*.html"))
    text = page.read_text(encoding="utf-8")
    assert "<script>alert(1)</script>" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<img src=x" not in text


def test_an_op_whose_name_is_html_is_text_in_the_menu_of_every_page(tmp_path: Path) -> None:
    record = handmade.blockscale()
    call = msgspec.structs.replace(record.call, op="ns::<script>alert(1)</script><img src=x onerror=alert(2)>")
    publish(msgspec.structs.replace(record, call=call), tmp_path)
    pages = list(build_site(tmp_path).parent.rglob("*.html"))
    assert pages
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "<script>alert(1)" not in text, page
        assert "<img src=x" not in text, page
        assert "ns::&lt;script&gt;alert(1)&lt;/script&gt;" in text, page


def test_building_again_replaces_the_site(built: Path) -> None:
    stray = built / "stray.html"
    stray.write_text("old")
    build_site(built.parent)
    assert not stray.exists()
    assert (built / "index.html").is_file()
    assert [p.name for p in built.parent.iterdir() if p.name.startswith(".build")] == []


def test_a_page_with_a_broken_link_stops_the_build_and_keeps_the_old_site(tmp_path: Path) -> None:
    publish(handmade.blockscale(), tmp_path)
    build_site(tmp_path)
    page = next((tmp_path / "docs" / "en").glob("*/*.md"))
    page.write_text(page.read_text(encoding="utf-8") + "\n[gone](nowhere.md)\n", encoding="utf-8")
    with pytest.raises(RenderError, match=r"nowhere\.md"):
        build_site(tmp_path)
    assert (tmp_path / "site" / "index.html").is_file()


def test_an_empty_site_builds_and_says_how_to_begin(tmp_path: Path) -> None:
    write_scaffold(tmp_path)
    refresh_index(tmp_path)
    start = build_site(tmp_path)
    assert "ktrace OP --shape" in start.read_text(encoding="utf-8")


def test_without_mkdocs_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(handmade.blockscale(), tmp_path)
    monkeypatch.setattr(module.sys, "executable", "/bin/false")

    class Done:
        returncode = 1
        stdout = ""
        stderr = "/usr/bin/python: No module named mkdocs"

    monkeypatch.setattr(module.subprocess, "run", lambda *args, **kwargs: Done())
    with pytest.raises(RenderError) as caught:
        build_site(tmp_path)
    assert "ktrace[site]" in (caught.value.hint or "")
