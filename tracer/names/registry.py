"""All grammars, and the one door to them: a name in, a DecodedName out, never an exception for any text.

Adding a grammar: one file beside this one, one line in `LINES`, one folder of cases under tests/data/names/.
A grammar is imported when a name first needs it, so that reading one name does not load what reads all others.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, cast

import msgspec

from tracer.errors import NameSyntaxError
from tracer.model.kernel import DecodedName, GemmView, Unparsed
from tracer.names import noise
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.common_view import common_view
from tracer.names.cut import without_the_cut

_HEAD = 4
#: demangled templates begin with their return type, so what tells them apart comes later
_VOID, _VOID_HEAD = "void", 9
#: what mangled names begin with, as `itanium.is_mangled` says
_MANGLED = ("_Z", "__Z")
#: one line a grammar: its module (and name), its class, and the first four characters that its names can have (none:
#: asked for every name that no other grammar claims). A test holds them against the grammar's own `prefixes`.
LINES: tuple[tuple[str, str, str], ...] = (
    ("ck_template", "CkTemplate", "ck:: std: void"),
    ("ck_tile_template", "CkTileTemplate", "ck_t void"),
    ("ck_tile_fmha", "CkTileFmha", "fmha"),
    ("ck_typestring", "CkTypestring", "Devi Gemm"),
    ("aiter_cpp_template", "AiterCppTemplate", "aite dsa_ gemm gqa_ kn_e kn_g kn_m mla_ opus pa_p page spli void"),
    ("flash_attention", "FlashAttention", "FLAS cutl flas fmha pyto void"),
    ("nccl", "Nccl", "nccl"),
    ("memory_operation", "MemoryOperation", "Copy Fill Memc Mems [CUD __am"),
    ("trtllm_gen", "TrtllmGen", "bmm_ fmha gemm"),
    ("aten", "Aten", "at:: std: void"),
    ("aiter_ck", "AiterCk", "a4w4 a8w8 bf16 deep"),
    ("aiter_ck_moe", "AiterCkMoe", "moe_"),
    ("aiter_cktile", "AiterCktile", "a8w8 moe_"),
    ("flydsl", "Flydsl", "flyd"),
    ("flydsl_moe", "FlydslMoe", "flyd"),
    ("opus", "Opus", "opus"),
    ("opus_moe", "OpusMoe", "opus"),
    ("aiter_csv", "AiterCsv",
     "None Null auto ckti grou nati sol0 sol1 sol2 sol3 sol4 sol5 sol6 sol7 sol8 sol9 swig trit"),
    ("inductor", "Inductor", "trit"),
    ("triton_matmul", "TritonMatmul", "_fin _mat _p_m"),
    ("triton_plain", "TritonPlain", ""),
    ("triton_repr", "TritonRepr", ""),
    ("aiter_asm", "AiterAsm",
     "I8ge MXFP PA_A aite bf16 f4ge f8_b f8ge flat fmha fmoe fp8g gemm mla_ pa_a pa_b pa_d pa_f pa_k topk"),
    ("tensile", "Tensile", "Cij_ Cijk Cust Dij_ Dijk"),
    ("cutlass", "Cutlass", "_ZN7 cutl void"),
    ("cublas", "Cublas",
     "_5x_ ada_ ampe blac cudn hopp kepl maxw nvje pasc sm10 sm11 sm12 sm50 sm52 sm53 sm60 sm61 "
     "sm62 sm70 sm72 sm75 sm80 sm86 sm87 sm88 sm89 sm90 trt_ turi volt"),
    ("cublas_template", "CublasTemplate", "cubl cudn gemm gemv gene inte nchw nhwc spli std: trsm void xmma"),
    ("rocblas", "Rocblas", "__de copy geam gemm rocb set_ setu syr2 void"),
    ("miopen", "Miopen",
     "Adam AddL AmpA CTCL Cat2 Cat4 Cat8 Col2 Drop GLUB GLUF Grou Im2C Im2d Im3d Init LSTM Laye MIOp Op1d "
     "Op2d Op3d Op4d Op5d OpTe RoPE Soft SubT T5La Tran Univ batc chec conv gene grid igem miop mlir mloL "
     "mloP naiv tran wrw_"),
    ("cpp_library", "CppLibrary", ""),
)  # fmt: skip


@cache
def _load(module: str, cls: str) -> Grammar:
    return cast("Grammar", getattr(importlib.import_module(f"tracer.names.{module}"), cls)())


def _load_all() -> tuple[Grammar, ...]:
    return tuple(_load(module, cls) for module, cls, _ in LINES)


_CLASSES = {module: cls for module, cls, _ in LINES}


if TYPE_CHECKING:
    #: every grammar, in the order of LINES
    GRAMMARS: tuple[Grammar, ...]
else:

    def __getattr__(name: str) -> object:
        if name == "GRAMMARS":
            return _load_all()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_HEADS = frozenset(head for _, _, heads in LINES for head in heads.split())
#: first characters -> the grammars that they point to; filled as names come, and no larger than _HEADS
_by_head: dict[str, tuple[Grammar, ...]] = {}


def _pointed_to(head: str) -> tuple[Grammar, ...]:
    """The grammars whose names begin with `head`; those of C++ text last, because plain words are asked about more."""
    if head not in _HEADS:
        return ()
    grammars = [_load(module, cls) for module, cls, heads in LINES if head in heads.split()]
    _by_head[head] = tuple(sorted(grammars, key=lambda grammar: grammar.reads_cpp))
    return _by_head[head]


@cache
def _behind_void() -> tuple[Mapping[str, tuple[Grammar, ...]], tuple[Grammar, ...]]:
    """Of the grammars of demangled function templates, `void at::...`: by the next characters, and those of any."""
    grammars = _pointed_to(_VOID)
    prefixes = {grammar: [p for p in grammar.prefixes if p.startswith(_VOID)] for grammar in grammars}
    of_any = tuple(grammar for grammar in grammars if any(len(p) < _VOID_HEAD for p in prefixes[grammar]))
    heads = {p[:_VOID_HEAD] for of_one in prefixes.values() for p in of_one if len(p) >= _VOID_HEAD}
    by_head = {
        head: tuple(grammar for grammar in grammars if any(p.startswith(head) for p in prefixes[grammar]))
        for head in heads
    }
    return {head: (*some, *(g for g in of_any if g not in some)) for head, some in by_head.items()}, of_any


@cache
def _everywhere() -> tuple[Grammar, ...]:
    """The grammars that are asked for every name which no other claims."""
    return tuple(_load(module, cls) for module, cls, heads in LINES if not heads)


def _read(name: str, context: Context) -> DecodedName:
    """The answer of the first grammar that claims `name`."""
    head = name[:_HEAD]
    if head == _VOID:
        by_head, of_any = _behind_void()
        grammars = by_head.get(name[:_VOID_HEAD], of_any)
    else:
        grammars = _by_head.get(head) or _pointed_to(head)
    try:
        for grammar in grammars:
            answer = grammar.read(name, context)
            if answer is not None:
                return answer
        for grammar in _everywhere():
            answer = grammar.read(name, context)
            if answer is not None:
                return answer
    except NameSyntaxError as error:
        rest = Unparsed(name[error.start :], error.start, error.expected)
        note = f"looks like {grammar.name}, but is not a name of it: {error.message}"
        return DecodedName(name, name, unparsed=(rest,), notes=(note,))
    return DecodedName(name, name)


def decode(text: str, context: Context = NO_CONTEXT) -> DecodedName:
    """Reads one kernel name, instance name or symbol, through profiler noise and C++ mangling.

    Args:
        text: the name as it stands in a trace, a CSV or a symbol table.
        context: facts that settle what the name alone leaves open.

    Returns:
        The answer; `family` is None for a name that no grammar claims. Never raises for any text.
    """
    answer = _decode(text, context)
    return answer if context.target is None else _held_against(answer, context.target)


def _held_against(answer: DecodedName, target: str) -> DecodedName:
    """Notes it when a name says that its kernel is for another AMD target: no code runs on two of them."""
    isa = answer.fields.get("isa")
    if isinstance(isa, str) and isa.startswith("gfx") and not target.startswith(isa):
        note = f"the name says {isa}, the target is {target}"
        return msgspec.structs.replace(answer, notes=(*answer.notes, note))
    return answer


@cache
def _demangler() -> Callable[[str], tuple[str, str]]:
    """What unwraps mangled names; loaded with the first: it costs as much as all else that a name needs."""
    return cast("Callable[[str], tuple[str, str]]", importlib.import_module("tracer.names.itanium").unwrap)


def _decode(text: str, context: Context) -> DecodedName:
    name = text
    demangle = None
    notes: tuple[str, ...] = ()
    cut = False
    # most names are plain words: no noise to look for
    if text.isidentifier():
        if not text.startswith(_MANGLED):
            return _read(text, context)
    elif noise.may_stand_around(text):
        cleaned = noise.clean(text)
        name, notes, cut = cleaned.name, cleaned.notes, cleaned.cut
    spelled = name
    if name.startswith(_MANGLED):
        spelled, state = _demangler()(name)
        demangle, cut = "ok" if state == "ok" else "failed", state == "cut"
    answer = _read(spelled, context)
    if cut:
        answer = without_the_cut(answer)
    if text == spelled and not notes and demangle is None:
        return answer
    return msgspec.structs.replace(answer, text=text, notes=notes + answer.notes, demangle=demangle)


def format_name(decoded: DecodedName) -> str:
    """Writes the name that family and fields of `decoded` describe. Raises ValueError where no grammar is formal."""
    if decoded.grammar is None or decoded.family is None:
        raise ValueError(f"no grammar claims {decoded.text!r}")
    return _load(decoded.grammar, _CLASSES[decoded.grammar]).format(decoded.family, decoded.fields)


def view(decoded: DecodedName) -> GemmView | None:
    """The common GEMM view of a decoded name; None when it is not GEMM-like or unknown."""
    return common_view(_load(decoded.grammar, _CLASSES[decoded.grammar]), decoded) if decoded.grammar else None


def keys_of(grammar: str | None) -> Mapping[str, Key]:
    """The glossary of a grammar by its name; empty for None."""
    return _load(grammar, _CLASSES[grammar]).keys if grammar else {}
