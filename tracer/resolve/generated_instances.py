"""Instances that only a generator's evaluation lists: a name in, its entry and the places that it leads to out.

Tables of the MoE stages depend on types, activation and quantisation, so no table of a tree holds their names as they
stand: aiter's generator is evaluated for the JIT modules that can hold the name, for either target.
"""

from __future__ import annotations

import msgspec

from tracer.aiter.ck import CkPlaces, places_of_function
from tracer.aiter.ck_tile import tile_places
from tracer.aiter.instances import Instance
from tracer.aiter.moe_cktile_generated import FAMILY as TILE_FAMILY
from tracer.aiter.moe_cktile_generated import GENERATOR as TILE_GENERATOR
from tracer.aiter.moe_cktile_generated import MODULE as TILE_MODULE
from tracer.aiter.moe_cktile_generated import tile_generated
from tracer.aiter.moe_generated import FAMILY, MODULE
from tracer.aiter.moe_names import written_instances
from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError
from tracer.resolve.moe_code import is_moe_name

_TARGETS = ("gfx942", "gfx950")


class GeneratedInstance(msgspec.Struct, frozen=True, kw_only=True):
    """An instance of a MoE stage.

    Attributes:
        family: key of `tracer.aiter.instances.MODULES`.
        module: the JIT module, without the words of its types.
        instance: the entry of the table.
        places: where its function leads to in CK.
    """

    family: str
    module: str
    instance: Instance
    places: CkPlaces


def generated_instance(tree: AiterTree, name: str) -> GeneratedInstance | None:
    """The instance that aiter's generators write under a name; None for other names.

    Raises:
        SourceTreeError: a file that is there can't be read.
    """
    for arch in _TARGETS:
        for written in written_instances(tree, name, arch)[:1] if is_moe_name(name) else ():
            version = written.instance.values.get("pipeline_version")
            function = written.template.partition("<")[0]
            places = places_of_function(tree, written.header, function, version)
            return GeneratedInstance(family=FAMILY, module=MODULE, instance=written.instance, places=places)
        if is_tile_name(name):
            instance = _tile_instance(tree, name, arch)
            if instance is not None:
                places = tile_places(tree, TILE_GENERATOR) or CkPlaces()
                return GeneratedInstance(family=TILE_FAMILY, module=TILE_MODULE, instance=instance, places=places)
    return None


def is_tile_name(name: str) -> bool:
    """Whether a name is one of the two-stage MoE's on CK-tile."""
    return name.startswith(f"{TILE_FAMILY}_gemm")


def _tile_instance(tree: AiterTree, name: str, arch: str) -> Instance | None:
    try:
        return tile_generated(tree, arch).instances.get(name)
    except SourceTreeError:
        return None
