"""MIOpen's kernels: the name of an implicit GEMM, a transpose, a Winograd or another convolution in, its fields out.

    batched_transpose_{x}x{y}_[pack_{x}x{y}_ediv_{x}x{y}_]{element}
    general_4d_reorder_{x}x{y}_[pack_{x}x{y}_ediv_{x}x{y}_]{element}_r{order of the dimensions}
    naive_conv_[ab_packed_|ab_nonpacked_]{direction}_{layout}_{type of the input}[_{accumulator}_{output}]
    miopenSp3AsmConv[Fury]_v{version}_{target}[_{}vgprs]_{type}_f{F}x{R}[_c{}]_{stride|dilation}{}     (Winograd)
    mlir_gen_igemm_conv2d_{algorithm}_{direction}[_xdlops]{part}

Implicit GEMMs stand in `miopen_igemm`. The many kernels whose names are plain words are one family.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, FieldValue, GemmView
from tracer.names import miopen_igemm
from tracer.names.base import NO_CONTEXT, Context, Key
from tracer.names.formal import FormalGrammar, OneOf
from tracer.names.pattern import (
    Part,
    Pattern,
    flag,
    followed_by,
    lit,
    num,
    nums,
    opt,
    text,
    words,
)  # fmt: skip
from tracer.names.vocabulary import pick

TRANSPOSE, REORDER, NAIVE, WINOGRAD, MLIR, PLAIN = (
    "miopen_batched_transpose", "miopen_reorder", "miopen_naive_conv", "miopen_winograd", "miopen_mlir",
    "miopen_kernel",
)  # fmt: skip
_DIRECTIONS = ("fwd", "bwd", "wrw")
_TYPES = ("float", "half", "ushort", "bfloat16", "float8", "bfloat8", "int8_t", "int32_t", "double")
_PACKING: Mapping[str, FieldValue] = {"pack_x": 1, "pack_y": 1, "ediv_x": 1, "ediv_y": 1}


def _tiles(family: str, head: str, elements: tuple[str, ...], *more: Part) -> OneOf:
    # a packing of nothing but ones is not printed
    packing = followed_by("pack_(?!1x1_ediv_1x1_)") + lit("pack_") + nums(("pack_x", "pack_y"))
    packing += lit("_ediv_") + nums(("ediv_x", "ediv_y")) + lit("_")
    return OneOf(
        Pattern(
            family,
            lit(head),
            nums(("tile_x", "tile_y")),
            lit("_"),
            opt(packing, absent=_PACKING),
            words("element", *elements),
            *more,
        )
    )


def _naive(key: str, types: tuple[str, ...], *more: Part) -> Pattern:
    return Pattern(
        NAIVE,
        lit("naive_conv_"),
        opt(words("packing", "ab_packed", "ab_nonpacked") + lit("_")),
        words("direction", *_DIRECTIONS),
        lit("_"),
        words("tensor_layout", "nchw", "nhwc", "ncdhw", "ndhwc"),
        lit("_"),
        words("dtype_a", *_TYPES),
        *([lit("_") + words(key, *types) + lit("_") + words("dtype_c", *_TYPES)] if key else []),
        *more,
    )


_WINOGRAD = Pattern(
    WINOGRAD,
    lit("miopenSp3AsmConv"),
    opt(text("variant", "[A-Z][a-z]+")),
    lit("_"),
    text("version", "v[0-9]+(?:_[0-9]+){1,3}", before="_gfx"),
    lit("_"),
    text("isa", "gfx[0-9a-z]+"),
    opt(lit("_") + num("vgprs") + lit("vgprs")),
    lit("_"),
    text("dtype", "(?:fp32|fp16|bf16)(?:_(?:dot2_edc|dot2|edc|fp16acc|fp32acc))?"),
    lit("_f") + num("winograd_output") + lit("x") + num("winograd_filter"),
    opt(lit("_c") + num("channels")),
    opt(lit("_stride") + num("stride")),
    opt(lit("_dilation") + num("dilation")),
    opt(text("option", "_group")),
)
_MLIR = Pattern(
    MLIR,
    lit("mlir_gen_igemm_conv2d_"),
    words("algorithm", "v4r1", "v4r4"),
    lit("_"),
    words("direction", *_DIRECTIONS),
    flag("xdlops", "_xdlops"),
    num("part"),
)
_PLAIN = re.compile(
    r"(?P<kernel>MIOpen[A-Z]\w*|miopen(?:Conv|Gcn|Sp3)\w*|mlo(?:Pooling|LRN)\w*"
    r"|SubTensorOpWith(?:Scalar|CastTensor|SubTensor|Transform)(?P<dims>[1-5])d|Op[1-5]dTensor(?:Generic|Lite|Squash)"
    r"|OpTensor(?:FwdBias|LeadingOnes)(?:Generic)?|Im2d2Col(?:_v2)?|Im3d2Col|Im2Col|Col2Im[23]d\w{0,3}"
    r"|transpose_(?:NCHW2CNHW|CNHW2NCHW|NCHW2Vec|packed_MN2NM)\w*|UniversalTranspose"
    r"|gridwise_(?:generic_reduce_[12]|convolution_)\w*|convolution_forward_implicit_gemm_\w+"
    r"|LSTM(?:Fwd|Bwd)HidUpdate|check_numerics_(?:fp32|fp16|bf16|fp8|bf8)|CTCLossGPU|wrw_reduction_hip"
    r"|Softmax(?:Forward|Backward)|InitKernelState(?:HIP)?|DropoutKernel"
    r"|(?:Transformers)?(?:Amp)?AdamW?Contiguous(?:WithStep)?|AdamUpdateStep"
    r"|(?:T5|Add)?Layernorm(?:Fwd|Bwd)(?:Weight)?Contiguous\w*|GroupNormFwdContiguous|RoPE(?:Fwd|Bwd)Contiguous"
    r"|GLU(?:Fwd|Bwd)ContiguousDim0|Cat[248]FwdPacked)"
).fullmatch


class Miopen(FormalGrammar):
    """MIOpen's kernels."""

    name = "miopen"
    link = "https://github.com/ROCm/MIOpen"
    guard = ""
    others = (PLAIN,)
    other_prefixes = (
        "MIOpen", "miopen", "mloPooling", "mloLRN", "SubTensorOpWith", "Op1d", "Op2d", "Op3d", "Op4d",
        "Op5d", "OpTensor", "Im2d2Col", "Im3d2Col", "Im2Col", "Col2Im", "transpose_", "UniversalTranspose",
        "gridwise_", "convolution_forward_", "LSTMFwd", "LSTMBwd", "check_numerics_", "CTCLossGPU",
        "wrw_reduction_hip", "SoftmaxForward", "SoftmaxBackward", "InitKernelState", "DropoutKernel",
        "TransformersA", "AmpAdam", "Adam", "T5Layernorm", "AddLayernorm", "Layernorm", "GroupNormFwd",
        "RoPEFwd", "RoPEBwd", "GLUFwd", "GLUBwd", "Cat2", "Cat4", "Cat8",
    )  # fmt: skip
    readers: ClassVar[Mapping[str, Pattern | OneOf]] = {
        **miopen_igemm.READERS,
        "batched_transpose_": _tiles(TRANSPOSE, "batched_transpose_", ("byte", "half", "dword")),
        "general_4d_reorder_": _tiles(
            REORDER, "general_4d_reorder_", ("byte", "half", "dword", "dwordx2"), lit("_r"), text("order", "[0-3]{4}")
        ),
        "naive_conv_": OneOf(
            _naive("dtype_acc", ("double", "int32_t")),
            _naive("dtype_b", tuple(t for t in _TYPES if t not in ("double", "int32_t"))),
            _naive("", ()),
        ),
        "miopenSp3AsmConv_v": _WINOGRAD,
        "miopenSp3AsmConvFury_v": _WINOGRAD,
        "miopenSp3AsmConvRage_v": _WINOGRAD,
        "mlir_gen_igemm_conv2d_": _MLIR,
    }
    keys: ClassVar[Mapping[str, Key]] = {
        **miopen_igemm.KEYS,
        **pick("stride", "dilation", "kernel", "dims", "dtype", "isa", "dtype_b", "dtype_c", "dtype_acc"),
        "tile_x": Key("Extent along x that one block transposes.", "elements"),
        "tile_y": Key("Extent along y that one block transposes.", "elements"),
        "pack_x": Key("Elements along x that one thread takes.", "elements"),
        "pack_y": Key("Elements along y that one thread takes.", "elements"),
        "ediv_x": Key("The width must be a multiple of this.", "elements"),
        "ediv_y": Key("The height must be a multiple of this.", "elements"),
        "element": Key("Size of an element: byte is 1, half 2, dword 4, dwordx2 8 bytes."),
        "order": Key("New order of the dimensions."),
        "packing": Key("Whether the tensors are packed (ab_packed) or have strides of their own (ab_nonpacked)."),
        "variant": Key("The Winograd kernel's variant."),
        "version": Key("The Winograd kernel's version."),
        "vgprs": Key("Vector registers of a SIMD that the kernel is written for.", "registers"),
        "winograd_output": Key("F of F(F, R): output elements of one Winograd tile.", "elements"),
        "winograd_filter": Key("R of F(F, R): filter taps of one Winograd tile.", "elements"),
        "channels": Key("Channels that one step takes.", "channels"),
        "option": Key("What else is printed at the end."),
        "xdlops": Key("Whether the kernel uses matrix instructions (MFMA)."),
        "part": Key("Which of the convolution's kernels this is."),
    }

    def accepts(self, name: str) -> bool:
        return super().accepts(name) or _PLAIN(name) is not None

    def read(self, name: str, context: Context = NO_CONTEXT) -> DecodedName | None:
        answer = super().read(name, context)
        if answer is not None:
            return answer
        m = _PLAIN(name)
        if m is None:
            return None
        fields: dict[str, FieldValue] = {"kernel": name}
        spans = {"kernel": (0, len(name))}
        if m["dims"]:
            fields["dims"], spans["dims"] = int(m["dims"]), m.span("dims")
        return DecodedName(name, name, self.name, PLAIN, fields, spans)

    def format(self, family: str, fields: Mapping[str, FieldValue]) -> str:
        if family != PLAIN:
            return super().format(family, fields)
        kernel = fields.get("kernel")
        if not isinstance(kernel, str) or self.read(kernel) is None:
            raise ValueError(f"{PLAIN}: no kernel is called {kernel!r}")
        return kernel

    def view(self, decoded: DecodedName) -> GemmView | None:
        if decoded.family == miopen_igemm.FAMILY:
            return miopen_igemm.view(decoded.fields)
        return GemmView(op="conv") if decoded.family in (NAIVE, WINOGRAD, MLIR) else None
