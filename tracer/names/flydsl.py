"""aiter's FlyDSL GEMM names: in come pre-shuffled a8w8, WMMA and half-precision names, out come their tokens as fields.

    flydsl_bpreshuflle_{MxNxK}_{A}_{B}_{C}_{async copyxwaves per EU[xXCD swizzle[xLDS stage]]}[_{scheduler}]  (spelt so)
    flydsl_bpreshuffle_8w_{MxNxK}_{A}_{B}_{C}_{waves per EUxXCD swizzle}[_k{K}]
    flydsl_rowmajor_8w_...                                                                     (B not pre-shuffled)
    flydsl_bpreshuffle_wmma_t{MxNxK}_mw{}_nw{}_nb{}_sk{}_cm{}_cn{}
    flydsl_mxfp8_128_bpreshuffle_[compute_]wmma_t{MxNxK}_mw{}_nw{}_nb{}_sk{}_cm{}_cn{}
    flydsl_gemm{stages}_a{A}_w{B}_{C}_t{MxNxK}_split_k{}_block_m_warp{}_block_n_warp{}[_block_k_warp{}]_async_copy{bool}
        _b_to_lds{bool}_b_preshuffle{bool}_c_to_lds{bool}[_small_m[_nr{}][_pn{}][_wpe{}][_ur{}]]_{target}

From April to July 2026 `flydsl_bpreshuflle_` printed {LDS stagexcshufflexasync copyxwaves per EU[xXCD swizzle]} in the
place of the four numbers. aiter's tuned CSVs still hold such names (five numbers), which its parser of August 2026
refuses: they are a family of their own. Four numbers that begin with 1 fit both orders and are read in today's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from tracer.model.kernel import DecodedName, FieldValue, GemmView
from tracer.names.base import Context, Key
from tracer.names.formal import FormalGrammar, OneOf
from tracer.names.pattern import (
    Part,
    Pattern,
    bit,
    choice,
    groups,
    lit,
    num,
    nums,
    opt,
    seq,
    text,
    true_false,
)
from tracer.names.stated_view import stated_view
from tracer.names.vocabulary import pick

NO_GENERATOR = "aiter_csv_no_generator"

_TILE = nums(("m_per_block", "n_per_block", "k_per_block"))
_SHORT = {"F8": "fp8", "I8": "int8", "I4": "int4", "FP4": "fp4", "B16": "bf16", "F16": "fp16", "F32": "fp32"}
_TYPES = groups(choice("dtype_a", _SHORT), choice("dtype_b", _SHORT), choice("dtype_c", _SHORT))

_MFMA = Pattern(
    "aiter_flydsl_bpreshuffle",
    lit("flydsl_bpreshuflle_"),
    groups(_TILE, _TYPES, bit("async_copy") + lit("x") + num("waves_per_eu")),
    opt(lit("x") + num("xcd_swizzle") + opt(lit("x") + num("lds_stage"))),
    opt(lit("_") + text("pipeline_sched", "[a-z][a-z0-9]*")),
    constants={"b_preshuffle": True},
)
_LEGACY = {
    "xcd_swizzle": "no XCD swizzle is printed: aiter reads 0",
    "lds_stage": "no LDS stage is printed: aiter reads 2",
    "pipeline_sched": "no scheduler is printed: aiter reads default",
}
_OLDER = Pattern(
    NO_GENERATOR,
    lit("flydsl_bpreshuflle_"),
    groups(_TILE, _TYPES, num("lds_stage") + lit("x") + bit("cshuffle") + lit("x") + bit("async_copy")),
    lit("x") + num("waves_per_eu") + opt(lit("x") + num("xcd_swizzle")),
    lit("_") + text("pipeline_sched", "[a-z][a-z0-9]*"),
    constants={"b_preshuffle": True},
)
_OLDER_NOTES = (
    "the order of numbers of April to July 2026; aiter's parser of August 2026 refuses five numbers, so that release "
    "runs its CK kernel in place of the one named",
)
_BOTH_NOTE = (
    "a release of April or May 2026 would mean by these numbers LDS stage, cshuffle, async copy and waves per EU; "
    "read here in the order of July 2026 and later"
)


def _eight_wave(head: str, preshuffle: bool) -> Pattern:
    return Pattern(
        "aiter_flydsl_bpreshuffle",
        lit(head),
        groups(_TILE, _TYPES, nums(("waves_per_eu", "xcd_swizzle"))),
        opt(lit("_k") + num("gemm_k")),
        constants={"b_preshuffle": preshuffle, "num_waves": 8},
    )


def _wmma(head: str, **constants: FieldValue) -> Pattern:
    tokens = (
        ("mw", "m_warp"), ("nw", "n_warp"), ("nb", "num_buffers"), ("sk", "split_k"), ("cm", "cluster_m"),
        ("cn", "cluster_n"),
    )  # fmt: skip
    return Pattern(
        "aiter_flydsl_wmma",
        lit(head),
        groups(_TILE, *(lit(token) + num(key) for token, key in tokens)),
        constants={"b_preshuffle": True, **constants},
    )


def _half(small_m: bool) -> Pattern:
    type_ = "[a-z][a-z0-9]*"
    small: tuple[Part, ...] = (
        lit("_small_m"),
        opt(lit("_nr") + num("n_tile_repeat", other_than=1), absent={"n_tile_repeat": 1}),
        opt(lit("_pn") + num("persistent_n_tiles", other_than=1), absent={"persistent_n_tiles": 1}),
        opt(lit("_wpe") + num("waves_per_eu", other_than=0), absent={"waves_per_eu": 0}),
        opt(lit("_ur") + num("b_to_lds_unroll", other_than=0), absent={"b_to_lds_unroll": 0}),
    )
    return Pattern(
        "aiter_flydsl_hgemm",
        lit("flydsl_gemm"),
        groups(
            num("num_stages"),
            lit("a") + text("dtype_a", type_),
            lit("w") + text("dtype_b", type_),
            text("dtype_c", type_),
            lit("t") + _TILE,
            lit("split_k") + num("split_k"),
            lit("block_m_warp") + num("m_warp"),
            lit("block_n_warp") + num("n_warp") + opt(lit("_block_k_warp") + num("k_warp")),
            lit("async_copy") + true_false("async_copy"),
            lit("b_to_lds") + true_false("b_to_lds"),
            lit("b_preshuffle") + true_false("b_preshuffle"),
            lit("c_to_lds") + true_false("c_to_lds"),
        ),
        seq(*small if small_m else ()),
        lit("_") + text("isa", "gfx[0-9a-z]+"),
        constants={"small_m": small_m},
    )


class Flydsl(FormalGrammar):
    """aiter's FlyDSL GEMMs."""

    name = "flydsl"
    link = "https://github.com/ROCm/aiter/tree/main/aiter/ops/flydsl"
    readers: ClassVar[Mapping[str, Pattern | OneOf]] = {
        "flydsl_bpreshuflle_": _MFMA,
        "flydsl_bpreshuffle_8w_": _eight_wave("flydsl_bpreshuffle_8w_", True),
        "flydsl_rowmajor_8w_": _eight_wave("flydsl_rowmajor_8w_", False),
        "flydsl_bpreshuffle_wmma_t": _wmma("flydsl_bpreshuffle_wmma_t"),
        "flydsl_mxfp8_128_bpreshuffle_wmma_t": _wmma("flydsl_mxfp8_128_bpreshuffle_wmma_t", compute=False),
        "flydsl_mxfp8_128_bpreshuffle_compute_wmma_t": _wmma(
            "flydsl_mxfp8_128_bpreshuffle_compute_wmma_t", compute=True
        ),
        "flydsl_gemm": OneOf(_half(False), _half(True)),
    }
    others = (NO_GENERATOR,)
    keys: ClassVar[Mapping[str, Key]] = {
        **pick(
            "num_waves", "m_per_block", "n_per_block", "k_per_block", "dtype_a", "dtype_b", "dtype_c", "b_preshuffle",
            "m_warp", "n_warp", "k_warp", "split_k", "num_stages", "pipeline_sched", "waves_per_eu", "xcd_swizzle",
            "cluster_m", "cluster_n", "isa", "async_copy", "lds_stage", "cshuffle",
        ),
        "gemm_k": Key("K of the product that the kernel is compiled for.", "elements"),
        "num_buffers": Key("LDS buffers that the loads of A and B rotate over.", "buffers"),
        "compute": Key("Whether the kernel is the variant for compute-bound shapes."),
        "b_to_lds": Key("Whether B goes through LDS."),
        "c_to_lds": Key("Whether C goes through LDS before the store."),
        "small_m": Key("Whether the kernel is of the family for small M."),
        "n_tile_repeat": Key("Tiles along N that a block computes one after the other in one pass.", "tiles"),
        "persistent_n_tiles": Key("Tiles along N that a block stays resident for.", "tiles"),
        "b_to_lds_unroll": Key("Unroll factor of the copy of B to LDS; 0 is the compiler's choice."),
    }  # fmt: skip

    def read_by(self, reader: Pattern | OneOf, name: str, context: Context) -> DecodedName:
        """Reads `name`; tells where older releases printed another order, or less."""
        if reader is not _MFMA:
            return reader.read(name, self.name)
        answer = _MFMA.match(name, self.name)
        if answer is None:
            older = _OLDER.match(name, self.name)
            return (
                _MFMA.repair(name, self.name) if older is None else msgspec.structs.replace(older, notes=_OLDER_NOTES)
            )
        f = answer.fields
        notes = tuple(note for key, note in _LEGACY.items() if key not in f)
        if not notes and f["async_copy"] and f["waves_per_eu"] < 2 and f["xcd_swizzle"] < 2:
            notes = (_BOTH_NOTE,)
        return msgspec.structs.replace(answer, notes=notes) if notes else answer

    def format(self, family: str, fields: Mapping[str, FieldValue]) -> str:
        """Writes the name that `fields` describe, in the order of the family."""
        return _OLDER.format(fields) if family == NO_GENERATOR else super().format(family, fields)

    def view(self, decoded: DecodedName) -> GemmView | None:
        """Tile, waves, types and depth as named; the wave tile is the tile over the waves."""
        f = decoded.fields
        stages = f.get("num_stages", f.get("num_buffers", f.get("lds_stage")))
        return stated_view(f, "gemm", stages=stages, pipeline=f.get("pipeline_sched"))
