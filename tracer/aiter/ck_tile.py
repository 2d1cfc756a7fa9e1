"""From aiter's generated CK-tile instances to their kernel: a generator script in, the places on the way out.

A CK-tile kernel is a struct whose call operator is the device code; aiter's header names it and launches it itself.
"""

from __future__ import annotations

import re

import msgspec

from tracer.aiter import text
from tracer.aiter.ck import CK, CkPlaces, Place, header_of
from tracer.aiter.cpp_source import load
from tracer.aiter.tree import AiterTree

_KERNEL = re.compile(r"using\s+Kernel\s*=\s*ck_tile::(\w+)\s*<")
_LAUNCH = r"\bck_tile::launch_kernel\s*\("
_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](ck_tile/[^">]+)[">]', re.MULTILINE)
_DEEPEST = 4


def tile_places(tree: AiterTree, generator: str) -> CkPlaces | None:
    """Follows a generator script to a CK-tile kernel; None where its header launches none.

    Raises:
        SourceTreeError: a file that is there can't be read.
    """
    header = header_of(tree, generator, text.read(tree.absolute(generator)))
    if header is None:
        return None
    path = tree.absolute(header)
    content = text.blank_comments(text.read(path))
    named = _KERNEL.search(content)
    launch = text.find_line(path, _LAUNCH)
    if named is None or launch is None:
        return None
    kernel = named.group(1)
    found = CkPlaces(wrapper=_around(tree, header, launch), launch=Place("ck_tile::launch_kernel", header, launch))
    if tree.ck_root is None:
        missing = f"ck_tile::{kernel} is defined in {CK}, a submodule that this tree does not have (not fetched)"
        return msgspec.structs.replace(found, missing=missing)
    file = _defining(tree, header, kernel)
    line = text.find_line(tree.absolute(file), rf"^\s*struct\s+{kernel}\b(?!.*;)") if file else None
    if file is None or line is None:
        return msgspec.structs.replace(found, missing=f"no header that {header} includes defines {kernel}")
    return msgspec.structs.replace(found, kernel=Place(f"ck_tile::{kernel}", file, line))


def _around(tree: AiterTree, header: str, line: int) -> Place | None:
    """The function of aiter's that a line stands in."""
    for name, node in load(tree.absolute(header)).functions.items():
        if int(node.start_point[0]) + 1 <= line <= int(node.end_point[0]) + 1:
            start = text.find_line(tree.absolute(header), rf"\b{name}\s*\(", start=int(node.start_point[0]) + 1)
            return Place(name, header, start or int(node.start_point[0]) + 1)
    return None


def _defining(tree: AiterTree, header: str, struct: str) -> str | None:
    """The CK header that defines a struct: aiter's includes, then what those include."""
    wanted = re.compile(rf"^\s*struct\s+{struct}\b[^;]*$", re.MULTILINE)
    level, seen = [header], {header}
    for _ in range(_DEEPEST):
        reached: list[str] = []
        for file in level:
            content = text.read(tree.absolute(file))
            if wanted.search(content):
                return file
            names = [f"{CK}/include/{name}" for name in _INCLUDE.findall(content)]
            names += _local(tree, file, content)
            reached += [name for name in names if name not in seen and tree.absolute(name).is_file()]
            seen.update(names)
        level = list(dict.fromkeys(reached))
    return None


def _local(tree: AiterTree, file: str, content: str) -> list[str]:
    """Headers of the same folder that a header includes by their bare names."""
    folder = file.rsplit("/", 1)[0]
    return [f"{folder}/{name}" for name in re.findall(r'^\s*#\s*include\s*"([\w.]+)"', content, re.MULTILINE)]
