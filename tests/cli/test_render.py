"""`ktrace render`: records in, pages out; everything again after a template change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import handmade
from tests.cli.conftest import Answer
from tracer.render.publish import publish
from tracer.store import dump_record, save_record

Ktrace = Callable[..., Answer]


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "record.json"
    save_record(handmade.blockscale(), path)
    return path


def test_a_record_becomes_pages_in_both_languages(ktrace: Ktrace, record: Path, tmp_path: Path) -> None:
    answer = ktrace("render", str(record), "--out", str(tmp_path / "site"))
    assert answer.code == 0
    (page,) = answer.out.splitlines()
    assert Path(page).is_file()
    assert Path(page.replace("/docs/zh/", "/docs/en/")).is_file()


def test_a_language_can_be_chosen(ktrace: Ktrace, record: Path, tmp_path: Path) -> None:
    (page,) = ktrace("render", str(record), "--out", str(tmp_path / "site"), "--lang", "en").out.splitlines()
    assert "/docs/en/" in page
    assert not list((tmp_path / "site" / "docs" / "zh").rglob("*.md"))


def test_all_writes_every_page_again(ktrace: Ktrace, tmp_path: Path) -> None:
    done = [publish(r, tmp_path) for _, r in handmade.records()]
    done[0].page.write_text("old")
    answer = ktrace("render", "--all", str(tmp_path))
    assert answer.code == 0
    assert sorted(answer.out.splitlines()) == sorted(str(p.page) for p in done)
    assert done[0].page.read_text(encoding="utf-8") != "old"


def test_all_renders_the_good_records_and_names_the_bad_one(ktrace: Ktrace, tmp_path: Path) -> None:
    good = publish(handmade.blockscale(), tmp_path)
    bad = tmp_path / "records" / "a.json"
    bad.write_bytes(dump_record(handmade.triton())[:1000])
    good.page.write_text("old")
    answer = ktrace("render", "--all", str(tmp_path))
    assert (answer.code, answer.out) == (1, f"{good.page}\n")
    assert f"{bad} is truncated or no JSON" in answer.err
    assert good.page.read_text(encoding="utf-8") != "old"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (dump_record(handmade.blockscale())[:2000], "is truncated or no JSON"),
        (b"", "is truncated or no JSON"),
        (b'{"traceEvents": []}', "is no ktrace record"),
        (b'{"schema_version": 999}', "schema version 999"),
        (b'{"schema_version": 1}', "claims to be a record"),
        (b"\x00\xff\xfe", "is truncated or no JSON"),
        (b"[]", "is no ktrace record"),
    ],
)
def test_what_is_no_record_gets_a_clear_answer(ktrace: Ktrace, tmp_path: Path, content: bytes, message: str) -> None:
    bad = tmp_path / "bad.json"
    bad.write_bytes(content)
    answer = ktrace("render", str(bad), "--out", str(tmp_path / "site"))
    assert answer.code == 1
    assert message in answer.err
    assert str(bad) in answer.err
    assert "Traceback" not in answer.err
    assert not (tmp_path / "site").exists()


def test_a_record_that_is_not_there_is_named(ktrace: Ktrace, tmp_path: Path) -> None:
    answer = ktrace("render", str(tmp_path / "none.json"))
    assert answer.code == 1
    assert "none.json" in answer.err


@pytest.mark.parametrize("arguments", [(), ("x.json", "--all", "site")])
def test_neither_or_both_of_records_and_all_is_wrong_usage(ktrace: Ktrace, arguments: tuple[str, ...]) -> None:
    assert ktrace("render", *arguments).code == 2


def test_a_folder_that_cannot_be_made_is_refused(ktrace: Ktrace, record: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    answer = ktrace("render", str(record), "--out", str(tmp_path / "file"))
    assert answer.code == 1
    assert "can't be written" in answer.err
