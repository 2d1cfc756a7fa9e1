"""FlashAttention 2 and 3 and PyTorch's memory-efficient attention: kernel names in, tile, types and options out.

    void flash::flash_fwd_kernel<flash::Flash_fwd_kernel_traits<head, M, N, warps, ...>, dropout, causal, ...>(...)
    void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<mainloop<...>, epilogue<...>, ...>>>(...)
    fmha_cutlassF_{type}_{aligned|notaligned}_{Q}x{K}_{rf|gmem}_sm{N}(...)

PyTorch carries FlashAttention in the namespace `pytorch_flash`. The options of a kernel are booleans whose number tells
the release: local attention came with 2.3, ALiBi with 2.4, the soft cap with 2.6.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import ClassVar

from tracer.model.kernel import DecodedName, FieldValue, Unparsed
from tracer.names import ck_lists, ck_values, cpp, cpp_lists, cpp_types
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.ck_values import Convert
from tracer.names.vocabulary import pick

_FLASH, _EFFICIENT = "flash_attention", "mem_efficient_attention"
_SOURCE = "csrc/flash_attn and hopper (Dao-AILab/flash-attention)"
_XFORMERS = "aten/src/ATen/native/transformers/cuda/mem_eff_attention/kernels/generate_kernels.py (pytorch/pytorch)"
_LISTS = """
flash_fwd_kernel
| - dropout causal -2 return_softmax
| - dropout causal local even_mn even_k return_softmax
| - dropout causal local alibi even_mn even_k return_softmax
| - dropout causal local alibi even_mn even_k softcap return_softmax
flash_fwd_splitkv_kernel
| - causal local even_mn even_k split_kv append_kv
| - causal local alibi even_mn even_k split_kv append_kv
| - causal local alibi even_mn even_k softcap split_kv append_kv
flash_fwd_splitkv_combine_kernel
| - combine_rows log2_max_splits even_k
flash_bwd_dq_dk_dv_loop_kernel
| - dropout causal alibi even_m even_k
flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel
| - dropout causal local even_mn even_k
| - dropout causal local alibi even_mn even_k
| - dropout causal local alibi even_mn even_k softcap
flash_bwd_dot_do_o_kernel
| clear_dq_accum -
flash_bwd_convert_dq_kernel flash_bwd_convert_dkv_kernel flash_bwd_clear_dkvaccum_kernel
| -
prepare_varlen_num_blocks_kernel
| num_warps sort
device_kernel
| -
Flash_fwd_kernel_traits
| head_dim block_m block_n num_warps q_in_regs share_qk_lds dtype_a -
Flash_bwd_kernel_traits
| head_dim block_m block_n num_warps -3 v_in_regs no_double_buffer dtype_a -
CollectiveMainloopFwdSm90
| num_stages cluster tile head_dim_v dtype_a dtype_acc isa causal local softcap varlen paged_kv_no_tma append_kv has_qv
  p_in_regs intra_group_overlap pack_gqa split_kv v_col_major
CollectiveMainloopFwdSm80
| num_warps num_stages q_in_regs tile head_dim_v dtype_a dtype_acc isa causal local softcap varlen paged_kv append_kv
  pack_gqa split_kv
CollectiveEpilogueFwd
| -2 dtype_c isa epilogue_threads varlen pack_gqa split_kv
| -2 dtype_c isa epilogue_threads varlen pack_gqa split_kv fp8_permute_col
CollectiveMainloopBwdSm90
| num_stages num_stages_do num_stages_ds cluster tile dtype_a dtype_acc isa causal local softcap varlen deterministic
  -8
