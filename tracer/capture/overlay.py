"""Keeps a process from writing outside one folder: file calls in, their writes into a shadow of the disk out.

aiter writes merged CSVs to fixed places in /tmp, and its main branch rewrites CSVs inside a checkout; both read them
back. A shadow copy answers those reads, and an audit hook refuses whatever slips past the functions patched here.
Processes that a library starts are not watched: their home and temporary folders are inside.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import os
import shutil
import sys
from collections.abc import Callable
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: device files, and the kernel's own: nothing there stays
_HARMLESS = ("/dev/null", "/dev/tty", "/dev/shm/", "/proc/", "/dev/pts/", "/dev/fd/")
#: audit events that change the disk, and which of their arguments are paths
_CHANGES = {
    "os.mkdir": (0,),
    "os.rmdir": (0,),
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.link": (0, 1),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.utime": (0,),
}


class Overlay:
    """A shadow of the disk in `folder`/overlay.

    Args:
        folder: the folder that may be written to directly.
    """

    def __init__(self, folder: str) -> None:
        self._folder = os.path.realpath(folder) + "/"
        self._shadow = os.path.join(folder, "overlay")
        self._gone: set[str] = set()
        self._used = False
        self._open, self._stat, self._lstat = builtins.open, os.stat, os.lstat
        self._os_open, self._os_mkdir, self._os_remove, self._os_replace = os.open, os.mkdir, os.remove, os.replace

    def install(self) -> None:
        """Patches the file functions of this process, for good, and sets the guard."""
        os.makedirs(self._shadow, exist_ok=True)
        os.stat, os.lstat = self._reader(os.stat), self._reader(os.lstat)
        builtins.open = io.open = self._opener
        os.open = self._opener_of_handles
        os.mkdir = self._mkdir
        os.remove = os.unlink = self._remove
        os.replace = os.rename = self._replace
        sys.addaudithook(self._guard)

    def _inside(self, path: str) -> bool:
        return path.startswith(self._folder) or path.startswith(_HARMLESS)

    def _absolute(self, path: Any) -> str | None:
        """The absolute path that a call means; None for a handle, or what is no path."""
        if isinstance(path, int):
            return None
        try:
            text = os.fsdecode(path)
        except TypeError:
            return None
        return os.path.abspath(text)

    def _shadow_of(self, path: str) -> str:
        return self._shadow + path

    def _current(self, path: str) -> str:
        """Where the present contents of `path` lie: in the shadow, on the disk, or nowhere."""
        shadow = self._shadow_of(path)
        if path in self._gone:
            return shadow
        try:
            self._lstat(shadow)
        except OSError:
            return path
        return shadow

    def _writable(self, path: str, *, keep: bool) -> str:
        """A place in the shadow for `path`, with the disk's contents in it when they are to be kept."""
        shadow = self._shadow_of(path)
        parent = os.path.dirname(path)
        self._stat(self._current(parent))  # FileNotFoundError where the folder is missing, as the real call raises
        self._makedirs(os.path.dirname(shadow))
        self._used = True
        if keep and path not in self._gone and self._current(path) == path:
            with contextlib.suppress(FileNotFoundError, IsADirectoryError):
                shutil.copyfile(path, shadow)
        self._gone.discard(path)
        return shadow

    def _makedirs(self, path: str) -> None:
        missing = []
        while path and path != "/":
            try:
                self._lstat(path)
                break
            except OSError:
                missing.append(path)
                path = os.path.dirname(path)
        for each in reversed(missing):
            self._os_mkdir(each)

    def _reader(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def look(path: Any, *args: Any, **kwargs: Any) -> Any:
            if not self._used or kwargs.get("dir_fd") is not None:
                return real(path, *args, **kwargs)
            absolute = self._absolute(path)
            if absolute is None or self._inside(absolute):
                return real(path, *args, **kwargs)
            return real(self._current(absolute), *args, **kwargs)

        return look

    def _opener(self, file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        absolute = self._absolute(file)
        if absolute is None or self._inside(absolute):
            return self._open(file, mode, *args, **kwargs)
        if set(mode) & set("wax+"):
            keep = "w" not in mode
            return self._open(self._writable(absolute, keep=keep), mode, *args, **kwargs)
        return self._open(self._current(absolute) if self._used else file, mode, *args, **kwargs)

    def _opener_of_handles(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        absolute = self._absolute(path)
        if absolute is None or self._inside(absolute) or dir_fd is not None:
            return self._os_open(path, flags, mode, dir_fd=dir_fd)
        if flags & _WRITING:
            if flags & os.O_EXCL and flags & os.O_CREAT:
                try:
                    self._lstat(self._current(absolute))
                except FileNotFoundError:
                    pass
                else:
                    # a lock that another process left on the real disk does not bind the shadow
                    if self._current(absolute) != absolute:
                        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), absolute)
            return self._os_open(
                self._writable(absolute, keep=not flags & os.O_TRUNC and not flags & os.O_EXCL), flags, mode
            )
        return self._os_open(self._current(absolute) if self._used else path, flags, mode)

    def _mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        absolute = self._absolute(path)
        if absolute is None or self._inside(absolute) or dir_fd is not None:
            self._os_mkdir(path, mode, dir_fd=dir_fd)
            return
        try:
            self._lstat(self._current(absolute))
        except FileNotFoundError:
            self._makedirs(self._writable(absolute, keep=False))
            return
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), absolute)

    def _remove(self, path: Any, *, dir_fd: int | None = None) -> None:
        absolute = self._absolute(path)
        if absolute is None or self._inside(absolute) or dir_fd is not None:
            self._os_remove(path, dir_fd=dir_fd)
            return
        current = self._current(absolute)
        self._lstat(current)
        self._used = True
        if current != absolute:
            self._os_remove(current)
        self._gone.add(absolute)

    def _replace(self, src: Any, dst: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        first, second = self._absolute(src), self._absolute(dst)
        if first is None or second is None or (self._inside(first) and self._inside(second)):
            self._os_replace(src, dst, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
            return
        current = first if self._inside(first) else self._current(first)
        self._lstat(current)
        target = second if self._inside(second) else self._writable(second, keep=False)
        if current == first and not self._inside(first):
            shutil.copyfile(first, target)
            self._gone.add(first)
        else:
            self._os_replace(current, target)
            if not self._inside(first):
                self._gone.add(first)

    def _guard(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            flags = args[2]
            if not isinstance(flags, int) or not flags & _WRITING:
                return
            positions: tuple[int, ...] = (0,)
        elif event in _CHANGES:
            positions = _CHANGES[event]
        else:
            return
        for position in positions:
            absolute = self._absolute(args[position])
            if absolute is not None and not self._inside(os.path.realpath(absolute)) and not self._inside(absolute):
                raise PermissionError(errno.EACCES, "a dry run writes nothing outside its own folder", absolute)
