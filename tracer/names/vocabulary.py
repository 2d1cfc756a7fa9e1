"""The shared vocabulary: keys that several grammars use, each with one meaning, and spellings of types.

A grammar picks the shared keys it uses with `pick(...)` and adds its own beside them: one glossary entry a key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from tracer.names.base import Key

SHARED: Mapping[str, Key] = {
    "block_size": Key("Threads of one block (AMD: work-group).", "threads"),
    "m_per_block": Key("M extent of the tile that one block computes.", "elements"),
    "n_per_block": Key("N extent of the tile that one block computes.", "elements"),
    "k_per_block": Key("K extent that one block consumes per main-loop step (Tensile: DepthU).", "elements"),
    "ak1": Key("Contiguous K elements of A that one thread reads at a time.", "elements"),
    "bk1": Key("Contiguous K elements of B that one thread reads at a time.", "elements"),
    "m_per_xdl": Key("M extent of one MFMA tile.", "elements"),
    "n_per_xdl": Key("N extent of one MFMA tile.", "elements"),
    "m_xdl_per_wave": Key("MFMA tiles along M that one wave computes.", "MFMA tiles"),
    "n_xdl_per_wave": Key("MFMA tiles along N that one wave computes.", "MFMA tiles"),
    "a_block_transfer": Key(
        "Thread-cluster lengths K0 x M x K1 with which a block copies its tile of A to LDS.", "threads"
    ),
    "b_block_transfer": Key(
        "Thread-cluster lengths K0 x N x K1 with which a block copies its tile of B to LDS.", "threads"
    ),
    "c_block_transfer": Key(
        "Thread-cluster lengths MBlock x MPerXdl x NBlock x NPerXdl of the output store.", "threads"
    ),
    "c_block_spv": Key("Scalars per vector of the output store, one number a tensor.", "elements"),
    "cshuffle_m": Key("MFMA tiles along M that a wave shuffles through LDS at a time before the store.", "MFMA tiles"),
    "cshuffle_n": Key("MFMA tiles along N that a wave shuffles through LDS at a time before the store.", "MFMA tiles"),
    "pipeline_sched": Key("Scheduler of the block-wise GEMM pipeline: intrawave, interwave or default."),
    "pipeline_version": Key("Version number of the block-wise GEMM pipeline (CK: enum value + 1)."),
    "scale_block_m": Key("M extent of the block that shares one quantisation scale.", "elements"),
    "scale_block_n": Key("N extent of the block that shares one quantisation scale.", "elements"),
    "scale_block_k": Key("K extent of the block that shares one quantisation scale.", "elements"),
    "a_bits": Key("Width of an element of A; the name states no more of its type.", "bits"),
    "b_bits": Key("Width of an element of B; the name states no more of its type.", "bits"),
    "dtype_a": Key("Element type of A (of several inputs the first), spelled as the family spells it."),
    "dtype_b": Key("Element type of B (of several inputs the second), spelled as the family spells it."),
    "dtype_c": Key("Element type of C (of the result, where there is no D), spelled as the family spells it."),
    "dtype_d": Key("Element type of D (the output where C is an input), spelled as the family spells it."),
    "dtype_acc": Key("Element type of the accumulator, spelled as the family spells it."),
    "m_warp": Key("Waves of a block along M.", "waves"),
    "n_warp": Key("Waves of a block along N.", "waves"),
    "k_warp": Key("Waves of a block along K.", "waves"),
    "m_warp_tile": Key("M extent of one wave's matrix instruction.", "elements"),
    "n_warp_tile": Key("N extent of one wave's matrix instruction.", "elements"),
    "k_warp_tile": Key("K extent of one wave's matrix instruction.", "elements"),
    "a_preshuffle": Key("Whether A is stored in the order in which the waves read it."),
    "b_preshuffle": Key("Whether B (the weights) is stored in the order in which the waves read it."),
    "batched": Key("Whether the kernel computes a batch of independent products."),
    "split_k": Key("Split-K factor.", "splits"),
    "num_stages": Key("Pipeline depth.", "stages"),
    "num_warps": Key("Waves (warps) of one block.", "waves"),
    "persistent": Key("Whether a fixed number of blocks stays resident and walks over the tiles."),
    "block_per_cu": Key("Blocks per compute unit that the kernel is compiled for (occupancy hint).", "blocks"),
    "waves_per_eu": Key("Waves per SIMD that the compiler is told to aim for; 0 is no hint.", "waves"),
    "xcd_swizzle": Key("Group size of the remapping of blocks to XCDs; 0 is off.", "blocks"),
    "cluster_m": Key("Blocks of a cluster along M.", "blocks"),
    "cluster_n": Key("Blocks of a cluster along N.", "blocks"),
    "stage": Key("Stage of a two-stage MoE: 1 is gate and up projection, 2 is down projection."),
    "activation": Key(
        "Activation function of the kernel, as the family spells it (Tensile's `all` is chosen at run time).",
    ),
    "mul_routed_weight": Key("Whether the kernel multiplies by the routing weight of the expert."),
    "quant_type": Key("How the operands are quantised: no, per tensor, per token, or a block that shares a scale."),
    "has_bias": Key("Whether the kernel adds a bias."),
    "split_k_enabled": Key("Whether K is split over blocks; the factor is not in the name."),
    "async_copy": Key("Whether global memory is copied to LDS asynchronously."),
    "lds_stage": Key("LDS buffers of the tile of A: 2 is ping-pong, 1 a single buffer.", "buffers"),
    "sort_block_m": Key("Rows of an expert that the token sorting keeps together.", "rows"),
    "k_wave": Key("Waves of a block that share K and add up their results.", "waves"),
    "cshuffle": Key("Whether the output tile is shuffled through LDS before the store."),
    "base_name": Key("The kernel's own name, without what is appended to it."),
    "isa": Key("Target that the name itself states (gfx..., sm...)."),
    "dtype": Key("Element type of the data, where the name has one type only."),
    "dtype_compute": Key("Element type in which the kernel computes."),
    "layout_a": Key("Storage order of A, as printed (t and RowMajor are K fastest; in triton_kernels N is)."),
    "layout_b": Key("Storage order of B, as printed (n and ColumnMajor are K fastest; in triton_kernels T is)."),
    "layout_c": Key("Storage order of C, as printed (t and RowMajor are N fastest; in triton_kernels N is)."),
    "cluster_k": Key("Blocks of one cluster along K.", "blocks"),
    "pf": Key("Prefetch depth.", "stages"),
    "g1u1": Key("Whether the first MoE product has a gate and an up half (g1u1) or no up half (g1u0)."),
    "tg_num_per_cu": Key("Blocks that share one CU.", "blocks"),
    "op": Key("Kind of operation, in the family's word (gemm, bmm, fprop, copy, ...)."),
    "head_dim": Key("Size of one head of Q and K.", "elements"),
    "head_dim_v": Key("Size of one head of V.", "elements"),
    "causal": Key("Whether the mask is causal."),
    "mask": Key("Kind of mask, as printed."),
    "group_mode": Key("Whether the batch has sequences of different lengths (group mode)."),
    "lse": Key("Whether the log-sum-exp of each row is stored."),
    "paged_kv": Key("Whether K and V are stored in pages."),
    "page_size": Key("Tokens of one page of K and V.", "tokens"),
    "in_namespace": Key("Whether the name is written with its C++ namespace."),
    "a_src_scalar_per_vector": Key("Elements of A that one load reads.", "elements"),
    "b_src_scalar_per_vector": Key("Elements of B that one load reads.", "elements"),
    "c_scalar_per_vector": Key("Elements of C that one store writes.", "elements"),
    "algorithm": Key("The algorithm that the kernel runs, as printed; MIOpen numbers them."),
    "alibi": Key("Whether a position bias (ALiBi) is added to the logits."),
    "alignment": Key(
        "Extent to which one access is aligned: in CUTLASS's names elements of A and B (the larger of "
        "both), in template arguments of C++ kernels bytes.",
    ),
    "atomic": Key("How results are added up in memory: a flag, or (ck_tile) 0 not, 1 packed atomics, 2 atomics."),
    "bias": Key("Bias that the kernel adds: a flag, its kind (attention: no, bias, alibi) or its axis (M, N)."),
    "block_m": Key("Rows that one block computes: of Q in attention, of the input in normalisation.", "rows"),
    "block_n": Key(
        "Columns that one block covers at a time: positions of K and V in attention, columns of the "
        "input in normalisation.",
        "elements",
    ),
    "block_threads": Key("Threads of one block.", "threads"),
    "cachectl_a": Key("Cache policy of the loads of A: 0 LRU, 1 SC0, 17 SC0+SC1 (bypasses L2), -1 the default."),
    "cachectl_b": Key("Cache policy of the loads of B, numbered as that of A (opus MoE: 0 is the default)."),
    "cde_element_op": Key(
        "What the epilogue does to each element of the accumulator and the D tensors: CK's operation by its C++ name.",
    ),
    "cluster": Key("Blocks of a cluster along each axis.", "blocks"),
    "deterministic": Key("Whether gradients are summed in a fixed order."),
    "dilation": Key("Dilation of the convolution.", "elements"),
    "dims": Key("Dimensions of the tensors, as the kernel indexes them.", "dimensions"),
    "direct_only": Key("Whether the consumer waves load for themselves and store directly (split-K of 1 only)."),
    "direction": Key(
        "forward or backward; of a convolution fwd, bwd (gradient of the data) or wrw (gradient of the weights).",
    ),
    "double_smem_buffer": Key("Whether LDS holds two tiles of an operand."),
    "dtype_c_registered": Key("Output type of the registered kernel, which a final `_fp4` or `_fp8` overrides."),
    "dtype_kv": Key("Element type of K and V, or of the cache that holds them."),
    "dtype_q": Key("Element type of Q."),
    "dtype_sfa": Key("Element type of A's scales."),
    "dtype_sfb": Key("Element type of B's scales."),
    "dtype_workspace": Key("Element type of split-K's partial results, as the family spells it."),
    "dtypes_d": Key("Element types of the D tensors, the further inputs of the epilogue."),
    "enable_last_page_lens": Key("Whether the lengths of the last pages are passed."),
    "epilogue": Key("What is fused behind the result: the functions' names, or what a soft-max writes."),
    "functor": Key("The function or functor that the kernel applies, without its arguments."),
    "gqa": Key("Heads of Q that share one head of K and V.", "heads"),
    "has_oob": Key("Whether the problem may end inside a tile; without, M and N must fit."),
    "is_neox": Key("Whether the two halves of a head rotate (GPT-NeoX), not neighbours (GPT-J)."),
    "k0_per_block": Key("K extent of one main-loop step, in groups of k1 elements.", "groups"),
    "k1": Key("K elements that stand together, and that one thread reads at a time.", "elements"),
    "kernel": Key("The kernel, as the family names it: its function, or the class that a common frame calls."),
    "kv_lookup_table": Key("Kind of the page table of K and V, by name or number."),
    "kv_memory_layout": Key("Memory layout of the KV cache: vectorized or linear, or its number."),
    "layout": Key(
        "A word about layout: trtllm-gen's transposition of A and B; in opus MoE whether the `layout` prefix is there.",
    ),
    "layout_e": Key("Storage order of E, the output beside D inputs."),
    "layouts_d": Key("Storage order of each D tensor, the further inputs of the epilogue."),
    "loop_scheduler": Key("CK's older LoopScheduler: default or interwave."),
    "masked": Key("Whether a mask is applied."),
    "max_threads": Key("Threads that one block may have.", "threads"),
    "mtp": Key("Multi-token prediction: whether a decode step has several tokens of Q, or how many."),
    "n_swizzle": Key("Whether blocks walk N before M."),
    "npar_loops": Key("Steps in which partitions are combined.", "steps"),
    "num_experts": Key("Experts that the kernel chooses from.", "experts"),
    "num_slots": Key("LDS slots for tiles, and so loads in flight.", "slots"),
    "num_wave_groups": Key("Groups of waves that share the work of a block and take turns.", "groups"),
    "num_waves": Key("Waves of one block.", "waves"),
    "occupancy": Key("Blocks per CU that the kernel is compiled for (occupancy hint).", "blocks"),
    "pack_scale_on_demand": Key("Whether the scales are packed when they are used."),
    "pad_head_dim_v": Key("Whether the head size of V may end inside a tile."),
    "pad_k": Key("Whether K may end inside a tile, and is padded."),
    "pad_m": Key("Whether M may end inside a tile, and is padded."),
    "pad_n": Key("Whether N may end inside a tile, and is padded."),
    "pad_seqlen_k": Key("Whether the length of K and V may end inside a tile."),
    "per_token_quant": Key("Whether values are quantised per token."),
    "pipeline_tag": Key("The block's pipeline, by its generator's short tag."),
    "pipeline_version_classic": Key("CK's older PipelineVersion: v1, v2, v4 or weight_only."),
    "prefetch_scale": Key("Whether the scales are prefetched."),
    "preload_sf_lds": Key(
        "Whether the scales of A and B are loaded to LDS once, before the main loop (pipeline family).",
    ),
    "quant_type_id": Key("The number of the quantisation in aiter's QuantType enum."),
    "skip_scale_wait": Key("Whether the wait for the scales of a K tile is left out."),
    "sliding_window": Key("Whether attention is limited to a window."),
    "sparse": Key("Sparsity: whether it is the sparse variant (MLA), or which of A and B is 2:4 sparse (Tensile)."),
    "stride": Key("Stride of the convolution.", "elements"),
    "tensor_layout": Key(
        "Storage order of all tensors: nhwc and the like in convolutions, one letter a tensor (A, B, D, "
        "E) in CK's type strings.",
    ),
    "thread_tile": Key("M and N extents that one thread computes.", "elements"),
    "topk": Key("Experts that a token is routed to.", "experts"),
    "trans_a": Key(
        "Whether A is transposed: in Tensile a flag (Alik: K is fastest in memory), in rocBLAS N, T or C (conjugated).",
    ),
    "trans_b": Key(
        "Whether B is transposed: in Tensile a flag (Bjlk: N is fastest in memory), in rocBLAS N, T or C (conjugated).",
    ),
    "transpose_c": Key("Whether the block computes its tile of C transposed."),
    "unroll": Key("Unroll factor of a loop (NCCL: of the copies).", "iterations"),
    "use_nt": Key("Whether memory is accessed non-temporally, past the caches (FlyDSL MoE: the loads of the weights)."),
    "vec_size": Key("Elements that one access reads or writes.", "elements"),
    "vector": Key("Elements that a thread accesses at a time (ck_tile: along rows and columns).", "elements"),
    "warp_size": Key("Threads of a warp.", "threads"),
    "warp_tile": Key("Extents of the tile that one wave (warp) computes.", "elements"),
    "wg_per_cu": Key("Blocks per CU that the kernel asks for, or is sized for.", "blocks"),
}

#: spellings of one element type, for comparing families; values are the tool's own spelling
DTYPE_FOLD: Mapping[str, str] = {
    "f16": "fp16", "half": "fp16", "float16": "fp16", "h": "fp16",
    "b16": "bf16", "bfloat16": "bf16",
    "f32": "fp32", "float": "fp32", "float32": "fp32", "s": "fp32",
    "f64": "fp64", "double": "fp64", "i8": "int8", "i32": "int32", "i4": "int4",
}  # fmt: skip


def pick(*keys: str) -> dict[str, Key]:
    """The shared glossary entries for `keys`. Raises KeyError for one that is not shared."""
    return {key: SHARED[key] for key in keys}


class WhenAsked(Mapping[str, Key]):
    """A glossary that is built when somebody first looks into it: reading a name needs none."""

    def __init__(self, build: Callable[[], Mapping[str, Key]]) -> None:
        self._build = build

    @cached_property
    def _keys(self) -> Mapping[str, Key]:
        return self._build()

    def __getitem__(self, key: str) -> Key:
        return self._keys[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


def fold_dtype(spelling: str) -> str:
    """The tool's own spelling of an element type: `B16` -> `bf16`; an unknown spelling comes back in lower case."""
    low = spelling.lower()
    return DTYPE_FOLD.get(low, low)
