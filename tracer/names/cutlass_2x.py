"""CUTLASS 2.x operation names: `cutlass_tensorop_bf16_s16816gemm_bf16_128x64_32x6_tn_align8` in, fields out, and back.

    cutlass[_{sm}]_{opcode}_[{C}_]{acc}{MNK}[{math}][{intermediate}]{kind}[_{A}][_{B}]_{tile}_{layout}_align{N}
    kind: gemm, spgemm, gemm_planar_complex[_array], gemm_grouped (then _schedule{Device|Host} ends the name)
          {fprop|dgrad|wgrad}[3d]_{iterator}: [_unity_stride][_{group}], 3d names end before layout and alignment
          {syrk|herk|syr2k|her2k|trmm|symm|hemm}: [_{ls|rs}]_{l|u}[_{nu|un}] stands before _align
    tile: {M}x{N}_{K}x{stages}, {M}x{N} (cuBLAS), {M}x{N}x{K}_{cluster}_{stages} (sm90)

A type is left out where it equals the accumulator; the accumulator is one letter (s f32, h f16, i s32, d f64, c cf32,
z cf64, g before it: Gaussian complex). The digits are M, N, K of the matrix instruction without separators.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from tracer.model.kernel import FieldValue, Span, Unparsed
from tracer.names.converters import NUMBERS, Convert, Fresh

GEMM, CONV, BLAS3, LIBRARY = "cutlass_2x_gemm", "cutlass_conv", "cutlass_2x_blas3", "cutlass_in_cublas"
TYPE = (
    r"(?:c?[us](?:16|32|64|2|4|8)|cbf16|ctf32|cf(?:16|32|64)|tf32|bf16|f16|f32|f64|b1|e4m3|e5m2|e2m3|e3m2|e2m1|f8|f6|f4"
    r"|ue8m0|ue4m3|void)"
)
ACCUMULATORS: Mapping[str, str] = {
    "i": "s32", "h": "f16", "s": "f32", "d": "f64", "c": "cf32", "z": "cf64", "e4m3": "e4m3", "e5m2": "e5m2",
    "f8": "f8", "f6": "f6", "f4": "f4",
}  # fmt: skip
_LETTERS = {acc: letter for letter, acc in ACCUMULATORS.items()}
#: the matrix instructions that CUTLASS 1 to 4 knows, M x N x K
INSTRUCTIONS: Mapping[str, tuple[int, int, int]] = {
    "".join(map(str, mnk)): mnk
    for mnk in (
        (8, 8, 4), (8, 8, 16), (8, 8, 32), (8, 8, 128), (16, 8, 4), (16, 8, 8), (16, 8, 16), (16, 8, 32), (16, 8, 64),
        (16, 8, 128), (16, 8, 256), (16, 16, 16), (32, 8, 16), (8, 32, 16), (16, 16, 4), (16, 16, 8), (32, 32, 4),
        (64, 8, 16),
    )
}  # fmt: skip
_N = r"[0-9]{1,9}"
_LAYOUT = r"[ntch](?:32|64|2)?"
_TENSOR = "nwc|nhwc|ndhwc|nchw|nghwc|nc32hw32|nc64hw64|c32rsk32|c64rsk64|kcsrt|kcsr|kcs"
_FUSED = "relu|bias|gelu|drelu|dgelu|aux|sigmoid|silu|tanh"
HEAD = (
    r"cutlass(?:_(?P<sm>[0-9]{2,3}))?_(?P<opcode>simt|wmma_tensorop|tensorop|sptensorop)_"
    rf"(?:(?P<c>{TYPE})_)?(?P<gauss>g?)(?P<acc>[ihsdcz]|e4m3|e5m2|f8|f6|f4)(?P<inst>{_N})?(?P<math>xor|and|fastaccum)?"
    rf"(?P<mid>{TYPE})?"
)
_TILE = (
    rf"_(?P<m>{_N})x(?P<n>{_N})(?:_(?P<k>{_N})x(?P<stages>{_N})"
    rf"|x(?P<k3>{_N})_(?P<cm>{_N})x(?P<cn>{_N})x(?P<ck>{_N})_(?P<stages3>{_N})"
    rf"|x(?P<kd>{_N})_(?P<output>{_N}x{_N}x{_N}x{_N})_(?P<stagesd>{_N})_filter(?P<filter>{_N}x{_N})"
    rf"(?:_stride(?P<stride>{_N}x{_N})_dilation(?P<dilation>{_N}x{_N}))?)?(?:_sliced(?P<sliced>{_N}x{_N}))?"
)
_FORMS = (
    re.compile(
        rf"{HEAD}(?P<kind>spgemm|gemm(?:_planar_complex_array|_planar_complex|_grouped|(?:_(?:{_FUSED}))*))"
        rf"(?:_(?P<a>{TYPE}))?(?:_(?P<b>{TYPE}))?{_TILE}_(?P<la>{_LAYOUT})(?P<lb>{_LAYOUT})_align(?P<align>{_N})"
        r"(?:_schedule(?P<schedule>Device|Host))?"
    ),
    re.compile(
        rf"{HEAD}(?P<kind>fprop|dgrad|wgrad)(?P<dims>3d)?"
        r"_(?P<iterator>analytic|optimized|fixed_channels|few_channels|fixed_stride_dilation)"
        rf"(?:_(?P<a>{TYPE}))?{_TILE}(?:_(?P<tensor>{_TENSOR}))?(?P<unity>_unity_stride)?"
        rf"(?:_(?P<group>single_group|multiple_group|depthwise))?(?:_align(?P<align>{_N}))?"
    ),
    re.compile(
        rf"{HEAD}(?P<kind>syrk|herk|syr2k|her2k|trmm|symm|hemm)(?:_(?P<a>{TYPE}))?{_TILE}_(?P<la>{_LAYOUT})"
        rf"(?P<lb>{_LAYOUT})?(?:_(?P<side>[lr]s))?_(?P<fill>[lu])(?:_(?P<diag>nu|un))?_align(?P<align>{_N})"
    ),
)
_FAMILIES = (GEMM, CONV, BLAS3)
_NUMBERS = {
    "m": "m_per_block", "n": "n_per_block", "cm": "cluster_m", "cn": "cluster_n", "ck": "cluster_k",
    "align": "alignment", "k": "k_per_block", "k3": "k_per_block", "kd": "k_per_block", "stages": "num_stages",
    "stages3": "num_stages", "stagesd": "num_stages",
}  # fmt: skip
_TEXTS = {
    "math": "math_operation", "mid": "dtype_mma", "la": "layout_a", "lb": "layout_b", "tensor": "tensor_layout",
    "group": "conv_group_mode", "schedule": "scheduler_mode", "side": "side_mode", "fill": "fill_mode",
    "diag": "diag_type",
}  # fmt: skip
_LISTS = {
    "output": "output_tile", "filter": "filter", "stride": "stride", "dilation": "dilation", "sliced": "sliced_k",
}  # fmt: skip


@cache
def _plan(family: str) -> tuple[tuple[int, str, Convert], ...]:
    """The groups of a family's form whose text alone is a field: number of the group, key and converter."""
    lists = Fresh(lambda printed: [int(n) for n in printed.split("x")])
    convert_of: dict[str, Convert] = {**dict.fromkeys(_NUMBERS, NUMBERS.__getitem__), **dict.fromkeys(_LISTS, lists)}
    keys = {**_NUMBERS, **_LISTS, **_TEXTS}
    index = _FORMS[_FAMILIES.index(family)].groupindex
    return tuple((index[group], key, convert_of.get(group, str)) for group, key in keys.items() if group in index)


