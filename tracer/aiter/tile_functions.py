"""The functions of aiter's instances on CK-tile: a family and a target in, each instance with its generated C++ out.

Such a function builds the arguments of CK-tile's kernel and calls the template of aiter's header that launches it.
Only aiter's generator writes it, so the generator is evaluated.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from tracer.aiter import moe_cktile_generated as moe
from tracer.aiter import text
from tracer.aiter.generator_run import functions, instantiations, written_files
from tracer.aiter.instances import MODULES, Instance, instance_table
from tracer.aiter.tree import AiterTree

DEEPGEMM = "deepgemm"
#: (family, what the names of its instances begin with, its generator)
_FAMILIES = (
    (DEEPGEMM, f"{DEEPGEMM}_", "csrc/ck_deepgemm/gen_instances.py"),
    (moe.FAMILY, f"{moe.FAMILY}_gemm", moe.GENERATOR),
)
#: keys of `tracer.aiter.instances.MODULES`
TILE_FAMILIES = tuple(family for family, _, _ in _FAMILIES)


class TileFunctions(msgspec.Struct, frozen=True, kw_only=True):
    """The instances of a family that its generator writes.

    Attributes:
        family: key of `tracer.aiter.instances.MODULES`.
        generator: the script, relative to the tree.
        instances: by name.
        texts: instance name -> the C++ that defines its function.
        types: instance name -> the argument lists that it is instantiated with.
    """

    family: str
    generator: str
    instances: dict[str, Instance]
    texts: dict[str, str]
    types: dict[str, tuple[tuple[str, ...], ...]]


def tile_family(name: str) -> str | None:
    """The family on CK-tile that an instance's name is of; None for other names."""
    return next((family for family, beginning, _ in _FAMILIES if name.startswith(beginning)), None)


def tile_functions(tree: AiterTree, family: str, arch: str) -> TileFunctions:
    """The instances of a family on a target.

    Raises:
        SourceTreeError: the generator or its tables can't be read, or not be evaluated.
    """
    generator = next(script for known, _, script in _FAMILIES if known == family)
    if family == moe.FAMILY:
        made = moe.tile_generated(tree, arch)
        return TileFunctions(
            family=family, generator=generator, instances=made.instances, texts=made.functions, types=made.compiled
        )
    tables = MODULES[family][0]
    scripts = tuple(text.read(tree.absolute(file)) for file in (generator, tables))
    return _of_table(tree, family, generator, tables, arch, scripts)


@lru_cache(maxsize=8)
def _of_table(
    tree: AiterTree, family: str, generator: str, tables: str, arch: str, scripts: tuple[str, ...]
) -> TileFunctions:
    del scripts  # part of the cache's key
    written = written_files(tree, generator, tables, arch)
    return TileFunctions(
        family=family,
        generator=generator,
        instances={instance.name: instance for instance in instance_table(tree, family, arch).by_id.values()},
        texts=functions(written),
        types=instantiations(written),
    )
