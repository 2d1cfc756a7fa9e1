"""Patterns of aiter's assembly MoE kernels: nothing comes in, out come the patterns, their keys and the GEMM view.

    fmoe_{C type}[_a16]_{quantisation}{B type}_{g1u1|g1u0}[_vs|_novs][_tkw1][_multix][_smf][_atm_opt]_{activation}
        _{N}tg[_ps][_{N}tg]_{MxN}[_flat][_pf{N}]
    fmoe_{C type}_{quantisation}{B type}_{g1u1|g1u0}[_flat][_vs|_novs][_pf{N}][_ps]_{activation}_{MxN}
    fmoe_{types}[_blockscale]_{g1u1|g1u0}[_vs|_novs][_multix|_smf]_subGU_{N}[_activation][_tkw1][_ps]
    fmoe_stage1_{C type}_pertoken{B type}[_blockscale|_doweight]_{g1u1|g1u0}_{MxN}[_{N}tg]_pf{N}

M x N is the extent that one block computes of the gate (and up) product: subGU_m x subGU_n in aiter's tables.
"""

from __future__ import annotations

from collections.abc import Mapping

from tracer.model.kernel import FieldValue, GemmView
from tracer.names.base import Key
from tracer.names.converters import Table
from tracer.names.pattern import Part, Pattern, also, choice, flag, lit, num, nums, opt, words
from tracer.names.stated_view import stated_view
from tracer.names.vocabulary import pick

FAMILY = "aiter_asm_fmoe"
STAGES = "aiter_asm_fmoe_2stages"

_NAMESPACE = flag("in_namespace", "aiter::")
_C = words("dtype_c", "bf16", "fp16", "f16")
_QUANT = choice("quant_type", {"pertoken": "per_token", "blockscale": "blockscale", "noquant": "no"})
_B = choice(
    "dtype_b",
    {"Fp8": "fp8", "Int8": "int8", "MXfp4": "mxfp4", "Bf16": "bf16", "Fp16": "fp16", "Int4": "int4", "Fp4": "fp4"},
)
_G1U1 = choice("g1u1", {"g1u1": True, "g1u0": False})
_ACT = words("activation", "silu", "gelu", "swiglu")
_VS_WORD = choice("vskip_word", {"_vs": "vs", "_novs": "novs", "": ""})
_TILE = nums(("m_per_block", "n_per_block"))
_PF = opt(lit("_pf") + num("pf"))
_HEAD = (_NAMESPACE, lit("fmoe_"), _C, opt(lit("_a") + num("a_bits")), lit("_"), _QUANT, _B, lit("_"), _G1U1)


def _vs(absent: FieldValue) -> Part:
    """`_vs` / `_novs`, and what leaving both out says (None: nothing)."""
    says = {"_vs": True, "_novs": False}
    stated = {} if absent is None else {"vskip": absent}
    return opt(also("vskip", "_vs|_novs", says.__getitem__), absent=stated) + _VS_WORD


def _silent_flag(key: str, token: str) -> Part:
    """A flag that may be missing from the fields when it is written (withheld for some names): then it is left out."""
    there = Table({token: True, "": False})
    return Part(f"({token}|)", ((key, there),), lambda f: token if f.get(key) else "", f"{token!r} or nothing ({key})")


_TG = lit("_") + num("tg_num_per_cu") + lit("tg")
_TG_AGAIN = opt(lit("_") + num("tg_num_again") + lit("tg"))