class Reading:
    """One name while it is read: fields, spans, and the pieces that were not understood.

    Attributes:
        family: the family; None when the text is no such name at all.
    """

    def __init__(self, text: str, start: int, end: int) -> None:
        self.fields: dict[str, FieldValue] = {}
        self.spans: dict[str, Span] = {}
        self.unparsed: tuple[Unparsed, ...] = ()
        self.notes: tuple[str, ...] = ()
        self.family: str | None = None
        for form, family in zip(_FORMS, _FAMILIES, strict=True):
            m = form.match(text, start, end)
            if m:
                self.family = LIBRARY if m["sm"] else family
                self._state(m, family)
                self._leave(text, m.end(), end, "nothing more")
                if not self.unparsed and write(self.fields) != text[start:end]:
                    self._leave(text, start, end, "only what differs from the accumulator printed")
                return

    def _leave(self, text: str, at: int, end: int, expected: str) -> None:
        if at < end:
            self.unparsed = (Unparsed(text[at:end], at, f"expected {expected}"),)

    def _put(self, key: str, value: FieldValue, span: Span) -> None:
        self.fields[key] = value
        self.spans[key] = span

    def _state(self, m: re.Match[str], family: str) -> None:
        if m["sm"]:
            self._put("isa", f"sm{m['sm']}", m.span("sm"))
        self._put("opcode_class", m["opcode"], m.span("opcode"))
        acc = ACCUMULATORS[m["acc"]]
        self._put("dtype_acc", acc, m.span("acc"))
        if m["gauss"]:
            self._put("gaussian_complex", True, m.span("gauss"))
        if m["inst"]:
            self._instruction(m)
        self._types(m, family, acc)
        groups, regs = m.groups(), m.regs
        for group, key, convert in _plan(family):
            printed = groups[group - 1]
            if printed:
                self.fields[key] = convert(printed)
                self.spans[key] = regs[group]
        self._operation(m, family)

    def _instruction(self, m: re.Match[str]) -> None:
        mnk = INSTRUCTIONS.get(m["inst"])
        start = m.start("inst")
        if mnk is None:
            self.notes = (f"the digits {m['inst']} are no matrix instruction that CUTLASS knows",)
            self._put("instruction_digits", m["inst"], m.span("inst"))
            return
        for key, extent in zip(("inst_m", "inst_n", "inst_k"), mnk, strict=True):
            end = start + len(str(extent))
            self._put(key, extent, (start, end))
            start = end

    def _types(self, m: re.Match[str], family: str, acc: str) -> None:
        nowhere = (m.end("acc"), m.end("acc"))

        def put(key: str, group: str) -> None:
            printed = m[group]
            self.fields[key] = printed or acc
            self.spans[key] = m.span(group) if printed else nowhere

        put("dtype_c", "c")
        put("dtype_a", "a")
        if family == CONV and m["a"] in ("e4m3", "e5m2"):
            # two operations share this name: B is the other 8-bit type in one of them (CUTLASS 4.2)
            self.notes = ("the name does not say whether B is e4m3 or e5m2",)
        elif family == GEMM and m["b"]:
            put("dtype_b", "b")
        else:
            put("dtype_b", "a")

    def _operation(self, m: re.Match[str], family: str) -> None:
        kind = m["kind"]
        if family != CONV:
            self._put("op", kind, m.span("kind"))
            if family == GEMM and not m["sm"]:
                self._put("arch_3x", False, (m.start(), m.start()))
            return
        three = bool(m["dims"])
        whole = (m.start("kind"), m.end("iterator"))
        self._put("op", "Conv3dOperation" if three else "Conv2dOperation", whole)
        self._put("conv_kind", kind, m.span("kind"))
        self._put("spatial_dims", 3 if three else 2, m.span("dims") if three else (m.end("kind"),) * 2)
        self._put("iterator_algorithm", m["iterator"], m.span("iterator"))
        if m["sm"]:
            self.fields["op"] = conv_word(self.fields)
        else:
            self._put("arch_3x", False, (m.start(), m.start()))
        self._put("unity_stride", m["unity"] is not None, m.span("unity") if m["unity"] else (m.end("n"),) * 2)
        # 3-d convolutions are generated for 128-bit accesses only (CUTLASS 4.2)
        if three and not m["align"] and self.fields["dtype_a"] in ("f16", "bf16"):
            self._put("alignment", 8, (m.end(), m.end()))


