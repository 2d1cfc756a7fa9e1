"""Kernels of NVIDIA's closed generator trtllm-gen, which TensorRT-LLM and FlashInfer ship: names in, fields out.

    {bmm|gemm|gemmGatedAct}_{C}_{A}{B}_{accumulator}[_Ab32_Bb32..]_t{MxNxK}[u2][_s{stages}]_et{MxN}_m{MxNxK}_cga{XxYxZ}_...
    fmhaSm{target}Kernel_Qkv{type}O{type}H{size}{layout}{mask}P{page}[MultiCtasKv..][VarSeq]Q{rows}Kv{rows}{scheduler}{kind}

What the words mean was read off the lists that ship with the binaries (`KernelMetaInfo.h`), which state name and
options side by side. Words whose option the lists do not tell stand in `options`, as printed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, FieldValue, GemmView, Span, Unparsed
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.stated_view import stated_view
from tracer.names.vocabulary import fold_dtype, pick

_GEMM = "cpp/tensorrt_llm/kernels/trtllmGenKernels/batchedGemm (NVIDIA/TensorRT-LLM)"
_FMHA = "cpp/tensorrt_llm/kernels/trtllmGenKernels/fmha (NVIDIA/TensorRT-LLM)"
_TYPE = "(?:(?:Mx|Nv)?E2m1|(?:Mx|Ue)?E[0-9]m[0-9]|Bfloat16|Fp16|Fp32|Int8|UE8m0|MxInt4|Int4)"
_HEAD = re.compile(
    rf"(?P<op>bmm|gemm|gemmGatedAct)(?:Kernel)?_(?P<dtype_c>{_TYPE})_(?P<dtype_a>{_TYPE})(?P<dtype_b>{_TYPE})?_"
    rf"(?P<dtype_acc>{_TYPE})(?=_)"
)
_ATTENTION = re.compile(
    rf"fmhaSm(?P<isa>[0-9]{{1,9}}[a-z]?)Kernel_"
    rf"(?:Qkv(?P<dtype_qkv>{_TYPE})|Q(?P<dtype_q>{_TYPE})Kv(?P<dtype_kv>{_TYPE}))O(?P<dtype_c>{_TYPE})"
)
#: words of an attention kernel behind the types, each at most once, in the order printed
_ATTENTION_WORDS = tuple(
    re.compile(shape)
    for shape in (
        r"H(?P<head_dim>[0-9]{1,9})|HQk(?P<head_dim_qk>[0-9]{1,9})HV(?P<head_dim_v>[0-9]{1,9})",
        r"HVPerCta(?P<head_dim_v_per_block>[0-9]{1,9})",
        r"(?P<qkv_layout>SeparateQkv|PackedQkv|PagedKv|ContiguousKv)",
        r"(?P<mask>Dense|Causal|SlidingOrChunkedCausal|Custom)",
        r"P(?P<page_size>[0-9]{1,9})",
        r"(?P<multi_block_kv>MultiCtasKvCga|MultiCtasKv)",
        r"(?P<varlen>VarSeq)",
        r"Q(?P<block_m>[0-9]{1,9})Kv(?P<block_n>[0-9]{1,9})",
        r"(?P<tile_scheduler>Persistent|Static)",
        r"(?P<kernel_type>Context|SwapsMmaAbForGeneration|KeepsMmaAbForGeneration|SpecDecodingGeneration)",
    )
)
_OPTIONAL = (1, 5, 6)


def _text(value: str) -> FieldValue:
    return value


def _numbers(value: str) -> FieldValue:
    return [int(n) for n in value.split("x")]


def _true(_: str) -> FieldValue:
    return True


def _scheduler(value: str) -> FieldValue:
    return "static" if value == "S" else "persistent"


_ISA = re.compile(r"sm[0-9]{1,9}[a-z]$")
Convert = Callable[[str], FieldValue]
#: a word's shape -> (key, value) of its groups
_WORDS: tuple[tuple[re.Pattern[str], tuple[tuple[str, Convert], ...]], ...] = tuple(
    (re.compile(shape + "$"), keys)
    for shape, keys in (
        (
            r"(?:t|tile)([0-9]{1,9})x([0-9]{1,9})x([0-9]{1,9})(?:(u2))?",
            (("m_per_block", int), ("n_per_block", int), ("k_per_block", int), ("unroll_mma", _true)),
        ),
        (r"s([0-9]{1,9})", (("num_stages", int),)),
        (r"s([0-9]{1,9}(?:x[0-9]{1,9})+)", (("stages", _numbers),)),
        (r"(?:et|epilogueTile)([0-9]{1,9})x([0-9]{1,9})", (("epilogue_tile_m", int), ("epilogue_tile_n", int))),
        (
            r"(?:m|mma)([0-9]{1,9})x([0-9]{1,9})x([0-9]{1,9})",
            (("instruction_m", int), ("instruction_n", int), ("instruction_k", int)),
        ),
        (r"(?:cga|cluster|c)([0-9]{1,9}x[0-9]{1,9}x[0-9]{1,9})", (("cluster", _numbers),)),
        (r"([0-9]{1,9})dp([0-9]{1,9})b", (("ldtm_lanes", int), ("ldtm_bits", int))),
        (r"splitK([0-9]{1,9})", (("split_k", int),)),
        (r"(transOut|transposeMmaOutput)", (("transpose_output", _true),)),
        (r"([TN]{2})", (("layout", _text),)),
        (
            r"(?:sched|sch)(S|Pd?)([0-9]{1,9}(?:x[0-9]{1,9}){3})?",
            (("tile_scheduler", _scheduler), ("scheduler_stages", _numbers)),
        ),
        (r"b([MN])", (("batch_dim", _text),)),
        (r"bias(?:Fp32)?(M|N|Mn)", (("bias", _text),)),
        (r"(swiGlu|geGlu|relu2|siTu|situ)", (("activation", _text),)),
        (r"(dynBatch|dynB)", (("dynamic_batch", _true),)),
        (r"(dsFp8)", (("deepseek_fp8", _true),)),
        (r"(sm[0-9]{1,9}[a-z])", (("isa", _text),)),
    )
)

_OWN: Mapping[str, Key] = {
    **pick("op", "cluster", "layout", "bias", "dtype_q", "dtype_kv", "block_m", "block_n"),
    "unroll_mma": Key("Whether the loop of matrix instructions is unrolled twice (u2).", None, _GEMM),
    "stages": Key("Pipeline depths, as many as printed.", "stages", _GEMM),
    "epilogue_tile_m": Key("M extent that the epilogue stores at a time.", "elements", _GEMM),
    "epilogue_tile_n": Key("N extent that the epilogue stores at a time.", "elements", _GEMM),
    "instruction_m": Key("M extent of one matrix instruction.", "elements", _GEMM),
    "instruction_n": Key("N extent of one matrix instruction.", "elements", _GEMM),
    "instruction_k": Key("K extent of one matrix instruction.", "elements", _GEMM),
    "ldtm_lanes": Key("Lanes of tensor memory that one load of the epilogue reads.", "lanes", _GEMM),
    "ldtm_bits": Key("Bits that one load of the epilogue reads from a lane.", "bits", _GEMM),
    "transpose_output": Key("Whether the matrix instruction computes the transpose of C.", None, _GEMM),
    "tile_scheduler": Key("static (one tile a block) or persistent (blocks walk over tiles).", None, _GEMM),
    "scheduler_stages": Key(
        "Buffers of the persistent scheduler: matrix instructions, within a tile, across tiles, tile ids.",
        "stages",
        _GEMM,
    ),
    "batch_dim": Key("Axis that the experts or batches divide: M or N.", None, _GEMM),
    "dynamic_batch": Key("Whether the sizes of the batches are known on the GPU only.", None, _GEMM),
    "deepseek_fp8": Key("Whether scales are those of DeepSeek's fp8: one a block of 128.", None, _GEMM),
    "options": Key("Further words in their order, as printed.", None, _GEMM),
    "head_dim_v_per_block": Key("Elements of V's head that one block computes.", "elements", _FMHA),
    "qkv_layout": Key("Where Q, K and V lie: SeparateQkv, PackedQkv, PagedKv or ContiguousKv.", None, _FMHA),
    "multi_block_kv": Key(
        "How several blocks share K and V: MultiCtasKv (sums in memory) or MultiCtasKvCga.", None, _FMHA
    ),
    "varlen": Key("Whether the sequences of a batch differ in length.", None, _FMHA),
    "kernel_type": Key("Context (prefill), or which operands the generation kernel swaps.", None, _FMHA),
}


class TrtllmGen(Grammar):
    """trtllm-gen's GEMM and attention kernels."""

    name = "trtllm_gen"
    families = ("trtllm_gen",)
    formal: ClassVar[frozenset[str]] = frozenset()
    prefixes = ("bmm_", "gemm_", "gemmGatedAct", "fmhaSm")
    link = "https://github.com/NVIDIA/TensorRT-LLM/tree/main/cpp/tensorrt_llm/kernels/trtllmGenKernels"
    keys: ClassVar[Mapping[str, Key]] = {
        **pick("dtype_a", "dtype_b", "dtype_c", "dtype_acc", "m_per_block", "n_per_block", "k_per_block", "num_stages",
               "split_k", "activation", "isa", "head_dim", "head_dim_v", "mask", "page_size"),
        **_OWN,
    }  # fmt: skip

    def accepts(self, name: str) -> bool:
        return _HEAD.match(name) is not None or _ATTENTION.match(name) is not None

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        head = _HEAD.match(name)
        return self._gemm(name, head) if head is not None else self._attention(name)

    def _gemm(self, name: str, head: re.Match[str]) -> DecodedName:
        fields: dict[str, FieldValue] = {}
        spans: dict[str, Span] = {}
        for key, value in head.groupdict().items():
            if value is not None:
                fields[key], spans[key] = value, head.span(key)
        if head["dtype_b"] is None:
            fields["dtype_b"], spans["dtype_b"] = fields["dtype_a"], spans["dtype_a"]
        options: list[FieldValue] = []
        at = head.end() + 1
        first = last = at
        words = name[at:].split("_")
        cut = _ISA.match(words[-1]) is None
        for word in words[:-1] if cut else words:
            found = next(((m, keys) for shape, keys in _WORDS if (m := shape.match(word)) is not None), None)
            if found is None or found[1][0][0] in fields:
                first = first if options else at
                options.append(word)
                last = at + len(word)
            else:
                for i, (key, convert) in enumerate(found[1], 1):
                    if found[0][i] is not None:
                        fields[key] = convert(found[0][i])
                        spans[key] = (at + found[0].start(i), at + found[0].end(i))
            at += len(word) + 1
        if options:
            fields["options"], spans["options"] = options, (first, last)
        rest = Unparsed(words[-1], len(name) - len(words[-1]), "the target (sm...) at the end; the name is cut off")
        unparsed = (rest,) if cut else ()
        return DecodedName(name, name, self.name, "trtllm_gen", fields, spans, unparsed)

    def _attention(self, name: str) -> DecodedName:
        fields: dict[str, FieldValue] = {}
        spans: dict[str, Span] = {}
        head = _ATTENTION.match(name)
        at = head.end() if head is not None else 0
        found = [head] if head is not None else []
        missing = False
        for i, shape in enumerate(_ATTENTION_WORDS):
            m = shape.match(name, at)
            if m is not None:
                found.append(m)
                at = m.end()
            elif i not in _OPTIONAL and not missing:
                missing = True
        if missing and at == len(name) and len(found) > 1:
            at = found.pop().start()  # the word at the cut may have been longer
        for m in found:
            for key, value in m.groupdict().items():
                if value is None:
                    continue
                for stated in {"dtype_qkv": ("dtype_q", "dtype_kv"), "head_dim_qk": ("head_dim",)}.get(key, (key,)):
                    fields[stated] = _stated(stated, value)
                    spans[stated] = m.span(key)
        unparsed: tuple[Unparsed, ...] = ()
        if at < len(name) or missing:
            unparsed = (Unparsed(name[at:], at, "words of an attention kernel that are known"),)
        return DecodedName(name, name, self.name, "trtllm_gen", fields, spans, unparsed)

    def view(self, decoded: DecodedName) -> GemmView | None:
        f = decoded.fields
        if "m_per_block" not in f:
            return None
        instruction = {key: f.get(key) for key in ("instruction_m", "instruction_n", "instruction_k")}
        dtypes = {key: _plain(f[key]) for key in ("dtype_a", "dtype_b", "dtype_c", "dtype_acc")}
        return stated_view(
            f, "gemm", **instruction, **dtypes, stages=f.get("num_stages"), pipeline=f.get("tile_scheduler")
        )


def _plain(dtype: str) -> str:
    """The element type without the word for its block scales: `MxE4m3` is E4m3."""
    return fold_dtype(dtype.removeprefix("Mx").removeprefix("Nv"))


def _stated(key: str, value: str) -> FieldValue:
    if key == "varlen":
        return True
    if key == "isa":
        return f"sm{value}"
    if key == "tile_scheduler":
        return value.lower()
    return int(value) if value.isdigit() else value
