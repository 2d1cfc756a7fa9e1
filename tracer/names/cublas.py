"""Plain names of the closed kernels of cuBLAS and cuDNN: `nvjet_...`, `sm80_xmma_...`, `ampere_...` in, fields out.

    nvjet[_sm{N}]_{letters}_{MxN}_{KxStages}_{cluster MxN}[_2cta]_{words}_{TNT}      (or ..._mma_{MxNxK}_{stages}_...)
    sm{N}_xmma_{op}_{A}{C}_{B}{acc}_{compute}_{layouts}_tilesize{MxNxK}[_stage{N}][_warpsize{MxNxK}]_{words}
    {ampere|volta|...}[_{C}]_{acc}{instruction}{gemm|cudnn}[_{A}]_{MxN}_{words}[_stages_{K}x{N}]_tn

A value that a word labels (`tilesize128x64x32`) is a field. What rests on experience alone, all numbers of nvjet and
all types, stands in `likely`. Words that nobody outside explains are kept as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, FieldValue, GemmView, Span, Unparsed
from tracer.names import cutlass_2x
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.stated_view import stated_view
from tracer.names.vocabulary import pick

NVJET, XMMA, SASS, GENERATED = "cublas_nvjet", "cublas_xmma", "cublas_sass", "cudnn_generated"
_N = "[0-9]{1,9}"
_LONGEST = 400
_NVJET = re.compile(
    rf"nvjet_(?:(?P<sm>sm[0-9]{{2,3}}[a-z]?)_)?(?P<letters>[a-z]+(?:_tf32)?)_(?:"
    rf"mma_(?P<mma>{_N}x{_N}x{_N})(?:_(?P<depth>{_N})(?:_(?P<warp>{_N}x{_N}x{_N}))?)?"
    rf"|(?P<tile>{_N}x{_N})(?:_(?P<loop>{_N}x{_N})(?:_(?P<cluster>{_N}x{_N}))?)?"
    r")(?P<words>(?:_[A-Za-z0-9]+)*)_?"
).fullmatch
_XMMA = re.compile(r"(?P<isa>sm[0-9]{2,3}[a-z]?)_xmma(?P<rest>(?:_[A-Za-z0-9]*)+)").fullmatch
_GENERATED = re.compile(r"cudnn_generated(?P<rest>(?:_[A-Za-z0-9]*)+)").fullmatch
_SASS = re.compile(
    r"(?:(?P<shelf>_5x_cudnn|_5x_cublas|trt|cudnn_infer|cudnn_train|cudnn_ops_infer)_)?"
    rf"(?P<arch>kepler|maxwell|pascal|volta|turing|ampere|ada|hopper|blackwell)_(?:(?P<c>fp16|bf16|fp32|int8|int32|tf32|f16|f32)_)?"
    rf"(?P<acc>[shdczi]|gc|gz)(?P<inst>{_N})?(?P<mid>tf32|bf16|f16)?(?P<op>gemm|cudnn)(?:_(?P<a>fp16|bf16|fp32|int8|tf32|f16|f32))?"
    rf"(?P<winograd>_winograd)?_(?P<m>{_N})x(?P<n>{_N})(?P<words>(?:_[A-Za-z0-9]+)*)_?"
).fullmatch
_ACCUMULATORS = {"s": "f32", "h": "f16", "d": "f64", "c": "cf32", "z": "cf64", "i": "s32", "gc": "cf32", "gz": "cf64"}
_LABELLED: Mapping[str, tuple[str, ...]] = {
    "tilesize": ("m_per_block", "n_per_block", "k_per_block"),
    "warpsize": ("m_warp", "n_warp", "k_warp"),
    "tensor": ("inst_m", "inst_n", "inst_k"),
    "stage": ("num_stages",),
    "aligna": ("alignment_a",),
    "alignc": ("alignment_c",),
    "g": ("groups_per_cta",),
}
_NUMBERED = re.compile(rf"([a-z]+)({_N}(?:x{_N}){{0,2}})").fullmatch
_TYPE = "bf16|tf32|f16|f32|f64|i8|i4|i32|u8|e4m3|e5m2"
_TWO_TYPES = re.compile(rf"({_TYPE})({_TYPE})").fullmatch
_ONE_TYPE = re.compile(_TYPE).fullmatch
_GEMM_LAYOUTS = re.compile(r"[tn]{2}").fullmatch
_CONV_LAYOUTS = re.compile(r"(n[dhw]*c[dhw]*|n[dhw]+c)(k[a-z]+)").fullmatch
_CONV_OPS = frozenset({"fprop", "dgrad", "wgrad", "deconv"})
_XMMA_OPS = frozenset({"gemm", *_CONV_OPS})


class _Reading:
    """Fields and spans of one name while it is read token by token."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fields: dict[str, FieldValue] = {}
        self.spans: dict[str, Span] = {}
        self.likely: dict[str, FieldValue] = {}
        self._words: list[str] = []
        self._words_span: Span | None = None

    def put(self, key: str, value: FieldValue, start: int, end: int) -> None:
        self.fields[key] = value
        self.spans[key] = (start, end)

    def word(self, word: str, start: int) -> None:
        self._words.append(word)
        self._words_span = (self._words_span[0] if self._words_span else start, start + len(word))

    def answer(self, grammar: str, family: str) -> DecodedName:
        if self._words_span:
            self.put("words", list(self._words), *self._words_span)
        end = len(self.name) - 1
        rest = (Unparsed("_", end, "the name was cut off here"),) if self.name.endswith("_") else ()
        return DecodedName(self.name, self.name, grammar, family, self.fields, self.spans, rest, self.likely)


