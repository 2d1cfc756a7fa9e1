"""Patterns of CUTLASS 3.x operation names: nothing comes in, out come the patterns and their families.

    cutlass[3x]_sm{N}_{opcode}_{core}_{A}_{B}_{acc}_{C}_{D}[_{mixed}][_{MxNxK}]_{cluster}_{stages}_{layouts}_align{N}
        [_stream_k][_{kernel schedule}][_epi_{epilogue schedule}]
    A: {type}, {scale type}x{type} (block-scaled), {M}x{K}{scale type}x{type} (blockwise); B likewise with {N}x{K}
    cutlass3x_sm{N}_{opcode}_{core}{fprop|dgrad|wgrad}_{A}{layout}_{B}{layout}_{acc}_{C}_{D}{layout}_{tile}_{cluster}
        _{stages}_align{N}[_stream_k][_{kernel schedule}][_epi_{epilogue schedule}]

On sm100 the tile of a GEMM is the collective's (the matrix instruction's M and N), not the one a cluster computes.
Several schedules share one suffix, so the suffix is kept as text. Stages 0: as many as fit.
"""

from __future__ import annotations

from tracer.names.cutlass_2x import ACCUMULATORS, CONV, INSTRUCTIONS, TYPE
from tracer.names.pattern import Part, Pattern, choice, flag, lit, num, nums, opt, table, text

GEMM = "cutlass_3x_gemm"
_SCALE = r"(?:ue8m0|ue4m3|f32|f16|bf16)"
_LAYOUT = "[ntch](?:32|64|2)?"
_TENSOR = "(?:nwc|nhwc|ndhwc|nchw|nghwc|kcsrt|kcsr|kcs)"
_OPCODE = text("opcode_class", "simt|wmma_tensorop|tensorop|sptensorop|bstensorop")
_MATH = opt(text("math_operation", "fastaccum|xor|and")) + opt(text("dtype_mma", TYPE))
_SUFFIXES = (
    choice("tile_scheduler_suffix", {"_stream_k": "stream_k", "": ""}),
    opt(lit("_") + text("kernel_schedule_suffix", "(?!epi|stream_k)[a-z0-9]+(?:_(?!epi)[a-z0-9]+)*"),
        absent={"kernel_schedule_suffix": ""}),
    opt(lit("_") + text("epilogue_schedule_suffix", r"epi[a-z0-9A-Z_]*[a-z0-9A-Z]"),
        absent={"epilogue_schedule_suffix": ""}),
)  # fmt: skip
_TILE = opt(lit("_") + nums(("m_per_block", "n_per_block", "k_per_block")))
_CLUSTER = (lit("_"), nums(("cluster_m", "cluster_n", "cluster_k")), lit("_"), num("num_stages"))
_END = (lit("_align"), num("alignment"), *_SUFFIXES)


def _type(key: str) -> Part:
    return text(key, TYPE)


def _plain() -> tuple[Part, ...]:
    return (_type("dtype_a"), lit("_"), _type("dtype_b"))


def _scaled() -> tuple[Part, ...]:
    return (
        text("dtype_sfa", _SCALE), lit("x"), _type("dtype_a"), lit("_"), text("dtype_sfb", _SCALE), lit("x"),
        _type("dtype_b"),
    )  # fmt: skip


def _blockwise() -> tuple[Part, ...]:
    return (
        nums(("scale_block_m", "scale_block_k")), text("dtype_sfa", _SCALE), lit("x"), _type("dtype_a"), lit("_"),
        nums(("scale_block_n", "scale_block_k_of_b")), text("dtype_sfb", _SCALE), lit("x"), _type("dtype_b"),
    )  # fmt: skip


def _gemm(generation: tuple[Part, ...], arch_3x: bool, inputs: tuple[Part, ...]) -> Pattern:
    return Pattern(
        GEMM, lit("cutlass3x_" if arch_3x else "cutlass_"), text("isa", "sm[0-9]{2,3}[a-z]?"), lit("_"), _OPCODE,
        lit("_"), *generation, _MATH, text("op", "gemm_grouped|spgemm|gemm"), lit("_"), *inputs, lit("_"),
        _type("dtype_acc"), lit("_"), _type("dtype_c"), lit("_"), opt(text("dtype_sfd", _SCALE) + lit("x")),
        _type("dtype_d"),
        opt(lit("_") + text("mixed_input_mode", "cvt|sclzr|scl")), flag("mixed_input_shuffle", "_shfl"), _TILE,
        *_CLUSTER, lit("_"), text("layout_a", _LAYOUT), text("layout_b", _LAYOUT), text("layout_c", _LAYOUT), lit("_"),
        lit("align"), num("alignment"), *_SUFFIXES, constants={"arch_3x": arch_3x},
    )  # fmt: skip


#: 2.x kernels that are built for sm90 print accumulator and instruction as 2.x names do
_SM90_2X = (
    flag("gaussian_complex", "g"),
    choice("accumulator_letter", {letter: letter for letter in ACCUMULATORS}),
    opt(table(("inst_m", "inst_n", "inst_k"), INSTRUCTIONS)),
)
_PLAIN, _SCALED, _BLOCKWISE = (_gemm((), True, inputs) for inputs in (_plain(), _scaled(), _blockwise()))
_ON_SM90 = _gemm(_SM90_2X, False, _plain())
_CONV = Pattern(
    CONV, lit("cutlass3x_"), text("isa", "sm[0-9]{2,3}[a-z]?"), lit("_"), _OPCODE, lit("_"), _MATH,
    text("conv_kind", "fprop|dgrad|wgrad"), lit("_"), _type("dtype_a"), text("layout_a", _TENSOR), lit("_"),
    _type("dtype_b"), text("layout_b", _TENSOR), lit("_"), _type("dtype_acc"), lit("_"), _type("dtype_c"), lit("_"),
    _type("dtype_d"), text("layout_c", _TENSOR), _TILE, *_CLUSTER, *_END,
    constants={"arch_3x": True, "op": "ConvOperation3x"},
)  # fmt: skip
PATTERNS = (_PLAIN, _SCALED, _BLOCKWISE, _ON_SM90, _CONV)


def pattern_for(name: str) -> Pattern:
    """The only pattern that may fit `name`, told by the kind of operation and the first type after it."""
    if not name.startswith("cutlass3x_"):
        return _ON_SM90
    at = name.find("gemm_")
    if at < 0:
        return _CONV
    at += len("gemm_grouped_" if name.startswith("gemm_grouped_", at) else "gemm_")
    first = name[at : name.find("_", at)]
    return _PLAIN if "x" not in first else _BLOCKWISE if first[:1].isdigit() else _SCALED
