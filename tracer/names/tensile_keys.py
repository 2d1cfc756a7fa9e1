"""The glossary of Tensile's parameters that have a key of their own: no input, key, meaning and unit out."""

from __future__ import annotations

from collections.abc import Mapping

from tracer.names.base import Key
from tracer.names.vocabulary import pick

_SOURCE = "Tensile/Common/ValidParameters.py in ROCm/rocm-libraries"


def _key(meaning: str, unit: str | None = None) -> Key:
    return Key(meaning, unit, _SOURCE)


PARAMETER_KEYS: Mapping[str, Key] = {
    **pick("thread_tile"),
    "one_lds_buffer": _key("1LDSBuffer: 1 keeps one buffer in LDS, 0 one a tile in flight, -1 one if two don't fit."),
    "cluster_local_read": _key("ClusterLocalRead: each inner step reads from LDS into registers of its own."),
    "direct_to_vgpr_a": _key("DirectToVgprA: A goes from memory to registers, without LDS."),
    "direct_to_vgpr_b": _key("DirectToVgprB: B goes from memory to registers, without LDS."),
    "global_read_vector_width_a": _key("GlobalReadVectorWidthA: what one load of A from memory reads.", "elements"),
    "global_read_vector_width_b": _key("GlobalReadVectorWidthB: what one load of B from memory reads.", "elements"),
    "global_split_u": _key("GlobalSplitU: split-K factor, over blocks; 0 is a kernel without split-K.", "splits"),
    "global_split_u_algorithm": _key(
        "GlobalSplitUAlgorithm: atomics into one buffer (SingleBuffer), or a buffer a split, summed by a second kernel "
        "(MultipleBuffer) or by the same (MultipleBufferSingleKernel)."
    ),
    "lds_block_size_per_pad_a": _key("LdsBlockSizePerPadA: padding follows every so many bytes of A in LDS.", "bytes"),
    "lds_block_size_per_pad_b": _key("LdsBlockSizePerPadB: padding follows every so many bytes of B in LDS.", "bytes"),
    "lds_pad_a": _key("LdsPadA: padding of A in LDS; -1 lets Tensile choose.", "elements"),
    "lds_pad_b": _key("LdsPadB: padding of B in LDS; -1 lets Tensile choose.", "elements"),
    "local_read_vector_width": _key("LocalReadVectorWidth: what one read from LDS reads.", "elements"),
    "mi_wave_tile": _key("MIWaveTile: matrix instructions of one wave along M and N.", "instructions"),
    "max_occupancy": _key("MaxOccupancy: blocks a CU at most; a small number takes LDS to keep others out.", "blocks"),
    "num_elements_per_batch_store": _key(
        "NumElementsPerBatchStore: stores issued together; 0 is as many as registers allow.", "elements"
    ),
    "prefetch_global_read": _key("PrefetchGlobalRead: tiles that are loaded ahead from memory; 0 is none.", "tiles"),
    "prefetch_local_read": _key("PrefetchLocalRead: inner steps that are read ahead from LDS.", "steps"),
    "schedule_iter_alg": _key("ScheduleIterAlg: how loads, LDS accesses and math are interleaved (0 not, up to 3)."),
    "source_swap": _key("SourceSwap: A and B change places in the matrix instruction, for better stores."),
    "stagger_u": _key("StaggerU: blocks begin at different K, up to so many steps apart; 0 is off.", "steps"),
    "store_remap_vector_width": _key(
        "StoreRemapVectorWidth: C passes LDS and is stored in vectors of this width; 0 is off.", "elements"
    ),
    "store_vector_width": _key("StoreVectorWidth: what one store of C writes.", "elements"),
    "stream_k": _key("StreamK: variant of stream-K; 0 is off."),
    "transpose_lds": _key("TransposeLDS: which dimension is contiguous in LDS (0 the tile's, 2 K, 1 as in memory)."),
    "unroll_loop_swap_gr_order": _key(
        "UnrollLoopSwapGlobalReadOrder: whether the unrolled loop also reads B before A in turn."
    ),
    "vector_width_a": _key("VectorWidthA: consecutive elements of A that one thread works on.", "elements"),
    "vector_width_b": _key("VectorWidthB: consecutive elements of B that one thread works on.", "elements"),
    "wavefront_size": _key("WavefrontSize: threads of a wave.", "threads"),
    "work_group": _key("WorkGroup: threads of a block along M and N, and the parts in which a block shares K."),
    "work_group_mapping": _key(
        "WorkGroupMapping: height of the strips in which blocks walk over C, so that neighbours in time share L2.",
        "blocks",
    ),
}  # fmt: skip
