"""aiter's Triton GEMM of 16-bit operands: inputs, call, work, and the keys of its kernel configuration."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any

from tracer.errors import SourceTreeError, UsageError
from tracer.model.roofline import Work
from tracer.ops.base import Op, Options, Shape, TensorFactory
from tracer.ops.torch_gemm import DENSE_DIMS, DENSE_DTYPE, dense_gemm_work, torch_float

#: where the function stands: main's layout since 2026, then the layout of the wheels of 2025
_MODULES = ("aiter.ops.triton.gemm.basic.gemm_a16w16", "aiter.ops.triton.gemm_a16w16")
#: launch options that only Triton's AMD backend knows
AMD_OPTIONS = ("waves_per_eu", "matrix_instr_nonkdim", "kpack")


@functools.cache
def _function() -> Callable[..., Any]:
    """The function, imported once and ahead of the call, so that no frame of the import is taken for the call's."""
    for name in _MODULES:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if not name.startswith(error.name or "?"):
                raise
        else:
            function: Callable[..., Any] = module.gemm_a16w16
            return function
    raise SourceTreeError(
        "this aiter has no Triton gemm_a16w16", expected=" or ".join(_MODULES), hint="use an aiter of 2025 or later"
    )


def split_k_warning(k: int, constexprs: Mapping[str, Any]) -> str | None:
    """What is wrong with a split-K configuration that leaves part of K out; None when nothing can be said against it.

    The kernel's blocks sum SPLITK_BLOCK_SIZE columns each, NUM_KSPLIT of them side by side: what lies beyond is not
    summed by anybody (_gemm_a16_w16_kernel of aiter 0.1.7 and main).

    Args:
        k: the summed extent.
        constexprs: the kernel's compile-time arguments, or a configuration.
    """
    splits, size = constexprs.get("NUM_KSPLIT"), constexprs.get("SPLITK_BLOCK_SIZE")
    if not isinstance(splits, int) or not isinstance(size, int) or splits * size >= k:
        return None
    return (
        f"the result is wrong, not only slow: NUM_KSPLIT {splits} x SPLITK_BLOCK_SIZE {size} = {splits * size} "
        f"of K={k} are summed, {k - splits * size} are left out"
    )


class GemmA16W16(Op):
    """Y[M,N] = X[M,K] W[N,K]^T by aiter's Triton kernel, with aiter's tuned configuration or an explicit one."""

    name = "gemm_a16w16"
    summary = "bf16 or fp16 GEMM by aiter's Triton kernel (tuned or explicit configuration, split-K)"
    entry = "aiter.ops.triton.gemm_a16w16.gemm_a16w16"
    entries = tuple(f"{module}.gemm_a16w16" for module in _MODULES)
    dims = DENSE_DIMS
    options = (DENSE_DTYPE,)
    needs = ("torch", "triton", "aiter")
    config_needed_on = ("cuda",)
    config_keys = {  # noqa: RUF012 - the base class declares it
        "BLOCK_SIZE_M": int,
        "BLOCK_SIZE_N": int,
        "BLOCK_SIZE_K": int,
        "GROUP_SIZE_M": int,
        "NUM_KSPLIT": int,
        "SPLITK_BLOCK_SIZE": int,
        "cache_modifier": str,
        "num_warps": int,
        "num_stages": int,
        "waves_per_eu": int,
        "matrix_instr_nonkdim": int,
        "kpack": int,
    }
    config_required = (
        "BLOCK_SIZE_M",
        "BLOCK_SIZE_N",
        "BLOCK_SIZE_K",
        "GROUP_SIZE_M",
        "NUM_KSPLIT",
        "SPLITK_BLOCK_SIZE",
        "cache_modifier",
    )

    def check_config(self, config: Mapping[str, Any] | None) -> None:
        """Refuses unknown keys and wrong types, then values that no kernel can have."""
        super().check_config(config)
        for key, value in (config or {}).items():
            if isinstance(value, int) and value < (0 if key in ("waves_per_eu", "matrix_instr_nonkdim") else 1):
                raise UsageError(f"{self.name}: {key}={value} in the configuration", expected=f"{key} >= 1")

    def inputs(self, shape: Shape, options: Options, factory: TensorFactory) -> dict[str, Any]:
        _function()
        dtype = torch_float(options["dtype"])
        m, n, k = shape["M"], shape["N"], shape["K"]
        return {"x": factory.tensor((m, k), dtype), "w": factory.tensor((n, k), dtype), "dtype": dtype}

    def call(self, inputs: Mapping[str, Any], options: Options, config: Mapping[str, Any] | None) -> Any:
        import torch

        chosen = None
        if config is not None:
            dropped = () if torch.version.hip else AMD_OPTIONS
            chosen = {key: value for key, value in config.items() if key not in dropped}
        return _function()(**inputs, config=chosen)

    def work(self, shape: Shape, options: Options) -> Work:
        return dense_gemm_work(shape["M"], shape["N"], shape["K"], options["dtype"])
