"""Names places in source as records do: a file name of a code object in, a `SourceRef` relative to its tree out.

A record travels between machines, so no absolute path enters it.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from tracer.model.source import SourceRef

#: frames of this tree are ktrace's own and never recorded
OWN_TREE = "ktrace"


class Places:
    """Maps files to trees, remembering each answer.

    Args:
        roots: (folder, tree, prefix): files in `folder` belong to `tree`, their name is `prefix` plus the rest.
    """

    def __init__(self, roots: Iterable[tuple[str, str, str]]) -> None:
        own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        listed = [(own, OWN_TREE, "tracer/"), *roots]
        self._roots = [(root.rstrip("/") + "/", tree, prefix) for root, tree, prefix in listed]
        paths = sysconfig.get_paths()
        self._stdlib = tuple({p.rstrip("/") + "/" for p in (paths["stdlib"], paths["platstdlib"])})
        self._known: dict[str, tuple[str | None, str]] = {}

    def locate(self, filename: str) -> tuple[str | None, str]:
        """The tree, and the file's name in it."""
        found = self._known.get(filename)
        if found is None:
            found = self._known[filename] = self._find(filename)
        return found

    def ref(self, filename: str, line: int | None) -> SourceRef:
        """The place as a record states it."""
        tree, file = self.locate(filename)
        return SourceRef(file, line, tree)

    def relative_text(self, text: str) -> str:
        """Takes the folders of known trees out of a text (a log line, a message)."""
        for root, _, prefix in self._roots:
            text = text.replace(root, prefix)
        for entry in self._import_path():
            if entry in text:
                text = text.replace(entry, "")
        return text

    def _import_path(self) -> list[str]:
        entries = {os.path.abspath(p).rstrip("/") + "/" for p in sys.path if p}
        return sorted((e for e in entries if len(e) > 2), key=len, reverse=True)

    def _find(self, filename: str) -> tuple[str | None, str]:
        if filename.startswith("<"):
            return ("python" if filename.startswith("<frozen") else None), filename
        path = os.path.abspath(filename)
        for root, tree, prefix in self._roots:
            if path.startswith(root):
                return tree, prefix + path[len(root) :]
        entries = [e for e in self._import_path() if path.startswith(e)]
        for entry in entries:
            inside = path[len(entry) :]
            if entry not in self._stdlib and _holds_packages(entry):
                return inside.split("/", 1)[0].removesuffix(".py"), inside
        for entry in self._stdlib:
            if path.startswith(entry):
                return "python", path[len(entry) :]
        if entries:
            return "user", path[len(entries[0]) :]
        return "user", Path(path).name


def _holds_packages(folder: str) -> bool:
    """Whether packages were installed into a folder: by its name, or (`pip install --target`) by their metadata."""
    if os.path.basename(folder.rstrip("/")) in ("site-packages", "dist-packages"):
        return True
    return next(Path(folder).glob("*.dist-info"), None) is not None
