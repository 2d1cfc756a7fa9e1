"""Public addresses of places in source: a place and the trees of a record in, the place with its permalink out.

A permalink is given only where a commit, or a released version with a tag, is known; a development version has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

import msgspec

from tracer.model.environment import SourceTree
from tracer.model.source import SourceRef

#: tree -> (tag of a release, folder of the package in the repository)
_RELEASES = {
    "torch": ("v{version}", ""),
    "triton": ("v{version}", "python/"),
    "python": ("v{version}", "Lib/"),
}
_RELEASED = re.compile(r"(\d+\.\d+\.\d+)(?:\+(?:cpu|cu\d+|rocm[\d.]+))?")


def _revision(tree: SourceTree) -> tuple[str, str] | None:
    """The commit or tag of a tree, and the folder in the repository that its paths begin in."""
    tag, folder = _RELEASES.get(tree.name, (None, ""))
    if tree.commit is not None:
        return tree.commit, folder
    released = _RELEASED.fullmatch(tree.version or "")
    return (tag.format(version=released[1]), folder) if tag and released else None


def permalink(ref: SourceRef, trees: Sequence[SourceTree]) -> str | None:
    """The address of a place in its public repository; None where repository or revision are not known."""
    tree = next((tree for tree in trees if tree.name == ref.tree), None)
    if tree is None or tree.repository is None or ref.file.startswith(("/", "<")):
        return None
    revision = _revision(tree)
    if revision is None:
        return None
    lines = f"#L{ref.line}" if ref.line is not None else ""
    if ref.line is not None and ref.end_line is not None:
        lines += f"-L{ref.end_line}"
    return f"{tree.repository.rstrip('/')}/blob/{quote(revision[0])}/{revision[1]}{quote(ref.file)}{lines}"


def linked(ref: SourceRef | None, trees: Sequence[SourceTree]) -> SourceRef | None:
    """The same place with its permalink, where it had none and one can be given."""
    if ref is None or ref.permalink is not None:
        return ref
    address = permalink(ref, trees)
    return msgspec.structs.replace(ref, permalink=address) if address else ref
