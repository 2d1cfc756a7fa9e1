"""CUTLASS kernels by their operation names, alone or inside a kernel template of cuBLAS or cuDNN: name in, fields out.

cutlass_tensorop_s16816gemm_bf16_128x64_32x6_tn_align8                             CUTLASS 2.x
cutlass3x_sm90_tensorop_gemm_e4m3_e4m3_f32_f16_e4m3_128x256x128_2x1x1_0_tnn_...    CUTLASS 3.x
void cutlass::Kernel2<cutlass_80_...>(cutlass_80_...::Params)                      inside a library
void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<...>>(...)        templates, see cutlass_template
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, FieldValue, GemmView, Unparsed
from tracer.names import cutlass_2x, cutlass_3x, cutlass_template
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.stated_view import stated_view
from tracer.names.vocabulary import pick

_WRAPPED = re.compile(
    r"(?P<void>void )?(?P<template>cutlass\w*(?:::\w+)+)<(?P<name>cutlass_\w+)>(?P<args>\((?P=name)::Params\))?"
).fullmatch
_LIBRARY_NAME = re.compile(r"cutlass(?:3x)?_\w+").fullmatch
_SOURCE = "python/cutlass_library in NVIDIA/cutlass"
_FORMAL = (cutlass_2x.GEMM, cutlass_3x.GEMM, cutlass_2x.CONV, cutlass_2x.BLAS3, cutlass_2x.LIBRARY)


class Cutlass(Grammar):
    """CUTLASS operation names and kernel templates."""

    name = "cutlass"
    families = (*_FORMAL, cutlass_template.FAMILY)
    formal = frozenset(_FORMAL)
    prefixes = ("cutlass_", "cutlass3x_", "void cutlass", "cutlass::", "_ZN7cutlass")
    link = "https://github.com/NVIDIA/cutlass/tree/main/python/cutlass_library"
    reads_cpp = True
    keys: ClassVar[Mapping[str, Key]] = {
        **cutlass_template.KEYS,
        **pick(
            "alignment", "dtype_sfa", "dtype_sfb", "tensor_layout", "stride", "dilation", "m_per_block",
            "n_per_block", "k_per_block", "dtype_a", "dtype_b", "dtype_c", "dtype_d", "dtype_acc", "layout_a",
            "layout_b", "layout_c", "cluster_m", "cluster_n", "cluster_k", "num_stages", "isa", "op", "scale_block_m",
            "scale_block_n", "scale_block_k",
        ),
        "opcode_class": Key("Class of the math instruction: simt, tensorop, sptensorop (sparse), bstensorop (scaled).",
                            None, _SOURCE),
        "inst_m": Key("M extent of the matrix instruction.", "elements", _SOURCE),
        "inst_n": Key("N extent of the matrix instruction.", "elements", _SOURCE),
        "inst_k": Key("K extent of the matrix instruction.", "elements", _SOURCE),
        "instruction_digits": Key("M, N and K of the matrix instruction as printed, where no known instruction fits."),
        "accumulator_letter": Key("The accumulator's letter, printed although the types follow.", None, _SOURCE),
        "gaussian_complex": Key("Complex product by three real ones instead of four.", None, _SOURCE),
        "math_operation": Key("Variant of the multiply-add: fastaccum, xor, and.", None, _SOURCE),
        "dtype_mma": Key("Type to which A and B are converted for the matrix instruction.", None, _SOURCE),
        "arch_3x": Key("Whether the kernel is a CUTLASS 3 kernel.", None, _SOURCE),
        "scheduler_mode": Key("Who assigns the tiles of a grouped GEMM: Device or Host.", None, _SOURCE),
        "sliced_k": Key("How the block's warps share K (sliced MxN), as printed.", None, None),
        "dtype_sfd": Key("Type of the scale factors that the epilogue writes for D.", None, _SOURCE),
        "scale_block_k_of_b": Key("K extent of the block of B that shares one scale.", "elements", _SOURCE),
        "mixed_input_mode": Key("How the narrower input is widened: cvt, scl (scaled), sclzr (scaled, zero point).",
                                None, _SOURCE),
        "mixed_input_shuffle": Key("Whether the narrower input is stored shuffled.", None, _SOURCE),
        "tile_scheduler_suffix": Key("The tile scheduler's suffix: stream_k, or empty.", None, _SOURCE),
        "kernel_schedule_suffix": Key("The main loop's schedule as printed; several share one suffix.", None, _SOURCE),
        "epilogue_schedule_suffix": Key("The epilogue's schedule as printed; several share one suffix.", None, _SOURCE),
        "conv_kind": Key("fprop (forward), dgrad (data gradient) or wgrad (weight gradient).", None, _SOURCE),
        "spatial_dims": Key("Spatial dimensions of the convolution.", None, _SOURCE),
        "iterator_algorithm": Key("How a convolution's tensors are walked.", None, _SOURCE),
        "unity_stride": Key("Whether the kernel is for stride 1 only.", None, _SOURCE),
        "conv_group_mode": Key("Kind of grouped convolution.", None, _SOURCE),
        "output_tile": Key("Output tile N x P x Q x K of a direct convolution.", "elements", _SOURCE),
        "filter": Key("Filter extents R x S of a direct convolution.", "elements", _SOURCE),
        "side_mode": Key("Side of the symmetric or triangular matrix: ls or rs.", None, _SOURCE),
        "fill_mode": Key("Triangle that is stored: l (lower) or u (upper).", None, _SOURCE),
        "diag_type": Key("Diagonal of the triangular matrix: nu (non-unit) or un (unit).", None, _SOURCE),
        "kernel_template": Key("The kernel template around the operation's name."),
        "signature": Key("Whether the name is printed with return type and arguments."),
    }  # fmt: skip

    def accepts(self, name: str) -> bool:
        if name.startswith("cutlass"):
            return _LIBRARY_NAME(name) is not None or _WRAPPED(name) is not None or cutlass_template.accepts(name)
        return name.startswith("void cutlass") and (_WRAPPED(name) is not None or cutlass_template.accepts(name))

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        if name.startswith(("cutlass3x_", "cutlass_sm")):
            return cutlass_3x.pattern_for(name).read(name, self.name)
        wrapped = None if name.startswith("cutlass_") and "<" not in name else _WRAPPED(name)
        if wrapped is None and "<" in name:
            return cutlass_template.read(name, self.name)
        start, end = wrapped.span("name") if wrapped else (0, len(name))
        reading = cutlass_2x.Reading(name, start, end)
        if reading.family is None:
            rest = Unparsed(name[start:end], start, "expected a CUTLASS operation name")
            return DecodedName(name, name, self.name, cutlass_2x.LIBRARY, unparsed=(rest,))
        fields, spans, family = reading.fields, reading.spans, reading.family
        if wrapped:
            family = cutlass_2x.LIBRARY
            # inside a library a convolution goes by the word of its name, as those with an sm number do
            if "conv_kind" in fields:
                fields["op"] = cutlass_2x.conv_word(fields)
            fields.pop("arch_3x", None)
            spans.pop("arch_3x", None)
            fields["kernel_template"], spans["kernel_template"] = wrapped["template"], wrapped.span("template")
            signature = bool(wrapped["void"]) and bool(wrapped["args"])
            fields["signature"], spans["signature"] = signature, (len(name), len(name))
            if bool(wrapped["void"]) != bool(wrapped["args"]):
                rest = Unparsed(name[end:], end, "expected return type and arguments, or neither")
                reading.unparsed = (*reading.unparsed, rest)
        return DecodedName(name, name, self.name, family, fields, spans, reading.unparsed, {}, reading.notes)

    def format(self, family: str, fields: Mapping[str, FieldValue]) -> str:
        problem: Exception | None = None
        for pattern in (p for p in cutlass_3x.PATTERNS if p.family == family):
            try:
                return pattern.format(fields)
            except ValueError as error:
                problem = error
        if family not in _FORMAL:
            return super().format(family, fields)
        if family == cutlass_3x.GEMM:
            raise ValueError(f"{family}: no form has these fields; the last one says: {problem}")
        try:
            name = cutlass_2x.write(fields)
        except KeyError as error:
            raise ValueError(f"{family}: field {error} is missing") from error
        if "kernel_template" not in fields:
            return name
        inside = f"{fields['kernel_template']}<{name}>"
        return f"void {inside}({name}::Params)" if fields.get("signature") else inside

    def view(self, decoded: DecodedName) -> GemmView | None:
        f = decoded.fields
        if "m_per_block" not in f:
            return None
        layouts = {key: f.get(key, f.get("tensor_layout")) for key in ("layout_a", "layout_b", "layout_c")}
        return stated_view(
            f,
            "conv" if "conv_kind" in f else "gemm",
            wave_tile_m=f.get("m_per_warp"),
            wave_tile_n=f.get("n_per_warp"),
            instruction_m=f.get("inst_m"),
            instruction_n=f.get("inst_n"),
            instruction_k=f.get("inst_k"),
            dtype_c=f.get("dtype_d", f.get("dtype_c")),
            **layouts,
            # 0 stands for as many stages as fit
            stages=f.get("num_stages") or None,
            pipeline=f.get("kernel_schedule_suffix") or None,
        )
