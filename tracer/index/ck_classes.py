"""Where Composable Kernel defines what: a tree in, header and line of every struct and `__global__` function out.

A regular expression is enough to find them and quick enough for a thousand headers; a header is parsed only when its
content is asked for.
"""

from __future__ import annotations

import re

import msgspec

from tracer.index.cpp_macros import mask
from tracer.index.recipes import CK
from tracer.index.tree_index import TreeIndex

_STRUCT = re.compile(r"^[ \t]*(?:struct|class)\s+([A-Za-z_]\w*)\s*(?=$|[:{<])", re.MULTILINE)
_GLOBAL = re.compile(r"__global__[^;{}]*?\b([A-Za-z_]\w*)\s*\(", re.DOTALL)
_ATTRIBUTE = re.compile(r"__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)|__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")


class HeaderNames(msgspec.Struct, frozen=True, array_like=True):
    """The structs and kernels of one header: (name, line)."""

    structs: tuple[tuple[str, int], ...] = ()
    kernels: tuple[tuple[str, int], ...] = ()


def _read(data: bytes) -> HeaderNames:
    text = mask(data.decode("latin-1"))
    structs = [(m.group(1), text.count("\n", 0, m.start(1)) + 1) for m in _STRUCT.finditer(text)]
    plain = _ATTRIBUTE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    kernels = [(m.group(1), plain.count("\n", 0, m.start(1)) + 1) for m in _GLOBAL.finditer(plain)]
    return HeaderNames(tuple(structs), tuple(kernels))


class CkClasses:
    """CK's structs and kernels by name; empty where the tree has no CK."""

    def __init__(self, index: TreeIndex) -> None:
        """Reads the names of all headers, from the cache where they have not changed."""
        self.structs: dict[str, list[tuple[str, int]]] = {}
        self.kernels: dict[str, list[tuple[str, int]]] = {}
        root = index.tree.ck_root
        if root is None:
            return
        include = root / "include"
        for path in sorted(include.rglob("*.hpp")):
            names = index.cache.get(path, "ckclasses", HeaderNames, _read)
            file = f"{CK}/include/{path.relative_to(include).as_posix()}"
            for name, line in names.structs if names is not None else ():
                self.structs.setdefault(name, []).append((file, line))
            for name, line in names.kernels if names is not None else ():
                self.kernels.setdefault(name, []).append((file, line))

    def struct(self, name: str) -> list[tuple[str, int]]:
        """(header, line) of the structs of that unqualified name."""
        return self.structs.get(name.rpartition("::")[2], [])

    def kernel(self, name: str) -> list[tuple[str, int]]:
        """(header, line) of the `__global__` functions of that unqualified name."""
        return self.kernels.get(name.rpartition("::")[2], [])
