"""Files as blocks: plain and gzip, whole, cut, damaged, and bombs."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracer.errors import TraceError
from tracer.importers import bytestream
from tracer.importers.bytestream import ByteStream
from tracer.importers.losses import Losses

CONTENT = b"".join(b'{"ph": "X", "ts": %d, "name": "%d"}, ' % (n * 7919, n * n) for n in range(4000))


@pytest.fixture(params=["fast", "zlib"])
def inflater(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to unpack: ISA-L where it is installed, and zlib."""
    if request.param == "zlib":
        monkeypatch.setattr(bytestream, "_INFLATERS", [zlib])
    return str(request.param)


def unpack(path: Path) -> tuple[bytes, Losses]:
    losses = Losses()
    return b"".join(ByteStream(path, losses).blocks()), losses


def test_plain_and_gzip_give_the_same_bytes(tmp_path: Path, inflater: str) -> None:
    for name, content in (("plain", CONTENT), ("packed", gzip.compress(CONTENT))):
        path = tmp_path / name
        path.write_bytes(content)
        unpacked, losses = unpack(path)
        assert unpacked == CONTENT
        assert not losses.entries()


def test_gzip_members_one_behind_another_are_one_text(tmp_path: Path, inflater: str) -> None:
    path = tmp_path / "trace"
    path.write_bytes(gzip.compress(CONTENT[:1000]) + gzip.compress(CONTENT[1000:]) + b"\0" * 300)
    unpacked, losses = unpack(path)
    assert unpacked == CONTENT
    assert not losses.entries()


def test_what_follows_the_gzip_stream_is_counted(tmp_path: Path, inflater: str) -> None:
    path = tmp_path / "trace"
    path.write_bytes(gzip.compress(CONTENT) + b"rest")
    unpacked, losses = unpack(path)
    assert unpacked == CONTENT
    assert [(loss.what, loss.count) for loss in losses.entries()] == [("bytes after the end of the gzip stream", 4)]


PACKED = gzip.compress(CONTENT)


@given(st.integers(2, len(PACKED) - 1))
@settings(max_examples=60, deadline=None)
def test_a_cut_gzip_gives_a_prefix_and_says_so(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("cut") / "trace"
    path.write_bytes(PACKED[:cut])
    unpacked, losses = unpack(path)
    assert CONTENT.startswith(unpacked)
    (loss,) = losses.entries()
    assert loss.what == "truncated gzip: the file ends inside its packed data"
    assert f"byte {len(unpacked)} of the unpacked text" in (loss.detail or "")


def damaged(folder: Path, place: int) -> Path:
    path = folder / "trace"
    path.write_bytes(PACKED[:place] + bytes(b ^ 0xFF for b in PACKED[place : place + 3]) + PACKED[place + 3 :])
    return path


@pytest.mark.parametrize("place", [len(PACKED) // 3, len(PACKED) // 2, len(PACKED) - 200])
def test_damage_in_gzip_keeps_what_stands_before_it(tmp_path: Path, inflater: str, place: int) -> None:
    unpacked, losses = unpack(damaged(tmp_path, place))
    (loss,) = losses.entries()
    assert "gzip" in loss.what
    assert f"byte {len(unpacked)} of the unpacked text" in (loss.detail or "")
    whole = gzip.decompress(PACKED)
    assert unpacked[: place // 2] == whole[: place // 2]


@pytest.mark.parametrize("place", [len(PACKED) - 8, len(PACKED) - 4])
def test_a_wrong_checksum_is_told_from_damage_that_ends_the_text(tmp_path: Path, inflater: str, place: int) -> None:
    unpacked, losses = unpack(damaged(tmp_path, place))
    assert unpacked == CONTENT
    assert [loss.what for loss in losses.entries()] == [
        "gzip checksum differs: some of the text is not what was written"
    ]


def test_a_gzip_bomb_is_stopped(tmp_path: Path, inflater: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bytestream, "BOMB_FLOOR_BYTES", 1 << 20)
    path = tmp_path / "bomb"
    path.write_bytes(gzip.compress(b" " * (64 << 20)))
    losses = Losses()
    taken = sum(len(block) for block in ByteStream(path, losses).blocks())
    assert taken < 20 << 20
    assert "gzip bomb: reading was stopped" in losses


def test_progress_ends_at_the_size_of_the_file(tmp_path: Path, inflater: str) -> None:
    path = tmp_path / "trace"
    path.write_bytes(PACKED)
    seen: list[tuple[int, int]] = []
    for _ in ByteStream(path, Losses(), lambda done, total: seen.append((done, total))).blocks():
        pass
    assert seen[-1] == (len(PACKED), len(PACKED))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"absent\.json can't be read: No such file"):
        ByteStream(tmp_path / "absent.json", Losses())


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="can't be read: Is a directory"):
        ByteStream(tmp_path, Losses())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_a_pipe_is_refused_for_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(TraceError, match="is a pipe") as refused:
        ByteStream(path, Losses())
    assert refused.value.hint
