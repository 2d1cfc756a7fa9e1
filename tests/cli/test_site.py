"""`ktrace site`: new, build and serve."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import handmade
from tests.cli.conftest import Answer
from tracer.render.publish import publish

pytest.importorskip("material", reason="the site extra is not installed")

Ktrace = Callable[..., Answer]


def test_a_new_site_says_what_comes_next_and_builds(ktrace: Ktrace, tmp_path: Path) -> None:
    answer = ktrace("site", "new", str(tmp_path / "site"))
    assert answer.code == 0
    assert "ktrace site build" in answer.out
    assert (tmp_path / "site" / "mkdocs.yml").is_file()


def test_build_writes_pages_from_the_records_first(ktrace: Ktrace, tmp_path: Path) -> None:
    done = publish(handmade.blockscale(), tmp_path)
    done.page.write_text("# old\n")
    answer = ktrace("site", "build", str(tmp_path))
    assert answer.code == 0
    start = Path(answer.out.strip())
    assert start.is_file()
    built = next((tmp_path / "site" / "gemm_a8w8_blockscale").glob("*.html"))
    assert "概述" in built.read_text(encoding="utf-8")


def test_a_folder_without_records_is_refused(ktrace: Ktrace, tmp_path: Path) -> None:
    answer = ktrace("site", "build", str(tmp_path))
    assert answer.code == 1
    assert "holds no records" in answer.err


def test_serve_answers_in_both_languages(tmp_path: Path) -> None:
    publish(handmade.blockscale(), tmp_path)
    command = [sys.executable, "-u", "-m", "tracer", "site", "serve", str(tmp_path), "--port", "0"]
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, "PYTHONPATH": root}
    ) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:\d+/", server.stdout.readline())
            assert found is not None
            for place in ("", "en/"):
                with urllib.request.urlopen(found[0] + place, timeout=10) as response:
                    assert b"gemm_a8w8_blockscale" in response.read()
        finally:
            server.terminate()


def test_a_port_in_use_is_named(ktrace: Ktrace, tmp_path: Path) -> None:
    import socket

    publish(handmade.blockscale(), tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answer = ktrace("site", "serve", str(tmp_path), "--port", str(port))
    assert answer.code == 1
    assert str(port) in answer.err
    assert "--port" in answer.err