PATTERNS: Mapping[str, tuple[Pattern, ...]] = {
    "fmoe_kernel_func": (Pattern(FAMILY, lit("fmoe_kernel_func")),),
    "fmoe_stage1_": (
        Pattern(
            STAGES, _NAMESPACE, lit("fmoe_stage1_"), _C, lit("_pertoken"), _B,
            choice("quant_type", {"": "per_token", "_blockscale": "blockscale"}), flag("doweight_stage1", "_doweight"),
            lit("_"), _G1U1, lit("_"), _TILE, opt(_TG), lit("_pf"), num("pf"), constants={"stage": 1},
        ),
    ),
    "fmoe_": (
        Pattern(
            FAMILY, *_HEAD, _vs(False), flag("doweight_stage1", "_tkw1"), flag("multix", "_multix"),
            flag("smf", "_smf"), opt(choice("atm", {"_atm_opt": 1})), lit("_"), _ACT, _TG, flag("persistent", "_ps"),
            _TG_AGAIN, lit("_"), _TILE, _PF, constants={"flat": False},
        ),
        # August 2025: one kernel with `vs` behind the activation
        Pattern(
            FAMILY, *_HEAD, lit("_"), _ACT, also("vskip", "_vs", lambda s: True),
            choice("vskip_word", {"_vs": "vs_last"}), _TG, lit("_"), _TILE,
            constants={"multix": False, "smf": False, "flat": False},
        ),
        # one token a block, no sorted ids: the table has subGU_m = 1 whatever the name says
        Pattern(
            FAMILY, *_HEAD, _vs(False), lit("_"), _ACT, _TG, flag("persistent", "_ps"), lit("_"),
            nums(("m_per_block_word", "n_per_block")), choice("flat", {"_flat": True}), _PF,
            constants={"multix": False, "smf": False},
        ),
        # sorts by itself in a persistent grid; the table has vskip=0 beside `vs`
        Pattern(
            FAMILY, *_HEAD, _VS_WORD, lit("_"), _ACT, _TG, lit("_"), words("sort_word", "emsort"), lit("_"), _TILE, _PF,
            constants={"multix": False, "smf": False},
        ),
        # the table has vskip=0 and atm=2 beside `vs_atm_inlv`
        Pattern(
            FAMILY, *_HEAD, _VS_WORD, lit("_"), choice("atm_word", {"atm_inlv": "inlv"}), lit("_"), _ACT, _TG,
            flag("persistent", "_ps"), lit("_"), _TILE, constants={"multix": False, "smf": False, "flat": False},
        ),
        Pattern(
            FAMILY, *_HEAD, flag("flat", "_flat"), _vs(None), _PF, _silent_flag("persistent", "_ps"), lit("_"), _ACT,
            lit("_"), _TILE, constants={"multix": False, "smf": False},
        ),
        Pattern(
            FAMILY, _NAMESPACE, lit("fmoe_"), words("dtype", "fp8", "int8", "int4fp8", "mxfp4", "f16", "b16"),
            opt(lit("_") + choice("quant_type", {"blockscale": "blockscale"})), lit("_"), _G1U1, _VS_WORD,
            flag("multix", "_multix"), flag("smf", "_smf"), lit("_subGU_"), num("n_per_block"),
            opt(lit("_") + _ACT), flag("doweight_stage1", "_tkw1"), flag("persistent", "_ps"),
        ),
    ),
}  # fmt: skip

#: no `_ps` in the name, ps=1 in aiter's table (gfx950, August 2026)
CONTRADICTED: Mapping[str, tuple[str, ...]] = dict.fromkeys(
    (
        "fmoe_bf16_blockscaleFp8_g1u1_gelu_64x128",
        "fmoe_bf16_blockscaleFp8_g1u1_gelu_64x256",
        "fmoe_bf16_blockscaleFp8_g1u1_vs_gelu_32x384",
        "fmoe_bf16_blockscaleFp8_g1u1_novs_gelu_32x384",
    ),
    ("persistent",),
)

_CSV = "hsa/*/fmoe/**/*.csv in ROCm/aiter"
KEYS: Mapping[str, Key] = {
    **pick("m_per_block", "n_per_block", "dtype_b", "dtype_c", "dtype", "a_bits", "quant_type", "g1u1", "activation",
           "persistent", "pf", "stage", "tg_num_per_cu"),
    "vskip": Key("The `vs` variant, which aiter picks unless AITER_ENABLE_VSKIP=0.", None, _CSV),
    "vskip_word": Key("The word vs or novs as printed (vs_last: behind the activation); else empty.", None, _CSV),
    "smf": Key("The `smf` variant, smf=1 in aiter's table.", None, _CSV),
    "multix": Key("The `multix` variant, smf=2 in aiter's table.", None, _CSV),
    "atm": Key("Atomic-accumulation variant; 1 is printed `atm_opt`.", None, _CSV),
    "atm_word": Key("The word after `atm` as printed; aiter's table has atm=2 for inlv.", None, _CSV),
    "flat": Key("One block a token, without host-sorted token ids.", None, "csrc/py_itfs_cu/asm_fmoe.cu in ROCm/aiter"),
    "sort_word": Key("emsort: the kernel needs no host-sorted token ids and runs a persistent grid.", None,
                     "csrc/py_itfs_cu/asm_fmoe.cu in ROCm/aiter"),
    "m_per_block_word": Key("The M number as printed; aiter's table has 1 for flat kernels.", "elements", _CSV),
    "tg_num_again": Key("The blocks-per-CU number where the name prints it a second time.", "blocks", _CSV),
    "doweight_stage1": Key("The routing weight is applied in the first product (`tkw1`, `doweight`).", None,
                           "aiter/fused_moe.py in ROCm/aiter"),
}  # fmt: skip


def view(f: Mapping[str, FieldValue]) -> GemmView:
    """The common GEMM view of an assembly MoE kernel."""
    return stated_view(f, "moe")
