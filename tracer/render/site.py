"""The MkDocs site around the pages: a folder in, the files that MkDocs needs and a built site out.

Chinese is the default language and lies at the site's root, English under `en/`; a page leads to itself in the other.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from tracer.errors import RenderError
from tracer.render.environment import templates_folder
from tracer.render.languages import LANGUAGES, Words
from tracer.render.nav import load_entries, menu
from tracer.store import write_atomically

Write = Callable[[Path, bytes], None]


def write_scaffold(out: Path, write: Write = write_atomically) -> None:
    """Writes what a site needs beside its pages: `mkdocs.yml` and overrides where absent, assets anew."""
    source = templates_folder() / "site"
    for path in sorted(p for p in source.rglob("*") if p.is_file()):
        relative = path.relative_to(source)
        if relative.parts[0] == "assets":
            for language in LANGUAGES:
                _keep(out / "docs" / language / relative, path.read_bytes(), write, replace=True)
        else:
            _keep(out / relative, path.read_bytes(), write, replace=False)


def _keep(target: Path, content: bytes, write: Write, *, replace: bool) -> None:
    try:
        present: bytes | None = target.read_bytes()
    except OSError:
        present = None
    if present is None or (replace and present != content):
        write(target, content)


def _language_config(out: Path, language: str, site: Path, folder: Path) -> Path:
    """Writes the configuration that inherits the site's and sets what differs by language; JSON is YAML."""
    root = "" if language == LANGUAGES[0] else "../"
    config = {
        "INHERIT": str((out / "mkdocs.yml").resolve()),
        "docs_dir": str((out / "docs" / language).resolve()),
        "site_dir": str(site.resolve()),
        "theme": {"language": language, "custom_dir": str((out / "overrides").resolve())},
        "extra": {"alternate_base": root},
        "nav": menu(load_entries(out / "entries"), Words(language)("index.title")),
    }
    path = folder / f"mkdocs.{language}.yml"
    path.write_bytes(msgspec.json.encode(config))
    return path


def _mkdocs(config: Path, language: str) -> None:
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    # without --quiet: MkDocs 1.6 counts only the warnings that it would print, and --strict goes by that count
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode == 0:
        return
    said = (done.stderr + done.stdout).strip()
    if "No module named mkdocs" in said or "Unrecognised theme name: 'material'" in said:
        raise RenderError(
            "MkDocs or its Material theme is not installed here", hint="pip install 'ktrace[site]' adds both"
        )
    last = "\n".join(said.splitlines()[-12:])
    raise RenderError(
        f"MkDocs refused the {language} pages (exit code {done.returncode}):\n{last}",
        hint="`ktrace render --all` writes the pages again from the records",
    )


def build_site(out: Path) -> Path:
    """Builds the HTML of a site folder whose pages are written, strictly: any warning fails.

    Returns:
        The start page.

    Raises:
        RenderError: MkDocs is not installed, or refuses the site.
    """
    write_scaffold(out)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=out) as temporary:
        built = Path(temporary) / "site"
        for language in LANGUAGES:
            place = built if language == LANGUAGES[0] else built / language
            _mkdocs(_language_config(out, language, place, Path(temporary)), language)
        site = out / "site"
        old = Path(temporary) / "old"
        if site.exists():
            os.replace(site, old)
        os.replace(built, site)
        shutil.rmtree(old, ignore_errors=True)
    return out / "site" / "index.html"
