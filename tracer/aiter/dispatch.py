"""What aiter's own rules choose for one call across its JIT boundary: the one door for captures, resolve and `check`.

    resolve_dispatch(tree, boundary, target, environment) -> Dispatch | None

None means that no rule is known for the function (the call is then followed by the static index, or not at all).
"""

from __future__ import annotations

from collections.abc import Mapping

from tracer.aiter.ck_dispatch import resolve_ck
from tracer.aiter.families import CK_FAMILIES
from tracer.aiter.hip_dispatch import resolve_hip
from tracer.aiter.moe_cktile_dispatch import resolve_moe_cktile
from tracer.aiter.moe_cktile_generated import MODULE as MOE_CKTILE_MODULE
from tracer.aiter.moe_dispatch import resolve_moe
from tracer.aiter.moe_generated import MODULE as MOE_MODULE
from tracer.aiter.tree import AiterTree
from tracer.model.capture import BoundaryCall
from tracer.model.environment import Target
from tracer.model.source import Dispatch


def resolve_dispatch(
    tree: AiterTree, boundary: BoundaryCall, target: Target, environment: Mapping[str, str]
) -> Dispatch | None:
    """Resolves a call by the rules of the aiter at hand.

    Args:
        tree: the aiter that made the call, or one like it.
        boundary: the call: module, function and argument summaries.
        target: architecture and CU count; a choice that depends on one that is not known stays open.
        environment: the environment variables of the call (`AITER_CONFIG_*` name the tuned CSVs).

    Raises:
        SourceTreeError: a file of the tree is missing or can't be read.
    """
    family = CK_FAMILIES.get(boundary.module)
    if family is not None:
        return resolve_ck(tree, family, boundary, target, environment)
    if boundary.module == MOE_CKTILE_MODULE:
        return resolve_moe_cktile(tree, boundary, target, environment)
    if boundary.module.startswith(MOE_MODULE):
        return resolve_moe(tree, boundary, target, environment)
    return resolve_hip(tree, boundary, target, environment)
