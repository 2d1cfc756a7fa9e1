"""Patterns of aiter's assembly GEMM kernels: nothing comes in, out come the patterns, their keys and the GEMM view.

    bf16gemm_{output}_{layout}_{MxN}[_pf{N}][_bshuffle][_splitk[_clean]]
    {I8|f4|fp8}gemm_{C type}_{quantisation}_{BpreShuffle|noBpreShuffle}_{MxN}
    {f4|f8}gemm_{C type}_{A and B types}_ABpreShuffle_{MxN}_{cluster MxN}_ps[_noscale]      (gfx1250)
    flatmm_uk_{target}_{types}_{MxNxK}_{waves MxNxK}_{wave tile MxNxK}

The K extent of the tile is 64 in every shipped bf16 kernel and is never printed, so it is not stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tracer.model.kernel import FieldValue, GemmView
from tracer.names.base import Key
from tracer.names.pattern import Part, Pattern, also, choice, flag, lit, num, nums, opt, words
from tracer.names.stated_view import stated_view
from tracer.names.vocabulary import pick

FAMILY = "aiter_asm_gemm"
_NAMESPACE = flag("in_namespace", "aiter::")
_TILE = nums(("m_per_block", "n_per_block"))
_PF = opt(lit("_pf") + num("pf", other_than=0), absent={"pf": 0})
_LAYOUT = words("layout_a", "t", "n") + words("layout_b", "t", "n")
_B_PRESHUFFLE = flag("b_preshuffle", "BpreShuffle", "noBpreShuffle")
_OUT = words("dtype_c", "bf16", "fp16", "fp8", "fp4", "fp32")


def _split_k_forms(head: Part, shuffle: str) -> tuple[Pattern, ...]:
    """bf16 kernels with `_splitk_clean` (splits K), with `_splitk` (the table says no), and with neither."""
    front = (_NAMESPACE, lit("bf16gemm_"), head, lit("_"), _LAYOUT, lit("_"), _TILE, _PF, flag("b_preshuffle", shuffle))
    return (
        Pattern(FAMILY, *front, also("split_k_enabled", "_splitk_clean", lambda s: True), _form("splitk_clean")),
        Pattern(FAMILY, *front, _form("splitk")),
        Pattern(FAMILY, *front, constants={"split_k_enabled": False}),
    )


def _form(word: str) -> Part:
    return lit("_") + words("split_k_form", word)


def _quantised(head: str, types: Mapping[str, FieldValue], quants: Mapping[str, FieldValue]) -> Pattern:
    return Pattern(
        FAMILY, _NAMESPACE, also("dtype_b", "|".join(types), types.__getitem__), choice("dtype_a", types), lit(head),
        _OUT, lit("_"), choice("quant_type", quants), lit("_"), _B_PRESHUFFLE, lit("_"), _TILE,
        constants={"split_k_enabled": False},
    )  # fmt: skip


def _clustered(head: str, a_and_b: Part) -> Pattern:
    return Pattern(
        FAMILY, _NAMESPACE, lit(head), _OUT, lit("_"), a_and_b, lit("_"),
        also("b_preshuffle", "ABpreShuffle", lambda s: True), choice("a_preshuffle", {"ABpreShuffle": True}), lit("_"),
        _TILE, lit("_"), nums(("cluster_m", "cluster_n")), flag("persistent", "_ps"),
        flag("scaled", "", "_noscale"),
    )  # fmt: skip


_MX4 = also("dtype_b", "mxfp4|nvfp4", str) + words("dtype_a", "mxfp4", "nvfp4")
PATTERNS: Mapping[str, tuple[Pattern, ...]] = {
    "bf16gemm_": (
        *_split_k_forms(words("output_types", "fp32bf16"), "_bshuffle"),
        *_split_k_forms(words("output_types", "bf16"), "_bpreshuffle"),
        Pattern(FAMILY, _NAMESPACE, lit("bf16gemm_out"), words("dtype_c", "f32", "bf16"), lit("_"), _LAYOUT, lit("_"),
                _TILE, _PF),
    ),
    "I8gemm_": (_quantised("gemm_", {"I8": "int8"}, {"perTokenI8": "per_token"}),),
    "f4gemm_": (
        _quantised("gemm_", {"f4": "fp4"}, {"per1x32Fp4": "per_1x32"}),
        _clustered("f4gemm_", _MX4),
        Pattern(
            FAMILY, _NAMESPACE, also("dtype_b", "f4", lambda s: "fp4"), choice("dtype_a", {"f4": "fp4"}), lit("gemm_"),
            _OUT, lit("_"), choice("quant_type", {"per1x32Fp4": "per_1x32"}), lit("_"), _B_PRESHUFFLE,
            also("split_k_enabled", "_KSplit", lambda s: True), _form("KSplit"), lit("_"), _TILE,
        ),
    ),
    "fp8gemm_": (_quantised("gemm_", {"fp8": "fp8"}, {"blockscale": "blockscale"}),),
    "f8gemm_": (
        _clustered("f8gemm_", words("dtype_a", "mxfp8") + words("dtype_b", "fp8", "fp4")),
    ),
    "gemm_kernel_func": (Pattern(FAMILY, lit("gemm_kernel_func")),),
    "f8_block_scale_mi350_x": (Pattern(FAMILY, _NAMESPACE, lit("f8_block_scale_mi350_x"), num("rows_word")),),
    "flatmm_uk_gfx": (
        Pattern(FAMILY, _NAMESPACE, lit("flatmm_uk_"), choice("isa", {"gfx9": "gfx9"}), lit("_"),
                words("dtype_compute", "f16f8", "bf16f8"), lit("_"),
                nums(("m_per_block", "n_per_block", "k_per_block")), lit("_"),
                nums(("m_warp", "n_warp", "k_warp")), lit("_"),
                nums(("m_warp_tile", "n_warp_tile", "k_warp_tile"))),
    ),
}  # fmt: skip

_CSV = "hsa/*/*gemm*/*.csv in ROCm/aiter"
KEYS: Mapping[str, Key] = {
    **pick("m_per_block", "n_per_block", "k_per_block", "b_preshuffle", "a_preshuffle", "persistent", "cluster_m",
           "cluster_n", "dtype_a", "dtype_b", "dtype_c", "dtype_compute", "layout_a", "layout_b", "quant_type", "pf",
           "split_k_enabled", "isa", "m_warp", "n_warp", "k_warp", "m_warp_tile", "n_warp_tile", "k_warp_tile"),
    "split_k_form": Key("The split-K word as printed; a bare `splitk` has splitK=0 in aiter's table.", None, _CSV),
    "output_types": Key("The output types as printed (fp32bf16: writes either).", None, _CSV),
    "rows_word": Key("The number printed after x; aiter takes x32 for at most 32 rows.", "rows",
                     "csrc/py_itfs_cu/asm_mi350_a8w8_blockscale.cu in ROCm/aiter"),
    "scaled": Key("Whether the kernel applies the scales of A and B (`noscale`: it does not).", None, _CSV),
}  # fmt: skip

#: tiles of kernels that aiter's tables mark splitK=1 though their names say nothing (wheel and main, August 2026)
_SILENT_SPLIT_K = frozenset(
    {"f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256", "f4gemm_bf16_per1x32Fp4_BpreShuffle_128x512"}
)


def contradicted(name: str, fields: Mapping[str, FieldValue]) -> Iterable[str]:
    """Keys that the name without its namespace seems to state and aiter's tables contradict.

    i8 and fp8 kernels with a tile of 128 columns all split K silently; so do two f4 kernels.
    """
    if name in _SILENT_SPLIT_K:
        return ("split_k_enabled",)
    if name.startswith(("I8gemm_", "fp8gemm_")) and fields.get("n_per_block") == 128:
        return ("split_k_enabled",)
    return ()


def view(f: Mapping[str, FieldValue]) -> GemmView:
    """The common GEMM view of an assembly GEMM."""
    return stated_view(f, "gemm")
