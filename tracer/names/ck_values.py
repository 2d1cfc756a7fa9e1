"""How a CK template argument's text becomes a field's value: an item of an argument list in, a typed value out.

A converter refuses (ValueError) what its parameter can't be, and so tells parameter lists of one length apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tracer.model.kernel import FieldValue
from tracer.names import cpp, cpp_types
from tracer.names.cpp_types import type_text

Convert = Callable[[str], FieldValue]

#: What CK and ck_tile call element types. `unsigned short` is bhalf_t, bf16; builds with a compiler that has __bf16
#: print `std::bfloat16_t`. f8 is _BitInt(8) in CK before 2025, then a struct of the OCP or the FNUZ format.
TYPES: Mapping[str, str] = {
    **cpp_types.TYPES, "unsigned short": "bf16", "ck::half_t": "fp16", "ck::bhalf_t": "bf16", "ck::f8_t": "fp8",
    "ck::f8_fnuz_t": "fp8", "ck::f8_ocp_t": "fp8", "ck::bf8_t": "bf8", "ck::bf8_fnuz_t": "bf8", "ck::bf8_ocp_t": "bf8",
    "ck::pk_i4_t": "int4", "ck::f4_t": "fp4", "ck::f4x2_pk_t": "fp4", "ck::f6_pk_t": "fp6", "ck::bf6_pk_t": "bf6",
    "ck::e8m0_bexp_t": "e8m0", "ck_tile::bfloat16_t": "bf16", "ck_tile::half_t": "fp16", "ck_tile::pk_int4_t": "int4",
    "ck_tile::pk_fp4_t": "fp4", "ck_tile::pk_float4_e2m1_t": "fp4", "ck_tile::e8m0_bexp_t": "e8m0",
    "ck_tile::e8m0_t": "e8m0",
    "ck_tile::float8_e4m3_t": "fp8", "ck_tile::float8_e5m2_t": "bf8", "ck_tile::fp8_t": "fp8", "ck_tile::bf8_t": "bf8",
}  # fmt: skip

GEMM_SPECIALIZATIONS = (
    "Default", "MPadding", "NPadding", "KPadding", "MNPadding", "MKPadding", "NKPadding", "MNKPadding", "OPadding",
    "MOPadding", "NOPadding", "KOPadding", "MNOPadding", "MKOPadding", "NKOPadding", "MNKOPadding",
)  # fmt: skip
_TAILS = ("Odd", "Even", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Empty", "Full")
#: enum -> values in the order of its declaration (include/ck/utility, .../device/gemm_specialization.hpp,
#: blkgemmpipe_scheduler.hpp)
_ENUMS: tuple[tuple[str, str, tuple[FieldValue, ...]], ...] = (
    ("gemm_spec", "(ck::tensor_operation::device::GemmSpecialization)", GEMM_SPECIALIZATIONS),
    ("mem_op", "(ck::InMemoryDataOperationEnum)", ("Set", "AtomicAdd", "AtomicMax", "Add")),
    ("mem_op", "(ck_tile::memory_operation_enum)", ("Set", "AtomicAdd", "AtomicMax", "Add")),
    ("tail", "(ck::TailNumber)", _TAILS),
    ("tail", "(ck_tile::TailNumber)", _TAILS),
    ("pipeline_sched", "(ck::BlockGemmPipelineScheduler)", ("intrawave", "interwave")),
    ("pipeline_sched", "(ck_tile::GemmPipelineScheduler)", ("default", "intrawave", "interwave")),
    ("pipeline_version", "(ck::BlockGemmPipelineVersion)", (1, 2, 3, 4, 5)),
    ("loop_scheduler", "(ck::LoopScheduler)", ("default", "interwave")),
    ("pipeline_version_classic", "(ck::PipelineVersion)", ("v1", "v2", "v4", "weight_only")),
    ("bias", "(ck_tile::BlockAttentionBiasEnum)", ("no", "bias", "alibi")),
    ("quant_type", "(ck_tile::QuantType)", ("a_grouped", "b_grouped", "row_column", "tensor")),
    ("moe_kind", "(ck_tile::MoeFlatmmKind)", (1, 1, 2)),  # stages; the first may have a gate only
)
_BOOLEANS = {"true": True, "false": False}
_SEQUENCES = ("ck::Sequence<", "ck_tile::sequence<", "opus::seq<")
_TUPLES = ("ck::Tuple<", "ck_tile::tuple<", "opus::tuple<")
_ACTIVATIONS = {"0": "gelu", "1": "silu", "3": "swiglu"}
_FUSED_ACTIVATIONS = {"ck_tile::moe::MoeSilu": "silu", "ck_tile::moe::Swiglu": "swiglu"}
_SCALES = "ck_tile::FlatmmScalePointer<"


def boolean(item: str) -> bool:
    """`true` or `false`. Raises ValueError for anything else."""
    try:
        return _BOOLEANS[item]
    except KeyError:
        raise ValueError(item) from None


def sequence(item: str) -> list[int]:
    """`ck::Sequence<8, 32, 1>` as a list. Raises ValueError for anything else."""
    if not item.startswith(_SEQUENCES):
        raise ValueError(item)
    return [int(part) for part in item[item.index("<") + 1 : -1].split(",")]


def _sequence_or_integer(item: str) -> list[int]:
    return [int(item)] if item.isdigit() else sequence(item)


def dtype(item: str) -> str:
    """The tool's spelling of an element type, else its own unqualified name. Raises ValueError for a value."""
    known = TYPES.get(item)
    if known is not None:
        return known
    if item.startswith(_TUPLES):
        types = dtypes(item)
        return types[0] if len(types) == 1 else ", ".join(types)
    return cpp_types.dtype(item)


