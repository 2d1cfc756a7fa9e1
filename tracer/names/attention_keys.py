"""Glossary entries of attention kernels that several grammars share: no input, keys and their meaning out."""

from __future__ import annotations

from collections.abc import Mapping

from tracer.names.base import Key
from tracer.names.vocabulary import pick

_CODEGEN = "example/ck_tile/01_fmha/codegen (ROCm/composable_kernel)"

ATTENTION_KEYS: Mapping[str, Key] = {
    **pick(
        "pad_seqlen_k",
        "pad_head_dim_v",
        "bias",
        "masked",
        "deterministic",
        "occupancy",
        "pipeline_tag",
        "head_dim",
        "head_dim_v",
        "mask",
        "group_mode",
        "lse",
        "paged_kv",
        "page_size",
        "dtype_a",
        "isa",
    ),
    "pad_seqlen_q": Key("Whether the length of Q may end inside a tile.", None, _CODEGEN),
    "pad_head_dim": Key("Whether the head size of Q and K may end inside a tile.", None, _CODEGEN),
    "logits_soft_cap": Key("Whether logits are capped by a tanh before the softmax.", None, _CODEGEN),
    "dbias": Key("Whether the gradient of the bias is computed.", None, _CODEGEN),
    "dropout": Key("Whether dropout is applied.", None, _CODEGEN),
    "static_quant": Key("Whether Q, K, V and P are quantised to fp8 by one scale a tensor.", None, _CODEGEN),
    "qscale": Key("How Q, K and V are scaled: no, pertensor, or a block that shares a scale.", None, _CODEGEN),
    "sink": Key("Whether the softmax has attention sinks.", None, _CODEGEN),
    "skip_min_seqlen_q": Key("Whether batches with a shorter Q than a given length are skipped.", None, _CODEGEN),
    "trload": Key("Whether tiles are read from LDS transposed (gfx950).", None, _CODEGEN),
    "v_layout": Key("Storage order of V: row (head size fastest) or col.", None, _CODEGEN),
    "max_seq_q": Key("Longest Q that the kernel takes; 0 is any.", "tokens", _CODEGEN),
}


def attention(*keys: str) -> dict[str, Key]:
    """The entries for `keys`. Raises KeyError for one that is not here."""
    return {key: ATTENTION_KEYS[key] for key in keys}
