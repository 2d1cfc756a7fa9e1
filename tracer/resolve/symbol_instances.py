"""From a CK kernel's name to aiter's instances: a decoded symbol in, the instances that compile to it out.

The symbol's fields are compared with the values in aiter's own instance tables; which table to look in follows from the
grid-wise kernel. Nothing is loaded before a CK name asks for it, so names of other kernels cost nothing.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from tracer.aiter.families import is_tile_kernel
from tracer.aiter.instances import Instance, instance_table, module_file
from tracer.aiter.moe_generated import FAMILY as MOE_FAMILY
from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError
from tracer.model.kernel import DecodedName
from tracer.resolve.moe_instances import is_moe_kernel, moe_instances
from tracer.resolve.tile_instances import tile_instances

#: (grid-wise kernel, whether the kernel is batched, dtype of A where it decides, family)
_FAMILIES: tuple[tuple[str, bool, str | None, str], ...] = (
    ("GridwiseGemmMultiD_ABScale_xdl_cshuffle_v3", False, None, "a8w8_blockscale"),
    ("GridwiseGemmMultiD_blockscale_xdl_cshuffle_v3_b_preshuffle", False, None, "a8w8_blockscale_bpreshuffle"),
    ("GridwiseGemmMultiD_xdl_cshuffle_v3", False, None, "a8w8"),
    ("GridwiseGemmMultiD_xdl_cshuffle_v3", True, "int8", "batched_a8w8"),
    ("GridwiseGemmMultiD_xdl_cshuffle_v3", True, "bf16", "batched_bf16"),
    ("GridwiseGemmMultiD_xdl_cshuffle_v3_b_preshuffle", False, None, "a8w8_bpreshuffle"),
    ("GridwiseGemmMX_xdl_cshuffle_v3_bpreshuffle", False, None, "a4w4_blockscale"),
)
_TARGETS = ("gfx942", "gfx950")
#: a symbol that shares fewer values than this with an instance says too little
_ENOUGH = 12
_ROWS_SHOWN = 5
#: no instance has a shorter name
_SHORTEST = 24


class InstanceMatch(msgspec.Struct, frozen=True, kw_only=True):
    """An instance that compiles to a symbol.

    Attributes:
        instance: its name.
        family: key of `tracer.aiter.instances.MODULES`.
        id: the `kernelId` of the tuned CSVs; negative for a default instance.
        file, line: where it is constructed.
        rows: rows of tuned CSVs that name it, as (file, line), the first few.
        rows_in_total: how many rows name it.
    """

    instance: str
    family: str
    id: int
    file: str
    line: int
    rows: tuple[tuple[str, int], ...] = ()
    rows_in_total: int = 0


def instances_of(decoded: DecodedName, tree: AiterTree | None = None) -> list[InstanceMatch]:
    """The instances whose kernels a decoded name can be; empty for names that are no CK kernel of aiter's.

    Args:
        decoded: what `tracer.names.registry.decode` gave.
        tree: the aiter to look in; the installed one without.
    """
    fields = decoded.fields
    families, moe, tile = _families(fields), is_moe_kernel(fields), is_tile_kernel(fields)
    if not families and not moe and not tile:
        return []
    if tree is None:
        try:
            tree = AiterTree.find()
        except SourceTreeError:
            return []
    found: dict[str, InstanceMatch] = {}
    for family in families:
        for instance in _instances(tree, family):
            if instance.name not in found and _fits(instance, fields):
                found[instance.name] = match_of(tree, family, instance)
    for instance in moe_instances(fields, tree) if moe else ():
        found[instance.name] = match_of(tree, MOE_FAMILY, instance)
    for family, instance in tile_instances(fields, tree) if tile else ():
        found[instance.name] = match_of(tree, family, instance)
    return list(found.values())


def match_of(tree: AiterTree, family: str, instance: Instance) -> InstanceMatch:
    """An instance with the rows of tuned CSVs that name it."""
    rows = rows_naming(tree, instance.name)
    return InstanceMatch(
        instance=instance.name,
        family=family,
        id=instance.id,
        file=instance.file,
        line=instance.line,
        rows=rows[:_ROWS_SHOWN],
        rows_in_total=len(rows),
    )


def _families(fields: dict[str, Any]) -> list[str]:
    gridwise, kernel = fields.get("gridwise"), str(fields.get("kernel", ""))
    batched = "batched" in kernel
    return [
        family
        for name, is_batched, dtype, family in _FAMILIES
        if name == gridwise and is_batched == batched and dtype in (None, fields.get("dtype_a"))
    ]


def _instances(tree: AiterTree, family: str) -> list[Instance]:
    if module_file(tree, family) is None:
        return []
    found: list[Instance] = []
    for arch in _TARGETS:
        try:
            table = instance_table(tree, family, arch)
        except SourceTreeError:
            continue
        found += [*table.by_id.values(), *table.defaults.values()]
    return found


def _fits(instance: Instance, fields: dict[str, Any]) -> bool:
    compared = 0
    for key, value in instance.values.items():
        if key not in fields:
            continue
        stated = fields[key]
        if key == "cshuffle_n" and isinstance(value, int) and isinstance(fields.get("n_xdl_per_wave"), int):
            value = min(value, fields["n_xdl_per_wave"])  # CK's device operations clamp it so
        if key == "c_block_spv":
            stated = stated if isinstance(stated, list) else [stated]
        if stated != value:
            return False
        compared += 1
    return compared >= _ENOUGH


def rows_naming(tree: AiterTree, name: str) -> tuple[tuple[str, int], ...]:
    """(file, line) of the tuned CSV rows that name an instance."""
    found = _named_rows(tree.configs_root, _stamp(tree.configs_root)).get(name.encode(), ())
    return tuple((tree.relative(path) or path, line) for path, line in found)


def _stamp(folder: Path) -> int:
    """Changes whenever a CSV below a folder does."""
    try:
        return max((p.stat().st_mtime_ns for p in folder.rglob("*.csv")), default=0)
    except OSError:
        return 0


@lru_cache(maxsize=2)
def _named_rows(folder: Path, stamp: int) -> dict[bytes, list[tuple[str, int]]]:
    """Long names in the CSVs below a folder, and the rows that hold them."""
    del stamp  # part of the cache's key
    found: dict[bytes, list[tuple[str, int]]] = {}
    for path in sorted(folder.rglob("*.csv")):
        try:
            data = path.read_bytes()
        except OSError:
            continue
        where = str(path)
        for number, line in enumerate(data.split(b"\n"), 1):
            for field in line.split(b","):
                if len(field) >= _SHORTEST:
                    found.setdefault(field.strip(b' "\r'), []).append((where, number))
    return found