def _items(item: str) -> tuple[str, ...]:
    if not item.startswith(_TUPLES):
        raise ValueError(item)
    return cpp.arguments(item, item.index("<")).items


def dtypes(item: str) -> list[str]:
    """`ck::Tuple<float, unsigned short>` as a list of element types."""
    return [dtype(part) for part in _items(item)]


def leaf(item: str) -> str:
    """The unqualified name of a type, without template arguments: a layout, an element-wise operation."""
    return cpp.leaf(type_text(item).partition("<")[0])


def leaves(item: str) -> list[str]:
    """`ck::Tuple<...>` of types as a list of unqualified names."""
    return [leaf(part) for part in _items(item)]


def _enum(key: str) -> Convert:
    """The converter of an enum's casts; the enums of CK and of ck_tile that state one key have one converter."""
    table = {f"{prefix}{i}": v for k, prefix, values in _ENUMS if k == key for i, v in enumerate(values)}

    def convert(item: str) -> FieldValue:
        try:
            return table[item]
        except KeyError:
            raise ValueError(item) from None

    return convert


def _number_of(enum: str) -> Convert:
    """The converter of an enum whose values are kept as numbers; a plain number is taken too."""

    def convert(item: str) -> int:
        found = cpp.cast(item)
        if found is None or not found[0].endswith(enum):
            raise ValueError(item)
        return found[1]

    return convert


def _v_layout(item: str) -> str:
    return "row" if boolean(item) else "col"


def _activation(item: str) -> FieldValue:
    return _ACTIVATIONS.get(item) or int(item)


def _fused_activation(item: str) -> str:
    try:
        return _FUSED_ACTIVATIONS[item]
    except KeyError:
        raise ValueError(item) from None


def _scaled(item: str) -> bool:
    """Whether a `FlatmmScalePointer` points to scales: one for -1 rows or columns points to nothing."""
    if not item.startswith(_SCALES):
        raise ValueError(item)
    return not item.startswith(f"{_SCALES}-1,")


def _stage(item: str) -> int:
    return 1 if boolean(item) else 2


def _scale_block(item: str) -> list[int]:
    """`ck_tile::QuantGroupShape<ck_tile::sequence<1, 1, 128> >` as a list."""
    if "QuantGroupShape<" not in item:
        raise ValueError(item)
    return sequence(cpp.arguments(item, item.index("<")).items[0])


