"""aiter's opus two-stage MoE names: in comes `opus_moe1_...` or `opus_moe2_...`, out come tile and options as fields.

    opus_moe1_a{A}_w{B}_{C}_t{MxN}_{pair|gs}[_kw{}][_qgb{}][_m{}][_stream][_k{}][_bt{}][_aff{}][_p{}][_mmajor][_k1lead][_fp8]
    opus_moe2_[layout_]a{A}_w{B}_{atomic|bf16|fp8}_t{MxNxK}_sbm{}[_occ{}][_cache_b{}[_ws{}]][_bt{}][_ring{}][_rbn{}][_small]

The names are written by hand in a table (`opus_moe_common.py`), not built: a value that some row leaves out against
the default (weight streaming, blocks per CU, threads of stage 2) is stated only where it is printed. A final `_fp8` of
stage 1 overrides the output type printed before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, GemmView
from tracer.names.base import Key
from tracer.names.formal import FormalGrammar, OneOf
from tracer.names.pattern import Part, Pattern, choice, flag, groups, lit, num, nums, opt, seq, text
from tracer.names.stated_view import moe_op, stated_view
from tracer.names.vocabulary import pick

_FAMILY = "aiter_opus_moe"
_TYPE = "(?:bf|mxfp|fp|f|int)[0-9]+"
_TYPES = groups(lit("a") + text("dtype_a", _TYPE), lit("w") + text("dtype_b", _TYPE))


def _numbered(token: str, key: str, absent: int | None = None) -> Part:
    """A token with a number; the number that leaving it out states is never printed."""
    return opt(lit(token) + num(key, other_than=absent), absent={} if absent is None else {key: absent})


def _only_true(key: str, token: str) -> Part:
    return opt(choice(key, {token: True}))


def _stage1(override: bool) -> Pattern:
    return Pattern(
        _FAMILY,
        lit("opus_moe") + choice("stage", {"1": 1}) + lit("_"),
        groups(
            _TYPES,
            text("dtype_c_registered" if override else "dtype_c", _TYPE),
            lit("t") + nums(("m_per_block", "n_per_block")),
            choice("gate_up_group_split", {"pair": False, "gs": True}),
        ),
        _numbered("_kw", "k_wave", 1),
        _numbered("_qgb", "quant_group_blocks", 1),
        _numbered("_m", "block_per_cu"),
        _only_true("weight_load_stream", "_stream"),
        _numbered("_k", "k_loop_swizzle_colors", 0),
        _numbered("_bt", "block_threads", 256),
        _numbered("_aff", "route_affinity_window", 0),
        _numbered("_p", "route_affinity_phase_period", 1),
        flag("m_fragment_major", "_mmajor"),
        flag("b_k1_lead", "_k1lead"),
        seq(*[choice("dtype_c", {"_fp8": "fp8"})] if override else []),
    )


_STAGE2 = Pattern(
    _FAMILY,
    lit("opus_moe") + choice("stage", {"2": 2}) + lit("_"),
    flag("layout", "layout_"),
    groups(
        _TYPES,
        choice("out_mode", {"atomic": 0, "bf16": 1, "fp8": 2}),
        lit("t") + nums(("m_per_block", "n_per_block", "k_per_block")),
        lit("sbm") + num("sort_block_m"),
    ),
    _numbered("_occ", "occupancy"),
    opt(
        lit("_cache_b") + num("cachectl_b", other_than=0) + _numbered("_ws", "cachectl_wscale", 0),
        absent={"cachectl_b": 0, "cachectl_wscale": 0},
    ),
    _numbered("_bt", "block_threads"),
    _numbered("_ring", "ring_slots"),
    _numbered("_rbn", "reduce_block_n"),
    _only_true("small", "_small"),
)


class OpusMoe(FormalGrammar):
    """aiter's opus MoE stages."""

    name = "opus_moe"
    link = "https://github.com/ROCm/aiter/blob/main/csrc/opus_moe/opus_moe_common.py"
    guard = "[a-z0-9]"
    readers: ClassVar[Mapping[str, Pattern | OneOf]] = {
        "opus_moe1_": OneOf(_stage1(False), _stage1(True)),
        "opus_moe2_": _STAGE2,
    }
    keys: ClassVar[Mapping[str, Key]] = {
        **pick(
            "dtype_c_registered", "block_threads", "layout", "occupancy", "cachectl_b", "m_per_block", "n_per_block",
            "k_per_block", "dtype_a", "dtype_b", "dtype_c", "stage", "sort_block_m", "k_wave", "block_per_cu",
        ),
        "gate_up_group_split": Key("Whether gate and up are split over groups of waves (gs) or computed as a pair."),
        "quant_group_blocks": Key("Scale groups that a block quantises together.", "groups"),
        "weight_load_stream": Key("Whether the weights are loaded as a stream, past the caches."),
        "k_loop_swizzle_colors": Key("Colours of the swizzled K loop; 0 is off."),
        "route_affinity_window": Key("Window in which routes of one expert are kept together; 0 is off.", "routes"),
        "route_affinity_phase_period": Key("Period of the phase of route affinity."),
        "m_fragment_major": Key("Whether the fragments are walked along M first."),
        "b_k1_lead": Key("Whether the loads of B lead by K1."),
        "out_mode": Key("aiter's number of the output mode: 0 atomic, 1 bf16 routes, 2 fp8 routes."),
        "cachectl_wscale": Key("Cache policy of the loads of the weights' scales; 0 is the default."),
        "ring_slots": Key("Slots of the ring of buffers.", "slots"),
        "reduce_block_n": Key("N extent that one block of the route reduction covers.", "elements"),
        "small": Key("Whether the kernel is the one for few tokens."),
    }  # fmt: skip

    def view(self, decoded: DecodedName) -> GemmView | None:
        """Tile, threads and types as named."""
        f = decoded.fields
        return stated_view(f, moe_op(f), waves_k=f.get("k_wave"), threads_per_block=f.get("block_threads"))
