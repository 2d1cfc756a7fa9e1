"""aiter's own C++ kernels, such as `aiter::add_rmsnorm_quant_kernel<...>(...)`.

    [void ][aiter::[namespaces::]]function<arguments>[(parameters)]

Arguments are matched by position with the function's parameter list (`aiter_lists`). Lists changed between releases:
main's paged attention has a version id as first argument, the wheel's has not; the arguments themselves tell them
apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import ClassVar

from tracer.model.kernel import DecodedName, GemmView
from tracer.names import aiter_glossary, aiter_lists, ck_lists, ck_values, cpp, cpp_lists, cpp_types
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.ck_values import Convert
from tracer.names.stated_view import stated_view
from tracer.names.vocabulary import SHARED, WhenAsked, pick

_SOURCE = "csrc (ROCm/aiter)"
#: kernels outside the namespace that nobody else has
_GLOBAL = (
    "paged_attention_ll4mi_QKV_", "gemm_a16w16_", "gemm_a8w8_", "opus_moe_", "opus_bmm_", "splitk_reduce_kernel",
    "mla_16mx8_", "dsa_v32_", "pa_prefill_16m", "gqa_d128_kernel", "gqa_d192_", "kn_entry_", "kn_get_", "kn_mla_",
    "kn_mi3",
)  # fmt: skip
_HEADS = tuple(f"{void}{head}" for void in ("void ", "") for head in ("aiter::", *_GLOBAL))
_FLAG = re.compile(
    r"(is|has|use|need|add|fuse|emit|save|store|skip|enable|k_is|k_insert|k_skip|do|write|reuse)_|"
    r"(alibi|interleave|sliding_window|deterministic|greater|asm_layout|oop|stable|two_way|v_shuffle|gemma_norm|"
    r"transpose_scale|shuffle_scale|no_quant|per_token_quant|nope_first|route_fp8|direct_only|prefetch_scale)$"
)

#: of a key that is named for aiter's parameter and for which nobody has read more
UNEXPLAINED = "A template parameter of aiter's, which its source names and does not explain."
_OWN: Mapping[str, Key] = {
    **pick(
        "kernel",
        "dtype_kv",
        "dtype_q",
        "alibi",
        "gqa",
        "mtp",
        "sliding_window",
        "num_experts",
        "topk",
        "vec_size",
        "wg_per_cu",
        "has_oob",
        "cachectl_a",
        "cachectl_b",
        "num_slots",
    ),
    "kv_dtype_id": Key("Number of the KV cache's data type: 0 is that of the inputs, 1 fp8.", None, _SOURCE),
    "block_size_kv": Key("Tokens of one page of K and V.", "tokens", _SOURCE),
    "version_id": Key("Number of the kernel's version.", None, _SOURCE),
    "add_residual": Key("Whether a residual is added before the normalisation.", None, _SOURCE),
    "fuse_quant": Key("Whether the result is quantised.", None, _SOURCE),
    "interleave": Key("Whether a thread's elements are interleaved over the row.", None, _SOURCE),
    "num_row": Key("Rows that one block normalises.", "rows", _SOURCE),
    "thread_data_size": Key("Elements that one thread holds.", "elements", _SOURCE),
    "num_gpus": Key("GPUs that take part.", "GPUs", _SOURCE),
    "partition_size": Key("Tokens of K and V that one block attends to.", "tokens", _SOURCE),
    "lds_depth": Key("Tiles of an operand that LDS holds.", "tiles", _SOURCE),
}


@cache
def lists() -> Mapping[str, tuple[ck_lists.Variant, ...]]:
    """Function or traits struct -> its parameter lists."""
    return ck_lists.parse(aiter_lists.KERNELS)


def converter(key: str) -> Convert:
    """The converter of a key: types, flags, shapes, else by look."""
    if key.startswith("dtype_"):
        return cpp_types.dtype
    if _FLAG.match(key):
        return ck_values.boolean
    if key == "dtypes_abc":
        return ck_values.dtypes
    if key.endswith("_mnk"):
        return ck_values.sequence
    return ck_values.plain


def _glossary() -> dict[str, Key]:
    stated = ck_lists.keys(lists())
    known = {**{key: SHARED[key] for key in stated if key in SHARED}, **_OWN}
    for key, (meaning, unit) in aiter_glossary.meanings().items():
        known.setdefault(key, Key(meaning, unit, _SOURCE))
    rest = {key: Key(UNEXPLAINED, None, _SOURCE) for key in stated if key not in known}
    return {**rest, **known}


class AiterCppTemplate(Grammar):
    """aiter's C++ kernels."""

    name = "aiter_cpp_template"
    families = ("aiter_cpp_template",)
    formal: ClassVar[frozenset[str]] = frozenset()
    prefixes = _HEADS
    reads_cpp = True
    link = "https://github.com/ROCm/aiter/tree/main/csrc"
    keys: ClassVar[Mapping[str, Key]] = WhenAsked(_glossary)

    def accepts(self, name: str) -> bool:
        return name.startswith(_HEADS) and ("<" in name or "(" in name)

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        return cpp_lists.read(cpp.read_function(name), lists(), converter).answer(self.name, self.families[0])

    def view(self, decoded: DecodedName) -> GemmView | None:
        f = decoded.fields
        if "m_per_block" not in f or "n_per_block" not in f or "gemm" not in f.get("kernel", ""):
            return None
        return stated_view(f, "gemm", stages=f.get("num_slots", f.get("lds_depth")))
