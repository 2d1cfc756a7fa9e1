"""JIT layers by file and function, in the wheel, in aiter's main and in a profiler's names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracer.model.capture import Frame
from tracer.model.report import JitLayer
from tracer.model.source import SourceRef
from tracer.resolve.layers import pybind_function, recognise


@pytest.mark.parametrize(
    ("file", "function", "layer"),
    [
        ("aiter/jit/core.py", "custom_wrapper", JitLayer.COMPILE_OPS),
        ("aiter/jit/core.py", "wrapper", JitLayer.COMPILE_OPS),
        ("aiter/jit/core.py", "ctypes_custom_wrapper", JitLayer.COMPILE_OPS),
        ("aiter/jit/core.py", "get_module", JitLayer.GET_MODULE),
        ("aiter/jit/core.py", "check_args", None),
        ("aiter/jit/utils/torch_guard.py", "outer_wrapper", JitLayer.TORCH_GUARD),
        ("torch_guard.py", "wrapper_custom", JitLayer.TORCH_GUARD),
        ("torch_guard.py", "outer_wrapper_dummy", JitLayer.TORCH_GUARD),
        ("triton/runtime/jit.py", "run", JitLayer.TRITON_JIT),
        ("/sgl-workspace/triton-custom/python/triton/runtime/jit.py", "__getitem__", JitLayer.TRITON_JIT),
        ("triton/runtime/jit.py", "compute_cache_key", None),
        ("triton/runtime/autotuner.py", "run", JitLayer.TRITON_JIT),
        ("torch/_ops.py", "__call__", JitLayer.TORCH_OPS),
        ("torch/_ops.py", "__hash__", None),
        ("mylib/core.py", "wrapper", None),
    ],
)
def test_a_layer_is_known_by_file_and_function(file: str, function: str, layer: JitLayer | None) -> None:
    assert recognise(Frame(id=0, function=function, source=SourceRef(file, 1))) is layer


def test_the_function_of_a_pybind_call_is_read_from_the_profilers_name() -> None:
    tail = "of pybind11_builtins.pybind11_detail_function_record_v1 object at 0x7ed747e44a50>"
    named = Frame(id=0, function=f"<built-in method gemm_a16w16 {tail}")
    unnamed = Frame(id=0, function=f"<built-in method  {tail}")
    other = Frame(id=0, function="<built-in method append of list object at 0x1>")
    assert (pybind_function(named), pybind_function(unnamed), pybind_function(other)) == ("gemm_a16w16", None, None)


@pytest.mark.aiter_main
def test_the_layers_of_aiters_main_are_still_called_so(aiter_main: Path) -> None:
    core = (aiter_main / "aiter/jit/core.py").read_text()
    guard = (aiter_main / "aiter/jit/utils/torch_guard.py").read_text()
    for name in ("custom_wrapper", "ctypes_wrapper", "ctypes_custom_wrapper", "get_module"):
        assert f"def {name}(" in core
    for name in ("wrapper_custom", "outer_wrapper", "outer_wrapper_dummy"):
        assert f"def {name}(" in guard
