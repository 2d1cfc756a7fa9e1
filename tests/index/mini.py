"""A miniature aiter: a checkout with one of everything that chains lead through, small enough to read."""

from __future__ import annotations

import json
from pathlib import Path

FILES = {
    "aiter/__init__.py": "from .ops.norm import *\nfrom .ops.wrapped import scale_it\n",
    "aiter/jit/core.py": "def compile_ops(_md_name, fc_name=None, gen_fake=None, ffi_type='pybind'):\n    pass\n",
    "aiter/jit/utils/torch_guard.py": 'NONE_WRAPPED_OP = [\n    "plain_one",\n]\n\naiter_lib = 1\nlib.define("x")\n',
    "aiter/ops/__init__.py": "",
    "aiter/ops/norm.py": (
        "from ..jit.core import compile_ops\n"
        'MD = "module_norm"\n'
        "\n"
        '@compile_ops("module_norm", fc_name="norm_fwd", gen_fake=None)\n'
        "def norm_it(out, x): ...\n"
        "\n"
        "\n"
        "@compile_ops(MD)\n"
        "def plain_one(x): ...\n"
        "\n"
        '@compile_ops("module_norm")\n'
        "def unbound(x): ...\n"
        "\n"
        '@compile_ops("module_none")\n'
        "def no_recipe(x): ...\n"
        "\n"
        '@compile_ops("module_c", ffi_type="ctypes")\n'
        "def c_one(x): ...\n"
    ),
    "aiter/ops/wrapped.py": (
        "from aiter.jit.utils.torch_guard import torch_compile_guard\n"
        "from .norm import norm_it\n"
        "from .tri import _scale_kernel\n"
        "\n"
        "@torch_compile_guard()\n"
        "def scale_it(x):\n"
        "    if x.big:\n"
        "        return inner(x)\n"
        "    return _scale_kernel[(1,)](x, 3)\n"
        "\n"
        "def inner(x):\n"
        "    return norm_it(x, x)\n"
    ),
    "aiter/ops/tri.py": (
        "import triton\n"
        "import triton.language as tl\n"
        "\n"
        "@triton.jit\n"
        "def _helper(p):\n"
        "    return tl.load(p)\n"
        "\n"
        "@triton.jit\n"
        "def _scale_kernel(x_ptr, N, BLOCK: tl.constexpr):\n"
        "    pid = tl.program_id(axis=0)\n"
        "    acc = tl.zeros((BLOCK,), dtype=tl.float32)\n"
        "    for k in range(0, N, BLOCK):\n"
        "        a = tl.load(x_ptr + k, mask=k < N)\n"
        "        a_scale = _helper(x_ptr)\n"
        "        acc += tl.dot(a, a) * a_scale\n"
        "    c = acc.to(x_ptr.type.element_ty)\n"
        "    tl.store(x_ptr, c)\n"
        "    tl.atomic_add(x_ptr, c)\n"
    ),
    "csrc/include/ops.h": (
        "#pragma once\n"
        "#define NORM_PYBIND                      \\\n"
        '    m.def("norm_fwd",                    \\\n'
        "          &ns::norm_fwd,                 \\\n"
        '          py::arg("out"));               \\\n'
        '    m.def("plain_one", &plain_one);\n'
        "#define LAUNCH(T, n)                     \\\n"
        "    case n: ns::norm_kernel<T, n><<<grid, block>>>(out, x); break;\n"
    ),
    "csrc/pybind/norm_pybind.cu": '#include "ops.h"\nPYBIND11_MODULE(NAME, m)\n{\n    NORM_PYBIND;\n}\n',
    "csrc/kernels/norm.cu": (
        '#include "ops.h"\n'
        "namespace ns {\n"
        "// void norm_fwd(int) {}  a comment is no definition\n"
        "void norm_fwd(torch::Tensor& out, torch::Tensor& x);\n"
        "template <typename T, int N>\n"
        "__global__ void norm_kernel(T* out, const T* x)\n"
        "{\n"
        "    __shared__ float buffer[N];\n"
        "    int row = blockIdx.x;\n"
        "    float sum = 0;\n"
        "    for(int i = threadIdx.x; i < N; i += blockDim.x)\n"
        "    {\n"
        "        buffer[i] = x[row * N + i];\n"
        "        sum += buffer[i];\n"
        "    }\n"
        "    __syncthreads();\n"
        "    sum = block_reduce(sum);\n"
        "    out[row] = sum;\n"
        "}\n"
        "void norm_fwd(torch::Tensor& out, torch::Tensor& x)\n"
        "{\n"
        "    dim3 grid(1), block(64);\n"
        "    switch(x.size(1)) { LAUNCH(float, 128) LAUNCH(float, 256) }\n"
        "}\n"
        "} // namespace ns\n"
        "int plain_one(int x) { return x + 1; }\n"
    ),
    "csrc/c/c_one.cu": (
        '#include "asm.h"\n'
        'extern "C" void c_one(void* x)\n'
        "{\n"
        '    AiterAsmKernel impl("_ZN5aiter3oneE", "/one/one.co");\n'
        "    impl.launch_kernel({x, 1, 1, 1, 64, 1, 1, 0});\n"
        "}\n"
    ),
    "csrc/include/asm.h": "struct AiterAsmKernel { void launch_kernel(int a); };\n",
    "csrc/cpp_itfs/it.cuh": "template <typename T> __global__ void itf_kernel(T* out) { out[0] = 1; }\n",
    "csrc/cpp_itfs/it.cpp.jinja": (
        '#include "it.cuh"\nvoid {{func_name}}(void* out)\n{\n    itf_kernel<{{dtype}}>\n        <<<1, 64>>>(out);\n}\n'
    ),
    "csrc/cpp_itfs/it.py": (
        "from csrc.cpp_itfs.utils import compile_template_op\n"
        'SRC = f"{CORE}/csrc/cpp_itfs/it.cpp.jinja"\n'
        "def compile(dtype):\n"
        '    return compile_template_op(SRC, "it", dtype=dtype)\n'
    ),
    "hsa/gfx942/one/one.csv": "knl_name,co_name\n_ZN5aiter3oneE,one.co\n",
    "hsa/gfx942/one/one.co": "not really an object\0_ZN5aiter3oneE.kd\0",
}
RECIPES = {
    "module_norm": {
        "srcs": ["f'{AITER_CSRC_DIR}/kernels/norm.cu'", "f'{AITER_CSRC_DIR}/pybind/norm_pybind.cu'"],
        "flags_extra_cc": [],
        "extra_include": [],
    },
    "module_c": {"srcs": ["f'{AITER_CSRC_DIR}/c/c_one.cu'"], "flags_extra_cc": []},
}


def write_mini(root: Path) -> Path:
    """Writes the tree and returns its root."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / "aiter/jit/optCompilerConfig.json").write_text(json.dumps(RECIPES, indent=4), encoding="utf-8")
    return root
