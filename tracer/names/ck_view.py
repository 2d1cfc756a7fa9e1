"""The common GEMM view of a CK kernel: the fields of a template instance or of a type string in, a GemmView out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracer.model.kernel import GemmView
from tracer.names.stated_view import exact_quotient


def gemm_view(fields: Mapping[str, Any], op: str) -> GemmView | None:
    """The view of a kernel of kind `op`; None when the fields state no tile."""
    m, n, k = fields.get("m_per_block"), fields.get("n_per_block"), fields.get("k_per_block")
    if m is None or n is None:
        return None
    if k is None:
        k = _times(fields.get("k0_per_block"), fields.get("k1"))
    instruction_m = fields.get("m_per_xdl", fields.get("m_per_wmma"))
    instruction_n = fields.get("n_per_xdl", fields.get("n_per_wmma"))
    wave_m = _times(instruction_m, fields.get("m_xdl_per_wave", fields.get("m_repeat")))
    wave_n = _times(instruction_n, fields.get("n_xdl_per_wave", fields.get("n_repeat")))
    return GemmView(
        op=op,
        tile_m=m,
        tile_n=n,
        tile_k=k,
        wave_tile_m=wave_m,
        wave_tile_n=wave_n,
        instruction_m=instruction_m,
        instruction_n=instruction_n,
        waves_m=exact_quotient(m, wave_m),
        waves_n=exact_quotient(n, wave_n),
        threads_per_block=fields.get("block_size"),
        dtype_a=fields.get("dtype_a"),
        dtype_b=fields.get("dtype_b"),
        dtype_c=fields.get("dtype_c"),
        dtype_acc=fields.get("dtype_acc"),
        layout_a=fields.get("layout_a"),
        layout_b=fields.get("layout_b"),
        layout_c=fields.get("layout_c", fields.get("layout_e")),
        stages=fields.get("num_gemm_k_prefetch_stage", fields.get("prefetch_stages")),
        pipeline=_pipeline(fields),
    )


def _pipeline(fields: Mapping[str, Any]) -> str | None:
    sched, version = fields.get("pipeline_sched", fields.get("loop_scheduler")), fields.get("pipeline_version")
    spelled = f"v{version}" if version else fields.get("pipeline_version_classic")
    return " ".join(part for part in (sched and sched.lower(), spelled) if part) or None


def _times(a: int | None, b: int | None) -> int | None:
    return a * b if a is not None and b is not None else None
