"""A trace file as a stream of unpacked blocks: a path in, byte blocks out, plain or gzip, whole, cut off or damaged.

Memory stays at a block or two whatever the size of the file.
"""

from __future__ import annotations

import stat
import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

from tracer.errors import TraceError
from tracer.importers.losses import Losses

_INFLATERS: list[Any] = [zlib]
try:  # three times as fast on traces; wheels exist for x86-64 and ARM only
    from isal import isal_zlib

    _INFLATERS.append(isal_zlib)
except ImportError:
    pass

#: small enough to stay in a core's cache while it is decoded; and two of them are less than the 128 KiB of free memory
#: that malloc hands back to the system, only to ask for it again
BLOCK_BYTES = 56 << 10
PACKED_BLOCK_BYTES = 1 << 14

#: deflate reaches 1032:1 at most and real traces 10:1 to 30:1; past this many bytes, more than this ratio is a bomb
BOMB_FLOOR_BYTES = 64 << 20
BOMB_RATIO = 250

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_FORMAT = 31

#: called with (bytes of the file read so far, bytes of the file)
Progress = Callable[[int, int], None]


def is_gzip(head: bytes) -> bool:
    """Whether the first bytes of a file say gzip."""
    return head[:2] == _GZIP_MAGIC


class ByteStream:
    """The unpacked bytes of one file.

    Attributes:
        path: the file.
        losses: where truncation and damage are counted.
        unpacked: bytes handed out so far.
    """

    def __init__(self, path: Path, losses: Losses, progress: Progress | None = None) -> None:
        """Opens `path` for a first look.

        Raises:
            TraceError: it can't be read.
        """
        self.path = path
        self.losses = losses
        self.unpacked = 0
        self._progress = progress
        self._read = 0
        try:
            about = path.stat()
            if stat.S_ISFIFO(about.st_mode) or stat.S_ISSOCK(about.st_mode):
                raise TraceError(
                    f"the trace {path} is a pipe, which can be read only once",
                    hint="save what comes out of it as a file, and import that",
                )
            self._size = about.st_size
            with path.open("rb") as file:
                head = file.read(4)
        except OSError as error:
            raise TraceError(
                f"the trace {path} can't be read: {error.strerror or error}",
                expected="a file that may be read",
                hint="check the path and its rights; of a folder, name the traces in it one by one",
            ) from None
        self._packed = is_gzip(head)

    def blocks(self) -> Iterator[bytes]:
        """The file's unpacked blocks, in order; ends early, with a loss counted, where the file is damaged."""
        self.unpacked = self._read = 0
        for block in self._inflated() if self._packed else self._file_blocks(BLOCK_BYTES):
            self.unpacked += len(block)
            if self._progress is not None:
                self._progress(self._read, self._size)
            yield block

    def _file_blocks(self, size: int) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as file:
                while block := file.read(size):
                    self._read += len(block)
                    yield block
        except OSError as error:
            why = str(error.strerror or error)
            self.losses.add("the file could not be read to its end", byte=self.unpacked, detail=why)

    def _inflated(self) -> Iterator[bytes]:
        engine: Any = None
        for packed in self._file_blocks(PACKED_BLOCK_BYTES):
            data = packed
            while True:
                if engine is None:
                    data = data.lstrip(b"\0")  # padding between members, as tape tools write it
                    if not data:
                        break
                    if not is_gzip(data):
                        self.losses.add("bytes after the end of the gzip stream", len(data))
                        return
                    engine = _INFLATERS[-1].decompressobj(_GZIP_FORMAT)
                try:
                    block = engine.decompress(data, BLOCK_BYTES)
                except _INFLATERS[-1].error as error:
                    why = (yield from self._up_to_damage()) or str(error)
                    if why.endswith("check"):
                        what = "gzip checksum differs: some of the text is not what was written"
                    else:
                        what = "damaged gzip: nothing after the damage was read"
                    self.losses.add(what, byte=self.unpacked, detail=why)
                    return
                if block:
                    yield block
                if self.unpacked > BOMB_FLOOR_BYTES and self.unpacked > BOMB_RATIO * self._read:
                    why = f"{self._read} packed bytes had unpacked to {self.unpacked}; no profiler writes such a file"
                    self.losses.add("gzip bomb: reading was stopped", byte=self.unpacked, detail=why)
                    return
                data = engine.unconsumed_tail
                if engine.eof:
                    data, engine = engine.unused_data, None
                elif not data and len(block) < BLOCK_BYTES:
                    break
        if engine is not None:
            self.losses.add("truncated gzip: the file ends inside its packed data", byte=self.unpacked)

    def _up_to_damage(self) -> Generator[bytes, None, str | None]:
        """What lies between the last whole block and the damage: unpacked again, in the smallest steps.

        Returns:
            What zlib says of the damage.
        """
        done, seen = self.unpacked, 0
        engine = zlib.decompressobj(_GZIP_FORMAT)
        with self.path.open("rb") as file:
            for packed in iter(lambda: file.read(16), b""):
                try:
                    while packed:
                        block = engine.decompress(packed)
                        seen += len(block)
                        if seen > done:
                            yield block[max(0, len(block) - (seen - done)) :]
                            done = seen
                        packed = b""
                        if engine.eof:
                            packed, engine = engine.unused_data, zlib.decompressobj(_GZIP_FORMAT)
                except zlib.error as error:
                    return str(error).rpartition(": ")[2]
        return None
