"""The GEMM view of a kernel whose fields are the vocabulary's: fields in, a `GemmView` out.

A grammar states what its names say in words of their own; all else is looked up by key. The wave tile is the tile over
the waves, where it comes out even.
"""

from __future__ import annotations

from collections.abc import Mapping

from tracer.model.kernel import FieldValue, GemmView

#: what the view shows -> the key that states it
_STATED: Mapping[str, str] = {
    "tile_m": "m_per_block", "tile_n": "n_per_block", "tile_k": "k_per_block",
    "instruction_m": "m_warp_tile", "instruction_n": "n_warp_tile", "instruction_k": "k_warp_tile",
    "waves_m": "m_warp", "waves_n": "n_warp", "waves_k": "k_warp",
    "threads_per_block": "block_size",
    "dtype_a": "dtype_a", "dtype_b": "dtype_b", "dtype_c": "dtype_c", "dtype_acc": "dtype_acc",
    "layout_a": "layout_a", "layout_b": "layout_b", "layout_c": "layout_c",
    "split_k": "split_k",
}  # fmt: skip


def exact_quotient(extent: int | None, count: int | None) -> int | None:
    """`extent` shared equally by `count`; None when one of them is not stated or it does not come out even."""
    if not extent or not count or extent % count:
        return None
    return extent // count


def stated_view(fields: Mapping[str, FieldValue], op: str | None, **said: FieldValue) -> GemmView:
    """The view of a kernel.

    Args:
        fields: as decoded.
        op: what the kernel computes.
        said: attributes of the view that the grammar says itself; they stand in place of what the keys state.
    """
    view = {attribute: fields[key] for attribute, key in _STATED.items() if key in fields} | said
    for axis in "mn":
        view.setdefault(f"wave_tile_{axis}", exact_quotient(view.get(f"tile_{axis}"), view.get(f"waves_{axis}")))
    return GemmView(op=op, **view)


def moe_op(fields: Mapping[str, FieldValue], otherwise: str = "moe") -> str:
    """What a kernel of a two-stage MoE computes; `otherwise` where the name states no stage."""
    return f"moe stage {fields['stage']}" if "stage" in fields else otherwise
