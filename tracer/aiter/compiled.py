"""Whether the kernel that a tuned row names is built: a look-up in, it or a miss `not_compiled_in` out."""

from __future__ import annotations

import msgspec

from tracer.aiter.asm_tables import asm_kernels
from tracer.aiter.binding import recipe
from tracer.aiter.csvfile import key_value
from tracer.aiter.families import CK_FAMILIES
from tracer.aiter.instances import instance_table, module_file
from tracer.aiter.lookups import FUSED_MOE
from tracer.aiter.moe_names import has_instance
from tracer.aiter.tree import AiterTree
from tracer.model.environment import Target
from tracer.model.source import MissReason, TunedLookup, TunedStatus


def compiled_in(tree: AiterTree, op: str, found: TunedLookup, target: Target) -> TunedLookup:
    """Turns a hit into a miss when this aiter builds no kernel for the row; `row` then still says which row it was.

    Raises:
        SourceTreeError: a file of the tree can't be read.
    """
    row = found.row
    if row is None or target.arch is None:
        return found
    if op == FUSED_MOE:
        names = [row.values.get(column, "").strip() for column in ("kernelName1", "kernelName2")]
        return found if all(_moe_kernel(tree, name, target.arch) for name in names) else _not_there(found)
    name, libtype = row.values.get("kernelName", ""), row.values.get("libtype") or None
    if name.startswith("_ZN5aiter"):
        there = name in asm_kernels(tree, target.arch)
    elif libtype in (None, "ck", "cktile"):
        tables = [
            instance_table(tree, family.instances, target.arch)
            for family in CK_FAMILIES.values()
            if family.op == op
            and (libtype is None or ("cktile" in family.instances) is (libtype == "cktile"))
            and recipe(tree, family.module) is not None
            and module_file(tree, family.instances) is not None
        ]
        number = key_value(row.values.get("kernelId", ""))
        there = not tables or any(table.named(name) or number in table.by_id for table in tables)
    else:
        return found
    return found if there else _not_there(found)


def _moe_kernel(tree: AiterTree, name: str, arch: str) -> bool:
    """Whether a MoE kernel is there, as far as that can be told."""
    if name.startswith("_ZN5aiter"):
        return name in asm_kernels(tree, arch)
    return has_instance(tree, name, arch) is not False


def _not_there(found: TunedLookup) -> TunedLookup:
    return msgspec.structs.replace(
        found, status=TunedStatus.MISS, reason=MissReason.NOT_COMPILED_IN, padded_m=None, recorded_us=None
    )
