"""Patterns of aiter's assembly attention and top-k softmax kernels: nothing comes in, patterns and keys come out.

fmha_fwd_hd{D}[x{Dv}|_hd{Dv}]_{types}[_causal][_{rounding}][_group][_gfx950]
fmha_{C type}_pertoken{type}_hd{D}_{tile}[_mask][_varlen]
MXFP8_FMHA_FWD_D{D}_{N}TG_{N}W_{M}mx{waves}_{N}nx{waves}[_CAUSAL]_KERNEL_FUNC
fmha_bwd_hd{D}[_{Dv}|_hd{Dv}]_{type}[_causal[_br]|_swa]_{a16|a32}[_{rounding}][_pssk|_psskddv|_pddv][_group][_recompile]
fmha_bwd_hd{D}_{odo|dq_convert|dq_shuffle}[_{type}][_{rounding}][_group]
mla_a{bits}w{bits}_qh{heads}_qseqlen{N}_gqaratio{N}[_causal|_msk0][_lse][_cprr][_v{N}][_ps][_page][_nm]
mla_a{bits}w{bits}_qh{heads}_m{M}x{waves}_n{N}x{waves}[_coex{N}]_{mask|msk}{N}[_lse][_ps][_page{N}][_ds{N}]
mla_a{bits}w{bits}_qh{heads}_{N}tg_{M}mx{waves}_{N}nx{waves}[_np][_{N}p][_sparse]
pa_{Q type}_{noquant|pertoken{KV type}}_gqa{N}_{N}tg_{N}w[_hp|_uhp][_mtp|_qlen{N}][_msk{N}]
PA_A{bits}W{bits}_BLK{page}_{N}TG_{N}W_{M}mx{waves}_{N}nx{waves}_MTP[_PS][_PB]
topksoftmax_{rows}x{experts}x{k}[_bf16]
"""

from __future__ import annotations

from collections.abc import Mapping

from tracer.names.base import Key
from tracer.names.pattern import (
    NOT_STATED,
    NUMBER,
    Part,
    Pattern,
    also,
    choice,
    flag,
    int_list,
    lit,
    num,
    nums,
    opt,
    seq,
    table,
    words,
)
from tracer.names.vocabulary import pick

FWD, BWD, MLA, PA, TOPK = (
    "aiter_asm_fmha",
    "aiter_asm_fmha_bwd",
    "aiter_asm_mla",
    "aiter_asm_pa",
    "aiter_asm_topksoftmax",
)
_NS = flag("in_namespace", "aiter::")
_GROUP = flag("group_mode", "_group")
_LSE = flag("lse", "_lse")
_PS = flag("persistent", "_ps")
_CVT = opt(lit("_") + words("bf16_cvt", "rtne", "rtna", "rtz"))
_BITS = seq(lit("a"), num("a_bits"), lit("w"), num("b_bits"))
_M_FIRST = seq(lit("m"), nums(("tile_m_per_wave", "m_warp")), lit("_n"), nums(("tile_n_per_wave", "n_warp")))
_NUMBER_FIRST = seq(
    num("tile_m_per_wave"), lit("mx"), num("m_warp"), lit("_"), num("tile_n_per_wave"), lit("nx"), num("n_warp")
)


def _groups_and_waves(tg: str, w: str) -> Part:
    return seq(num("tg_num"), lit(tg), num("num_waves"), lit(w))


def _same_number(key: str, other: str) -> Part:
    """A number that two keys hold: the table's column and the token's own name."""
    return also(key, NUMBER, int) + num(other)


# --- forward ---------------------------------------------------------------------------------------------
def _fwd(*types: Part) -> tuple[Pattern, ...]:
    tail = (lit("_"), *types, flag("causal", "_causal"), _CVT, _GROUP, opt(lit("_") + words("isa", "gfx950")))
    head = (_NS, lit("fmha_fwd_hd"), num("head_dim"))
    return (
        Pattern(FWD, *head, opt(lit("x") + num("head_dim_v")), *tail),
        Pattern(FWD, *head, lit("_"), words("head_dim_word", "hd"), num("head_dim_v"), *tail),
    )


_PER_TOKEN = Pattern(
    FWD, _NS, lit("fmha_"), words("dtype_c", "bf16", "fp16"), lit("_pertoken"),
    choice("dtype_a", {"Bf16": "bf16", "Fp16": "fp16", "Fp8": "fp8"}), lit("_hd"), num("head_dim"), lit("_"),
    int_list("tile_extents", count=2), flag("causal", "_mask"), flag("group_mode", "_varlen"),
)  # fmt: skip
_MXFP8 = Pattern(
    FWD, _NS, choice("dtype_a", {"MXFP8": "mxfp8"}), lit("_FMHA_FWD_D"), num("head_dim"), lit("_"),
    _groups_and_waves("TG_", "W_"), _NUMBER_FIRST, flag("causal", "_CAUSAL"), lit("_KERNEL_FUNC"),
)  # fmt: skip

