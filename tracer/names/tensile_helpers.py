"""Tensile's helper kernels, which run around a GEMM: `Cijk_SB_BiasS_HAS_ScaleAlphaVec_PostGSU8_VW4` in, its fields out.

C{indices}_{workspace type}{C type}[_GG|_GB][_Bias{type}|_DBias{type}_BiasSrc{x}][_FD{N|MN}][_Grad|_Aux{type}]
    [_A|_HA|_{activation}{type}[ng]][_ScaleAB[Vec]][_ScaleCD][_ScaleAlphaVec]_PostGSU{splits}[_VW{N}]   sums the splits
C{indices}_{C type}[_GG|_GB][_Bias{type}][_GA]                                            scales C by beta beforehand
D{indices}_{type}_A{type}[ng], D{indices}_{types}_Reduction                               activation, bias gradient
"""

from __future__ import annotations

from collections.abc import Mapping

from tracer.model.kernel import DecodedName, FieldValue
from tracer.names.base import Key
from tracer.names.formal import OneOf
from tracer.names.pattern import Part, Pattern, choice, flag, lit, num, opt, text, words
from tracer.names.vocabulary import pick

FAMILY = "tensile_helper"
_TYPE = r"(?:4xi8|I64|I8|F8N|B8N|F8|B8|F6|B6|F4|[HSDCZBI])"
_INDICES = text("indices", "[i-z]{2,}")
_BATCH = choice("batch", {"_GG": "grouped", "_GB": "general", "": "strided"})


def _type(key: str) -> Part:
    return text(key, _TYPE)


_ACTIVATION = opt(
    lit("_") + text("activation", "HA|[A-Z]+?") + _type("dtype_activation") + flag("activation_no_guard", "ng")
)
_POST = (
    _BATCH,
    opt(lit("_Bias") + _type("dtype_bias")),
    opt(lit("_DBias") + _type("dtype_bias_gradient") + lit("_BiasSrc") + words("bias_src", "A", "B", "D")),
    opt(lit("_FD") + words("factor_dim", "MN", "N")),
    opt(lit("_") + words("e_kind", "Grad", "Aux") + _type("dtype_e")),
    _ACTIVATION,
    opt(lit("_ScaleAB") + choice("scale_ab", {"": "Scalar", "Vec": "Vector"})),
    flag("scale_cd", "_ScaleCD"),
    flag("scale_alpha_vec", "_ScaleAlphaVec"),
    lit("_PostGSU"),
    opt(num("global_split_u")),
    opt(lit("_mod") + num("gsu_unroll_unit")),
    opt(lit("_VW") + num("vector_width")),
    opt(lit("_R") + num("reduction")),
)
_FORMS = OneOf(
    Pattern(
        FAMILY, lit("C"), _INDICES, lit("_"), _type("dtype_workspace"), _type("dtype_c"), *_POST,
        constants={"op": "post_gsu"},
    ),
    Pattern(FAMILY, lit("C"), _INDICES, lit("_"), _type("dtype_c"), *_POST, constants={"op": "post_gsu"}),
    Pattern(
        FAMILY, lit("C"), _INDICES, lit("_"), _type("dtype_c"), _BATCH, opt(lit("_Bias") + _type("dtype_bias")),
        flag("global_accumulation", "_GA"), constants={"op": "beta_only"},
    ),
    Pattern(
        FAMILY, lit("D"), _INDICES, lit("_"), _type("dtype_bias"), _type("dtype_compute"), lit("_Reduction"),
        constants={"op": "reduction"},
    ),
    Pattern(FAMILY, lit("D"), _INDICES, lit("_"), _type("dtype_c"), _ACTIVATION, constants={"op": "activation_only"}),
)  # fmt: skip

_SOURCE = "tensilelite/Tensile/KernelWriter{BetaOnly,Conversion,ActivationOnly,Reduction}.py in ROCm/hipBLASLt"
KEYS: Mapping[str, Key] = {
    **pick("dtype_workspace", "op"),
    "indices": Key("Indices of C.", None, _SOURCE),
    "batch": Key("How the batch comes: strided, general (pointers) or grouped.", None, _SOURCE),
    "dtype_bias": Key("Type of the bias, as Tensile's letter.", None, _SOURCE),
    "dtype_bias_gradient": Key("Type of the bias gradient, as Tensile's letter.", None, _SOURCE),
    "factor_dim": Key("Axes along which alpha or bias varies: N, or M and N.", None, _SOURCE),
    "e_kind": Key("What the extra tensor E holds: Grad or Aux.", None, _SOURCE),
    "dtype_e": Key("Type of E, as Tensile's letter.", None, _SOURCE),
    "activation_no_guard": Key("Activation without a guard.", None, _SOURCE),
    "gsu_unroll_unit": Key("Splits that the kernel sums in one unrolled step.", "splits", _SOURCE),
    "vector_width": Key("Elements that one thread reads at a time.", "elements", _SOURCE),
    "reduction": Key("Threads that share one sum.", "threads", _SOURCE),
    "global_accumulation": Key("Whether the sums are kept in a workspace of a wider type.", None, _SOURCE),
}


def accepts(name: str) -> bool:
    """Whether `name` is a helper kernel's whole name; they have no other mark than their form."""
    return len(name) < 200 and name.startswith(("Cij", "Dij")) and any(f.match(name, "") for f in _FORMS.forms)


def read(name: str, grammar: str) -> DecodedName:
    """Reads a helper kernel's name."""
    return _FORMS.read(name, grammar)


def write(fields: Mapping[str, FieldValue]) -> str:
    """Writes a helper kernel's name. Raises ValueError where no form has these fields."""
    return _FORMS.format(fields)
