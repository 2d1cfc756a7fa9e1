"""How a CK template argument's text becomes a field's value: an item of an argument list in, a typed value out.

A converter refuses (ValueError) what its parameter can't be, and so tells parameter lists of one length apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tracer.model.kernel import FieldValue
from tracer.names import cpp

Convert = Callable[[str], FieldValue]

#: C++ spellings of element types in CK and ck_tile symbols. `unsigned short` is bhalf_t, bf16; builds with a compiler that
#: has __bf16 print `std::bfloat16_t`. f8 is _BitInt(8) in CK before 2025, then a struct of the OCP or the FNUZ format.
TYPES: Mapping[str, str] = {
    "float": "f32", "double": "f64", "_Float16": "fp16", "half": "fp16", "__half": "fp16", "ck::half_t": "fp16",
    "unsigned short": "bf16", "std::bfloat16_t": "bf16", "__bf16": "bf16", "__hip_bfloat16": "bf16",
    "ck::bhalf_t": "bf16", "ck_tile::bfloat16_t": "bf16", "signed char": "int8", "char": "int8", "int": "int32",
    "long": "int64", "unsigned int": "uint32", "unsigned char": "uint8", "_BitInt(8)": "fp8",
    "unsigned _BitInt(8)": "bf8", "_BitInt(4)": "int4", "unsigned _BitInt(4)": "fp4", "ck::f8_t": "fp8",
    "ck::f8_fnuz_t": "fp8", "ck::f8_ocp_t": "fp8", "ck::bf8_t": "bf8", "ck::bf8_fnuz_t": "bf8", "ck::bf8_ocp_t": "bf8",
    "ck::pk_i4_t": "int4", "ck::f4_t": "fp4", "ck::f4x2_pk_t": "fp4", "ck::f6_pk_t": "fp6", "ck::bf6_pk_t": "bf6",
    "ck::e8m0_bexp_t": "e8m0", "ck_tile::pk_int4_t": "int4", "ck_tile::pk_fp4_t": "fp4", "ck_tile::e8m0_bexp_t": "e8m0",
    "ck_tile::e8m0_t": "e8m0", "ck_tile::float8_e4m3_t": "fp8", "ck_tile::float8_e5m2_t": "bf8",
    "ck_tile::fp8_t": "fp8", "ck_tile::bf8_t": "bf8",
}  # fmt: skip

_GEMM_SPECIALIZATIONS = (
    "Default", "MPadding", "NPadding", "KPadding", "MNPadding", "MKPadding", "NKPadding", "MNKPadding", "OPadding",
    "MOPadding", "NOPadding", "KOPadding", "MNOPadding", "MKOPadding", "NKOPadding", "MNKOPadding",
)  # fmt: skip
_TAILS = ("Odd", "Even", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Empty", "Full")
#: enum -> values in the order of its declaration (include/ck/utility, .../device/gemm_specialization.hpp, blkgemmpipe_scheduler.hpp)
_ENUMS: Mapping[str, tuple[str, tuple[FieldValue, ...]]] = {
    "gemm_spec": ("(ck::tensor_operation::device::GemmSpecialization)", _GEMM_SPECIALIZATIONS),
    "mem_op": ("(ck::InMemoryDataOperationEnum)", ("Set", "AtomicAdd", "AtomicMax", "Add")),
    "tail": ("(ck::TailNumber)", _TAILS),
    "pipeline_sched": ("(ck::BlockGemmPipelineScheduler)", ("intrawave", "interwave")),
    "pipeline_version": ("(ck::BlockGemmPipelineVersion)", (1, 2, 3, 4, 5)),
    "loop_scheduler": ("(ck::LoopScheduler)", ("default", "interwave")),
    "pipeline_version_classic": ("(ck::PipelineVersion)", ("v1", "v2", "v4", "weight_only")),
}
_BOOLEANS = {"true": True, "false": False}
_SEQUENCE = "ck::Sequence<"
_TUPLE = "ck::Tuple<"
_ACTIVATIONS = {"0": "gelu", "1": "silu", "3": "swiglu"}


def boolean(item: str) -> bool:
    """`true` or `false`. Raises ValueError for anything else."""
    try:
        return _BOOLEANS[item]
    except KeyError:
        raise ValueError(item) from None


def sequence(item: str) -> list[int]:
    """`ck::Sequence<8, 32, 1>` as a list. Raises ValueError for anything else."""
    if not item.startswith(_SEQUENCE):
        raise ValueError(item)
    return [int(part) for part in item[len(_SEQUENCE) : -1].split(",")]


def _sequence_or_integer(item: str) -> list[int]:
    return [int(item)] if item.isdigit() else sequence(item)


def _type_text(item: str) -> str:
    if not item or item in _BOOLEANS or item[0] in "-(0123456789":
        raise ValueError(item)
    return item


def dtype(item: str) -> str:
    """An element type in the tool's spelling; an unknown one by its own unqualified name. Raises ValueError for a value."""
    known = TYPES.get(item)
    return known if known is not None else cpp.leaf(_type_text(item).partition("<")[0])


