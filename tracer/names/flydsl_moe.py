"""aiter's FlyDSL two-stage MoE names: in comes `flydsl_moe1_...` or `flydsl_mxmoe_...`, out come its tokens as fields.

    flydsl_moe1_a{A}_w{B}_{C}_t{MxNxK}[_w{}][_kb{}][_bnt{}][_go|_gui][_xcd{}][_kw{}][_fp4|_fp8][_fq][_sbm{}]
    flydsl_moe2_a{A}_w{B}_{C}_t{MxNxK}_{atomic|reduce}[_bnt{}][_xcd{}][_persist][_async][_w{}][_cumul{}][_sbm{}]
    flydsl_moe2_layout_a{A}_w{B}_{C}_t{MxNxK}_{atomic|reduce}[_persist][_nt][_sbm{}][_bf16lds][_sp{}]
    flydsl_mxmoe_g1_a4w4_{MxNxK}[_sk{}][_f16in][_nt][_xcd{}]
    flydsl_mxmoe_g2_a4w4_{MxNxK}[_sk{}][_atomic[_nt]|_f4out|_cshuffle][_xcd{}]

A token that is left out is not always zero: without `_bnt`, moe1 streams its weights (2) and moe2 caches them (0);
without `_w`, moe1 aims for one wave per SIMD. A final `_fp4` or `_fp8` overrides the output type printed before. int4
weights are another kernel, whose registry knows fewer values. `_sbm` is left out when the sorting block equals the
tile's M. `_fq` was printed for two weeks of April 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, GemmView
from tracer.names.base import Key
from tracer.names.formal import FormalGrammar, OneOf
from tracer.names.pattern import Part, Pattern, choice, flag, groups, lit, num, nums, opt, seq, text, words
from tracer.names.stated_view import moe_op, stated_view
from tracer.names.vocabulary import pick

_FAMILY = "aiter_flydsl_moe"
_TILE = nums(("m_per_block", "n_per_block", "k_per_block"))
_TYPE = "(?:bf|mxfp|fp|f)[0-9]+"
_INT_TYPE = "int[0-9]+"
_KINDS = ((_TYPE, False), (_TYPE, True), (_INT_TYPE, False), (_INT_TYPE, True))
_OVERRIDE = choice("dtype_c", {"_fp4": "fp4", "_fp8": "fp8"})
_SORT = opt(lit("_sbm") + num("sort_block_m"))


def _only_true(key: str, token: str) -> Part:
    """A token that states True; leaving it out states nothing, because the caller decides then."""
    return opt(choice(key, {token: True}))


def _head(kind: str, weights: str, out: str, stage: str) -> Part:
    return seq(
        lit("flydsl_moe"),
        choice("stage", {stage: int(stage)}),
        lit(f"{kind}_"),
        groups(
            lit("a") + text("dtype_a", _TYPE),
            lit("w") + text("dtype_b", weights),
            text(out, _TYPE),
            lit("t") + _TILE,
        ),
    )


def _numbered(token: str, key: str, absent: int | None) -> Part:
    """A token with a number; the number that leaving it out states is never printed."""
    return opt(lit(token) + num(key, other_than=absent), absent={} if absent is None else {key: absent})


def _moe1(weights: str, override: bool) -> Pattern:
    known = weights == _TYPE
    return Pattern(
        _FAMILY,
        _head("", weights, "dtype_c_registered" if override else "dtype_c", "1"),
        _numbered("_w", "waves_per_eu", 1 if known else None),
        _numbered("_kb", "split_k", 1 if known else None),
        _numbered("_bnt", "b_nt", 2),
        choice("gate_mode", {"_go": "mock_gate_only", "_gui": "interleave", "": "separated"}) if known else lit(""),
        _numbered("_xcd", "xcd_swizzle", 0 if known else None),
        _numbered("_kw", "k_wave", 1),
        seq(*[_OVERRIDE] if override else []),
        _only_true("fuse_fp4_quant", "_fq"),
        _SORT,
    )


def _moe2(weights: str, override: bool) -> Pattern:
    return Pattern(
        _FAMILY,
        _head("", weights, "dtype_c_registered" if override else "dtype_c", "2"),
        lit("_") + words("reduce_mode", "atomic", "reduce"),
        _numbered("_bnt", "b_nt", 0),
        _numbered("_xcd", "xcd_swizzle", 0 if weights == _TYPE else None),
        _only_true("persistent", "_persist"),
        _only_true("async_copy", "_async"),
        _numbered("_w", "waves_per_eu", None),
        _numbered("_cumul", "cu_num_mul", None),
        seq(*[_OVERRIDE] if override else []),
        _SORT,
    )


_LAYOUT = Pattern(
    _FAMILY,
    _head("_layout", _TYPE, "dtype_c", "2"),
    lit("_") + words("reduce_mode", "atomic", "reduce"),
    flag("persistent", "_persist"),
    flag("use_nt", "_nt"),
    _SORT,
    _only_true("bf16_lds", "_bf16lds"),
    opt(lit("_sp") + num("spart")),
)


def _mxmoe(stage: str, *flags: Part, **constants: bool) -> Pattern:
    return Pattern(
        _FAMILY,
        lit("flydsl_mxmoe_g") + choice("stage", {stage: int(stage)}) + lit("_a4w4_"),
        _TILE,
        _numbered("_sk", "split_k", 0),
        *flags,
        _numbered("_xcd", "xcd_swizzle", 0),
        constants={"a_bits": 4, "b_bits": 4, **constants},
    )


class FlydslMoe(FormalGrammar):
    """aiter's FlyDSL MoE stages."""

    name = "flydsl_moe"
    link = "https://github.com/ROCm/aiter/blob/main/aiter/ops/flydsl/moe_kernels.py"
    guard = "[a-z0-9]"
    readers: ClassVar[Mapping[str, Pattern | OneOf]] = {
        "flydsl_moe1_a": OneOf(*[_moe1(weights, override) for weights, override in _KINDS]),
        "flydsl_moe2_a": OneOf(*[_moe2(weights, override) for weights, override in _KINDS]),
        "flydsl_moe2_layout_a": _LAYOUT,
        "flydsl_mxmoe_g1_a4w4_": _mxmoe("1", flag("inline_quant", "_f16in"), flag("use_nt", "_nt")),
        "flydsl_mxmoe_g2_a4w4_": OneOf(
            _mxmoe(
                "2", choice("atomic", {"_atomic": True}), flag("use_nt", "_nt"), mxfp4_out=False, cshuffle=False
            ),
            _mxmoe(
                "2", flag("use_nt", "_nt"), flag("mxfp4_out", "_f4out"), flag("cshuffle", "_cshuffle"), atomic=False
            ),
        ),
    }  # fmt: skip
    keys: ClassVar[Mapping[str, Key]] = {
        **pick(
            "dtype_c_registered", "use_nt", "atomic", "m_per_block", "n_per_block", "k_per_block", "dtype_a", "dtype_b",
            "dtype_c", "a_bits", "b_bits", "stage", "split_k", "waves_per_eu", "xcd_swizzle", "persistent",
            "async_copy", "sort_block_m", "k_wave", "cshuffle",
        ),
        "b_nt": Key("Cache policy of the weight loads: 0 cached, 2 streamed (non-temporal)."),
        "gate_mode": Key("How gate and up are computed: separated, interleave, or mock_gate_only (with split-K)."),
        "reduce_mode": Key("How the experts' results meet: atomic additions, or a reduction afterwards."),
        "cu_num_mul": Key("Multiple of the number of CUs that the persistent grid has.", "blocks per CU"),
        "bf16_lds": Key("Whether the output tile passes through LDS as bf16."),
        "spart": Key("Value of aiter's `sp` token of the layout kernels, as printed."),
        "inline_quant": Key("Whether the activations come in as 16 bits and are quantised in the kernel."),
        "mxfp4_out": Key("Whether the output is written as MXFP4."),
        "fuse_fp4_quant": Key("Whether the output is quantised to fp4 in the kernel."),
    }  # fmt: skip

    def view(self, decoded: DecodedName) -> GemmView | None:
        """Tile and types as named; split-K where the name states a factor."""
        f = decoded.fields
        return stated_view(f, moe_op(f), waves_k=f.get("k_wave"), split_k=f.get("split_k") or None)
