"""Unpacks the data of a compressed offload bundle: packed bytes and the size stated for them in, plain bytes out."""

from __future__ import annotations

import importlib
import zlib
from typing import Any

from tracer.errors import CodeObjectError

#: LLVM's compression::Format
ZLIB, ZSTD = 0, 1
#: a bundle that claims to unpack to more is taken for broken
_LARGEST = 16 << 30


def decompress(packed: bytes, method: int, size: int) -> tuple[bytes, int]:
    """Unpacks one stream.

    Args:
        packed: bytes that begin with the stream; more may follow.
        method: ZLIB or ZSTD.
        size: bytes that it is said to unpack to.

    Returns:
        The plain bytes, and how many packed ones they took.

    Raises:
        CodeObjectError: the stream is broken, cut off or of another size than stated, or nothing here unpacks zstd.
    """
    if size > _LARGEST:
        raise CodeObjectError(f"it states {size} bytes unpacked, more than ktrace unpacks ({_LARGEST})")
    plain, rest, done = _zlib(packed, size) if method == ZLIB else _zstd(packed, size)
    if len(plain) != size or not done:
        raise CodeObjectError(f"it unpacks to {len(plain)} bytes{'' if done else ' and is cut off'}, {size} are stated")
    return plain, len(packed) - len(rest)


def _zlib(packed: bytes, size: int) -> tuple[bytes, bytes, bool]:
    stream = zlib.decompressobj()
    try:
        plain = stream.decompress(packed, size + 1)
        if not stream.eof and len(plain) == size:  # the last bytes of the stream are its checksum alone
            plain += stream.decompress(stream.unconsumed_tail, 1)
    except zlib.error as error:
        raise CodeObjectError(f"its zlib stream is broken: {error}") from None
    return plain, stream.unused_data, stream.eof


def _zstd_module() -> tuple[Any, type[Exception]] | None:
    """A decompressor of zstd and its error: the standard library's (Python 3.14), else the package `zstandard`."""
    for module, decompressor, error in (
        ("compression.zstd", "ZstdDecompressor", "ZstdError"),
        ("zstandard", "ZstdDecompressor", "ZstdError"),
    ):
        try:
            loaded = importlib.import_module(module)
        except ImportError:
            continue
        made = getattr(loaded, decompressor)()
        return (made.decompressobj() if hasattr(made, "decompressobj") else made), getattr(loaded, error)
    return None


def _zstd(packed: bytes, size: int) -> tuple[bytes, bytes, bool]:
    found = _zstd_module()
    if found is None:
        raise CodeObjectError(
            "it is compressed with zstd, which this Python can't unpack",
            hint="pip install zstandard, or use Python 3.14",
        )
    stream, error_type = found
    try:
        plain = stream.decompress(packed)
    except error_type as error:
        raise CodeObjectError(f"its zstd stream is broken: {error}") from None
    return plain, stream.unused_data, bool(stream.eof)
