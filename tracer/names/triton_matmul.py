"""Names of triton_kernels' matrix product: in comes `_matmul_ogs_NNT_bf16xbf16xmxfp4_...`, out come its parts.

    [_p]_matmul[_ogs][_acc]_{layouts of Y, X, W}_{types YxXxW}_{MxNxKxsplit-K}[_{epilogue}]
    _finalize_matmul[_scatter]_{type}

`_p` is the persistent kernel. A layout is N where the stride of Y along its columns, of X along K, of W along N is 1,
else T. The epilogue is the names of the fused functions (`swiglu`). `u8` weights print as mxfp4. X is A of the product,
W is B, Y is C.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, GemmView
from tracer.names.base import Key
from tracer.names.formal import FormalGrammar, OneOf
from tracer.names.pattern import Pattern, choice, flag, groups, lit, nums, opt, seq, text, words
from tracer.names.stated_view import stated_view
from tracer.names.vocabulary import pick

_TYPE = r"(?:mxfp[0-9]+|nvfp[0-9]+|(?:bf|fp|f|i|u|int|uint)[0-9]+(?:e[0-9]+(?:nv|b[0-9]+)?)?)"


def _product(base: str, persistent: bool) -> Pattern:
    return Pattern(
        "triton_matmul_ogs",
        choice("base_name", {base: base}),
        flag("accumulate", "_acc"),
        lit("_"),
        groups(
            seq(*(words(f"layout_{operand}", "N", "T") for operand in "cab")),
            groups(text("dtype_c", _TYPE), text("dtype_a", _TYPE), text("dtype_b", _TYPE), sep="x"),
            nums(("m_per_block", "n_per_block", "k_per_block", "split_k")),
        ),
        opt(lit("_") + text("epilogue", r"[a-z]\w*")),
        constants={"persistent": persistent},
    )


_ORDERS = {"N": "row", "T": "col"}
_BASES = {"_matmul_ogs": False, "_p_matmul_ogs": True, "_matmul": False, "_p_matmul": True}


class TritonMatmul(FormalGrammar):
    """triton_kernels' matrix product and its finalisation."""

    name = "triton_matmul"
    link = "https://github.com/triton-lang/triton/tree/main/python/triton_kernels/triton_kernels/matmul_details"
    guard = "[A-Za-z]"
    readers: ClassVar[Mapping[str, Pattern | OneOf]] = {
        **{f"{base}_{layout}": _product(base, persistent) for base, persistent in _BASES.items() for layout in "NT"},
        **{f"{base}_acc_": _product(base, persistent) for base, persistent in _BASES.items()},
        "_finalize_matmul_": Pattern(
            "triton_finalize_matmul",
            choice("base_name", {"_finalize_matmul": "_finalize_matmul"}),
            flag("scatter", "_scatter"),
            lit("_") + text("dtype_a", _TYPE),
        ),
    }
    keys: ClassVar[Mapping[str, Key]] = {
        **pick(
            "layout_a", "layout_b", "layout_c", "epilogue", "base_name", "dtype_a", "dtype_b", "dtype_c", "m_per_block",
            "n_per_block", "k_per_block", "split_k", "persistent",
        ),
        "accumulate": Key("Whether the result is added to an accumulator that is passed in."),
        "scatter": Key("Whether the rows are scattered to their place."),
    }  # fmt: skip

    def view(self, decoded: DecodedName) -> GemmView | None:
        """Tile, types, layouts and split-K as named; N is row-major here, where the letters of BLAS mean columns."""
        f = decoded.fields
        if decoded.family != "triton_matmul_ogs":
            return None
        layouts = {key: _ORDERS.get(f.get(key, "")) for key in ("layout_a", "layout_b", "layout_c")}
        return stated_view(f, "gemm", **layouts)
