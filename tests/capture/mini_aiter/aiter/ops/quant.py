import torch

from ..jit.core import compile_ops
from .enum import QuantType


@compile_ops("module_quant", "dynamic_per_token_scaled_quant")
def dynamic_per_token_scaled_quant(out: torch.Tensor, input: torch.Tensor, scales: torch.Tensor) -> None: ...


def get_hip_quant(kind):
    assert kind == QuantType.per_1x128
    return per_group_quant_hip


def per_group_quant_hip(x, quant_dtype):
    out = torch.empty(x.shape, dtype=quant_dtype, device=x.device)
    scales = torch.empty((x.shape[0], x.shape[1] // 128), dtype=torch.float32, device=x.device)
    dynamic_per_token_scaled_quant(out, x.view(-1, 128), scales)
    return out, scales
