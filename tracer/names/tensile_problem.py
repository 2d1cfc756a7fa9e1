"""Tensile's ProblemType as names print it (`Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV`): text in, fields with spans out.

    C{indices}_A{indices}_B{indices}[_{A type}{B type}]_{type}{C type}{compute type}_{B?}{H?}[_Bias{types}][_BiasSrc{x}]
        [_FD{N|MN}][_Grad|_Aux{type}][_AmaxD][_SPA|_SPB][_GG|_GB][_A|_HA|_{activation}{type}][_SAB|_SABV][_SCD][_SAV]
        [_UserArgs]

C and compute type are printed for mixed precision only (`BBS`), otherwise they follow from the type. TensileLite of
2025 puts underscores between parts that were joined (`S_B`, `B_BS_BH`, `HA_S`); `SB` is type S with beta, not S and
bf16.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from tracer.model.kernel import FieldValue, Span, Unparsed
from tracer.names.base import Key
from tracer.names.vocabulary import pick

_TYPE = r"(?:4xi8|I64|I8|F8N|B8N|F8|B8|F6|B6|F4|E8M0|E5M3|[HSDCZBIX])"
_TYPE_NAMES = {
    "S": "f32", "D": "f64", "C": "c32", "Z": "c64", "H": "f16", "B": "bf16", "I": "i32", "X": "xf32", "4xi8": "4xi8",
    "I8": "i8", "I64": "i64", "F8": "fp8", "B8": "bf8", "F8N": "fp8_fnuz", "B8N": "bf8_fnuz", "F6": "fp6",
    "B6": "bf6", "F4": "fp4", "E8M0": "e8m0", "E5M3": "e5m3",
}  # fmt: skip
#: (C type, compute type) of types that may be printed without them, where that is not the type itself: the only valid
#: combination that TensileLite's list of mixed-precision types leaves out (October 2024)
_UNPRINTED = {"I8": ("I8", "I"), "B8": ("B", "S"), "B8F8": ("B", "S"), "B8N": ("B", "S"), "B8F8N": ("B", "S")}

_INDICES = re.compile(r"C[a-z]+_A([A-Za-z]+)_(?:C_)?B([A-Za-z]+)_")
_MIXED = f"(?P<type>{_TYPE}{{1,2}}N?)_?(?P<c>{_TYPE})(?P<compute>[SIDCZ])(?:_|$)"
_TYPES = re.compile(
    rf"(?:(?P<a>{_TYPE})(?P<b>{_TYPE})_(?={_TYPE}{{3,4}}_|{_TYPE}{{1,2}}_{_TYPE}[SI]_))?"
    rf"(?:{_MIXED}|(?P<plain>(?:F8B8|B8F8)N?|{_TYPE})_?(?=[BHRIMS_]|$))"
    rf"(?:M(?P<xdl>{_TYPE})_)?(?:MXA(?P<mxa>{_TYPE})B(?P<mxa_block>[0-9]{{1,9}})_)?"
    rf"(?:MXB(?P<mxb>{_TYPE})B(?P<mxb_block>[0-9]{{1,9}})_)?(?:(?P<sta>STA)_)?(?:(?P<stb>STB)_)?"
    r"(?P<beta>B?)(?P<high>H?)(?P<alt>(?:RZ?)?)(?P<strides>I?(?:Ic)?)(?=_|Bias|$)"
)
_ACTIVATIONS = (
    "ABS", "CLIPPEDRELU", "GELU", "LEAKYRELU", "RELU", "SIGMOID", "TANH", "DGELU", "GELUSCALING", "SILU", "SWISH",
    "CLAMP", "EXP", "GEGLU",
)  # fmt: skip
#: what may follow, in order; every group is one field
_REST = re.compile(
    r"(?P<gb1>_GB)?(?P<mx>_M[XS](?=_|$))?(?P<sr>_SR)?"
    rf"(?P<bias>(?:_B(?:ias|IAS)|Bias)(?:_?(?!SCD)(?P<bias_types>{_TYPE}+)(?=_|$))?)?(?:_BiasSrc(?P<bias_src>[ABD]))?"
    rf"(?:_FD(?P<factor_dim>MN|N))?(?:_(?P<e_kind>Grad|Aux)(?P<e_type>{_TYPE})?)?(?P<amax>_AmaxD)?"
    r"(?:_SP(?P<sparse>[AB])(?:ML(?P<metadata>[0-9]{1,9}))?)?(?P<grouped>_GG)?(?P<general>_GB)?"
    rf"(?:_(?P<activation>HA|A|{'|'.join(_ACTIVATIONS)})(?:_?(?P<activation_type>{_TYPE}))?(?=NG|_|$)(?P<no_guard>NG)?)?"
    r"(?:_SAB(?P<scale_ab>V?))?(?P<scale_cd>_SCD)?(?P<alpha_vec>_SAV)?(?P<user_args>_UserArgs)?"
)

KEYS: dict[str, Key] = {
    **pick("trans_a", "trans_b", "activation", "sparse", "dtype_sfa", "dtype_sfb"),
    "problem_type": Key("The ProblemType as printed: indices, types, beta, bias, activation, scaling."),
    "use_beta": Key("Whether C is read and scaled by beta."),
    "high_precision_accumulate": Key("Whether the kernel accumulates in a wider type than its inputs have."),
    "use_bias": Key("Whether a bias vector is added."),
    "bias_types": Key("Types that the bias may have, where the list is not the default one."),
    "bias_src": Key("Tensor from which the bias gradient is summed."),
    "grouped_gemm": Key("Whether the kernel computes a group of products of different sizes."),
    "general_batched": Key("Whether the batch comes as an array of pointers (GB) rather than by stride."),
    "scale_alpha_vec": Key("Whether alpha is a vector."),
    "scale_ab": Key("Whether A and B are scaled: Scalar or Vector."),
    "scale_cd": Key("Whether C and D are scaled."),
    "support_user_args": Key("Whether the kernel takes its arguments from device memory (UserArgs)."),
    "dtype_activation": Key("Type in which the activation is computed."),
    "xdl_math_type": Key("Type to which fp32 inputs are rounded for the matrix instruction (MX: xf32)."),
    "swizzle_a": Key("Whether A is stored swizzled (STA)."),
    "swizzle_b": Key("Whether B is stored swizzled (STB)."),
    "mx_block_a": Key("Elements of A that share one MX scale.", "elements"),
    "mx_block_b": Key("Elements of B that share one MX scale.", "elements"),
}


@lru_cache(maxsize=4096)
def read(text: str, at: int) -> tuple[Mapping[str, FieldValue], Mapping[str, Span], tuple[Unparsed, ...]]:
    """Reads a ProblemType that stands at offset `at` of a name: fields, spans, and what was not understood."""
    problem = _Problem(text)
    spans = {key: (start + at, end + at) for key, (start, end) in problem.spans.items()}
    unparsed = tuple(Unparsed(piece.text, piece.start + at, piece.reason) for piece in problem.unparsed)
    return problem.fields, spans, unparsed


class _Problem:
    """The fields and spans of a ProblemType while it is read, and where reading stopped."""

    def __init__(self, text: str) -> None:
        self.fields: dict[str, FieldValue] = {}
        self.spans: dict[str, Span] = {}
        self.unparsed: tuple[Unparsed, ...] = ()
        self._put("problem_type", text, (0, len(text)))
        self._read(text)

    def _put(self, key: str, value: FieldValue, span: Span) -> None:
        self.fields[key] = value
        self.spans[key] = span if span[0] >= 0 else (self.spans["problem_type"][1],) * 2

    def _break(self, text: str, at: int, expected: str) -> None:
        if at < len(text):
            self.unparsed = (Unparsed(text[at:], at, f"expected {expected}"),)

    def _read(self, text: str) -> None:
        m = _INDICES.match(text)
        if m is None:
            return self._break(text, 0, "the indices of C, A and B")
        free, summed = _free_and_summed(text[1 : text.find("_")], m.group(1), m.group(2))
        for key, indices, group in (("trans_a", m.group(1), 1), ("trans_b", m.group(2), 2)):
            if len(free) == 2 and summed:
                own = [indices.find(c) for c in free if c in indices]
                if not own or summed not in indices:
                    return self._break(text, m.start(group), "an index of C and the one that is summed over")
                k_first = indices.find(summed) < min(own)
                self._put(key, k_first if key == "trans_a" else not k_first, m.span(group))
        t = _TYPES.match(text, m.end())
        rest = _REST.match(text, t.end()) if t else None
        if t is None or rest is None:
            return self._break(text, m.end(), "the types")
        self._types(t)
        self._rest(rest)
        return self._break(text, rest.end(), "an option of the problem in its place")

    def _types(self, t: re.Match[str]) -> None:
        main, group = (t["type"], "type") if t["type"] else (t["plain"], "plain")
        one, two = _split(main)
        a, b = (t["a"], t["b"]) if t["a"] else (one, two)
        self._put("dtype_a", _TYPE_NAMES[a], t.span("a") if t["a"] else t.span(group))
        self._put("dtype_b", _TYPE_NAMES[b], t.span("b") if t["a"] else t.span(group))
        if t["type"]:
            self._put("dtype_c", _TYPE_NAMES[t["c"]], t.span("c"))
            self._put("dtype_compute", _TYPE_NAMES[t["compute"]], t.span("compute"))
        elif one == two or main in _UNPRINTED:
            c, compute = _UNPRINTED.get(main, (main, main))
            self._put("dtype_c", _TYPE_NAMES[c], (t.end("plain"),) * 2)
            self._put("dtype_compute", _TYPE_NAMES[compute], (t.end("plain"),) * 2)
        for key, name in (("xdl", "xdl_math_type"), ("mxa", "dtype_sfa"), ("mxb", "dtype_sfb")):
            if t[key]:
                self._put(name, _TYPE_NAMES[t[key]], t.span(key))
        for key, name in (("mxa_block", "mx_block_a"), ("mxb_block", "mx_block_b")):
            if t[key]:
                self._put(name, int(t[key]), t.span(key))
        for key, name in (("sta", "swizzle_a"), ("stb", "swizzle_b")):
            if t[key]:
                self._put(name, True, t.span(key))
        self._put("use_beta", t["beta"] == "B", t.span("beta"))
        self._put("high_precision_accumulate", t["high"] == "H", t.span("high"))

    def _rest(self, m: re.Match[str]) -> None:
        for group, key in (
            ("bias", "use_bias"), ("grouped", "grouped_gemm"), ("scale_cd", "scale_cd"),
            ("alpha_vec", "scale_alpha_vec"), ("user_args", "support_user_args"),
        ):  # fmt: skip
            self._put(key, m[group] is not None, m.span(group))
        self._put(
            "general_batched", (m["general"] or m["gb1"]) is not None, m.span("general" if m["general"] else "gb1")
        )
        if m["bias_types"]:
            types = [_TYPE_NAMES[one] for one in re.findall(_TYPE, m["bias_types"])]
            self._put("bias_types", types, m.span("bias_types"))
        if m["bias_src"]:
            self._put("bias_src", m["bias_src"], m.span("bias_src"))
        if m["mx"]:
            self._put("xdl_math_type", _TYPE_NAMES[m["mx"][2]], m.span("mx"))
        if m["sparse"]:
            self._put("sparse", m["sparse"], m.span("sparse"))
        word = m["activation"]
        named = {None: "none", "A": "all", "HA": "hipblaslt_all"}
        self._put("activation", named.get(word, (word or "").lower()), m.span("activation"))
        if m["activation_type"]:
            self._put("dtype_activation", _TYPE_NAMES[m["activation_type"]], m.span("activation_type"))
        if m["scale_ab"] is not None:
            self._put("scale_ab", "Vector" if m["scale_ab"] else "Scalar", m.span("scale_ab"))


def _split(text: str) -> tuple[str, str]:
    """The types of A and B that one type text stands for: `F8B8` are two, `H` is the same twice."""
    if text in ("F8B8N", "B8F8N"):
        return f"{text[:2]}N", f"{text[2:4]}N"
    parts = re.findall(_TYPE, text)
    return (parts[0], parts[1]) if len(parts) == 2 else (parts[0], parts[0])


def _free_and_summed(c: str, a: str, b: str) -> tuple[str, str]:
    """The two free indices and the summed one of a plain matrix product, empty texts for another contraction."""
    summed = [i for i in a if i in b and i not in c]
    free = [i for i in c if (i in a) != (i in b)]
    return ("".join(free), summed[0]) if len(free) == 2 and len(summed) == 1 else ("", "")