def _numbers(text: str) -> list[int]:
    return [int(n) for n in text.split("x")]


class Cublas(Grammar):
    """The closed kernels of cuBLAS and cuDNN that have plain names."""

    name = "cublas"
    families = (NVJET, XMMA, SASS, GENERATED)
    formal = frozenset()
    prefixes = (
        "nvjet_", "cudnn_", "trt_", "_5x_cu", "kepler_", "maxwell_", "pascal_", "volta_", "turing_", "ampere_", "ada_",
        "hopper_", "blackwell_", *(f"sm{n}_xmma" for n in (50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90)),
        "sm90a_xmma", "sm100_xmma", "sm110_xmma", "sm120_xmma",
    )  # fmt: skip
    link = "https://docs.nvidia.com/cuda/cublas/"
    keys: ClassVar[Mapping[str, Key]] = {
        **pick(
            "warp_tile", "bias", "m_per_block", "n_per_block", "k_per_block", "m_warp", "n_warp", "k_warp",
            "num_stages", "isa", "op", "layout_a", "layout_b", "layout_c", "cluster_m", "cluster_n", "dtype_a",
            "dtype_b", "dtype_c", "dtype_acc", "dtype_compute",
        ),
        "inst_m": Key("M extent of the matrix instruction.", "elements"),
        "inst_n": Key("N extent of the matrix instruction.", "elements"),
        "inst_k": Key("K extent of the matrix instruction.", "elements"),
        "warpgroup_size": Key("The numbers after warpgroupsize: M, N, K.", "warp groups"),
        "alignment_a": Key("The number after aligna.", "elements"),
        "alignment_c": Key("The number after alignc.", "elements"),
        "groups_per_cta": Key("The number after g (convolutions)."),
        "architecture": Key("The GPU architecture that the name states."),
        "layouts": Key("Transposition of the operands in order, a letter each (T or N)."),
        "two_cta": Key("Whether two blocks (CTAs) work on one matrix instruction together."),
        "words": Key("The words of the name whose meaning is not public, as printed."),
    }  # fmt: skip

    def accepts(self, name: str) -> bool:
        if len(name) > _LONGEST:
            return False
        if name.startswith("nvjet_"):
            return _NVJET(name) is not None
        if name.startswith("sm"):
            return _XMMA(name) is not None
        return (_GENERATED(name) or _SASS(name)) is not None

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        reading = _Reading(name)
        for family, match, read in ((NVJET, _NVJET, _nvjet), (XMMA, _XMMA, _xmma), (GENERATED, _GENERATED, _generated)):
            m = match(name)
            if m is not None:
                read(m, reading)
                return reading.answer(self.name, family)
        m = _SASS(name)
        if m is not None:
            _sass(m, reading)
        return reading.answer(self.name, SASS)

    def view(self, decoded: DecodedName) -> GemmView | None:
        # what rests on experience is shown as well: a table of closed kernels without tiles would be empty
        f = {**decoded.likely, **decoded.fields}
        if decoded.family == GENERATED:
            return None
        layouts = f.get("layouts") or ""
        op = f.get("op")
        return stated_view(
            f,
            "conv" if op in _CONV_OPS or op == "cudnn" else "gemm",
            wave_tile_m=None,
            wave_tile_n=None,
            instruction_m=f.get("inst_m"),
            instruction_n=f.get("inst_n"),
            instruction_k=f.get("inst_k"),
            layout_a=f.get("layout_a", layouts[:1] or None),
            layout_b=f.get("layout_b", layouts[1:2] or None),
            layout_c=f.get("layout_c", layouts[2:3] or None),
            stages=f.get("num_stages"),
        )


