"""From a kernel on CK-tile to aiter's instances: a symbol's fields in, the instances that compile to it out.

Which family can hold the kernel follows from its class. An instance fits when it is written for the kernel's types and
names the kernel's values: those that aiter's header passes on as they are, or divided by the size of an element.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tracer.aiter import text
from tracer.aiter.ck import header_of
from tracer.aiter.families import TILE_KERNELS
from tracer.aiter.instances import SHARED_KEYS, Instance, module_file
from tracer.aiter.tile_functions import TileFunctions, tile_functions
from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError
from tracer.ops.gemm import WIDTH

_TARGETS = ("gfx942", "gfx950")
#: a constant of the header's struct of tiles that is its template parameter, or that over the size of an element
_PASSED = re.compile(r"static constexpr [\w:]+\s+(\w+)\s*=\s*\1_(\s*/\s*sizeof\(\w+\))?\s*;")
#: generated words for element types, where symbols are decoded to others
_TYPES = {"pk_fp4": "fp4"}
#: what an instance calls blocks of a compute unit is what the compiler is asked to leave room for
_STATED = {"block_per_cu": "min_occupancy"}


def tile_instances(fields: Mapping[str, Any], tree: AiterTree) -> list[tuple[str, Instance]]:
    """(family, instance) of the instances whose kernels decoded fields can be, each name once.

    Raises:
        SourceTreeError: a generator that is there can't be read.
    """
    family = TILE_KERNELS.get(str(fields.get("kernel")))
    if family is None or module_file(tree, family) is None:
        return []
    found: dict[str, Instance] = {}
    for arch in _TARGETS:
        try:
            written = tile_functions(tree, family, arch)
        except SourceTreeError:
            continue
        passed = list(_passed(tree, written.generator))
        for name, instance in written.instances.items():
            if name not in found and _fits(instance, fields, passed) and _has_types(written, name, fields):
                found[name] = instance
    return [(family, instance) for instance in found.values()]


def _passed(tree: AiterTree, generator: str) -> Iterator[tuple[str, bool]]:
    """(key, whether it is divided by the size of an element) of the values that the header takes from an instance."""
    header = header_of(tree, generator, text.read(tree.absolute(generator)))
    content = text.blank_comments(text.read(tree.absolute(header))) if header is not None else ""
    for name, divided in _PASSED.findall(content):
        if name in SHARED_KEYS:
            yield SHARED_KEYS[name], bool(divided)


def _fits(instance: Instance, fields: Mapping[str, Any], passed: list[tuple[str, bool]]) -> bool:
    for key, divided in passed:
        stated = fields.get(_STATED.get(key, key))
        width = WIDTH.get(str(fields.get("dtype_a")), 1) if divided else 1
        if not isinstance(stated, int) or instance.values.get(key) != stated * width:
            return False
    stage = instance.fields.get("stage")
    return bool(passed) and (stage is None or stage == fields.get("stage"))


def _has_types(written: TileFunctions, name: str, fields: Mapping[str, Any]) -> bool:
    """Whether an instance is written for the kernel's types: A (and B, where it has its own), the sum's, C."""
    stated = [fields.get(f"dtype_{letter}") for letter in "abc"]
    for types in written.types.get(name, ()):
        words = [_TYPES.get(word, word) for word in types]
        if [words[0], words[-3], words[-1]] == stated:
            return True
    return False
