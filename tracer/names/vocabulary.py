"""The shared vocabulary: keys that several grammars use, each with one meaning, and spellings of types.

A grammar picks the shared keys it uses with `pick(...)` and adds its own beside them, so the glossary has one entry a key.
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
    "a_block_transfer": Key("Thread-cluster lengths K0 x M x K1 with which a block copies its tile of A to LDS.", "threads"),
    "b_block_transfer": Key("Thread-cluster lengths K0 x N x K1 with which a block copies its tile of B to LDS.", "threads"),
    "c_block_transfer": Key("Thread-cluster lengths MBlock x MPerXdl x NBlock x NPerXdl of the output store.", "threads"),
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
    "batched": Key("Whether the kernel computes a batch of independent products."),
    "split_k": Key("Split-K factor.", "splits"),
    "num_stages": Key("Pipeline depth.", "stages"),
    "num_warps": Key("Waves (warps) of one block.", "waves"),
    "isa": Key("Target that the name itself states (gfx..., sm...)."),
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