# --- backward --------------------------------------------------------------------------------------------
_MASK = table(
    ("causal", "causal_bottom_right", "sliding_window"),
    {
        "_causal_br": (True, True, NOT_STATED),
        "_causal": (True, NOT_STATED, NOT_STATED),
        "_swa": (False, NOT_STATED, True),
        "": (False, NOT_STATED, NOT_STATED),
    },
)
_ATOMIC = lit("_") + choice("atomic32", {"a32": True, "a16": False})


def _pads(without_ddv: object) -> Part:
    """Padding of K's length and V's head; kernels for two head sizes pad V's head without saying so."""
    return table(
        ("pad_seqlen_k", "pad_head_dim_v"),
        {"_psskddv": (True, True), "_pssk": (True, without_ddv), "_pddv": (False, True), "": (False, without_ddv)},
    )


def _bwd(*head_dim_v: Part) -> Pattern:
    return Pattern(
        BWD, _NS, lit("fmha_bwd_hd"), num("head_dim"), *head_dim_v, lit("_"), words("dtype_a", "bf16", "fp16"), _MASK,
        _ATOMIC, _CVT, _pads(NOT_STATED if head_dim_v else False), _GROUP, flag("recompile", "_recompile"),
        constants={"op": "dqdkdv"},
    )  # fmt: skip


def _bwd_step(*parts: Part) -> Pattern:
    silent = dict.fromkeys(("atomic32", "causal", "pad_seqlen_k", "pad_head_dim_v"), False)
    return Pattern(BWD, _NS, lit("fmha_bwd_hd"), num("head_dim"), lit("_"), *parts, _GROUP, constants=silent)


_TYPE = lit("_") + words("dtype_a", "bf16", "fp16")
_BWD = (
    _bwd(),
    _bwd(lit("_"), num("head_dim_v")),
    _bwd(lit("_"), words("head_dim_word", "hd"), num("head_dim_v")),
    _bwd_step(words("op", "odo"), _TYPE),
    _bwd_step(words("op", "dq_convert"), _TYPE, _CVT),
    _bwd_step(words("op", "dq_shuffle")),
)

# --- latent attention ------------------------------------------------------------------------------------
_MLA_HEAD = (_NS, lit("mla_"), _BITS, lit("_qh"))
_NEVER_LSE: Mapping[str, bool] = {"lse": False}
_MLA = (
    Pattern(
        MLA, *_MLA_HEAD, num("q_heads"), lit("_qseqlen"), num("q_seq_len"), lit("_gqaratio"), num("gqa"),
        opt(choice("causal", {"_causal": True})), opt(lit("_msk") + num("msk")), _LSE, flag("cprr", "_cprr"),
        opt(lit("_v") + num("kernel_version")), _PS, flag("paged_kv", "_page"), flag("nm", "_nm"),
    ),
    Pattern(
        MLA, *_MLA_HEAD, _same_number("gqa", "q_heads"), lit("_"), _M_FIRST, opt(lit("_coex") + num("coex")),
        opt(lit("_mask") + num("mask")), opt(lit("_msk") + num("msk")), _LSE, _PS, opt(lit("_page") + num("page_size")),
        opt(lit("_ds") + num("ds")),
    ),
    Pattern(
        MLA, *_MLA_HEAD, _same_number("gqa", "q_heads"), lit("_"), num("tg_num"), lit("tg_"), _NUMBER_FIRST,
        table(("persistent", "schedule_word"), {"_np": (False, "np"), "_ps": (True, "ps"), "": (False, "")}),
        opt(lit("_") + num("p") + lit("p")), flag("sparse", "_sparse"), constants=_NEVER_LSE,
    ),
    Pattern(
        MLA, _NS, lit("mla_"), choice("prefill", {"dec_stage1": False}), lit("_"), words("dtype", "bf16", "fp16"),
        lit("_"), _BITS, lit("_subQ"),
        num("sub_q"), lit("_mqa"), _same_number("gqa", "mqa"), _PS, constants=_NEVER_LSE,
    ),
    # `causal` stands in every such name, and causal=0 in aiter's table
    Pattern(
        MLA, _NS, lit("mla_"), choice("prefill", {"pfl": True}), lit("_"), words("dtype", "bf16", "fp16"), lit("_"),
        _BITS, lit("_causal_subQ"), num("sub_q"),
        lit("_mqa"), _same_number("gqa", "mqa"), _PS, constants=_NEVER_LSE,
    ),
    Pattern(
        MLA, _NS, lit("mla_"), choice("prefill", {"pfl": True}), lit("_qh"), num("head_dim"), lit("_vh"),
        num("head_dim_v"), lit("_"), _M_FIRST, lit("_"),
        choice("causal", {"causal1": True, "causal0": False}), constants=_NEVER_LSE,
    ),
)  # fmt: skip

