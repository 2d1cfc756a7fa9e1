"""What host C++ takes from headers and the machine: a tree, a target, an environment in, names for a walk out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from tracer.aiter import text
from tracer.aiter.cpp_values import DType, Null, Unknown
from tracer.aiter.lookups import fp8_dtype
from tracer.aiter.padding import get_padded_m, next_power_of_two
from tracer.aiter.tree import AiterTree
from tracer.model.environment import Target

ENUMS = "csrc/include/aiter_enum.h"
#: main's names of element types (csrc/include/aiter_enum.h), in torch's spelling; fp8 depends on the target
_DTYPES = {
    "fp8_e8m0": "float8_e8m0fnu", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "i32": "int32",
    "u32": "uint32", "i16": "int16", "i8": "int8", "u8": "uint8", "i64": "int64", "u64": "uint64",
    "fp4x2": "float4_e2m1fn_x2",
}  # fmt: skip


def host_names(tree: AiterTree, target: Target) -> dict[str, Any]:
    """Names that other files define: element types, members of aiter's enums, the number of CUs.

    Raises:
        SourceTreeError: a header can't be read.
    """
    fp8 = DType((fp8_dtype(tree, target.arch or "") or "").removeprefix("torch."))
    names: dict[str, Any] = {f"AITER_DTYPE_{name}": DType(spelled) for name, spelled in _DTYPES.items()}
    names |= {"AITER_DTYPE_fp8": fp8, "torch_fp8": fp8, "torch_fp4x2": DType("float4_e2m1fn_x2")}
    names |= enum_members(tree)
    if target.compute_units is not None:
        names["multiProcessorCount"] = target.compute_units
    return names


def host_functions(target: Target, environment: Mapping[str, str]) -> dict[str, Callable[..., Any]]:
    """Functions of other files that a choice depends on. The environment is the one that the call ran in."""
    units: Any = target.compute_units if target.compute_units is not None else Unknown("the number of CUs")
    arch: Any = target.arch if target.arch is not None else Unknown("the architecture")
    return {
        "getPaddedM": _of_numbers(get_padded_m),
        "nextPow2": _of_numbers(next_power_of_two),
        "get_device_cu_num": lambda: units,
        "get_num_cu_func": lambda: units,
        "get_device_gfx": lambda: arch,
        "get_gpu_arch": lambda: arch,
        "getenv": lambda name: environment.get(name, Null()) if isinstance(name, str) else Unknown("getenv"),
    }


def _of_numbers(function: Callable[..., int]) -> Callable[..., Any]:
    """A function of whole numbers, which knows no answer where one of them is not known."""
    return lambda *values: (
        function(*values) if all(isinstance(v, int) for v in values) else Unknown(f"{function.__name__}(...)")
    )


def enum_members(tree: AiterTree) -> dict[str, int]:
    """`QuantType::per_Token` and its kin with their numbers; empty where this aiter keeps them elsewhere."""
    path = tree.absolute(ENUMS)
    return dict(_members(text.read(path))) if path.is_file() else {}


@lru_cache(maxsize=8)
def _members(content: str) -> tuple[tuple[str, int], ...]:
    found = []
    for name, body in re.findall(r"enum class (\w+)[^{;]*\{([^}]*)\}", text.blank_comments(content)):
        number = -1
        for member in (part.strip() for part in body.split(",")):
            word, sign, value = member.partition("=")
            if word.strip():
                number = int(value.strip(), 0) if sign else number + 1
                found.append((f"{name}::{word.strip()}", number))
    return tuple(found)