def _nvjet(m: re.Match[str], reading: _Reading) -> None:
    likely = reading.likely
    if m["sm"]:
        reading.put("isa", m["sm"], *m.span("sm"))
    reading.word(m["letters"], m.start("letters"))
    if m["mma"]:
        likely["m_per_block"], likely["n_per_block"], likely["k_per_block"] = _numbers(m["mma"])
        if m["depth"]:
            likely["num_stages"] = int(m["depth"])
        if m["warp"]:
            likely["warp_tile"] = list(_numbers(m["warp"]))
    else:
        likely["m_per_block"], likely["n_per_block"] = _numbers(m["tile"])
        if m["loop"]:
            likely["k_per_block"], likely["num_stages"] = _numbers(m["loop"])
        if m["cluster"]:
            likely["cluster_m"], likely["cluster_n"] = _numbers(m["cluster"])
    words = m["words"].split("_")[1:]
    at = m.start("words") + 1
    for word in words:
        if word is words[-1] and len(word) in (3, 4) and set(word) <= {"T", "N"}:
            likely["layouts"] = word
        else:
            reading.word(word, at)
        at += len(word) + 1
    likely["two_cta"] = "2cta" in words
    likely["bias"] = "bias" in words


def _xmma(m: re.Match[str], reading: _Reading) -> None:
    reading.put("isa", m["isa"], *m.span("isa"))
    tokens = m["rest"].split("_")[1:]
    at = m.start("rest") + 1
    layouts: list[str] = []
    for i, token in enumerate(tokens):
        end = at + len(token)
        labelled = _NUMBERED(token)
        two = _TWO_TYPES(token)
        conv = _CONV_LAYOUTS(token)
        if i == 0 and token in _XMMA_OPS:
            reading.put("op", token, at, end)
        elif two is not None and "dtype_acc" not in reading.likely:
            if "dtype_a" not in reading.likely:
                reading.likely["dtype_a"], reading.likely["dtype_c"] = two.groups()
            else:
                # tf32 here is how B is multiplied, not how it is stored
                if two.group(1) == reading.likely["dtype_a"]:
                    reading.likely["dtype_b"] = two.group(1)
                reading.likely["dtype_acc"] = two.group(2)
        elif "dtype_acc" in reading.likely and "dtype_compute" not in reading.likely and _ONE_TYPE(token):
            reading.likely["dtype_compute"] = token
        elif "dtype_compute" in reading.likely and not layouts and (_GEMM_LAYOUTS(token) or conv):
            layouts = [token]
            middle = at + (1 if conv is None else conv.end(1))
            reading.put("layout_a", reading.name[at:middle], at, middle)
            reading.put("layout_b", reading.name[middle:end], middle, end)
        elif layouts and tokens[i - 1] is layouts[0] and token and (token in "tn" or token[0] == "n"):
            reading.put("layout_c", token, at, end)
        elif labelled is not None and labelled.group(1) in _LABELLED:
            _labelled(reading, labelled, at)
        elif labelled is not None and labelled.group(1) == "warpgroupsize":
            reading.put("warpgroup_size", list(_numbers(labelled.group(2))), at + labelled.start(2), end)
        elif token:
            reading.word(token, at)
        at = end + 1


def _labelled(reading: _Reading, m: re.Match[str], at: int) -> None:
    keys = _LABELLED[m.group(1)]
    numbers = m.group(2).split("x")
    if len(keys) != len(numbers) or keys[0] in reading.fields:
        reading.word(m.group(), at)
        return
    start = at + m.start(2)
    for key, number in zip(keys, numbers, strict=True):
        reading.put(key, int(number), start, start + len(number))
        start += len(number) + 1


def _sass(m: re.Match[str], reading: _Reading) -> None:
    likely = reading.likely
    if m["shelf"]:
        reading.word(m["shelf"], m.start("shelf"))
    reading.put("architecture", m["arch"], *m.span("arch"))
    reading.put("op", m["op"], *m.span("op"))
    acc = _ACCUMULATORS[m["acc"]]
    likely.update({"dtype_acc": acc, "dtype_a": m["a"] or m["mid"] or acc, "dtype_c": m["c"] or acc})
    instruction = cutlass_2x.INSTRUCTIONS.get(m["inst"] or "")
    if instruction:
        likely["inst_m"], likely["inst_n"], likely["inst_k"] = instruction
    if m["winograd"]:
        # the numbers of these are no tile of a matrix product
        reading.word("winograd", m.start("winograd") + 1)
        reading.word(reading.name[m.start("m") : m.end("n")], m.start("m"))
    else:
        likely["m_per_block"], likely["n_per_block"] = int(m["m"]), int(m["n"])
    words = m["words"].split("_")[1:]
    at = m.start("words") + 1
    for i, word in enumerate(words):
        if i and words[i - 1] == "stages" and re.fullmatch(rf"{_N}x{_N}", word):
            likely["k_per_block"], likely["num_stages"] = _numbers(word)
        elif _GEMM_LAYOUTS(word):
            likely["layout_a"], likely["layout_b"] = word
        elif word != "stages":
            reading.word(word, at)
        at += len(word) + 1


def _generated(m: re.Match[str], reading: _Reading) -> None:
    at = m.start("rest") + 1
    for token in m["rest"].split("_")[1:]:
        if re.fullmatch(r"sm[0-9]{2,3}[a-z]?", token) and "isa" not in reading.fields:
            reading.put("isa", token, at, at + len(token))
        elif token:
            reading.word(token, at)
        at += len(token) + 1
