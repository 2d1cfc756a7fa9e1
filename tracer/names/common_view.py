"""The common GEMM view in the tool's own words: a grammar and a decoded name in, one spelling for every family out.

Families spell one type as `B`, `bf16` or `bhalf`, and one storage order as `T`, `R` or `RowMajor`. Fields keep the
family's spelling; the view is for standing beside other families.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tracer.model.kernel import DecodedName, GemmView
from tracer.names.base import Grammar
from tracer.names.vocabulary import DTYPE_FOLD

#: spellings of one type, beyond those that the vocabulary folds; the 8- and 4-bit floats by their public formats
_TYPES: Mapping[str, str] = {
    **DTYPE_FOLD, "e4m3": "fp8", "f8": "fp8", "float8": "fp8", "e5m2": "bf8", "bfloat8": "bf8", "e2m1": "fp4",
    "fp4x2": "fp4", "e2m3": "fp6", "e3m2": "bf6", "s8": "int8", "u8": "uint8", "s4": "int4", "u4": "uint4",
    "s32": "int32", "int8_t": "int8", "int32_t": "int32",
}  # fmt: skip
#: storage order of a matrix: CK's words, and the letters of column-major BLAS (Tensile, cuBLAS, CUTLASS; c and h are
#: conjugated). Layouts of convolutions (nhwc) stay as printed.
_ORDERS: Mapping[str, str] = {
    "R": "row", "RowMajor": "row", "T": "row", "t": "row", "h": "row",
    "C": "col", "ColumnMajor": "col", "N": "col", "n": "col", "c": "col",
}  # fmt: skip
_DTYPES = ("dtype_a", "dtype_b", "dtype_c", "dtype_acc")
_LAYOUTS = ("layout_a", "layout_b", "layout_c")


def common_view(grammar: Grammar, decoded: DecodedName) -> GemmView | None:
    """The view of a name in one spelling, with what rests on likely readings marked.

    A value is likely when the grammar's view does not have it without the name's likely readings.
    """
    found = grammar.view(decoded)
    if found is None:
        return None
    changed: dict[str, object] = {}
    for key in _DTYPES:
        spelling = getattr(found, key)
        if spelling is not None:
            common = _TYPES.get(spelling.lower(), spelling)
            if common != spelling:
                changed[key] = common
    for key in _LAYOUTS:
        spelling = getattr(found, key)
        if spelling in _ORDERS:
            changed[key] = _ORDERS[spelling]
    if decoded.likely:
        sure = grammar.view(msgspec.structs.replace(decoded, likely={}))
        changed["likely"] = tuple(
            key
            for key in found.__struct_fields__
            if getattr(found, key) is not None and key != "likely" and (sure is None or getattr(sure, key) is None)
        )
    return msgspec.structs.replace(found, **changed) if changed else found
