"""C++ kernels of cuBLAS and cuDNN, such as `void gemv2T_kernel_val<int, int, float, ...>(...)`: text in, fields out.

The libraries are closed: the kernel's name and its template arguments are fields, as printed; the types of a product
of matrix and vector, whose order experience tells, stand in `likely`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from tracer.model.kernel import DecodedName
from tracer.names import cpp, cpp_kernel
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.vocabulary import pick

CUBLAS, CUDNN = "cublas_template", "cudnn_template"
_START = re.compile(
    r"(?:void |std::enable_if<!\((?:true|false)\), void>::type )?(?:"
    r"(?P<cudnn>(?:xmma_)?cudnn::)|(?:nchwToNhwc|nhwcToNchw|generateWinogradTiles)Kernel(?=[<(]|$)"
    r"|(?P<cublas>cublas(?:Lt)?::|internal::gemvx::|gemv(?:2[NT]|NSP|nsp)_kernel\w*|gemmSN_[NTC]{2}_kernel\w*|gemmk1_kernel\w*"
    r"|gemm_kernel[0-9]x[0-9]_\w+|trsm_\w*kernel\w*|splitKreduce_kernel\w*)"
    r"|(?P<shared>dot_kernel|reduce_1Block_kernel|scal_kernel\w*|axpy_kernel\w*|asum_kernel|nrm2_kernel|iamax_kernel|copy_kernel"
    r"|ger_kernel|symv_kernel\w*|kernel)<)"
).match
#: kernels with plain names are this library's when its parameter types stand among the arguments
_MARK = "cublas"
_TYPES_AT: Mapping[str, int] = {"gemv2T_kernel_val": 2, "gemv2N_kernel": 2, "kernel": 2, "gemvNSP_kernel": 0}
_NO_TYPES = re.compile(r"[0-9(]|true|false|int$").match


class CublasTemplate(Grammar):
    """cuBLAS and cuDNN kernels by their C++ names."""

    name = "cublas_template"
    families = (CUBLAS, CUDNN)
    formal = frozenset()
    prefixes = ("void ", "std::enable_if", "cublas", "cudnn::", "xmma_cudnn::", "internal::gemvx::", "gemv", "gemm",
                "trsm_", "splitK", "nchwToNhwc", "nhwcToNchw", "generateWinogradTiles")  # fmt: skip
    reads_cpp = True
    link = "https://docs.nvidia.com/cuda/cublas/"
    keys: ClassVar[Mapping[str, Key]] = {
        **cpp_kernel.KEYS,
        **pick("dtype_a", "dtype_b", "dtype_c", "dtype_compute"),
    }

    def accepts(self, name: str) -> bool:
        m = _START(name)
        return m is not None and (m["shared"] is None or _MARK in name)

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        m = _START(name)
        function = cpp.read_function(name)
        family = CUBLAS if m is not None and (m["cublas"] or m["shared"]) else CUDNN
        answer = cpp_kernel.read(function, self.name, family)
        first = _TYPES_AT.get(function.leaf)
        types = function.items[first : first + 4] if first is not None else ()
        if len(types) < 4 or any(_NO_TYPES(item) for item in types):
            return answer
        keys = ("dtype_a", "dtype_b", "dtype_c", "dtype_compute")
        return msgspec.structs.replace(answer, likely=dict(zip(keys, types, strict=True)))
