"""Clang offload bundles: the bytes of a `.hip_fatbin` section or a bundle file in, the code object of each target out.

A section holds one bundle a translation unit, each aligned (to 4096 bytes by default). A bundle is plain
(`__CLANG_OFFLOAD_BUNDLE__`) or compressed (`CCOB`). Layouts: LLVM's page on clang-offload-bundler (2026).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import msgspec

from tracer.codeobjects.decompression import decompress
from tracer.codeobjects.targets import TargetId, parse_target
from tracer.errors import CodeObjectError
from tracer.model.capture import Lost

PLAIN = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED = b"CCOB"
#: version -> layout of what follows magic, version and method: file size (not in version 1), size, hash
_SIZES = {1: "<IQ", 2: "<IIQ", 3: "<QQQ"}
#: more entries or longer ids than any bundle has: then the header is no header
_MOST_ENTRIES, _LONGEST_ID = 4096, 512


class BundleEntry(msgspec.Struct, frozen=True):
    """One entry of a bundle.

    Attributes:
        id: as it stands there ("hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-").
        kind: "host", "hip", "hipv4", "openmp".
        target: what the id says the code is for; None for the host's entry.
        content: the code object; empty for the host's.
    """

    id: str
    kind: str
    target: TargetId | None
    content: bytes


class Bundles(msgspec.Struct, frozen=True):
    """What a section or file holds.

    Attributes:
        entries: of all bundles, in their order, without those of the host.
        bundles: how many bundles were read.
        lost: what could not be read, with counts.
    """

    entries: tuple[BundleEntry, ...]
    bundles: int
    lost: tuple[Lost, ...]


def is_bundle(content: bytes) -> bool:
    """Whether bytes begin with a bundle."""
    return content.startswith((PLAIN, COMPRESSED))


def read_bundles(content: bytes) -> Bundles:
    """Reads every bundle in a section or file. What can't be read is counted, never raised."""
    entries: list[BundleEntry] = []
    lost: list[Lost] = []
    count = skipped = read_up_to = 0
    at = _next(content, 0)
    while at is not None:
        skipped += _filled(content, read_up_to, at)
        try:
            found, end = _read_at(content, at, lost)
        except CodeObjectError as error:
            lost.append(Lost("bundles that can't be read", 1, f"at byte {at}: {error}"))
            at = _next(content, at + len(COMPRESSED))
            read_up_to = len(content) if at is None else at
        else:
            entries += found
            count += 1
            read_up_to, at = end, _next(content, end)
    skipped += _filled(content, read_up_to, len(content))
    if skipped:
        lost.append(Lost("bytes between the bundles that are neither a bundle nor padding", skipped))
    return Bundles(tuple(entry for entry in entries if entry.content), count, tuple(lost))


def _next(content: bytes, start: int) -> int | None:
    """Where the next bundle begins, at `start` or later; a `CCOB` counts where a header that makes sense follows."""
    plain = content.find(PLAIN, start)
    packed = content.find(COMPRESSED, start, plain if plain >= 0 else len(content))
    while packed >= 0 and not _plausible(content, packed):
        packed = content.find(COMPRESSED, packed + 1, plain if plain >= 0 else len(content))
    found = [at for at in (plain, packed) if at >= 0]
    return min(found) if found else None


def _plausible(content: bytes, at: int) -> bool:
    if at + 8 > len(content):
        return False
    version, method = struct.unpack_from("<HH", content, at + 4)
    return version in _SIZES and method in (0, 1)


def _filled(content: bytes, start: int, end: int) -> int:
    """Bytes from `start` to `end`, but for the zeros at both ends."""
    return len(content[start:end].strip(b"\0"))


def _read_at(content: bytes, at: int, lost: list[Lost]) -> tuple[list[BundleEntry], int]:
    """The entries of the bundle at `at`, and where it ends. Raises CodeObjectError when it is broken."""
    if content.startswith(PLAIN, at):
        return _plain(content, at, lost)
    version, method = struct.unpack_from("<HH", content, at + 4)
    sizes = struct.Struct(_SIZES[version])
    if at + 8 + sizes.size > len(content):
        raise CodeObjectError("its header is cut off")
    stated = sizes.unpack_from(content, at + 8)
    data_at = at + 8 + sizes.size
    end = at + stated[0] if version > 1 else len(content)
    size = stated[-2]
    if not data_at < end:
        raise CodeObjectError(f"it states a size of {stated[0]} bytes, less than its header takes")
    if end > len(content):
        raise CodeObjectError(f"it states {stated[0]} bytes, of which {len(content) - at} are there")
    unpacked, used = decompress(content[data_at:end], method, size)
    if not unpacked.startswith(PLAIN):
        raise CodeObjectError("what it unpacks to is no bundle")
    entries, _ = _plain(unpacked, 0, lost)
    return entries, end if version > 1 else data_at + used


def _plain(content: bytes, at: int, lost: list[Lost]) -> tuple[list[BundleEntry], int]:
    entries: list[BundleEntry] = []
    end = at + len(PLAIN) + 8
    if end > len(content):
        raise CodeObjectError("its header is cut off")
    (count,) = struct.unpack_from("<Q", content, at + len(PLAIN))
    if count > _MOST_ENTRIES:
        raise CodeObjectError(f"it states {count} entries")
    for text, offset, size, after in _headers(content, end, count):
        end = max(end, after, at + offset + size if at + offset + size <= len(content) else after)
        if at + offset + size > len(content):
            lost.append(Lost("bundle entries cut off", 1, f"{text}: {size} bytes at {offset}"))
            continue
        kind, _, triple = text.partition("-")
        target = None if kind == "host" else parse_target(triple)
        entries.append(BundleEntry(text, kind, target, content[at + offset : at + offset + size]))
    return entries, end


def _headers(content: bytes, at: int, count: int) -> Iterator[tuple[str, int, int, int]]:
    """(id, offset, size, where the next header begins) of each entry. Raises CodeObjectError when one is cut off."""
    for number in range(count):
        if at + 24 > len(content):
            raise CodeObjectError(f"the header of entry {number + 1} of {count} is cut off")
        offset, size, length = struct.unpack_from("<QQQ", content, at)
        at += 24
        if length > _LONGEST_ID or at + length > len(content):
            raise CodeObjectError(f"the id of entry {number + 1} of {count} has {length} characters")
        text = content[at : at + length].decode("latin-1")
        at += length
        yield text, offset, size, at
