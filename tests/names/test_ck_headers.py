"""CK's headers and generators as a second opinion, where aiter_meta is installed: parameter lists and FMHA names."""

from __future__ import annotations

import importlib
import inspect
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.names import sources
from tracer.names import ck_lists, registry

_TEMPLATE = re.compile(r"\btemplate\s*<")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|^\s*#[^\n]*", re.DOTALL | re.MULTILINE)
_STRUCT = re.compile(r"\s*struct\s+(\w+)\s*[:{]")
_KERNEL = re.compile(r"\s*__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s+)?(\w+)\s*\(")
_FLAGS = {
    "F_spad": "pad_seqlen_q", "F_skpad": "pad_seqlen_k", "F_dpad": "pad_head_dim", "F_dvpad": "pad_head_dim_v",
    "F_logits": "logits_soft_cap", "F_lse": "lse", "F_squant": "static_quant", "F_pagedkv": "paged_kv",
    "F_trload": "trload", "F_skip": "skip_min_seqlen_q", "F_dbias": "dbias", "F_deterministic": "deterministic",
}  # fmt: skip
_GENERATORS = ("fmha_fwd", "fmha_fwd_splitkv", "fmha_fwd_appendkv", "fmha_batch_prefill", "fmha_pagedkv_prefill",
               "fmha_bwd")  # fmt: skip
_WORDS = {"tag": "pipeline_tag", "F_vlayout": "v_layout", "F_bias": "bias"}


def _ck() -> Path:
    folder = sources.installed("aiter_meta") / "3rdparty" / "composable_kernel"
    if not folder.exists():
        pytest.skip("aiter_meta has no CK")
    return folder


def _split(text: str, start: int) -> tuple[int, int]:
    """How many parameters the list that begins at `start` has, and the offset behind it."""
    depth, count, at = 1, 1, start
    while depth:
        c = text[at]
        depth += (c in "<([{") - (c in ")]}" or (c == ">" and text[at - 1] != "-"))
        count += c == "," and depth == 1
        at += 1
    return count, at


def _parameters(folder: Path) -> Iterator[tuple[str, str, int]]:
    """(kind, name, number of template parameters) of every struct and kernel in the headers."""
    for path in sorted(folder.rglob("*.hpp")):
        text = _COMMENT.sub("", path.read_text(encoding="utf-8", errors="replace"))
        for m in _TEMPLATE.finditer(text):
            count, end = _split(text, m.end())
            if "..." in text[m.end() : end]:
                continue
            for kind, shape in (("struct", _STRUCT), ("kernel", _KERNEL)):
                found = shape.match(text, end)
                if found is not None:
                    yield kind, found[1], count


def test_every_list_has_the_length_that_the_header_has() -> None:
    tables = {"struct": ck_lists.structs(), "kernel": ck_lists.kernels()}
    seen = {"struct": 0, "kernel": 0}
    for kind, name, count in _parameters(_ck() / "include" / "ck" / "tensor_operation" / "gpu"):
        if name in tables[kind]:
            seen[kind] += 1
            assert count in {len(variant) for variant in tables[kind][name]}, f"{name} has {count} parameters"
    assert min(seen.values()) >= 25


def _blobs() -> Iterator[Any]:
    """Kernels that CK's FMHA generator would write, some of each kind."""
    folder = _ck() / "example" / "ck_tile" / "01_fmha"
    if not (folder / "codegen").exists():
        pytest.skip("this CK has no FMHA generator")
    values = {"targets": ["gfx942"], "kernel_filter": "*", "filter_list": "*@*@*", "receipt": 0, "optdim_list": [128],
              "mask_impl": "simplified"}  # fmt: skip
    rng = random.Random(5)
    sys.path.insert(0, str(folder))
    try:
        for module in _GENERATORS:
            ops = importlib.import_module(f"codegen.ops.{module}")
            for name, function in vars(ops).items():
                if name.startswith("get_") and name.endswith("_blobs"):
                    wanted = inspect.signature(function).parameters
                    result = function(*(values.get(p, "*") for p in wanted))
                    parts = result if isinstance(result, tuple) else (result,)
                    kernels = [k for part in parts if isinstance(part, list) for k in part if hasattr(k, "name")]
                    yield from rng.sample(kernels, min(len(kernels), 300))
    finally:
        sys.path.remove(str(folder))
        for module in [m for m in sys.modules if m.split(".")[0] == "codegen"]:
            del sys.modules[module]


def test_the_names_of_the_fmha_generator_read_as_they_were_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    count = 0
    for kernel in _blobs():
        answer = registry.decode(kernel.name)
        assert answer.complete, kernel.name
        assert registry.format_name(answer) == kernel.name
        assert answer.fields["head_dim"] == int(kernel.F_hdim), kernel.name
        assert answer.fields["dtype_a"] == kernel.F_dtype, kernel.name
        for part in (kernel, getattr(kernel, "F_pipeline", None)):
            for attribute, key in _FLAGS.items():
                if hasattr(part, attribute):
                    assert answer.fields[key] == {"t": True, "f": False}.get(
                        getattr(part, attribute), getattr(part, attribute)
                    ), (kernel.name, key)
            for attribute, key in _WORDS.items():
                if hasattr(part, attribute):
                    assert answer.fields[key] == getattr(part, attribute), (kernel.name, key)
        count += 1
    assert count > 500
