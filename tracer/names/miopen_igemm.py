"""MIOpen's assembly implicit GEMMs (`igemm_fwd_gtcx3_nhwc_bf16_bx0_...`): the patterns that read and write their names.

igemm_{fwd|bwd|wrw}_gtcx[N]_{layout}_{type}_bx{}_ex{}_bt{MxNxK}_wt{}_ws{}_wr{}_ta{threads}_{cluster}_tb{}_{}
    [_pta][_mh][_me][_vs{}][_gkgs]                                        (MFMA; gtcx is gfx908, gtcx2 gfx90a)
igemm_fwd_gtcn[N]_{layout}_{type}x{vector}_bx{}_ex{}_bt{MxNxK}_lt{}_lw{}_lr{}_ta{}_{}_tb{}_{}      (RDNA)
igemm_v4r1[_1x1]_dynamic[_wrw]_{MxNxK}_{thread tile}_{clusters of C}_{copy clusters of A}_{of B}
igemm_bwd_gtc[_bt{MxNxK}_tt{}_gm{}_gn{}_ta{}_{}_tb{}_{}]
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from tracer.model.kernel import FieldValue, GemmView
from tracer.names.base import Key
from tracer.names.formal import OneOf
from tracer.names.pattern import Part, Pattern, choice, flag, int_list, lit, num, nums, opt, table, words
from tracer.names.stated_view import exact_quotient, stated_view
from tracer.names.vocabulary import pick

FAMILY = "miopen_igemm"
_SOURCE = "src/include/miopen/conv/asm_implicit_gemm.hpp (ROCm/MIOpen)"
_TILE = lit("_bt") + nums(("m_per_block", "n_per_block", "k_per_block"))
_DIRECTION = words("direction", "fwd", "bwd", "wrw")
_BLOCKS = lit("_bx") + num("nxb") + lit("_ex") + num("nxe")


def _lists(count_a: int, count_b: int) -> Part:
    return (
        lit("_ta")
        + int_list("tensor_a_thread_lengths", count=count_a)
        + lit("_")
        + int_list("tensor_a_cluster_lengths", count=count_a)
        + lit("_tb")
        + int_list("tensor_b_thread_lengths", count=count_b)
        + lit("_")
        + int_list("tensor_b_cluster_lengths", count=count_b)
    )


_MFMA = Pattern(
    FAMILY,
    lit("igemm_"),
    _DIRECTION,
    lit("_gtcx"),
    choice("gtc_generation", {"": 1, "2": 2, "3": 3}),
    lit("_"),
    words("tensor_layout", "nchw", "nhwc"),
    lit("_"),
    words("dtype_a", "fp32", "fp16", "bf16", "int8"),
    _BLOCKS,
    _TILE,
    lit("_wt") + int_list("wave_tile", count=3),
    lit("_ws") + int_list("wave_step", count=2),
    lit("_wr") + int_list("wave_repeat", count=2),
    _lists(4, 4),
    flag("a_pass_through", "_pta"),
    flag("multihead", "_mh"),
    flag("merge_e", "_me"),
    opt(lit("_vs") + num("vector_store", other_than=0), absent={"vector_store": 0}),
    flag("gemm_k_global_split", "_gkgs"),
)
_RDNA = Pattern(
    FAMILY,
    lit("igemm_"),
    _DIRECTION,
    lit("_gtcn"),
    choice("gtc_generation", {"": 1, "2": 2}),
    lit("_"),
    words("tensor_layout", "nchwc_kcyxc", "nchwc_cyxkc"),
    lit("_"),
    table(("dtype_a", "vector_c"), {"fp16x4": ("fp16", 4), "fp16x8": ("fp16", 8)}),
    _BLOCKS,
    _TILE,
    lit("_lt") + int_list("lanegroup_tile", count=2),
    lit("_lw") + int_list("lanegroup_wave", count=2),
    lit("_lr") + int_list("lanegroup_repeat", count=2),
    _lists(4, 4),
)
_V4R1 = Pattern(
    FAMILY,
    lit("igemm_"),
    words("algorithm", "v4r1"),
    flag("only_1x1", "_1x1"),
    lit("_dynamic"),
    choice("direction", {"": "fwd", "_wrw": "wrw"}),
    lit("_"),
    nums(("m_per_block", "n_per_block", "k_per_block")),
    lit("_") + int_list("thread_tile", count=2),
    lit("_") + int_list("c_clusters", count=6),
    lit("_") + int_list("tensor_b_cluster_lengths", count=4),
    lit("_") + int_list("tensor_a_cluster_lengths", count=2),
)
_V4R1_BWD = Pattern(
    FAMILY,
    lit("igemm_"),
    words("direction", "bwd"),
    lit("_gtc"),
    opt(
        _TILE
        + lit("_tt")
        + int_list("thread_tile", count=2)
        + lit("_gm")
        + int_list("gemm_m_clusters", count=3)
        + lit("_gn")
        + int_list("gemm_n_clusters", count=3)
        + _lists(5, 7)
    ),
)
READERS: Mapping[str, Pattern | OneOf] = {
    **{f"igemm_{direction}_gtcx": _MFMA for direction in ("fwd", "bwd", "wrw")},
    **{f"igemm_{direction}_gtcn": _RDNA for direction in ("fwd", "bwd", "wrw")},
    "igemm_v4r1_": _V4R1,
    "igemm_bwd_gtc": _V4R1_BWD,
}
KEYS: Mapping[str, Key] = {
    **pick(
        "direction", "algorithm", "tensor_layout", "thread_tile", "m_per_block", "n_per_block", "k_per_block",
        "dtype_a",
    ),
    "only_1x1": Key("Whether the kernel computes 1x1 filters only.", None, _SOURCE),
    "gtc_generation": Key("gtcx: 1 is gfx908, 2 gfx90a, 3 what came after; gtcn: 2 is gfx1030.", None, _SOURCE),
    "nxb": Key("Factor by which the image size is padded to a multiple (bx); 0 is none.", None, _SOURCE),
    "nxe": Key("0: the kernel is for 1x1 filters without stride or padding; 1: for all.", None, _SOURCE),
    "wave_tile": Key("M, N and K extents that one wave computes per step.", "elements", _SOURCE),
    "wave_step": Key("Tiles of a wave next to each other, along M and N.", "tiles", _SOURCE),
    "wave_repeat": Key("Repetitions of a wave over the block's tile, along M and N.", "tiles", _SOURCE),
    "lanegroup_tile": Key("M and N extents that a group of lanes computes.", "elements", _SOURCE),
    "lanegroup_wave": Key("Groups of lanes of one wave along M and N.", "lane groups", _SOURCE),
    "lanegroup_repeat": Key("Repetitions of a wave over the block's tile, along M and N.", "tiles", _SOURCE),
    "tensor_a_thread_lengths": Key("Elements of A that one thread copies, a number a dimension.", "elements", _SOURCE),
    "tensor_a_cluster_lengths": Key("Threads that copy A, a number a dimension.", "threads", _SOURCE),
    "tensor_b_thread_lengths": Key("Elements of B that one thread copies, a number a dimension.", "elements", _SOURCE),
    "tensor_b_cluster_lengths": Key("Threads that copy B, a number a dimension.", "threads", _SOURCE),
    "a_pass_through": Key("Whether A goes to registers without passing LDS (pta).", None, _SOURCE),
    "multihead": Key("Whether one launch computes all heads of a strided backward convolution (mh).", None, _SOURCE),
    "merge_e": Key("Whether channels and filter positions are one dimension (me).", None, _SOURCE),
    "vector_store": Key("Elements that one store writes (vs); 0 is the default.", "elements", _SOURCE),
    "gemm_k_global_split": Key("Whether K is split over blocks that add up their results (gkgs).", None, _SOURCE),
    "vector_c": Key("Channels that are stored next to each other.", "channels", _SOURCE),
    "c_clusters": Key(
        "M per thread, M clusters of level 0 and 1, N per thread, N clusters of level 0 and 1.", None, _SOURCE
    ),
    "gemm_m_clusters": Key("M per thread, M clusters of level 0 and 1 (gm).", None, _SOURCE),
    "gemm_n_clusters": Key("N per thread, N clusters of level 0 and 1 (gn).", None, _SOURCE),
}  # fmt: skip


def view(f: Mapping[str, FieldValue]) -> GemmView:
    """What an implicit GEMM's name says of its tiles; a block has as many threads as copy A."""
    tile, step, repeat = f.get("wave_tile"), f.get("wave_step"), f.get("wave_repeat")
    wave_m = wave_n = None
    if tile and step and repeat:
        wave_m, wave_n = tile[0] * step[0] * repeat[0], tile[1] * step[1] * repeat[1]
    cluster = f.get("tensor_a_cluster_lengths")
    return stated_view(
        f,
        "conv",
        wave_tile_m=wave_m,
        wave_tile_n=wave_n,
        waves_m=exact_quotient(f.get("m_per_block"), wave_m),
        waves_n=exact_quotient(f.get("n_per_block"), wave_n),
        threads_per_block=math.prod(cluster) if cluster else None,
        layout_a=f.get("tensor_layout"),
    )
