import torch
from csrc.cpp_itfs.scale.scale import scale_rows as scale_rows_core

from ..jit import core
from ..jit.core import compile_ops


def name_module(q, out):
    return {"md_name": f"mha_fwd_{str(q.dtype).removeprefix('torch.')}"}


@compile_ops("module_mha_fwd", gen_func=name_module)
def mha_fwd(q: torch.Tensor, out: torch.Tensor) -> torch.Tensor: ...


def attention(q):
    return mha_fwd(q, torch.empty_like(q))


def scale_rows(x, factor):
    return scale_rows_core(x, factor)


def build_at_once():
    core.build_module("module_quant")
