"""The shared vocabulary: keys that several grammars use, each with one meaning, and spellings of types.

A grammar picks the shared keys it uses with `pick(...)` and adds its own beside them: one glossary entry a key.
"""

from __future__ import annotations

from collections.abc import Mapping

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
    "dtype_a": Key("Element type of A, spelled as the family spells it."),
    "dtype_b": Key("Element type of B, spelled as the family spells it."),
    "dtype_c": Key("Element type of C, spelled as the family spells it."),
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
    "activation": Key("Activation between the stages of an MoE layer; `no` is none."),
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
    "layout_a": Key("Storage order of A, as printed."),
    "layout_b": Key("Storage order of B, as printed."),
    "layout_c": Key("Storage order of C, as printed."),
    "cluster_k": Key("Blocks of one cluster along K.", "blocks"),
    "pf": Key("Prefetch depth.", "stages"),
    "g1u1": Key("Whether the first MoE product has a gate and an up half (g1u1) or no up half (g1u0)."),
    "tg_num_per_cu": Key("Blocks that share one CU.", "blocks"),
    "op": Key("Kind of operation."),
    "head_dim": Key("Size of one head of Q and K.", "elements"),
    "head_dim_v": Key("Size of one head of V.", "elements"),
    "causal": Key("Whether the mask is causal."),
    "mask": Key("Kind of mask, as printed."),
    "group_mode": Key("Whether the batch has sequences of different lengths (group mode)."),
    "lse": Key("Whether the log-sum-exp of each row is stored."),
    "paged_kv": Key("Whether K and V are stored in pages."),
    "page_size": Key("Tokens of one page of K and V.", "tokens"),
    "in_namespace": Key("Whether the name is written with its C++ namespace."),
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


def fold_dtype(spelling: str) -> str:
    """The tool's own spelling of an element type: `B16` -> `bf16`; an unknown spelling comes back in lower case."""
    low = spelling.lower()
    return DTYPE_FOLD.get(low, low)
