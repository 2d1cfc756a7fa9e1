"""Publishing: the record is kept, pages and index follow, and several processes may write at once."""

from __future__ import annotations

import multiprocessing
import os
import re
import stat
from pathlib import Path

import msgspec
import pytest

from tests import handmade
from tracer.errors import RecordError, RenderError
from tracer.render import publish as module
from tracer.render.nav import load_entries
from tracer.render.publish import publish, refresh_index, render_all, stored_records
from tracer.store import load_record


def test_a_record_its_pages_and_the_index_are_written(tmp_path: Path) -> None:
    done = publish(handmade.blockscale(), tmp_path)
    assert load_record(done.record) == handmade.blockscale()
    assert done.page == done.pages["zh"]
    assert "## 概述" in done.pages["zh"].read_text(encoding="utf-8")
    assert "## Overview" in done.pages["en"].read_text(encoding="utf-8")
    for language in ("zh", "en"):
        index = (tmp_path / "docs" / language / "index.md").read_text(encoding="utf-8")
        link = done.pages[language].relative_to(tmp_path / "docs" / language).as_posix()
        assert f"]({link})" in index
    assert (tmp_path / "mkdocs.yml").is_file()


def test_one_language_alone_writes_no_page_of_the_other(tmp_path: Path) -> None:
    done = publish(handmade.blockscale(), tmp_path, ("en",))
    assert done.page == done.pages["en"]
    assert not list((tmp_path / "docs" / "zh").rglob("*.md"))


def test_the_same_call_again_replaces_its_page(tmp_path: Path) -> None:
    first = publish(handmade.blockscale(), tmp_path)
    again = publish(msgspec.structs.replace(handmade.blockscale(), recorded_at="2027-01-01T00:00:00+00:00"), tmp_path)
    assert again.page == first.page
    assert "2027-01-01" in again.page.read_text(encoding="utf-8")
    assert len(load_entries(tmp_path / "entries")) == 1


def test_no_file_is_left_beside_the_ones_that_were_meant(tmp_path: Path) -> None:
    publish(handmade.blockscale(), tmp_path)
    assert [p for p in tmp_path.rglob("*") if p.name.startswith(".")] == []


def test_an_edited_configuration_is_kept_and_an_old_style_sheet_is_not(tmp_path: Path) -> None:
    publish(handmade.blockscale(), tmp_path)
    (tmp_path / "mkdocs.yml").write_text("site_name: mine\n")
    style = tmp_path / "docs" / "zh" / "assets" / "ktrace.css"
    style.write_text("old")
    publish(handmade.triton(), tmp_path)
    assert (tmp_path / "mkdocs.yml").read_text() == "site_name: mine\n"
    assert style.read_text() != "old"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_named_with_the_next_step(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(RenderError, match="can't be written"):
        publish(handmade.blockscale(), closed)


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("not a folder")
    with pytest.raises(RenderError) as caught:
        publish(handmade.blockscale(), tmp_path / "site")
    assert "--out" in (caught.value.hint or "")


def test_every_page_is_written_again_from_its_record(tmp_path: Path) -> None:
    done = [publish(record, tmp_path) for _, record in handmade.records()]
    for published in done:
        for path in published.pages.values():
            path.write_text("old")
    assert sorted(render_all(tmp_path)) == sorted(published.page for published in done)
    assert not [p for published in done for p in published.pages.values() if p.read_text(encoding="utf-8") == "old"]


def test_a_page_whose_record_is_gone_goes_too(tmp_path: Path) -> None:
    gone, kept = publish(handmade.blockscale(), tmp_path), publish(handmade.triton(), tmp_path)
    gone.record.unlink()
    assert list(render_all(tmp_path)) == [kept.page]
    assert not gone.page.exists()
    assert [e.op for e in load_entries(tmp_path / "entries")] == ["gemm_a16w16"]


def test_a_record_under_another_name_is_stored_under_its_own(tmp_path: Path) -> None:
    done = publish(handmade.blockscale(), tmp_path)
    done.record.rename(done.record.with_name("mine.json"))
    assert list(render_all(tmp_path)) == [done.page]
    assert stored_records(tmp_path) == [done.record]


def test_a_truncated_record_is_named_after_every_other_page_is_written(tmp_path: Path) -> None:
    bad, good = publish(handmade.blockscale(), tmp_path), publish(handmade.triton(), tmp_path)
    bad.record.write_bytes(bad.record.read_bytes()[:1000])
    for page in (bad.page, good.page):
        page.write_text("old")
    written: list[Path] = []
    with pytest.raises(RecordError, match=re.escape(bad.record.name)):
        written.extend(render_all(tmp_path))
    assert written == [good.page]
    assert (good.page.read_text(encoding="utf-8") != "old", bad.page.read_text(encoding="utf-8")) == (True, "old")
    assert len(load_entries(tmp_path / "entries")) == 2


def test_every_record_that_cannot_be_read_is_named_with_its_reason(tmp_path: Path) -> None:
    good = publish(handmade.blockscale(), tmp_path)
    records = tmp_path / "records"
    (records / "0.json").write_bytes(b"{")
    (records / "zz.json").write_bytes(b'{"schema_version": 999}')
    written: list[Path] = []
    with pytest.raises(RecordError) as refused:
        written.extend(render_all(tmp_path))
    assert written == [good.page]
    first, one, other = refused.value.message.splitlines()
    assert first == f"2 of 3 records in {records} can't be read:"
    assert one.startswith(f"  {records / '0.json'} is truncated or no JSON")
    assert other.startswith(f"  {records / 'zz.json'} has schema version 999")


def test_a_folder_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RenderError, match="holds no records"):
        list(render_all(tmp_path))


def _publish_often(folder: str, name: str, times: int) -> None:
    for _ in range(times):
        publish(handmade.ALL[name](), Path(folder))


def test_processes_that_write_at_once_leave_whole_pages_and_a_complete_index(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    names = ["blockscale", "blockscale", "triton", "imported"]
    workers = [context.Process(target=_publish_often, args=(str(tmp_path), name, 6)) for name in names]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    entries = load_entries(tmp_path / "entries")
    assert len(entries) == 3
    index = (tmp_path / "docs" / "en" / "index.md").read_text(encoding="utf-8")
    for entry in entries:
        assert f"({entry.folder}/{entry.name}.md)" in index
        page = (tmp_path / "docs" / "en" / entry.folder / f"{entry.name}.md").read_text(encoding="utf-8")
        assert page.rstrip().splitlines()[-1].startswith("- **Imported trace**")
        load_record(tmp_path / "records" / f"{entry.name}.json")


def test_an_entry_added_while_the_index_is_written_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(handmade.blockscale(), tmp_path)
    publish(handmade.triton(), tmp_path, refresh=False)
    late = next(path for path in (tmp_path / "entries").glob("*.json") if "3072" in path.name)
    content = late.read_bytes()
    late.unlink()
    write = module._write

    def another_process_adds_one(path: Path, text: bytes) -> None:
        write(path, text)
        late.write_bytes(content)

    monkeypatch.setattr(module, "_write", another_process_adds_one)
    refresh_index(tmp_path, ("en",))
    assert late.stem in (tmp_path / "docs" / "en" / "index.md").read_text(encoding="utf-8")