CollectiveMainloopBwdSm80
| num_stages num_stages_do tile dtype_a dtype_acc isa causal local softcap varlen deterministic -8
FlashAttnFwdCombine
| - log2_max_splits block_size - even_k varlen dtype_c dtype_partial isa
FlashAttnBwdPreprocess
| - dtype_a dtype_acc isa clear_dq_accum varlen
FlashAttnBwdPostprocessConvertdQ
| - dtype_a dtype_acc isa block_size -2
"""
_THROUGH = ("enable_sm90", "enable_sm90_or_later", "enable_sm80_to_sm89", "FlashAttnFwdSm90", "FlashAttnFwdSm80",
            "FlashAttnBwdSm90", "FlashAttnBwdSm80")  # fmt: skip
_NUMBERS = ("combine_rows", "log2_max_splits", "num_warps", "head_dim", "head_dim_v", "block_m", "block_n",
            "num_stages", "num_stages_do", "num_stages_ds", "epilogue_threads", "block_size")  # fmt: skip
_NAMESPACE = re.compile(r"(?:void )?(?:flash|pytorch_flash|FLASH_NAMESPACE)::\w")
_DEVICE = re.compile(r"(?:void )?(?:cutlass::)?(?:device_kernel|Kernel2?)<flash::(?:\w+<flash::)?(\w+)")
_CUTE_INTEGER = re.compile(r"cute::(?:C|Int)<([0-9]{1,9})>|cute::_([0-9]{1,9})")
_FMHA = re.compile(
    r"fmha_cutlass(?P<direction>[FB])_(?P<dtype_a>f16|bf16|f32)_(?P<aligned>aligned|notaligned)_(?P<block_m>[0-9]{1,9})"
    r"x(?P<block_n>[0-9]{1,9})_(?:(?P<accumulator>rf|gmem)|k(?P<max_head_dim>[0-9]{1,9})(?P<dropout>_dropout)?"
    r"(?P<even_mn>_seqaligned)?)_(?P<isa>sm[0-9]{1,9})(?=$|\()"
)

_OWN: Mapping[str, Key] = {
    **pick("kernel", "block_m", "block_n", "alibi", "cluster", "deterministic", "direction"),
    "dropout": Key("Whether dropout is applied.", None, _SOURCE),
    "local": Key("Whether attention is limited to a window.", None, _SOURCE),
    "softcap": Key("Whether logits are capped by a tanh before the soft-max.", None, _SOURCE),
    "even_m": Key("Whether the length of Q is a multiple of the block's rows.", None, _SOURCE),
    "even_mn": Key("Whether the lengths of Q and K are multiples of the block's rows.", None, _SOURCE),
    "even_k": Key("Whether the head size is the one that the kernel is built for.", None, _SOURCE),
    "return_softmax": Key("Whether the soft-max itself is stored.", None, _SOURCE),
    "split_kv": Key("Whether K and V are split over blocks.", None, _SOURCE),
    "append_kv": Key("Whether new rows of K and V are appended to the cache.", None, _SOURCE),
    "combine_rows": Key("Rows that one block combines.", "rows", _SOURCE),
    "log2_max_splits": Key("Splits that can be combined, at most, as a power of two.", "log2 splits", _SOURCE),
    "clear_dq_accum": Key("Whether the kernel clears the buffer of Q's gradient.", None, _SOURCE),
    "q_in_regs": Key("Whether Q stays in registers.", None, _SOURCE),
    "v_in_regs": Key("Whether V stays in registers.", None, _SOURCE),
    "p_in_regs": Key("Whether the soft-max enters the second product from registers.", None, _SOURCE),
    "share_qk_lds": Key("Whether Q and K share one buffer in shared memory.", None, _SOURCE),
    "no_double_buffer": Key("Whether there is one buffer only.", None, _SOURCE),
    "sort": Key("Whether sequences are ordered by length.", None, _SOURCE),
    "varlen": Key("Whether the sequences of a batch differ in length.", None, _SOURCE),
    "paged_kv_no_tma": Key("Whether pages of K and V are read without TMA.", None, _SOURCE),
    "has_qv": Key("Whether Q has a second part that is multiplied with V.", None, _SOURCE),
    "intra_group_overlap": Key("Whether products and soft-max of one warp group overlap.", None, _SOURCE),
    "pack_gqa": Key("Whether heads of Q that share K and V are packed into one tile.", None, _SOURCE),
    "v_col_major": Key("Whether V is stored with its rows fastest.", None, _SOURCE),
    "epilogue_threads": Key("Threads that store the result.", "threads", _SOURCE),
    "fp8_permute_col": Key("Whether columns of an fp8 result are permuted.", None, _SOURCE),
    "num_stages_do": Key("Buffers of the gradient of O.", "stages", _SOURCE),
    "num_stages_ds": Key("Buffers of the gradient of the scores.", "stages", _SOURCE),
    "dtype_partial": Key("Element type of the partial results.", None, _SOURCE),
    "aligned": Key("Whether the operands are aligned for wide loads.", None, _XFORMERS),
    "accumulator": Key("Where the result accumulates: rf (registers) or gmem (global memory).", None, _XFORMERS),
    "max_head_dim": Key("Head size that the kernel is built for, at most.", "elements", _XFORMERS),
}


def _integers(item: str) -> list[int]:
    found = [int(a or b) for a, b in _CUTE_INTEGER.findall(item)]
    if not found:
        raise ValueError(item)
    return found


def _isa(item: str) -> str:
    return ck_values.leaf(item).lower()


@cache
def _converter(key: str) -> Convert:
    if key in ("cluster", "tile"):
        return _integers
    if key.startswith("dtype_"):
        return cpp_types.dtype
    if key == "isa":
        return _isa
    return int if key in _NUMBERS else ck_values.boolean


@cache
def _lists() -> Mapping[str, tuple[ck_lists.Variant, ...]]:
    return ck_lists.parse(_LISTS)


class FlashAttention(Grammar):
    """FlashAttention kernels."""

    name = "flash_attention"
    families = (_FLASH, _EFFICIENT)
    formal: ClassVar[frozenset[str]] = frozenset()
    prefixes = ("void flash::", "flash::", "void pytorch_flash::", "pytorch_flash::", "void cutlass::", "cutlass::",
                "void FLASH_NAMESPACE::", "FLASH_NAMESPACE::", "fmha_cutlass")  # fmt: skip
    reads_cpp = True
    link = "https://github.com/Dao-AILab/flash-attention"
    keys: ClassVar[Mapping[str, Key]] = {
        **pick("head_dim", "head_dim_v", "num_warps", "num_stages", "causal", "paged_kv", "isa", "block_size",
               "dtype_a", "dtype_c", "dtype_acc"),
        **_OWN,
    }  # fmt: skip

    def accepts(self, name: str) -> bool:
        return bool(_NAMESPACE.match(name) or _DEVICE.match(name) or _FMHA.match(name))

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        fmha = _FMHA.match(name)
        if fmha is not None:
            return self._efficient(name, fmha)
        reading = cpp_lists.read(cpp.read_function(name), _lists(), _converter, False, _THROUGH)
        fields, spans = reading.fields, reading.spans
        device = _DEVICE.match(name)
        if device is not None and device.end() < len(name):
            fields["kernel"], spans["kernel"] = device[1], device.span(1)
            inner = cpp.template(name, device.span(1)).name
            known = inner in _lists() or inner in _THROUGH
            if not known:
                reading.unparsed.append(Unparsed(name[device.end() :], device.end(), "a kernel class that is known"))
        reading.likely.pop("tile", None)
        tile, place = fields.pop("tile", None), spans.pop("tile", (0, 0))
        if isinstance(tile, list) and len(tile) == 3:
            for key, value in zip(("block_m", "block_n", "head_dim"), tile, strict=True):
                fields[key], spans[key] = value, place
        return reading.answer(self.name, _FLASH)

    def _efficient(self, name: str, m: re.Match[str]) -> DecodedName:
        fields: dict[str, FieldValue] = {"kernel": m.group()}
        spans = {"kernel": m.span()}
        for key, value in m.groupdict().items():
            if key == "direction":
                fields[key] = {"F": "forward", "B": "backward"}[value]
            elif key == "aligned":
                fields[key] = value == "aligned"
            elif key in ("dropout", "even_mn"):
                if m["direction"] == "F":
                    continue
                fields[key] = value is not None
            elif value is None:
                continue
            else:
                fields[key] = int(value) if value.isdigit() else value
            spans[key] = m.span(key) if value is not None else (m.start("isa"), m.start("isa"))
        return DecodedName(name, name, self.name, _EFFICIENT, fields, spans)
