"""Offload bundles: plain, compressed, several in one section, and broken ones."""

from __future__ import annotations

import random
import struct
import zlib

import pytest

from tests.codeobjects.handmade import bundle, code_object, compressed, kernel, wave
from tracer.codeobjects import decompression
from tracer.codeobjects.bundle import is_bundle, read_bundles

FIRST, SECOND = code_object([kernel("first")]), code_object([kernel("second")], machine=0x4F)
PAIR = bundle([(wave("gfx942:sramecc+:xnack-"), FIRST), (wave("gfx950"), SECOND)])


def test_each_target_has_its_code_object() -> None:
    found = read_bundles(PAIR)
    assert [(entry.kind, str(entry.target)) for entry in found.entries] == [
        ("hipv4", "gfx942:sramecc+:xnack-"),
        ("hipv4", "gfx950"),
    ]
    assert [entry.content for entry in found.entries] == [FIRST, SECOND]
    assert (found.bundles, found.lost) == (1, ())


def test_the_hosts_empty_entry_is_left_out() -> None:
    assert [entry.kind for entry in read_bundles(PAIR).entries] == ["hipv4", "hipv4"]


@pytest.mark.parametrize("align", [1, 8, 4096])
def test_several_bundles_in_one_section_are_all_read(align: int) -> None:
    section = b"".join(bundle([(wave("gfx942"), code)], align=align).ljust(8192, b"\0") for code in (FIRST, SECOND))
    found = read_bundles(section)
    assert (found.bundles, [entry.content for entry in found.entries], found.lost) == (2, [FIRST, SECOND], ())


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_bundle_compressed_by_zlib_is_unpacked(version: int) -> None:
    found = read_bundles(compressed(PAIR, version=version))
    assert ([entry.content for entry in found.entries], found.lost) == ([FIRST, SECOND], ())


@pytest.mark.parametrize("version", [1, 2, 3])
def test_compressed_bundles_stand_one_behind_another(version: int) -> None:
    one = compressed(bundle([(wave("gfx942"), FIRST)]), version=version)
    section = one.ljust(-(-len(one) // 4096) * 4096, b"\0") + compressed(PAIR, version=version)
    found = read_bundles(section)
    assert (found.bundles, len(found.entries), found.lost) == (2, 3, ())


def test_zstd_is_unpacked_where_something_can() -> None:
    zstandard = pytest.importorskip("zstandard")
    packed = zstandard.ZstdCompressor().compress(PAIR)
    found = read_bundles(compressed(PAIR, method=1, packed=packed) + b"\0" * 100)
    assert ([entry.content for entry in found.entries], found.lost) == ([FIRST, SECOND], ())
    (lost,) = read_bundles(compressed(PAIR, method=1, packed=packed[: len(packed) // 2])).lost
    assert "cut off" in (lost.detail or "")


def test_zstd_that_nothing_here_unpacks_says_what_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decompression, "_zstd_module", lambda: None)
    found = read_bundles(compressed(PAIR, method=1, packed=b"\x28\xb5\x2f\xfd"))
    (lost,) = found.lost
    assert found.entries == ()
    assert "zstd" in (lost.detail or "")
    assert "zstandard" in (lost.detail or "")


def test_a_zstd_bundle_does_not_hide_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decompression, "_zstd_module", lambda: None)
    section = compressed(PAIR, method=1, packed=b"x" * 100).ljust(4096, b"\0") + PAIR
    found = read_bundles(section)
    assert (len(found.entries), [lost.what for lost in found.lost]) == (2, ["bundles that can't be read"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (compressed(PAIR)[:-200], "of which"),
        (compressed(PAIR, packed=b"no zlib stream at all"), "zlib stream is broken"),
        (compressed(PAIR, packed=zlib.compress(PAIR[:100])), "unpacks to 100 bytes"),
        (compressed(b"no bundle"), "no bundle"),
        (b"CCOB" + struct.pack("<HHIIQ", 2, 0, 10, 5, 0), "less than its header"),
        (b"CCOB" + struct.pack("<HH", 2, 0), "cut off"),
        (b"CCOB" + struct.pack("<HHIIQ", 2, 0, 40, 5, 0) + b"\0" * 4, "of which"),
        (PAIR[:30], "cut off"),
        (PAIR[:60], "has 30 characters"),
        (b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 1 << 40), "entries"),
        (b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<QQQQ", 1, 0, 0, 1 << 30), "characters"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_bundle_is_counted_with_its_place(content: bytes, said: str) -> None:
    found = read_bundles(content)
    assert found.entries == ()
    assert found.lost[0].what == "bundles that can't be read"
    assert "at byte 0" in (found.lost[0].detail or "")
    assert said in (found.lost[0].detail or "")


def test_an_entry_that_is_cut_off_is_counted_and_the_others_are_read() -> None:
    found = read_bundles(PAIR[:-4096])
    assert [str(entry.target) for entry in found.entries] == ["gfx942:sramecc+:xnack-"]
    assert [lost.what for lost in found.lost] == ["bundle entries cut off"]


def test_bytes_between_bundles_are_counted() -> None:
    found = read_bundles(b"junk" + b"\0" * 60 + PAIR + b"more junk")
    (lost,) = found.lost
    assert (lost.what, lost.count) == ("bytes between the bundles that are neither a bundle nor padding", 13)
    assert len(found.entries) == 2


def test_letters_that_only_look_like_a_compressed_bundle_are_passed_over() -> None:
    assert read_bundles(b"\0" * 64 + b"CCOB says nothing" + b"\0" * 64 + PAIR).bundles == 1


def test_an_empty_section_holds_nothing() -> None:
    assert read_bundles(b"") == read_bundles(b"\0" * 4096)
    assert not is_bundle(b"")


def test_a_spoiled_section_never_raises() -> None:
    chosen = random.Random(7)
    section = bytearray(PAIR + compressed(PAIR))
    for _ in range(300):
        spoiled = bytearray(section)
        for _ in range(chosen.choice((1, 4, 30))):
            spoiled[chosen.randrange(400)] = chosen.randrange(256)
        found = read_bundles(bytes(spoiled))
        assert found.bundles <= 4