def plain(item: str) -> FieldValue:
    """A value by its look: a number, a boolean, a sequence, an enum's number, else a type's unqualified name."""
    if item.lstrip("-").isdigit():
        return int(item)
    if item in _BOOLEANS:
        return _BOOLEANS[item]
    if item.startswith(_SEQUENCES):
        return sequence(item)
    number = cpp.integer(item)
    return number if number is not None else leaf(item)


#: the converters that answer with a list
LISTS: frozenset[Convert] = frozenset((sequence, _sequence_or_integer, dtypes, leaves, _scale_block))
_FLAGS = frozenset(
    ["main_k_loop", "double_tail_k_loop", "n_swizzle", "mul_routed_weight", "per_token_quant", "split_k_enabled",
     "b_nontemporal", "permute_a", "permute_b", "pad_n", "direct_load", "large_tensors", "masked", "is_multi_a",
     "is_multi_b", "c_transpose", "elementwise_before_cshuffle", "zeroing", "pad_m", "pad_k", "pad_seqlen_q",
     "pad_seqlen_k", "pad_head_dim", "pad_head_dim_v", "logits_soft_cap", "dbias", "lse", "dropout", "static_quant",
     "skip_min_seqlen_q", "sink", "paged_kv", "uneven_splits", "merge_groups", "group_mode", "deterministic", "trload",
     "double_smem_buffer", "transpose_c", "structured_sparsity", "persistent", "b_preshuffle", "preshuffle_quant",
     "async_copy", "hot_loop", "save_inv_rms", "save_unquant", "two_pass", "three_pass", "save_mean_inv_std",
     "fast_fdiv", "welford", "save_x", "gate_only", "smooth_quant", "atomic", "pad_hidden_size",
     "pad_intermediate_size", "pipe_interleave"]
)  # fmt: skip
_CONVERTERS: dict[str, Convert] = {
    "a_block_transfer": sequence,
    "b_block_transfer": sequence,
    "c_block_transfer": sequence,
    "c_block_spv": _sequence_or_integer,
    "activation": _activation,
    "stage": _stage,
    "fused_activation": _fused_activation,
    "scaled_a": _scaled,
    "scaled_b": _scaled,
    "dtypes_a": dtypes,
    "dtypes_b": dtypes,
    "dtypes_d": dtypes,
    "layouts_a": leaves,
    "layouts_b": leaves,
    "layouts_d": leaves,
    **dict.fromkeys(
        ("block_mn", "thread_per_block", "vector", "warp_per_block", "warp_tile", "block_tile", "gemm0_block_warps",
         "gemm0_warp_tile", "gemm1_block_warps", "gemm1_warp_tile", "tile_mnk", "warps_mnk", "warp_tile_mnk"),
        sequence,
    ),
    "scale_block_mnk": _scale_block,
    "v_row_major": _v_layout,
    "fused_add": _number_of("FusedAddEnum"),
    "fused_quant": _number_of("FusedQuantEnum"),
    "x_bias": _number_of("XBiasEnum"),
    "sensitive_model": _number_of("SensitiveEnum"),
    "qscale": _number_of("QuantScaleEnum"),
    "kv_memory_layout": _number_of("KVCacheMemoryLayoutEnum"),
    "kv_lookup_table": _number_of("KVCacheLookupTableEnum"),
    "kv_load_mode": _number_of("KVCacheLoadModeEnum"),
    "rope_id": _number_of("RotaryEmbeddingEnum"),
    **{key: _enum(key) for key, _, _ in _ENUMS},
}  # fmt: skip


def converter(key: str) -> Convert:
    """The converter of a key; a CamelCase key is converted by its look."""
    known = _CONVERTERS.get(key)
    if known is not None:
        return known
    if key[0].isupper():
        return plain
    if key in _FLAGS:
        return boolean
    if key.startswith("dtype_"):
        return dtype
    if key.startswith("layout_") or key.endswith("_element_op"):
        return leaf
    return int


def enum_key(item: str) -> str | None:
    """The key that an enum cast states wherever it stands: `(ck::TailNumber)10` -> tail."""
    for key, prefix, _ in _ENUMS:
        if item.startswith(prefix):
            return key
    return None
