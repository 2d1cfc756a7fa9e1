"""Recognises the machinery between a library's Python and its kernels: a frame in, its JIT layer out, or None.

Recognition goes by file and function, which is all that a torch.profiler trace states; lines differ between versions.
"""

from __future__ import annotations

from tracer.model.capture import Frame
from tracer.model.report import JitLayer

#: (end of the file's path, functions) -> layer.
#: amd-aiter 0.1.7: jit/core.py has custom_wrapper and wrapper inside compile_ops. aiter's main of August 2026 adds the
#: ctypes pair. Traces of SGLang give torch_guard.py without a folder, since aiter puts jit/utils on sys.path.
_LAYERS: tuple[tuple[str, frozenset[str] | None, JitLayer], ...] = (
    (
        "jit/core.py",
        frozenset({"wrapper", "custom_wrapper", "ctypes_wrapper", "ctypes_custom_wrapper", "caller", "ctypes_caller"}),
        JitLayer.COMPILE_OPS,
    ),
    ("jit/core.py", frozenset({"get_module", "get_module_custom_op", "_get_ctypes_lib"}), JitLayer.GET_MODULE),
    (
        "torch_guard.py",
        frozenset({"wrapper", "wrapper_custom", "outer_wrapper", "outer_wrapper_dummy"}),
        JitLayer.TORCH_GUARD,
    ),
    ("triton/runtime/jit.py", frozenset({"run", "__getitem__", "<lambda>", "__call__"}), JitLayer.TRITON_JIT),
    ("triton/runtime/autotuner.py", frozenset({"run"}), JitLayer.TRITON_JIT),
    ("torch/_ops.py", frozenset({"__call__"}), JitLayer.TORCH_OPS),
)


def recognise(frame: Frame) -> JitLayer | None:
    """The JIT layer that a frame belongs to."""
    if frame.source is None:
        return JitLayer.BUILTIN if is_pybind_call(frame) else None
    file = "/" + frame.source.file
    for end, functions, layer in _LAYERS:
        if file.endswith("/" + end) and (functions is None or frame.function in functions):
            return layer
    return None


def is_pybind_call(frame: Frame) -> bool:
    """Whether the frame is a call into a pybind11 module, as torch.profiler names it.

    The name reads `<built-in method rmsnorm of pybind11_builtins.pybind11_detail_function_record_... object at 0x...>`.
    """
    return frame.function.startswith("<built-in method ") and " of pybind11_builtins." in frame.function


def pybind_function(frame: Frame) -> str | None:
    """The function that a pybind11 frame calls; None when the trace leaves it empty or the frame is another one."""
    if not is_pybind_call(frame):
        return None
    name = frame.function.removeprefix("<built-in method ").partition(" of pybind11_builtins.")[0].strip()
    return name or None
