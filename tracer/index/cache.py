"""Facts of files, kept on disk between runs: a file and a reader in, its facts out, read again only when it changed.

One pack a source tree, under `KTRACE_CACHE` or the user's cache folder. An entry is trusted while the file's size and
time stand, taken over when only the time moved and the content did not, and read anew else. Packs are written beside
and renamed, so concurrent runs never see half of one; a folder that cannot be written costs time and is said once.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec
import platformdirs

T = TypeVar("T")

#: changes when the pack's own layout does
_PACK_VERSION = 1


class _Entry(msgspec.Struct, array_like=True):
    time_ns: int
    size: int
    digest: bytes
    facts: bytes


class _Pack(msgspec.Struct, array_like=True):
    version: int
    key: str
    entries: dict[str, _Entry]


def cache_folder() -> Path:
    """The folder of ktrace's caches: `KTRACE_CACHE` where set, else the user's cache folder."""
    named = os.environ.get("KTRACE_CACHE")
    return Path(named) if named else Path(platformdirs.user_cache_dir("ktrace", appauthor=False))


def digest(data: bytes) -> bytes:
    """A content's fingerprint."""
    return hashlib.blake2b(data, digest_size=16).digest()


class FactCache:
    """The pack of one source tree.

    Attributes:
        notes: what the user should know (a cache that could not be written); each once.
        hits: how many files' facts came from the pack.
        misses: how many were read anew.
    """

    def __init__(self, name: str, key: str, folder: Path | None = None) -> None:
        """Opens a pack.

        Args:
            name: the pack's file name, without suffix.
            key: what else the facts depend on (versions of the readers); a pack with another key is not used.
            folder: the cache folder; None for the usual one.
        """
        self.path = (folder or cache_folder()) / "index" / f"{name}.msgpack"
        self.key = key
        self.notes: list[str] = []
        self.hits = 0
        self.misses = 0
        self._entries = self._load()
        self._decoded: dict[str, object] = {}
        self._changed: set[str] = set()

    def _load(self) -> dict[str, _Entry]:
        try:
            pack = msgspec.msgpack.decode(self.path.read_bytes(), type=_Pack)
        except OSError:
            return {}
        except (msgspec.MsgspecError, ValueError):
            return {}  # damaged, or written by another version: read everything anew
        return pack.entries if pack.version == _PACK_VERSION and pack.key == self.key else {}

    def get(self, path: Path, kind: str, type_: type[T], read: Callable[[bytes], T]) -> T | None:
        """The facts of a file; None when it cannot be read (it vanished, or is no file).

        Args:
            path: the file.
            kind: which facts; part of the entry's name, together with anything else they depend on.
            type_: the facts' type.
            read: makes the facts from the content.
        """
        name = f"{kind}:{path}"
        try:
            status = path.stat()
            entry = self._entries.get(name)
            if entry is not None and entry.time_ns == status.st_mtime_ns and entry.size == status.st_size:
                known = self._decoded.get(name)
                if known is None:
                    known = self._decode(entry, type_)
                    self.hits += 1
                if known is not None:
                    self._decoded[name] = known
                    return known  # type: ignore[return-value]  # stored under the same kind, so of the same type
            data = path.read_bytes()
        except OSError:
            return None
        mark = digest(data)
        if entry is not None and entry.digest == mark:
            facts = self._decode(entry, type_)
            if facts is not None:
                self._put(name, _Entry(status.st_mtime_ns, status.st_size, mark, entry.facts), facts)
                self.hits += 1
                return facts
        facts = read(data)
        self.misses += 1
        self._put(name, _Entry(status.st_mtime_ns, status.st_size, mark, msgspec.msgpack.encode(facts)), facts)
        return facts

    def put_read(self, path: Path, kind: str, data: bytes, facts: object) -> None:
        """Takes facts that were read elsewhere (in a worker process) from `data`."""
        with contextlib.suppress(OSError):
            status = path.stat()
            entry = _Entry(status.st_mtime_ns, status.st_size, digest(data), msgspec.msgpack.encode(facts))
            self._put(f"{kind}:{path}", entry, facts)
            self.misses += 1

    def knows(self, path: Path, kind: str) -> bool:
        """Whether `get` would answer from the pack without reading the file."""
        entry = self._entries.get(f"{kind}:{path}")
        if entry is None:
            return False
        try:
            status = path.stat()
        except OSError:
            return False
        return entry.time_ns == status.st_mtime_ns and entry.size == status.st_size

    def _put(self, name: str, entry: _Entry, facts: object) -> None:
        self._entries[name] = entry
        self._decoded[name] = facts
        self._changed.add(name)

    @staticmethod
    def _decode(entry: _Entry, type_: type[T]) -> T | None:
        try:
            return msgspec.msgpack.decode(entry.facts, type=type_)
        except (msgspec.MsgspecError, ValueError):
            return None

    def save(self) -> None:
        """Writes the pack when something changed; what other runs added meanwhile is kept."""
        if not self._changed:
            return
        mine = {name: self._entries[name] for name in self._changed}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            merged = {**self._load(), **{n: e for n, e in self._entries.items() if n not in mine}, **mine}
            merged = {n: e for n, e in merged.items() if os.path.exists(n.partition(":")[2])}  # what vanished goes
            data = msgspec.msgpack.encode(_Pack(_PACK_VERSION, self.key, merged))
            handle, temporary = tempfile.mkstemp(prefix=f".{self.path.name}.", dir=self.path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                os.replace(temporary, self.path)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
        except OSError as error:
            self.notes.append(
                f"the index could not be kept in {self.path.parent} ({error.strerror or error}); "
                "the next run reads the sources again. Set KTRACE_CACHE to a folder that can be written."
            )
        self._changed.clear()
