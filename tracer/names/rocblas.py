"""rocBLAS's own HIP kernels, such as `void rocblas_gemvn_kernel<64, 16, int, ...>(...)`: text in, fields out.

rocBLAS gives large products to Tensile; these kernels do the rest. Template parameters have fixed places per kernel;
where the arguments are not of the kinds that a parameter list asks for, another release printed them, and they are kept
as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, GemmView
from tracer.names import cpp, cpp_kernel
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.stated_view import stated_view
from tracer.names.vocabulary import pick

FAMILY = "rocblas_kernel"
_SOURCE = "library/src (ROCm/rocBLAS)"
_START = re.compile(
    r"(?:void )?(?:__device_stub__)?(?:roc(?:blas|bals)_\w*(?:kernel|device|substitution|reduce|fill)\w*"
    r"|geam_(?:ex|min_plus)_\w*kernel|gemm_ex_scale_kernel|(?:copy|set)_matrix_trsm|set_matrix_zero_if_alpha_zero_kernel"
    r"|setup_(?:batched|device_pointer)_array_kernel|syr2k_her2k_kernel)(?=[<(]|$)"
).match
_TILE = (
    "dim_m", "dim_n", "m_per_block", "n_per_block", "k_per_block", "dim_m_a", "dim_n_a", "dim_m_b", "dim_n_b",
)  # fmt: skip
#: the leading parameters of a kernel; "" is one that only template_arguments show
_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "rocblas_gemvn_kernel": ("dim_x", "dim_y"),
    "rocblas_gemvn_double_buffered_kernel": ("dim_x", "dim_y", "elements_per_thread"),
    "rocblas_gemvt_double_buffered_kernel": ("conj", "dim_x", "dim_y", "elements_per_thread"),
    "rocblas_gemvt_kernel": ("conj", "nb_x"),
    "rocblas_gemvt_warp_reduce_kernel": ("conj", "nb_x"),
    "rocblas_gemvtsm_kernel": ("conj", "nb_x"),
    "rocblas_gemvt_sn_kernel": ("conj", "nb_x", "win"),
    "rocblas_gemvn_sm_mn_batched_kernel": ("nb_x", "nb_batch"),
    "rocblas_gemm_scale_kernel": ("dim_x", "dim_y"),
    "gemm_ex_scale_kernel": ("dim_x", "dim_y"),
    "rocblas_gemm_batched_kernel": ("", *_TILE),
    "rocblas_gemm_batched_general_kernel": ("", *_TILE),
}
_CHARACTER = re.compile(r"\(char\)([0-9]{1,3})$|'(.)'$").match
_TRANSPOSES = {"N", "T", "C"}


class Rocblas(Grammar):
    """rocBLAS kernels by their C++ names."""

    name = "rocblas"
    families = (FAMILY,)
    formal = frozenset()
    prefixes = ("void ", "rocblas_", "rocbals_", "__device_stub__", "geam_ex_", "geam_min_", "gemm_ex_scale_kernel",
                "copy_matrix_trsm", "set_matrix_", "setup_", "syr2k_her2k_kernel")  # fmt: skip
    reads_cpp = True
    link = "https://github.com/ROCm/rocBLAS"
    keys: ClassVar[Mapping[str, Key]] = {
        **cpp_kernel.KEYS,
        **pick("trans_a", "trans_b", "m_per_block", "n_per_block", "k_per_block"),
        "dim_x": Key("Threads of a block along x.", "threads", _SOURCE),
        "dim_y": Key("Threads of a block along y.", "threads", _SOURCE),
        "nb_x": Key("Threads of a block along x (NB_X).", "threads", _SOURCE),
        "nb_batch": Key("Problems of a batch that one block computes.", "problems", _SOURCE),
        "elements_per_thread": Key("Elements of a column that one thread keeps.", "elements", _SOURCE),
        "win": Key("Elements that one thread reads at a time.", "elements", _SOURCE),
        "conj": Key("Whether the matrix is conjugated.", None, _SOURCE),
        "dim_m": Key("Threads of a block along M.", "threads", _SOURCE),
        "dim_n": Key("Threads of a block along N.", "threads", _SOURCE),
        "dim_m_a": Key("Threads that load the tile of A, along M.", "threads", _SOURCE),
        "dim_n_a": Key("Threads that load the tile of A, along K.", "threads", _SOURCE),
        "dim_m_b": Key("Threads that load the tile of B, along K.", "threads", _SOURCE),
        "dim_n_b": Key("Threads that load the tile of B, along N.", "threads", _SOURCE),
    }

    def accepts(self, name: str) -> bool:
        return _START(name) is not None

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        function = cpp.read_function(name)
        answer = cpp_kernel.read(function, self.name, FAMILY)
        parameters = _PARAMETERS.get(function.leaf)
        if parameters is None or function.arguments is None:
            return answer
        items = function.arguments.whole(name)
        values = [_value(key, item) for key, item in zip(parameters, items, strict=False)]
        if len(values) < len(parameters) or None in values:
            return answer
        for i, (key, value) in enumerate(zip(parameters, values, strict=True)):
            if key:
                answer.fields[key] = value
                answer.spans[key] = function.arguments.span(i)
        if "m_per_block" in answer.fields:
            # releases differ in whether a flag (beta is zero) or two (alpha, beta) stand before the transpositions
            letters = [(i, letter) for i, item in enumerate(items[10:14], 10) if (letter := _letter(item)) is not None]
            for key, (i, letter) in zip(("trans_a", "trans_b"), letters, strict=False):
                answer.fields[key] = letter
                answer.spans[key] = function.arguments.span(i)
        return answer

    def view(self, decoded: DecodedName) -> GemmView | None:
        f = decoded.fields
        if "m_per_block" not in f:
            return None
        return stated_view(
            f,
            "gemm",
            threads_per_block=f["dim_m"] * f["dim_n"],
            dtype_acc=f["template_arguments"][0],
            layout_a=f.get("trans_a"),
            layout_b=f.get("trans_b"),
        )


def _value(key: str, item: str) -> int | bool | str | None:
    """The value of a parameter, or None where the argument is of another kind."""
    if not key:
        return item
    if key == "conj":
        return {"true": True, "false": False}.get(item)
    return cpp.integer(item)


def _letter(item: str) -> str | None:
    """The letter of a character argument that says how a matrix is transposed."""
    m = _CHARACTER(item)
    if m is None:
        return None
    letter = m.group(2) or chr(int(m.group(1)))
    return letter if letter in _TRANSPOSES else None
