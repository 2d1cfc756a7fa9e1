"""Each filter hides one kind of frame and no other."""

from __future__ import annotations

import pytest

from tracer.model.capture import Frame
from tracer.model.source import SourceRef
from tracer.resolve.filters import FILTERS, hidden_by


def frame(file: str | None, function: str = "f", tree: str | None = None, module: str | None = None) -> Frame:
    return Frame(id=0, function=function, module=module, source=SourceRef(file, 1, tree) if file else None)


@pytest.mark.parametrize(
    ("seen", "name"),
    [
        (frame("tracer/ops/gemm.py", "call", "ktrace"), "ktrace"),
        (frame("logging/__init__.py", "info", "python", "logging"), "logging"),
        (frame("aiter/ops/triton/utils/logger.py", "info", "aiter"), "logging"),
        (frame("pandas/io/parsers/readers.py", "read_csv", "pandas"), "pandas"),
        (frame("numpy/core/numeric.py", "full", "numpy"), "pandas"),
        (frame("torch/_tensor.py", "split", "torch"), "torch"),
        (frame("/usr/lib/python3/dist-packages/torch/nn/functional.py", "linear"), "torch"),
        (frame("triton/compiler/compiler.py", "compile", "triton"), "triton"),
        (frame("functools.py", "wrapper", "python"), "stdlib"),
        (frame("inspect.py", "bind"), "stdlib"),
        (frame("collections/__init__.py", "__init__"), "stdlib"),
        (frame("<frozen importlib._bootstrap>", "_find_and_load"), "stdlib"),
        (frame("<string>", "dynamic_func"), "generated"),
        (frame(None, "<built-in method append of list object at 0x7f1bafbe0340>"), "builtin"),
        (frame("aiter/ops/mha.py", "<listcomp>", "aiter"), "anonymous"),
    ],
)
def test_a_kind_of_frame_is_hidden_by_its_own_filter(seen: Frame, name: str) -> None:
    assert hidden_by(seen) == name


@pytest.mark.parametrize(
    "seen",
    [
        frame("aiter/ops/gemm_op_a8w8.py", "gemm_a8w8_blockscale", "aiter"),
        frame("sglang/srt/models/qwen3.py", "forward", "sglang"),
        frame("mymodel/types.py", "forward", "mymodel"),
        frame("mymodel/torch_utils/run.py", "run", "mymodel"),
        # the layers are part of the chain, wherever they lie
        frame("triton/runtime/jit.py", "run", "triton"),
        frame("torch/_ops.py", "__call__", "torch"),
        frame(None, "<built-in method rmsnorm of pybind11_builtins.pybind11_detail_x object at 0x1>"),
    ],
)
def test_library_frames_and_jit_layers_are_shown(seen: Frame) -> None:
    assert hidden_by(seen) is None


def test_filters_have_distinct_names() -> None:
    names = [name for name, _ in FILTERS]
    assert len(set(names)) == len(names)