# --- paged attention -------------------------------------------------------------------------------------
_Q_TYPE = words("dtype_a", "bf16", "fp16")
_HP = choice("high_precision", {"": 0, "_hp": 1, "_uhp": 2})
_NO_QUANT = (
    _NS,
    lit("pa_"),
    also("dtype_b", "bf16|fp16", str),
    _Q_TYPE,
    lit("_"),
    choice("quant_type", {"noquant": "no"}),
)
_QUANT = (
    _NS, lit("pa_"), _Q_TYPE, lit("_"), choice("quant_type", {"pertoken": "per_token"}),
    choice("dtype_b", {"Fp8": "fp8", "Int8": "int8"}),
)  # fmt: skip


def _pa(head: tuple[Part, ...], *mtp: Part) -> Pattern:
    return Pattern(
        PA, *head, lit("_gqa"), num("gqa"), lit("_"), _groups_and_waves("tg_", "w"), _HP, *mtp,
        opt(lit("_msk") + num("msk")), constants={"persistent": False},
    )  # fmt: skip


_MTP = flag("mtp", "_mtp")
_Q_LEN = lit("_qlen") + num("q_seq_len")
_PA = (
    _pa(_QUANT, _MTP),
    _pa(_NO_QUANT, _MTP),
    _pa(_QUANT, _Q_LEN),
    _pa(_NO_QUANT, _Q_LEN),
    Pattern(
        PA, _NS, lit("pa_decode_"), words("dtype", "bf16", "fp16"), lit("_d"), num("head_dim"), lit("_page"),
        num("page_size"), lit("_gqa"), num("gqa"), opt(lit("_tq") + num("q_tile")),
    ),
    Pattern(
        PA, _NS, lit("pa_"), _BITS, lit("_"), num("tg_num"), lit("tg_g"), num("gqa"), lit("_"),
        choice("dtype_b", {"f8": "fp8", "i8": "int8"}), opt(lit("_gemm1_") + words("dtype_gemm1", "bf16", "fp16")),
        opt(lit("_q_") + words("dtype_a", "bf16", "fp16")), opt(lit("_tail_") + words("dtype_tail", "bf16", "fp16")),
    ),
)  # fmt: skip
# MTP stands in every such name, and Mtp=0 in aiter's table
_PA_UPPER = Pattern(
    PA, _NS, lit("PA_A"), num("a_bits"), lit("W"), num("b_bits"), lit("_BLK"), num("page_size"), lit("_"),
    _groups_and_waves("TG_", "W_"), also("q_tile", NUMBER, int), _NUMBER_FIRST, lit("_MTP"), flag("persistent", "_PS"),
    opt(choice("quant_type", {"_PB": "per_block"})),
)  # fmt: skip

PATTERNS: Mapping[str, tuple[Pattern, ...]] = {
    "fmha_fwd_hd": (
        *_fwd(words("dtype_a", "bf16", "fp16", "fp8", "mxfp8", "mxfp6", "mxfp4")),
        *_fwd(words("dtype_qk", "i8", "f8", "f6", "f4"), words("dtype_v", "fp8", "f8", "f6", "f4")),
    ),
    "fmha_bf16_pertoken": (_PER_TOKEN,),
    "fmha_fp16_pertoken": (_PER_TOKEN,),
    "MXFP8_FMHA_FWD_D": (_MXFP8,),
    "fmha_bwd_hd": _BWD,
    "mla_a": _MLA[:3],
    "mla_dec_stage1_": _MLA[3:4],
    "mla_pfl_": _MLA[4:],
    "pa_bf16_": _PA[:4],
    "pa_fp16_": _PA[:4],
    "pa_decode_bf16_": _PA[4:5],
    "pa_decode_fp16_": _PA[4:5],
    "pa_a16": _PA[5:],
    "PA_A": (_PA_UPPER,),
    "pa_kernel_func": (Pattern(PA, lit("pa_kernel_func")),),
    "topksoftmax_": (
        Pattern(
            TOPK, _NS, lit("topksoftmax_"), nums(("sub_m", "num_experts", "topk")),
            choice("dtype", {"": "fp32", "_bf16": "bf16", "_fp16": "fp16"}),
        ),
    ),
}  # fmt: skip

