"""The project's own documentation builds strictly and loads nothing from the internet."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("material", reason="the site extra is not installed")

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return site


def test_every_page_of_docs_is_built(built: Path) -> None:
    for page in (ROOT / "docs").glob("*.md"):
        assert (built / f"{page.stem}.html").is_file()


def test_no_page_loads_anything_from_the_internet(built: Path) -> None:
    for page in built.rglob("*.html"):
        loaded = re.findall(r'<(?:script|img|iframe)[^>]*\ssrc="([^"]*)"', page.read_text(encoding="utf-8"))
        loaded += re.findall(
            r'<link[^>]*rel="(?:stylesheet|preconnect|icon)"[^>]*href="([^"]*)"', page.read_text(encoding="utf-8")
        )
        assert not [address for address in loaded if address.startswith(("http", "//"))], page
