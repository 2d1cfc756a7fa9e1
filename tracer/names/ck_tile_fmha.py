"""CK-tile FMHA instance names, `fmha_fwd_d128_bf16_batch_b128x...`: forward, backward, split-KV, paged, prefill.

    fmha_{kind}_d{head size}_{type}_{batch|group}_{tile}[_o{occupancy}]_{pipeline}_v{r|c}_{pads}_{options}

Three generations: CK of 2024 prints one `_r` and one `_w` group, a tile-partitioner tag, and only the options that are
on; CK of 2025 prints two of each and negatives (`_nbias_nmask`); rocm-libraries of 2026 has `_nqscale` for `_nsquant`,
`_nsink`, and the KV cache's page size and layout. A file's name adds the architecture.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tracer.names.attention_keys import attention
from tracer.names.base import Key
from tracer.names.ck_tile_fmha_parts import (
    BIAS,
    BIAS_N,
    BWD_TILE,
    HEAD,
    ISA,
    MASK,
    MASK_N,
    MODE,
    OCCUPANCY,
    PADS,
    PADS_N,
    PIPELINE,
    QUANT,
    TILE,
    TILE_OLD,
    V_LAYOUT,
    on,
    on_or_n,
    pads,
    tile,
)
from tracer.names.formal import FormalGrammar, OneOf
from tracer.names.parts import choice, flag, lit, num, nums, opt, seq, signed, table, text, words
from tracer.names.pattern import Pattern
from tracer.names.vocabulary import pick

_CODEGEN = "example/ck_tile/01_fmha/codegen (ROCm/composable_kernel)"
_U = lit("_")
_DROPOUTS = tuple(f"dropout_wg{n}{store}" for n in (32, 16) for store in ("", "_storerandval"))
_MULTIPLES: dict[str, tuple[Any, Any]] = {"_npad": (0, 0)} | {
    "_p" + (f"d{d}" if d else "") + (f"dv{dv}" if dv else ""): (d, dv) for d in (0, 1, 8) for dv in (0, 1, 8) if d or dv
}

_LOGITS = opt(on_or_n("logits_soft_cap", "logits"))
_SINK = opt(on_or_n("sink", "sink"))
_SKIP = opt(on_or_n("skip_min_seqlen_q", "skip"))

_FWD = OneOf(
    Pattern(
        "ck_tile_fmha_fwd",
        seq(lit("fmha_fwd_d"), HEAD, _U, MODE, _U, TILE, OCCUPANCY, _U, PIPELINE, V_LAYOUT, PADS_N),
        seq(_LOGITS, BIAS_N, MASK_N, on_or_n("lse", "lse"), on_or_n("dropout", "dropout"), _SKIP, QUANT),
        opt(on_or_n("trload", "trload")),
        opt(on_or_n("kv_lds_prefetch", "kvldsprefetch") + on_or_n("progressive_ds_load_k", "progressivedsk")),
        seq(_SINK, ISA),
    ),
    Pattern(
        "ck_tile_fmha_fwd",
        seq(lit("fmha_fwd_d"), HEAD, _U, choice("group_mode", {"batch_shb": False, "group_hbs": True}), _U, TILE_OLD),
        seq(OCCUPANCY, _U, PIPELINE, V_LAYOUT, PADS, BIAS, MASK),
        seq(on("lse", "lse"), on("dropout", "dropout"), on("static_quant", "squant")),
    ),
)
_BATCH_PREFILL = Pattern(
    "ck_tile_fmha_batch_prefill",
    seq(lit("fmha_batch_prefill_d"), HEAD, _U, MODE, _U),
    opt(lit("ps") + num("page_size") + _U + flag("kv_64bit_load", "64bit_")),
    seq(TILE, OCCUPANCY, _U, PIPELINE, V_LAYOUT, PADS_N),
    seq(_LOGITS, BIAS_N, MASK_N, on_or_n("lse", "lse"), on_or_n("dropout", "dropout"), QUANT, _SINK),
    opt(_U + words("kv_memory_layout", "vectorized", "linear") + _U + text("kv_lookup_table", "[a-z][a-z0-9]*")),
    ISA,
)
_PAGEDKV = Pattern(
    "ck_tile_fmha_pagedkv",
    seq(lit("fmha_fwd_pagedkv_d"), HEAD, _U, MODE, _U, TILE, OCCUPANCY, _U, PIPELINE, V_LAYOUT, PADS_N),
    seq(_LOGITS, BIAS_N, MASK_N, on_or_n("lse", "lse"), _SKIP, QUANT, on_or_n("paged_kv", "pagedkv"), _SINK, ISA),
)
_SPLITKV = OneOf(
    Pattern(
        "ck_tile_fmha_splitkv",
        seq(lit("fmha_fwd_splitkv_d"), HEAD, _U, MODE, _U, TILE, OCCUPANCY, _U, PIPELINE, V_LAYOUT, PADS_N),
        seq(_LOGITS, BIAS_N, MASK_N, on_or_n("lse", "lse"), QUANT, on_or_n("paged_kv", "pagedkv"), _SINK, ISA),
    ),
    Pattern(
        "ck_tile_fmha_splitkv",
        seq(lit("fmha_fwd_splitkv_d"), HEAD, _U, MODE, _U, TILE_OLD, OCCUPANCY, _U, PIPELINE, V_LAYOUT, PADS, BIAS),
        seq(MASK, on("lse", "lse"), on("static_quant", "squant"), on("paged_kv", "pagedkv")),
    ),
)
_COMBINE = OneOf(
    Pattern(
        "ck_tile_fmha_splitkv",
        seq(lit("fmha_fwd_splitkv_combine_d"), HEAD, _U, MODE, _U, tile("b{bn1}"), OCCUPANCY, _U),
        seq(words("pipeline_tag", "unused"), pads("s", "dv", none="_npad"), on_or_n("lse", "lse"), QUANT, ISA),
    ),
    Pattern(
        "ck_tile_fmha_splitkv",
        seq(lit("fmha_fwd_splitkv_combine_d"), HEAD, _U, MODE, _U, tile("b{bm0}x{bn1}"), OCCUPANCY, _U),
        seq(words("pipeline_tag", "unused"), pads("s", "dv"), on("lse", "lse"), on("static_quant", "squant")),
    ),
)
_APPENDKV = Pattern(
    "ck_tile_fmha_appendkv",
    seq(lit("fmha_fwd_appendkv_d"), HEAD, _U, tile("b{bs}x{bsk}x{bd}x{bdv}"), OCCUPANCY, V_LAYOUT, PADS),
    choice("rope", {"": "no", "_inter": "inter", "_half": "half"}),
    seq(on("paged_kv", "pagedkv"), ISA),
)
_BWD = OneOf(
    Pattern(
        "ck_tile_fmha_bwd",
        seq(lit("fmha_bwd_d"), HEAD, _U, MODE, _U, BWD_TILE, lit("_o"), signed("occupancy"), lit("_maxq")),
        seq(num("max_seq_q"), table(("pad_head_dim", "pad_head_dim_v"), _MULTIPLES), BIAS_N, on_or_n("dbias", "dbias")),
        choice("mask", {"_nmask": "no", "_mask": "mask", "_mc": "causal", "_mg": "generic"}),
        choice("dropout_kind", {"_ndropout": "no"} | {f"_{kind}": kind for kind in _DROPOUTS}),
        seq(on_or_n("deterministic", "deterministic"), on_or_n("trload", "trload"), ISA),
    ),
    Pattern(
        "ck_tile_fmha_bwd",
        seq(lit("fmha_bwd_d"), HEAD, _U, MODE, _U, BWD_TILE, lit("_o"), signed("occupancy"), _U),
        seq(words("pipeline_tag", "kr_ktr_vr_iglp", "kr_ktr_vr"), PADS, BIAS, on("dbias", "dbias")),
        choice("mask", {"": "no", "_mask": "mask", "_mc": "causal", "_mg": "generic"}),
        choice("dropout_kind", {"": "no"} | {f"_{kind}": kind for kind in _DROPOUTS}),
        on("deterministic", "deterministic"),
    ),
)
_DOT_DO_O = OneOf(
    Pattern(
        "ck_tile_fmha_bwd",
        seq(lit("fmha_bwd_dot_do_o_d"), HEAD, lit("_b"), num("bm0"), _U, MODE, lit("_o"), signed("occupancy")),
        seq(pads("s", "dv", none="_npad"), ISA),
    ),
    Pattern(
        "ck_tile_fmha_bwd",
        seq(lit("fmha_bwd_dot_do_o_d"), HEAD, _U, MODE, lit("_o"), signed("occupancy"), pads("s", "dv")),
    ),
)
_CONVERT_HEAD = seq(
    lit("fmha_bwd_convert_dq_d"), HEAD, lit("_b"), nums(("bm0", "bn0")), _U, MODE, lit("_o"), signed("occupancy")
)
_CONVERT_DQ = OneOf(
    Pattern(
        "ck_tile_fmha_bwd",
        seq(_CONVERT_HEAD, pads("s", "d", none="_npad"), on_or_n("deterministic", "deterministic"), ISA),
    ),
    # the fields of both generations are the same: a field tells which of the two spellings it is
    Pattern(
        "ck_tile_fmha_bwd",
        seq(_CONVERT_HEAD, pads("s", "d"), on("deterministic", "deterministic")),
        constants={"negatives_printed": False},
    ),
)


class CkTileFmha(FormalGrammar):
    """CK-tile FMHA instances."""

    name = "ck_tile_fmha"
    readers: ClassVar[Mapping[str, Pattern | OneOf]] = {
        "fmha_fwd_d": _FWD,
        "fmha_batch_prefill_d": _BATCH_PREFILL,
        "fmha_fwd_pagedkv_d": _PAGEDKV,
        "fmha_fwd_splitkv_d": _SPLITKV,
        "fmha_fwd_splitkv_combine_d": _COMBINE,
        "fmha_fwd_appendkv_d": _APPENDKV,
        "fmha_bwd_d": _BWD,
        "fmha_bwd_dot_do_o_d": _DOT_DO_O,
        "fmha_bwd_convert_dq_d": _CONVERT_DQ,
    }
    link = "https://github.com/ROCm/composable_kernel/tree/develop/example/ck_tile/01_fmha/codegen"
    keys: ClassVar[Mapping[str, Key]] = {
        **pick("kv_memory_layout", "kv_lookup_table"),
        **attention(
            "head_dim", "dtype_a", "group_mode", "mask", "masked", "lse", "paged_kv", "page_size", "pad_seqlen_q",
            "pad_seqlen_k", "pad_head_dim", "pad_head_dim_v", "logits_soft_cap", "bias", "dbias", "dropout",
            "static_quant", "qscale", "sink", "skip_min_seqlen_q", "trload", "deterministic", "occupancy", "v_layout",
            "pipeline_tag", "max_seq_q", "isa",
        ),
        "tile": Key(
            "Tile of one block by the generator's names: bm0 x bn0 is Q x K rows, bk0/bk1 steps, bn1 columns of V,"
            " bk0max the whole head size; rm/rn/rk are waves, wm/wn/wk matrix instructions.",
            "elements",
            _CODEGEN,
        ),
        "bm0": Key("Rows of Q (of its gradient) that one block computes.", "rows", _CODEGEN),
        "bn0": Key("Rows of K that one block computes.", "rows", _CODEGEN),
        "dropout_kind": Key("Dropout of the backward pass: no, or what instruction and store.", None, _CODEGEN),
        "rope": Key("Rotary embedding: no, inter(leaved) or half (rotated).", None, _CODEGEN),
        "kv_lds_prefetch": Key("Whether K and V are prefetched into two LDS buffers.", None, _CODEGEN),
        "progressive_ds_load_k": Key("Whether K is read from LDS step by step.", None, _CODEGEN),
        "kv_64bit_load": Key("Whether K and V are read with 64-bit addresses (caches over 2 GB).", None, _CODEGEN),
        "negatives_printed": Key("False for a name of CK of 2024, which prints no negatives.", None, _CODEGEN),

    }  # fmt: skip