def conv_word(f: Mapping[str, Any]) -> str:
    """The words that name a convolution: `fprop_optimized`, `wgrad3d_analytic`."""
    return f"{f['conv_kind']}{'3d' if f['spatial_dims'] == 3 else ''}_{f['iterator_algorithm']}"


def write(f: Mapping[str, Any]) -> str:
    """Writes the name that `f` describes. Raises ValueError or KeyError for a missing or impossible field."""
    acc = f["dtype_acc"]
    name: str = f"cutlass_{f['isa'].removeprefix('sm')}_" if "isa" in f else "cutlass_"
    conv, blas3 = "conv_kind" in f, "fill_mode" in f
    a, c = f["dtype_a"], f["dtype_c"]
    # convolutions compare with the real accumulator, so complex ones print their types
    plain = {"cf32": "f32", "cf64": "f64"}.get(acc, acc) if conv else acc
    mixed = not conv and not blas3 and f["dtype_b"] != a
    if c != plain and (not (conv or blas3) or a != plain):
        name += f"{f['opcode_class']}_{c}_"
    else:
        name += f"{f['opcode_class']}_"
    digits = f.get("instruction_digits", "")
    if "inst_m" in f:
        digits = f"{f['inst_m']}{f['inst_n']}{f['inst_k']}"
    name += ("g" if f.get("gaussian_complex") else "") + _LETTERS[acc] + digits
    name += f.get("math_operation", "") + f.get("dtype_mma", "")
    if conv:
        name += conv_word(f)
    else:
        name += f["op"]
    name += f"_{a}_{f['dtype_b']}" if mixed else f"_{a}" if a != plain else ""
    name += _write_tile(f)
    if not conv:
        name += f"_{f['layout_a']}{f.get('layout_b', '')}"
        name += "".join(f"_{f[key]}" for key in ("side_mode", "fill_mode", "diag_type") if key in f)
        name += f"_align{f['alignment']}"
        return name + (f"_schedule{f['scheduler_mode']}" if "scheduler_mode" in f else "")
    name += f"_{f['tensor_layout']}" if "tensor_layout" in f else ""
    name += "_unity_stride" if f["unity_stride"] else ""
    name += f"_{f['conv_group_mode']}" if "conv_group_mode" in f else ""
    silent = f["spatial_dims"] == 3 and f.get("alignment") == 8 and a in ("f16", "bf16") and "tensor_layout" not in f
    return name + (f"_align{f['alignment']}" if "alignment" in f and not silent else "")


def _write_tile(f: Mapping[str, Any]) -> str:
    def joined(key: str) -> str:
        return "x".join(map(str, f[key]))

    tile = f"_{f['m_per_block']}x{f['n_per_block']}"
    if "cluster_m" in f:
        cluster = f"{f['cluster_m']}x{f['cluster_n']}x{f['cluster_k']}"
        tile += f"x{f['k_per_block']}_{cluster}_{f['num_stages']}"
    elif "output_tile" in f:
        tile += f"x{f['k_per_block']}_{joined('output_tile')}_{f['num_stages']}_filter{joined('filter')}"
        tile += f"_stride{joined('stride')}_dilation{joined('dilation')}" if "stride" in f else ""
    elif "k_per_block" in f:
        tile += f"_{f['k_per_block']}x{f['num_stages']}"
    return tile + (f"_sliced{joined('sliced_k')}" if "sliced_k" in f else "")
