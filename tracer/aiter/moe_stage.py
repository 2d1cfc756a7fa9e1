"""Which row of the MoE's tuned config led to one stage's call: the stage's arguments in, the look-up out.

The look-up is Python's and happens before the call; what the call passes must agree with it, or nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracer.aiter.cpp_values import Null, Tensor
from tracer.aiter.host_names import enum_members
from tracer.aiter.lookups import FUSED_MOE
from tracer.aiter.tree import AiterTree
from tracer.aiter.tuned import lookup
from tracer.errors import SourceTreeError
from tracer.model.environment import Target
from tracer.model.source import TunedLookup, TunedStatus

#: types of which one stored element holds several values: the extents of a stage do not tell those of the look-up
_PACKED = ("uint32", "float4_e2m1fn_x2", "uint8")


def moe_tuned(
    tree: AiterTree, values: Mapping[str, Any], target: Target, environment: Mapping[str, str]
) -> TunedLookup | None:
    """The look-up behind a call of `ck_moe_stage1` or `ck_moe_stage2`.

    Args:
        tree: the aiter.
        values: the C++ function's arguments by the binding's names.
        target: architecture and CU count.
        environment: the environment of the call.

    Returns:
        None where the arguments do not tell the key, or the kernel that was passed is not the row's.
    """
    stage = 1 if "hidden_states" in values else 2
    key = _key(tree, values, stage)
    passed = values.get("kernelName")
    if key is None or not isinstance(passed, str):
        return None
    try:
        found = lookup(tree, FUSED_MOE, key, target, environment)
    except (KeyError, SourceTreeError):
        return None
    named = found.row.values.get(f"kernelName{stage}", "").strip() if found.row is not None else ""
    agrees = passed == named if found.status is not TunedStatus.MISS else not passed
    return found if agrees else None


def _key(tree: AiterTree, values: Mapping[str, Any], stage: int) -> dict[str, str | int] | None:
    states, out = values.get("hidden_states" if stage == 1 else "inter_states"), values.get("out")
    w1, w2 = values.get("w1"), values.get("w2")
    topk, weights = values.get("topk"), values.get("sorted_weights")
    activation = _member(tree, "ActivationType", values.get("activation"))
    quant = _member(tree, "QuantType", values.get("quant_type"))
    if not all(isinstance(value, Tensor) for value in (states, out, w1, w2)) or activation is None or quant is None:
        return None
    assert isinstance(states, Tensor)
    assert isinstance(out, Tensor)
    assert isinstance(w1, Tensor)
    assert isinstance(w2, Tensor)
    if w1.info.dtype in _PACKED or len(w1.info.shape) != 3 or len(w2.info.shape) != 3 or not isinstance(topk, int):
        return None
    experts, rows, _ = w1.info.shape
    _, model_dim, inter_dim = w2.info.shape
    weighted = not isinstance(weights, Null)
    return {
        "token": states.info.shape[0],
        "model_dim": model_dim,
        "inter_dim": inter_dim,
        "expert": experts,
        "topk": topk,
        "act_type": activation,
        "dtype": f"torch.{out.info.dtype}",
        "q_dtype_a": f"torch.{states.info.dtype}",
        "q_dtype_w": f"torch.{w1.info.dtype}",
        "q_type": quant,
        "use_g1u1": int(rows == 2 * inter_dim),
        "doweight_stage1": int(weighted if stage == 1 else not weighted),
    }


def _member(tree: AiterTree, enum: str, number: Any) -> str | None:
    """An enum's member as the CSV writes it."""
    known = {value: name for name, value in enum_members(tree).items() if name.startswith(f"{enum}::")}
    return known[number].replace("::", ".") if isinstance(number, int) and number in known else None