#: what these names say is not what their row of aiter's table says (August 2026)
CONTRADICTED: Mapping[str, tuple[str, ...]] = {
    "pa_bf16_pertokenFp8_gqa10_1tg_4w_qlen1_msk1": ("msk",),
    "fmha_bwd_hd128_bf16_a32_pssk": ("pad_seqlen_k",),
    "fmha_bwd_hd128_bf16_causal_br_a32_pssk": ("pad_seqlen_k",),
    **dict.fromkeys(
        (
            "mla_a16w16_qh16_m16x4_n32x1_coex0_mask1",
            "mla_a16w16_qh16_m32x1_n16x1_coex0_mask1",
            "mla_a16w16_qh16_m64x1_n16x1_coex0_mask1",
            "mla_dec_stage1_bf16_a16w16_subQ16_mqa16_ps",
        ),
        ("gqa",),
    ),
}

_MLA_CSV, _PA_CSV = "hsa/*/mla*/*.csv in ROCm/aiter", "hsa/*/pa*/*.csv in ROCm/aiter"
_BWD_CSV, _FWD_CSV = "hsa/*/fmha_v3_bwd/*.csv in ROCm/aiter", "hsa/*/fmha_*/*.csv in ROCm/aiter"
KEYS: Mapping[str, Key] = {
    **pick(
        "num_waves", "sliding_window", "pad_seqlen_k", "pad_head_dim_v", "gqa", "sparse", "mtp", "num_experts", "topk",
        "a_bits", "b_bits", "dtype", "dtype_a", "dtype_b", "dtype_c", "isa", "op", "m_warp", "n_warp", "persistent",
        "head_dim", "head_dim_v", "causal", "group_mode", "lse", "paged_kv", "page_size", "quant_type", "mask",
    ),
    "tile_m_per_wave": Key("M extent of the tile of one wave.", "elements", _MLA_CSV),
    "tile_n_per_wave": Key("N extent of the tile of one wave.", "elements", _MLA_CSV),
    "tile_extents": Key("The two extents of the tile as printed; aiter's table does not name their axes.", "elements",
                        _FWD_CSV),
    "tg_num": Key("Number printed before tg (work-groups; per CU in aiter's MoE tables).", "blocks", _PA_CSV),
    "head_dim_word": Key("The word printed before V's head size, where the name repeats it.", None, _FWD_CSV),
    "bf16_cvt": Key("How fp32 is rounded to bf16: rtne to nearest even, rtna to nearest away from zero, rtz to zero.",
                    None, _FWD_CSV),
    "dtype_qk": Key("Element type of Q and K.", None, _FWD_CSV),
    "dtype_v": Key("Element type of V.", None, _FWD_CSV),
    "causal_bottom_right": Key("The causal mask is aligned to the bottom right corner.", None, _BWD_CSV),
    "atomic32": Key("dQ is accumulated in fp32 (a32) rather than in 16 bits (a16).", None, _BWD_CSV),
    "recompile": Key("The `recompile` build of the kernel.", None, _BWD_CSV),
    "q_heads": Key("Heads of Q that one block handles together, as printed after qh.", "heads", _MLA_CSV),
    "q_seq_len": Key("Length of Q (tokens a decode step).", "tokens", _MLA_CSV),
    "mqa": Key("The number printed after mqa.", "heads", _MLA_CSV),
    "prefill": Key("Whether the kernel is for prefill (pfl) rather than decode (dec).", None, _MLA_CSV),
    "sub_q": Key("Rows of Q that one block handles, as printed after subQ.", "rows", _MLA_CSV),
    "msk": Key("Mask variant (msk).", None, _PA_CSV),
    "msk_as_named": Key("msk as the name has it, where aiter's table has another number.", None, _PA_CSV),
    "pad_seqlen_k_as_named": Key("pssk as the name has it, where aiter's table says otherwise.", None, _BWD_CSV),
    "cprr": Key("The `cprr` variant, a column of aiter's table for gfx950.", None, _MLA_CSV),
    "kernel_version": Key("Version number of the kernel.", None, _MLA_CSV),
    "nm": Key("The `nm` variant (MLA v4).", None, _MLA_CSV),
    "coex": Key("The number printed after coex; its meaning is not public.", None, _MLA_CSV),
    "ds": Key("The number printed after ds; its meaning is not public.", None, _MLA_CSV),
    "p": Key("The number printed before p; its meaning is not public.", None, _MLA_CSV),
    "schedule_word": Key("ps (persistent) or np (not), as printed; empty where neither is.", None, _MLA_CSV),
    "high_precision": Key("0: plain, 1: hp, 2: uhp.", None, _PA_CSV),
    "q_tile": Key("Rows of Q of one tile.", "rows", _PA_CSV),
    "dtype_gemm1": Key("Type of the second product, as printed after gemm1.", None, _PA_CSV),
    "dtype_tail": Key("Type printed after tail.", None, _PA_CSV),
    "sub_m": Key("Rows (tokens) of one block.", "rows", "hsa/*/topksoftmax/topksoftmax.csv in ROCm/aiter"),

}  # fmt: skip
