"""aiter's CK two-stage MoE instance names: in comes `moe_ck2stages_gemm1_...`, out come its tokens as fields.

    moe_ck2stages_gemm<stage>_{BLOCKxMxNxK}_{MWavesxNWaves}_{CDE element op}_v{pipeline}_Nswizzle{0|1}_Quant{n}
        _MulRoutedWeight{0|1}[_{activation}]_{A type}_{B type}_{C type}

Until mid 2025 the quantisation was printed as a word (`per_tensor`) and the types were left out. Stage 1 prints the
activation, stage 2 does not. The element op is no sign of quantisation: on gfx950 the fp8 lists keep
the default `TypeCast`, so only `Quant` says how the tensors are scaled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, GemmView
from tracer.names.base import Key
from tracer.names.formal import FormalGrammar, OneOf
from tracer.names.pattern import (
    NOT_STATED,
    NUMBER,
    Part,
    Pattern,
    also,
    bit,
    choice,
    groups,
    lit,
    num,
    nums,
    text,
)
from tracer.names.stated_view import moe_op, stated_view
from tracer.names.vocabulary import pick

_ENUM = "aiter: csrc/include/aiter_enum.h"
#: QuantType's values; a number that is not here keeps its number alone
_QUANT = {
    "0": "no", "1": "per_tensor", "2": "per_token", "3": "per_1x32", "4": "per_1x128",
    "5": "per_128x128", "6": "per_256x128", "7": "per_1024x128",
}  # fmt: skip
_DTYPES = {
    "F8": "fp8", "I8": "int8", "F16": "fp16", "B16": "bf16", "F32": "fp32", "I4": "int4", "FP4X2": "fp4x2",
}  # fmt: skip


_TYPES = groups(choice("dtype_a", _DTYPES), choice("dtype_b", _DTYPES), choice("dtype_c", _DTYPES))


def _forms(stage: str, *activation: Part) -> OneOf:
    def form(quantisation: Part, *types: Part) -> Pattern:
        return Pattern(
            "aiter_ck_moe_2stages",
            lit("moe_ck2stages_gemm"),
            groups(
                choice("stage", {stage: int(stage)}),
                nums(("block_size", "m_per_block", "n_per_block", "k_per_block")),
                nums(("m_waves", "n_waves")),
                text("cde_element_op", "[A-Za-z][A-Za-z0-9]*"),
                lit("v") + num("pipeline_version"),
                lit("Nswizzle") + bit("n_swizzle"),
                quantisation,
                lit("MulRoutedWeight") + bit("mul_routed_weight"),
                *activation,
                *types,
            ),
        )

    numbered = lit("Quant") + also("quant_type", NUMBER, lambda s: _QUANT.get(s, NOT_STATED)) + num("quant_type_id")
    return OneOf(form(numbered, _TYPES), form(text("quant_type", "no|per_[0-9a-z]+")))


class AiterCkMoe(FormalGrammar):
    """aiter's CK two-stage MoE instances."""

    name = "aiter_ck_moe"
    link = "https://github.com/ROCm/aiter/tree/main/csrc/ck_gemm_moe_2stages_codegen"
    readers: ClassVar[Mapping[str, Pattern | OneOf]] = {
        "moe_ck2stages_gemm1_": _forms("1", text("activation", "[a-z][a-z0-9]*")),
        "moe_ck2stages_gemm2_": _forms("2"),
    }
    keys: ClassVar[Mapping[str, Key]] = {
        **pick(
            "cde_element_op", "n_swizzle", "quant_type_id", "block_size", "m_per_block", "n_per_block", "k_per_block",
            "pipeline_version", "dtype_a", "dtype_b", "dtype_c", "stage", "activation", "mul_routed_weight",
            "quant_type",
        ),
        "m_waves": Key("Waves of a block along M.", "waves"),
        "n_waves": Key("Waves of a block along N.", "waves"),

    }  # fmt: skip

    def view(self, decoded: DecodedName) -> GemmView | None:
        """Tile, waves and types as named; the wave tile is the tile over the waves."""
        f = decoded.fields
        pipeline = f"v{f['pipeline_version']}" if "pipeline_version" in f else None
        return stated_view(f, moe_op(f), waves_m=f.get("m_waves"), waves_n=f.get("n_waves"), pipeline=pipeline)
