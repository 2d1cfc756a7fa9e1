"""Block-scaled GEMM and its quantiser: inputs, calls and work of aiter's a8w8 block-scale ops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracer.model.roofline import Work
from tracer.ops.base import Dim, Op, Option, Options, Shape, TensorFactory
from tracer.ops.torch_gemm import torch_float

_M = Dim("M", "rows of the activations: tokens")
_N = Dim("N", "rows of the weight: output features")
_K = Dim("K", "columns of both: input features", 128, "activation scales cover 1x128 and weight scales 128x128")

#: bytes of one element
WIDTH = {"bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "fp32": 4}

DTYPE = Option("dtype", "Type of the output.", ("bf16", "fp16"), "bf16")
QUANT_DTYPE = Option("quant_dtype", "Type that the quantiser writes.", ("fp8",), "fp8")

_BLOCKSCALE_SOURCE = "each input read once, each output written once; fp32 scales, x 1x128, w 128x128"


def ceil_div(a: int, b: int) -> int:
    """The smallest integer not below a / b."""
    return -(-a // b)


def blockscale_work(m: int, n: int, k: int, out_width: int) -> Work:
    """2MNK on fp8 matrix units; MK + NK + 4M ceil(K/128) + 4 ceil(N/128) ceil(K/128) + out_width MN bytes."""
    kb, nb = ceil_div(k, 128), ceil_div(n, 128)
    items = (("x", m * k), ("w", n * k), ("x_scale", 4 * m * kb), ("w_scale", 4 * nb * kb), ("out", out_width * m * n))
    return Work(
        flops=2 * m * n * k,
        bytes_moved=sum(size for _, size in items),
        compute_dtype="fp8",
        flops_formula="2 M N K",
        bytes_formula=f"M K + N K + 4 M ceil(K/128) + 4 ceil(N/128) ceil(K/128) + {out_width} M N",
        source=_BLOCKSCALE_SOURCE,
        items=items,
    )


def quant_work(m: int, k: int) -> Work:
    """About 3MK vector operations (maximum, scale, convert); 2MK + MK + 4M ceil(K/128) bytes, bf16 to fp8."""
    items = (("x", 2 * m * k), ("x_q", m * k), ("x_scale", 4 * m * ceil_div(k, 128)))
    return Work(
        flops=3 * m * k,
        bytes_moved=sum(size for _, size in items),
        compute_dtype="fp32_vector",
        flops_formula="about 3 M K (absolute maximum, scale, convert)",
        bytes_formula="2 M K + M K + 4 M ceil(K/128)",
        source="each input read once, each output written once; the 128 elements of a scale stay on chip",
        items=items,
    )


class GemmA8W8Blockscale(Op):
    """Y[M,N] = (XQ[M,K] * x_scale) (WQ[N,K] * w_scale)^T with fp8 operands and block scales."""

    name = "gemm_a8w8_blockscale"
    summary = "fp8 GEMM with 1x128 activation scales and 128x128 weight scales (CK instances)"
    entry = "aiter.gemm_a8w8_blockscale"
    dims = (_M, _N, _K)
    options = (DTYPE,)
    needs = ("torch", "aiter")
    modules = ("module_gemm_a8w8_blockscale",)
    vendors = ("rocm",)

    def inputs(self, shape: Shape, options: Options, factory: TensorFactory) -> dict[str, Any]:
        import torch
        from aiter import dtypes

        m, n, k = shape["M"], shape["N"], shape["K"]
        kb, nb = ceil_div(k, 128), ceil_div(n, 128)
        return {
            "XQ": factory.tensor((m, k), dtypes.fp8),
            "WQ": factory.tensor((n, k), dtypes.fp8),
            "x_scale": factory.tensor((m, kb), torch.float32, low=0.5, high=1.5),
            "w_scale": factory.tensor((nb, kb), torch.float32, low=0.5, high=1.5),
            "dtype": torch_float(options["dtype"]),
        }

    def call(self, inputs: Mapping[str, Any], options: Options, config: Mapping[str, Any] | None) -> Any:
        import aiter

        return aiter.gemm_a8w8_blockscale(**inputs)

    def work(self, shape: Shape, options: Options) -> Work:
        return blockscale_work(shape["M"], shape["N"], shape["K"], WIDTH[options["dtype"]])


class QuantPer1x128(Op):
    """x_q[M,K], x_scale[M,K/128] = quantise(x[M,K]) with one scale for each 1x128 block, by aiter's HIP kernel."""

    name = "quant_per_1x128"
    summary = "dynamic 1x128 quantisation of bf16 activations by aiter's HIP kernel"
    entry = "aiter.get_hip_quant(aiter.QuantType.per_1x128)"
    dims = (_M, _K)
    options = (QUANT_DTYPE,)
    needs = ("torch", "aiter")
    vendors = ("rocm",)

    def inputs(self, shape: Shape, options: Options, factory: TensorFactory) -> dict[str, Any]:
        import torch
        from aiter import dtypes

        return {
            "x": factory.tensor((shape["M"], shape["K"]), torch.bfloat16),
            "quant_dtype": {"fp8": dtypes.fp8}[options["quant_dtype"]],
        }

    def call(self, inputs: Mapping[str, Any], options: Options, config: Mapping[str, Any] | None) -> Any:
        import aiter

        return aiter.get_hip_quant(aiter.QuantType.per_1x128)(**inputs)

    def work(self, shape: Shape, options: Options) -> Work:
        return quant_work(shape["M"], shape["K"])


