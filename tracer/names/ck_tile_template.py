"""ck_tile kernel symbols: `ck_tile::kentry<..., Kernel<...>, ...>`, mangled or demangled, whole or cut off.

    [void ]ck_tile::kentry<[architecture, | threads,] blocks per CU, Kernel<pipeline, epilogue>,
    arguments>[(parameters)]

What a kernel is stands in the structs nested in it: problem, shape, traits, mask. Each is looked up by name, wherever
it stands, and its arguments are matched by position with its parameter list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, GemmView, Span, Unparsed
from tracer.names import ck_lists, cpp, cpp_lists
from tracer.names.attention_keys import ATTENTION_KEYS
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.cpp_lists import CUT, MORE
from tracer.names.stated_view import stated_view
from tracer.names.vocabulary import WhenAsked, pick

_HEADERS = "include/ck_tile/ops (ROCm/composable_kernel)"
_MASK = re.compile(r"ck_tile::(SimplifiedGenericAttentionMask|GenericAttentionMask)<(true|false)(?:, (true|false))?>")
_STRUCT = re.compile(r"ck_tile::(\w+)<")
_PIPELINE = re.compile(r"ck_tile::(\w*Pipeline\w*)<")
_GFX = re.compile(r"(?:ck_tile::)?(?:core::)?(?:arch::)?(gfx\w+?)(?:_t)?$")
_TAG = re.compile(r"(QR|QS)KSVS(Async)?(Trload)?$")

_OWN: Mapping[str, Key] = {
    **pick(
        "kernel", "max_threads", "block_m", "block_n", "warp_tile", "vector", "pad_m", "pad_n", "pad_k", "dtype_sfa",
        "dtype_sfb", "dtypes_d", "transpose_c", "double_smem_buffer", "num_wave_groups", "atomic", "num_experts",
        "kv_memory_layout", "kv_lookup_table",
    ),
    "pipeline": Key("The struct that runs the block's main loop.", None, _HEADERS),
    "min_occupancy": Key("Waves per SIMD that the compiler must leave room for (launch bounds).", "waves", _HEADERS),
    "block_tile": Key("Extents of the block's tile, in the order of the shape's own sequence.", "elements", _HEADERS),
    "gemm0_block_warps": Key("Waves of the first product along M, N, K.", "waves", _HEADERS),
    "gemm0_warp_tile": Key("Matrix instruction of the first product, M x N x K.", "elements", _HEADERS),
    "gemm1_block_warps": Key("Waves of the second product along M, N, K.", "waves", _HEADERS),
    "gemm1_warp_tile": Key("Matrix instruction of the second product, M x N x K.", "elements", _HEADERS),
    "thread_per_block": Key("Threads of a block along rows and columns.", "threads", _HEADERS),
    "warp_per_block": Key("Waves of a block along rows and columns.", "waves", _HEADERS),
    "save_inv_rms": Key("Whether the inverse root mean square is stored.", None, _HEADERS),
    "save_mean_inv_std": Key("Whether mean and inverse deviation are stored.", None, _HEADERS),
    "save_unquant": Key("Whether the result is stored unquantised too.", None, _HEADERS),
    "save_x": Key("Whether the sum that is normalised is stored.", None, _HEADERS),
    "two_pass": Key("Whether a row is read twice, because it does not fit in one tile.", None, _HEADERS),
    "three_pass": Key("Whether a row is read three times.", None, _HEADERS),
    "fast_fdiv": Key("Whether divisions are approximate.", None, _HEADERS),
    "welford": Key("Whether the variance is computed by Welford's method.", None, _HEADERS),
    "fused_add": Key("Addition before the normalisation: 0 none, 1 stored, 2 not stored.", None, _HEADERS),
    "fused_quant": Key("Quantisation after it: 0 none, 1 smooth dynamic, 2 dynamic.", None, _HEADERS),
    "x_bias": Key("Bias before the normalisation: 0 none, 1 added.", None, _HEADERS),
    "sensitive_model": Key("Rounding that follows a model: 0 none, 1 T5-like.", None, _HEADERS),
    "tail": Key("The number of main-loop steps that the kernel's tail computes (TailNumber).", None, _HEADERS),
    "mem_op": Key("How the result is written: Set, AtomicAdd (split-K), AtomicMax or Add.", None, _HEADERS),
    "hot_loop": Key("Whether the kernel has a main loop over K.", None, _HEADERS),
    "structured_sparsity": Key("Whether A is 2:4 sparse.", None, _HEADERS),
    "permute_a": Key("Whether A is permuted.", None, _HEADERS),
    "permute_b": Key("Whether B is permuted.", None, _HEADERS),
    "large_tensors": Key("Whether offsets may pass 2 GB.", None, _HEADERS),
    "preshuffle_quant": Key("Whether scales are laid out for the kernel beforehand.", None, _HEADERS),
    "scaled_a": Key("Whether A is multiplied by scales that the kernel is given.", None, _HEADERS),
    "scaled_b": Key("Whether B is multiplied by scales that the kernel is given.", None, _HEADERS),
    "gate_only": Key("Whether the first product of the MoE has a gate only.", None, _HEADERS),
    "smooth_quant": Key("Whether activations are smooth-quantised.", None, _HEADERS),
    "pad_hidden_size": Key("Whether the hidden size may end inside a tile.", None, _HEADERS),
    "pad_intermediate_size": Key("Whether the intermediate size may end inside a tile.", None, _HEADERS),
    "pipe_interleave": Key("Whether the two products are interleaved.", None, _HEADERS),
    "uneven_splits": Key("Whether a split of K and V may end inside a tile.", None, _HEADERS),
    "merge_groups": Key("Whether heads of one group share a tile with the rows of Q.", None, _HEADERS),
    "log_max_splits": Key("Base-2 logarithm of the most splits that are combined.", None, _HEADERS),
    "kv_load_mode": Key("Number of the way in which K and V are loaded.", None, _HEADERS),
    "rope_id": Key("Number of the rotary embedding: 0 none.", None, _HEADERS),
    "pad_head_dim_multiple": Key("Multiple that the head size of Q and K must be; 0 is a whole tile.", None, _HEADERS),
    "pad_head_dim_v_multiple": Key("Multiple that the head size of V must be; 0 is a whole tile.", None, _HEADERS),
}  # fmt: skip


def _glossary() -> dict[str, Key]:
    stated = ck_lists.keys(ck_lists.tile_structs()) | {
        "head_dim",
        "head_dim_v",
        "mask",
        "masked",
        "pipeline_tag",
        "isa",
    }
    known = {**ATTENTION_KEYS, **_OWN}
    camel = {key: Key(f"ck_tile's template parameter {key}.", None, _HEADERS) for key in stated if key[0].isupper()}
    rest = [key for key in stated if key not in known and key not in camel]
    return {**camel, **pick(*rest), **{k: v for k, v in known.items() if k in stated or k in _OWN}}


class CkTileTemplate(Grammar):
    """ck_tile kernel symbols."""

    name = "ck_tile_template"
    families = ("ck_tile_template",)
    formal: ClassVar[frozenset[str]] = frozenset()
    prefixes = ("void ck_tile::", "ck_tile::")
    reads_cpp = True
    link = "https://github.com/ROCm/composable_kernel/tree/develop/include/ck_tile"
    keys: ClassVar[Mapping[str, Key]] = WhenAsked(_glossary)

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        return _Reading(cpp.read_function(name), {}, {}).read()

    def view(self, decoded: DecodedName) -> GemmView | None:
        f = decoded.fields
        if "m_per_block" not in f or "n_per_block" not in f:
            return None
        return stated_view(
            f,
            "moe" if "Moe" in f.get("kernel", "") else "conv" if "Conv" in f.get("kernel", "") else "gemm",
            threads_per_block=f.get("max_threads"),
            stages=2 if f.get("double_smem_buffer") else None,
            pipeline=" ".join(filter(None, (f.get("pipeline"), f.get("pipeline_sched")))) or None,
        )


class _Reading(cpp_lists.Reading):
    """What one symbol states."""

    def read(self) -> DecodedName:
        """Reads the symbol."""
        function, name = self.function, self.function.text
        leaf, span = function.leaf, function.leaf_span
        args = function.arguments
        if leaf == "kentry" and args is not None:
            self.entry(args)
        elif not leaf or (args is None and function.parameters is None):
            self.unparsed.append(Unparsed(name[span[0] :], span[0], "a function and its template arguments"))
        else:
            self.add("kernel", leaf, span)
            if args is not None:
                self.structs(function.start, args.end)
        if function.cut:
            self.notes += (CUT,)
            self.unparsed.append(Unparsed("", len(name), MORE))
        return self.answer("ck_tile_template", "ck_tile_template")

    def entry(self, args: cpp.Arguments) -> None:
        """Reads the arguments of the function that every kernel is started by."""
        numbers: list[tuple[int, Span]] = []
        for index, item in enumerate(args.items):
            if item.isdecimal() and len(item) < 10:
                numbers.append((int(item), args.span(index)))
                continue
            gfx = _GFX.match(item)
            if gfx is not None:
                self.add("isa", gfx.group(1), args.span(index))
                continue
            if item in ("true", "false"):
                continue
            if args.cut and index == len(args) - 1 and "<" not in item:
                break  # the cut may be inside the struct's name
            kernel = cpp.template(self.function.text, args.span(index))
            self.add("kernel", kernel.leaf, kernel.leaf_span)
            self.structs(kernel.leaf_span[0], args.end)  # the types of its arguments state something too
            break
        if numbers:
            self.add("min_occupancy", *numbers[-1])
        if len(numbers) == 2:
            self.add("max_threads", *numbers[0])

    def structs(self, start: int, end: int) -> None:
        """Reads every known struct that stands between the offsets, and the mask and the pipeline."""
        text = self.function.text
        places: dict[str, int] = {}
        for m in _STRUCT.finditer(text, start, end):
            places.setdefault(m[1], m.end() - 1)
        for leaf, lists in ck_lists.tile_structs().items():
            if leaf not in places:
                continue
            args = cpp.arguments(text, places[leaf])
            found = ck_lists.read(lists, args.whole(text), args.cut)
            found.likely = {}  # a struct that no list fits states nothing, not even by position
            if found.fields.get("occupancy", 0) < 0:  # the pipeline's own choice
                del found.fields["occupancy"]
            self.take(found, args, leaf)
            if leaf in ("TileFmhaShape", "TileFmhaBwdShape") and "block_tile" in found.fields:
                self.head_dims(found.fields["block_tile"], args.span(found.where["block_tile"]))
        self.mask(start, end)
        pipeline = _PIPELINE.search(text, start, end)
        if pipeline is not None and not pipeline.group(1).endswith(("Problem", "Policy")):
            self.add("pipeline", pipeline.group(1), pipeline.span(1))
            tag = _TAG.search(pipeline.group(1)) if "Fmha" in pipeline.group(1) else None
            if tag is not None:
                words = [tag.group(1), tag.group(2), tag.group(3)]
                self.add("pipeline_tag", "_".join(w.lower() for w in words if w), pipeline.span(1))

    def head_dims(self, tile: list[int], span: Span) -> None:
        """The shape's last extents are whole head sizes: forward bk0max, backward bhdq and bhdv."""
        if len(tile) == 6:
            self.add("head_dim", tile[5], span)
        elif len(tile) == 9:
            self.add("head_dim", tile[7], span)
            self.add("head_dim_v", tile[8], span)

    def mask(self, start: int, end: int) -> None:
        """Reads the attention mask's struct, where one stands between the offsets."""
        m = _MASK.search(self.function.text, start, end)
        if m is None:
            return
        masking = m.group(2) == "true"
        self.add("masked", masking, m.span(2))
        if m.group(1).startswith("Simplified"):
            self.add("mask", "mask" if masking else "no", m.span(2))
        elif not masking or m.group(3):
            self.add("mask", "no" if not masking else "generic" if m.group(3) == "true" else "causal", m.span())
