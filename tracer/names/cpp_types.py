"""C++ spellings of element types, as demangled kernel names print them: a type's text in, the tool's spelling out."""

from __future__ import annotations

from collections.abc import Mapping

from tracer.names import cpp

#: what the compilers, HIP, CUDA, c10, CUTLASS and opus call one element type
TYPES: Mapping[str, str] = {
    "float": "f32", "double": "f64", "_Float16": "fp16", "half": "fp16", "__half": "fp16", "c10::Half": "fp16",
    "cutlass::half_t": "fp16", "at::Half": "fp16", "std::float16_t": "fp16", "std::bfloat16_t": "bf16",
    "__bf16": "bf16", "__hip_bfloat16": "bf16", "hip_bfloat16": "bf16", "__nv_bfloat16": "bf16", "nv_bfloat16": "bf16",
    "c10::BFloat16": "bf16", "at::BFloat16": "bf16", "cutlass::bfloat16_t": "bf16", "signed char": "int8",
    "char": "int8", "unsigned char": "uint8", "short": "int16", "unsigned short": "uint16", "int": "int32",
    "unsigned int": "uint32", "long": "int64", "unsigned long": "uint64", "long long": "int64", "bool": "bool",
    "_BitInt(8)": "fp8", "unsigned _BitInt(8)": "bf8", "_BitInt(4)": "int4", "unsigned _BitInt(4)": "fp4",
    "c10::Float8_e4m3fn": "fp8", "c10::Float8_e4m3fnuz": "fp8", "c10::Float8_e5m2": "bf8",
    "c10::Float8_e5m2fnuz": "bf8", "__hip_fp8_e4m3": "fp8", "__hip_fp8_e4m3_fnuz": "fp8", "__nv_fp8_e4m3": "fp8",
    "__nv_fp8_e5m2": "bf8",
    "__hip_fp8_e5m2": "bf8", "cutlass::float_e4m3_t": "fp8", "cutlass::float_e5m2_t": "bf8",
    "cutlass::float_e2m1_t": "fp4", "cutlass::tfloat32_t": "tf32", "c10::complex<float>": "c64",
    "c10::complex<double>": "c128", "c10::Float4_e2m1fn_x2": "fp4",
}  # fmt: skip


def type_text(item: str) -> str:
    """The text of a type argument. Raises ValueError when the item is a value: a number, a boolean, a cast."""
    if not item or item in ("true", "false") or item[0] in "-(0123456789":
        raise ValueError(item)
    return item


def dtype(item: str) -> str:
    """The tool's spelling of an element type, else its own unqualified name. Raises ValueError for a value."""
    known = TYPES.get(item)
    return known if known is not None else cpp.leaf(type_text(item).partition("<")[0])
