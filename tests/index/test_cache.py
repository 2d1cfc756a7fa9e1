"""The index on disk: rebuilt when files change, shared by concurrent runs, and no trouble when it can't be written."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from tracer.aiter.tree import AiterTree
from tracer.index.cache import FactCache
from tracer.index.citations import Citations
from tracer.index.tree_index import TreeIndex


def _length(data: bytes) -> int:
    return len(data)


def _get(cache: FactCache, path: Path) -> int | None:
    return cache.get(path, "length", int, _length)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text("one")
    return path


def _saved(file: Path, mark: str) -> None:
    """Puts the facts of a file into a pack beside it."""
    cache = FactCache("t", mark, file.parent)
    assert (_get(cache, file), cache.misses) == (3, 1)
    cache.save()


def test_facts_come_from_the_pack_until_the_file_changes(file: Path, tmp_path: Path) -> None:
    _saved(file, "k")
    second = FactCache("t", "k", tmp_path)
    assert (_get(second, file), second.hits, second.misses) == (3, 1, 0)
    file.write_text("longer")
    assert _get(FactCache("t", "k", tmp_path), file) == 6


def test_a_file_that_was_only_touched_is_not_read_anew(file: Path, tmp_path: Path) -> None:
    _saved(file, "k")
    os.utime(file, (1, 1))
    second = FactCache("t", "k", tmp_path)
    assert (_get(second, file), second.misses) == (3, 0)


def test_a_change_of_the_same_size_and_time_is_seen_by_the_citation(mini: Path, tmp_path: Path) -> None:
    tree = AiterTree.find(mini)
    file = mini / "csrc/kernels/norm.cu"
    index = TreeIndex(tree, tmp_path / "cache")
    facts = index.cpp("csrc/kernels/norm.cu")
    assert facts is not None
    line = next(f.line for f in facts.functions if f.name == "ns::norm_fwd" and f.kind == "definition")
    status = file.stat()
    file.write_text(file.read_text().replace("norm_fwd", "normxfwd"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert Citations(tree).ref("csrc/kernels/norm.cu", line, "norm_fwd") is None


def test_another_version_of_the_readers_does_not_use_the_pack(file: Path, tmp_path: Path) -> None:
    _saved(file, "1")
    other = FactCache("t", "2", tmp_path)
    _get(other, file)
    assert other.misses == 1


@pytest.mark.parametrize("content", [b"", b"\x00" * 40, b"not a pack", b"\x93\x01\xa1k\x80"])
def test_a_damaged_pack_is_read_over(file: Path, tmp_path: Path, content: bytes) -> None:
    cache = FactCache("t", "k", tmp_path)
    cache.path.parent.mkdir(parents=True)
    cache.path.write_bytes(content)
    again = FactCache("t", "k", tmp_path)
    assert _get(again, file) == 3
    again.save()
    assert not again.notes


def test_what_vanished_has_no_facts_and_leaves_the_pack(file: Path, tmp_path: Path) -> None:
    _saved(file, "k")
    file.unlink()
    later = FactCache("t", "k", tmp_path)
    assert _get(later, file) is None
    other = tmp_path / "b.txt"
    other.write_text("two")
    _get(later, other)
    later.save()
    assert b"a.txt" not in later.path.read_bytes()


def test_a_folder_that_cannot_be_written_costs_a_note_and_nothing_else(file: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    cache = FactCache("t", "k", blocked)
    assert _get(cache, file) == 3
    cache.save()
    assert len(cache.notes) == 1
    assert "KTRACE_CACHE" in cache.notes[0]


def _fill(job: tuple[str, int]) -> int:
    folder, number = Path(job[0]), job[1]
    for round_ in range(20):
        cache = FactCache("t", "k", folder)
        for k in range(5):
            assert _get(cache, folder / f"{number}-{k}.txt") == 3, round_
        cache.save()
    return len(FactCache("t", "k", folder)._load())


def test_runs_at_the_same_time_never_see_half_a_pack(tmp_path: Path) -> None:
    for number in range(4):
        for k in range(5):
            (tmp_path / f"{number}-{k}.txt").write_text("abc")
    with ProcessPoolExecutor(4) as pool:
        sizes = list(pool.map(_fill, [(str(tmp_path), n) for n in range(4)]))
    assert all(size >= 5 for size in sizes)
    assert not list((tmp_path / "index").glob(".t.msgpack.*"))


def test_an_index_of_a_tree_says_what_it_lacks_and_what_it_could_not_parse(mini: Path, tmp_path: Path) -> None:
    (mini / "aiter/ops/broken.py").write_text("@compile_ops('m')\ndef broken(:\n")
    index = TreeIndex(AiterTree.find(mini), tmp_path / "cache")
    assert "broken" not in {op.declaration.name for op in index.ops}
    assert any("composable_kernel" in note for note in index.notes)
    assert any("aiter/ops/broken.py" in note for note in index.notes)
