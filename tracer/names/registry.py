"""All grammars, and the one door to them: a name in, a DecodedName out, never an exception for any text.

Adding a grammar: one file beside this one, one entry in GRAMMARS, one folder of cases under tests/data/names/.
"""

from __future__ import annotations

import msgspec

from tracer.errors import NameSyntaxError
from tracer.model.kernel import DecodedName, GemmView, Unparsed
from tracer.names import itanium, noise
from tracer.names.aiter_asm import AiterAsm
from tracer.names.aiter_ck import AiterCk
from tracer.names.aiter_ck_moe import AiterCkMoe
from tracer.names.aiter_cktile import AiterCktile
from tracer.names.aiter_cpp_template import AiterCppTemplate
from tracer.names.aiter_csv import AiterCsv
from tracer.names.base import NO_CONTEXT, Context, Grammar
from tracer.names.ck_template import CkTemplate
from tracer.names.ck_tile_fmha import CkTileFmha
from tracer.names.ck_tile_template import CkTileTemplate
from tracer.names.cut import without_the_cut
from tracer.names.cutlass import Cutlass
from tracer.names.flydsl import Flydsl
from tracer.names.flydsl_moe import FlydslMoe
from tracer.names.inductor import Inductor
from tracer.names.opus import Opus
from tracer.names.opus_moe import OpusMoe
from tracer.names.tensile import Tensile
from tracer.names.triton_matmul import TritonMatmul
from tracer.names.triton_plain import TritonPlain
from tracer.names.triton_repr import TritonRepr

GRAMMARS: tuple[Grammar, ...] = (
    CkTemplate(),
    CkTileTemplate(),
    CkTileFmha(),
    AiterCppTemplate(),
    AiterCk(),
    AiterCkMoe(),
    AiterCktile(),
    Flydsl(),
    FlydslMoe(),
    Opus(),
    OpusMoe(),
    AiterCsv(),
    Inductor(),
    TritonMatmul(),
    TritonPlain(),
    TritonRepr(),
    AiterAsm(),
    Tensile(),
    Cutlass(),
)

_INDEX_LENGTH = 4
_BY_NAME = {g.name: g for g in GRAMMARS}
#: grammars without (long enough) literal beginnings: asked for every name, after those that the beginning points to
_EVERYWHERE = tuple(g for g in GRAMMARS if not g.prefixes or min(map(len, g.prefixes)) < _INDEX_LENGTH)


def _index() -> dict[str, tuple[Grammar, ...]]:
    """First characters of a name -> the grammars that it may belong to."""
    heads: dict[str, dict[str, Grammar]] = {}
    for grammar in GRAMMARS:
        if grammar not in _EVERYWHERE:
            for prefix in grammar.prefixes:
                heads.setdefault(prefix[:_INDEX_LENGTH], {})[grammar.name] = grammar
    return {head: (*grammars.values(), *_EVERYWHERE) for head, grammars in heads.items()}


_BY_HEAD = _index()


def grammar_of(name: str) -> Grammar | None:
    """The grammar that claims a clean, demangled name."""
    for grammar in _BY_HEAD.get(name[:_INDEX_LENGTH], _EVERYWHERE):
        if grammar.accepts(name):
            return grammar
    return None


def _read(name: str, context: Context) -> DecodedName:
    for grammar in _BY_HEAD.get(name[:_INDEX_LENGTH], _EVERYWHERE):
        try:
            answer = grammar.read(name, context)
        except NameSyntaxError as error:
            rest = Unparsed(name[error.start :], error.start, error.expected)
            note = f"looks like {grammar.name}, but is not a name of it: {error.message}"
            return DecodedName(name, name, unparsed=(rest,), notes=(note,))
        if answer is not None:
            return answer
    return DecodedName(name, name)


def decode(text: str, context: Context = NO_CONTEXT) -> DecodedName:
    """Reads one kernel name, instance name or symbol, through profiler noise and C++ mangling.

    Args:
        text: the name as it stands in a trace, a CSV or a symbol table.
        context: facts that settle what the name alone leaves open.

    Returns:
        The answer; `family` is None for a name that no grammar claims. Never raises for any text.
    """
    # most names are plain words: neither noise nor mangling to look for
    if text.isidentifier() and not itanium.is_mangled(text):
        return _read(text, context)
    cleaned = noise.clean(text)
    name = cleaned.name
    demangle = None
    spelled = name
    notes = cleaned.notes
    if itanium.is_mangled(name):
        spelled, demangle = itanium.unwrap(name)
    answer = _read(spelled, context)
    if cleaned.cut and demangle is None:
        answer = without_the_cut(answer)
    if text == spelled and not notes and demangle is None:
        return answer
    return msgspec.structs.replace(answer, text=text, notes=notes + answer.notes, demangle=demangle)


def format_name(decoded: DecodedName) -> str:
    """Writes the name that family and fields of `decoded` describe. Raises ValueError where no grammar is formal."""
    if decoded.grammar is None or decoded.family is None:
        raise ValueError(f"no grammar claims {decoded.text!r}")
    return _BY_NAME[decoded.grammar].format(decoded.family, decoded.fields)


def view(decoded: DecodedName) -> GemmView | None:
    """The common GEMM view of a decoded name; None when it is not GEMM-like or unknown."""
    return _BY_NAME[decoded.grammar].view(decoded) if decoded.grammar else None
