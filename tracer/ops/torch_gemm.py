"""Dense GEMM through torch: `torch.mm` and `torch.nn.functional.linear`, whose kernels the vendor's BLAS chooses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracer.model.roofline import Work
from tracer.ops.base import Dim, Op, Option, Options, Shape, TensorFactory

DENSE_DIMS = (
    Dim("M", "rows of the activations: tokens"),
    Dim("N", "output features"),
    Dim("K", "input features"),
)
DENSE_DTYPE = Option("dtype", "Type of both operands and the output.", ("bf16", "fp16"), "bf16")


def dense_gemm_work(m: int, n: int, k: int, dtype: str, *, bias: bool = False) -> Work:
    """2MNK operations (+ MN with bias) on the dtype's matrix units; 2(MK + NK + MN) bytes (+ 2N with bias).

    Args:
        m: rows of A.
        n: columns of the result.
        k: the summed extent.
        dtype: "bf16" or "fp16": two bytes an element.
        bias: whether a bias of N elements is added.
    """
    items = [("a", 2 * m * k), ("b", 2 * n * k), ("out", 2 * m * n)]
    if bias:
        items.append(("bias", 2 * n))
    return Work(
        flops=2 * m * n * k + (m * n if bias else 0),
        bytes_moved=sum(size for _, size in items),
        compute_dtype=dtype,
        flops_formula="2 M N K" + (" + M N" if bias else ""),
        bytes_formula="2 (M K + N K + M N)" + (" + 2 N" if bias else ""),
        source="each input read once, each output written once",
        items=tuple(items),
    )


def torch_float(name: str) -> Any:
    """The torch dtype of an option's text."""
    import torch

    return {"bf16": torch.bfloat16, "fp16": torch.float16}[name]


class TorchMm(Op):
    """C[M,N] = A[M,K] B[K,N] by torch.mm."""

    name = "torch_mm"
    summary = "dense GEMM by torch.mm (the vendor's BLAS chooses the kernel)"
    entry = "torch.mm"
    dims = DENSE_DIMS
    options = (DENSE_DTYPE,)

    def inputs(self, shape: Shape, options: Options, factory: TensorFactory) -> dict[str, Any]:
        dtype = torch_float(options["dtype"])
        m, n, k = shape["M"], shape["N"], shape["K"]
        return {"input": factory.tensor((m, k), dtype), "mat2": factory.tensor((k, n), dtype)}

    def call(self, inputs: Mapping[str, Any], options: Options, config: Mapping[str, Any] | None) -> Any:
        import torch

        return torch.mm(inputs["input"], inputs["mat2"])

    def work(self, shape: Shape, options: Options) -> Work:
        return dense_gemm_work(shape["M"], shape["N"], shape["K"], options["dtype"])


class TorchLinear(Op):
    """Y[M,N] = X[M,K] W[N,K]^T + b[N] by torch.nn.functional.linear."""

    name = "torch_linear"
    summary = "dense GEMM with bias by torch.nn.functional.linear (the vendor's BLAS chooses the kernel)"
    entry = "torch.nn.functional.linear"
    dims = DENSE_DIMS
    options = (DENSE_DTYPE,)

    def inputs(self, shape: Shape, options: Options, factory: TensorFactory) -> dict[str, Any]:
        dtype = torch_float(options["dtype"])
        m, n, k = shape["M"], shape["N"], shape["K"]
        return {
            "input": factory.tensor((m, k), dtype),
            "weight": factory.tensor((n, k), dtype),
            "bias": factory.tensor((n,), dtype),
        }

    def call(self, inputs: Mapping[str, Any], options: Options, config: Mapping[str, Any] | None) -> Any:
        import torch

        return torch.nn.functional.linear(inputs["input"], inputs["weight"], inputs["bias"])

    def work(self, shape: Shape, options: Options) -> Work:
        return dense_gemm_work(shape["M"], shape["N"], shape["K"], options["dtype"], bias=True)