class QuantGemmA8W8Blockscale(Op):
    """The pair as models call it: quantise bf16 activations per 1x128, then the block-scaled GEMM."""

    name = "quant_gemm_a8w8_blockscale"
    summary = "quant_per_1x128 and gemm_a8w8_blockscale as one call with two paths"
    entry = "aiter.get_hip_quant(aiter.QuantType.per_1x128) + aiter.gemm_a8w8_blockscale"
    dims = (_M, _N, _K)
    options = (DTYPE, QUANT_DTYPE)
    needs = ("torch", "aiter")
    modules = ("module_gemm_a8w8_blockscale",)
    vendors = ("rocm",)

    def inputs(self, shape: Shape, options: Options, factory: TensorFactory) -> dict[str, Any]:
        gemm = GemmA8W8Blockscale().inputs(shape, options, factory)
        quant = QuantPer1x128().inputs(shape, options, factory)
        return {**quant, "WQ": gemm["WQ"], "w_scale": gemm["w_scale"], "dtype": gemm["dtype"]}

    def call(self, inputs: Mapping[str, Any], options: Options, config: Mapping[str, Any] | None) -> Any:
        import aiter

        x_q, x_scale = aiter.get_hip_quant(aiter.QuantType.per_1x128)(inputs["x"], quant_dtype=inputs["quant_dtype"])
        return aiter.gemm_a8w8_blockscale(x_q, inputs["WQ"], x_scale, inputs["w_scale"], dtype=inputs["dtype"])

    def work(self, shape: Shape, options: Options) -> Work:
        m, n, k = shape["M"], shape["N"], shape["K"]
        gemm, quant = blockscale_work(m, n, k, WIDTH[options["dtype"]]), quant_work(m, k)
        return Work(
            flops=gemm.flops + quant.flops,
            bytes_moved=gemm.bytes_moved + quant.bytes_moved,
            compute_dtype="fp8",
            flops_formula=f"{gemm.flops_formula} + {quant.flops_formula}",
            bytes_formula=f"({gemm.bytes_formula}) + ({quant.bytes_formula})",
            source="the sum of both kernels: the quantised activations go through HBM between them",
            items=tuple((f"gemm {a}", b) for a, b in gemm.items) + tuple((f"quant {a}", b) for a, b in quant.items),
        )
