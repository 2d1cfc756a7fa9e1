"""aiter's opus GEMM and batched GEMM names: in comes `opus_gemm_...` or `opus_bmm_...`, out come geometry and options.

    opus_{gemm|bmm}[_{target}][_{pipeline tag}]_{BLOCKxMxNxK}_{waves MxN}_{instruction MxNxK}_{scale block MxNxK}
        {options}[_nooob][_4g_safe][_cA{}cB{}]

    options of the MFMA pipelines   [_wgpcu{}][_selfload][_scaleprefetch][_sfpreload][_ssw][_psod][_k1024|_k1024lb1]
                                    [_preload_sf]     (minterleave prints `_skip_scale_wait` where others print `_ssw`)
    options of gfx1250 split-K      [_c{cluster MxN}]_p{LDS slots}w{work-groups per CU}
    options of gfx1250 fused        _n{cluster N}s{split-K}_ws{f32|bf16}_p{}w{}

The scale block is 0x0x0 where there is none. No cache policy is printed for the traits' default and for the legacy pair
(0, 17), so its absence states nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, GemmView
from tracer.names.base import Key
from tracer.names.formal import FormalGrammar, OneOf
from tracer.names.pattern import Part, Pattern, choice, flag, groups, lit, num, nums, opt, signed, text, words
from tracer.names.stated_view import stated_view
from tracer.names.vocabulary import pick

_MINTERLEAVE = "a8w8_mxscale_flatmm_minterleave"
_GEOMETRY = "_[0-9]+x[0-9]+x[0-9]+x"


def _only_true(key: str, token: str) -> Part:
    """A token that states True; families without the option don't print it either, so absence states nothing."""
    return opt(choice(key, {token: True}))


def _form(tag: Part, *options: Part) -> Pattern:
    return Pattern(
        "aiter_opus_gemm",
        lit("opus_") + words("op", "gemm", "bmm"),
        opt(lit("_") + text("isa", "gfx[0-9a-z]+")),
        tag,
        lit("_"),
        groups(
            nums(("block_size", "m_per_block", "n_per_block", "k_per_block")),
            nums(("m_warp", "n_warp")),
            nums(("m_warp_tile", "n_warp_tile", "k_warp_tile")),
            nums(("scale_block_m", "scale_block_n", "scale_block_k")),
        ),
        *options,
        flag("has_oob", "", absent="_nooob"),
        flag("safe_4g", "_4g_safe"),
        opt(lit("_cA") + signed("cachectl_a") + lit("cB") + signed("cachectl_b")),
    )


def _tag(regex: str) -> Part:
    return lit("_") + text("pipeline_tag", regex, before=_GEOMETRY)


_SLOTS = lit("_p") + num("num_slots") + lit("w") + num("wg_per_cu")
_MFMA = _form(
    opt(_tag(rf"(?!{_MINTERLEAVE}(?![a-z0-9]))(?!gfx)[a-z]\w*?")),
    opt(lit("_wgpcu") + num("wg_per_cu")),
    _only_true("direct_only", "_selfload"),
    _only_true("prefetch_scale", "_scaleprefetch"),
    _only_true("preload_sf", "_sfpreload"),
    _only_true("skip_scale_wait", "_ssw"),
    _only_true("pack_scale_on_demand", "_psod"),
    _only_true("k1024_lb1", "_k1024lb1"),
    _only_true("k1024_only", "_k1024"),
    _only_true("preload_sf_lds", "_preload_sf"),
)
_INTERLEAVED = _form(
    _tag(_MINTERLEAVE),
    lit("_wgpcu") + num("wg_per_cu"),
    _only_true("skip_scale_wait", "_skip_scale_wait"),
)
_SPLIT_K = _form(
    opt(_tag(r"(?!gfx)[a-z]\w*?")),
    opt(lit("_c") + nums(("cluster_m", "cluster_n"))),
    _SLOTS,
)
_FUSED = _form(
    _tag("skfuse"),
    lit("_n") + num("cluster_n") + lit("s") + num("split_k"),
    choice("dtype_workspace", {"_wsf32": "fp32", "_wsbf16": "bf16"}),
    _SLOTS,
)


class Opus(FormalGrammar):
    """aiter's opus GEMMs."""

    name = "opus"
    link = "https://github.com/ROCm/aiter/blob/main/csrc/opus_gemm/opus_gemm_common.py"
    guard = "[a-z0-9]"
    readers: ClassVar[Mapping[str, Pattern | OneOf]] = {
        "opus_gemm_gfx1250_": OneOf(_SPLIT_K, _FUSED, _MFMA),
        "opus_gemm_": OneOf(_MFMA, _SPLIT_K, _FUSED),
        "opus_bmm_": OneOf(_MFMA, _INTERLEAVED),
    }
    keys: ClassVar[Mapping[str, Key]] = {
        **pick(
            "op", "pipeline_tag", "wg_per_cu", "has_oob", "cachectl_a", "cachectl_b", "num_slots", "direct_only",
            "prefetch_scale", "preload_sf_lds", "skip_scale_wait", "pack_scale_on_demand", "dtype_workspace",
            "block_size", "m_per_block", "n_per_block", "k_per_block", "m_warp", "n_warp", "m_warp_tile", "n_warp_tile",
            "k_warp_tile", "scale_block_m", "scale_block_n", "scale_block_k", "isa", "split_k", "cluster_m",
            "cluster_n",
        ),
        "safe_4g": Key("Whether the kernel addresses tensors larger than 4 GiB correctly."),
        "preload_sf": Key("Whether the scales of A and B are loaded to LDS once, before the main loop."),
        "k1024_only": Key("Whether the kernel is for K = 1024 only."),
        "k1024_lb1": Key("Whether the kernel is for K = 1024 and compiled for one block per CU."),
    }  # fmt: skip

    def view(self, decoded: DecodedName) -> GemmView | None:
        """Tile, waves and instruction as named; the wave tile is the tile over the waves."""
        f = decoded.fields
        return stated_view(f, f.get("op"), stages=f.get("num_slots"), pipeline=f.get("pipeline_tag"))