def _items(item: str) -> tuple[str, ...]:
    if not item.startswith(_TUPLE):
        raise ValueError(item)
    return cpp.arguments(item, len(_TUPLE) - 1).items


def dtypes(item: str) -> list[str]:
    """`ck::Tuple<float, unsigned short>` as a list of element types."""
    return [dtype(part) for part in _items(item)]


def leaf(item: str) -> str:
    """The unqualified name of a type, without template arguments: a layout, an element-wise operation."""
    return cpp.leaf(_type_text(item).partition("<")[0])


def leaves(item: str) -> list[str]:
    """`ck::Tuple<...>` of types as a list of unqualified names."""
    return [leaf(part) for part in _items(item)]


def _enum(prefix: str, values: tuple[FieldValue, ...]) -> Convert:
    table = {f"{prefix}{i}": value for i, value in enumerate(values)}

    def convert(item: str) -> FieldValue:
        try:
            return table[item]
        except KeyError:
            raise ValueError(item) from None

    return convert


def _activation(item: str) -> FieldValue:
    return _ACTIVATIONS.get(item) or int(item)


def _stage(item: str) -> int:
    return 1 if boolean(item) else 2


def plain(item: str) -> FieldValue:
    """A value by what it looks like: a number, a boolean, a sequence, an enum's number, else a type's unqualified name."""
    if item.lstrip("-").isdigit():
        return int(item)
    if item in _BOOLEANS:
        return _BOOLEANS[item]
    if item.startswith(_SEQUENCE):
        return sequence(item)
    number = cpp.integer(item)
    return number if number is not None else leaf(item)


_FLAGS = frozenset(
    ["main_k_loop", "double_tail_k_loop", "n_swizzle", "mul_routed_weight", "per_token_quant", "split_k_enabled",
     "b_nontemporal", "permute_a", "permute_b", "pad_n", "direct_load", "large_tensors", "masked", "is_multi_a",
     "is_multi_b", "c_transpose", "elementwise_before_cshuffle", "zeroing"]
)  # fmt: skip
_CONVERTERS: dict[str, Convert] = {
    "a_block_transfer": sequence,
    "b_block_transfer": sequence,
    "c_block_transfer": sequence,
    "c_block_spv": _sequence_or_integer,
    "activation": _activation,
    "stage": _stage,
    "dtypes_a": dtypes,
    "dtypes_b": dtypes,
    "dtypes_d": dtypes,
    "layouts_a": leaves,
    "layouts_b": leaves,
    "layouts_d": leaves,
    **{key: _enum(prefix, values) for key, (prefix, values) in _ENUMS.items()},
}


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
    for key, (prefix, _) in _ENUMS.items():
        if item.startswith(prefix):
            return key
    return None
