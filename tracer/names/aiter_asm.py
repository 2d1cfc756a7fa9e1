"""aiter's hand-written assembly kernels: a symbol (`aiter::fmoe_bf16_...`) in, its fields out.

The patterns of each kind of kernel stand in the siblings `aiter_asm_gemm`, `aiter_asm_moe` and `aiter_asm_attention`.
Where aiter's own tables (hsa/**/*.csv) contradict a token, the field is withheld and the token kept under another key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import ClassVar

import msgspec

from tracer.model.kernel import DecodedName, FieldValue, GemmView
from tracer.names import aiter_asm_attention, aiter_asm_gemm, aiter_asm_moe
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.pattern import Pattern
from tracer.names.vocabulary import pick

_TABLES: tuple[Mapping[str, tuple[Pattern, ...]], ...] = (
    aiter_asm_gemm.PATTERNS,
    aiter_asm_moe.PATTERNS,
    aiter_asm_attention.PATTERNS,
)
_BY_HEAD: dict[str, tuple[Pattern, ...]] = {head: patterns for table in _TABLES for head, patterns in table.items()}
_HEAD = re.compile(r"(?:aiter::)?(" + "|".join(sorted(map(re.escape, _BY_HEAD), key=len, reverse=True)) + ")").match
_REST = re.compile(r"\w*").fullmatch
_AS_NAMED = "_as_named"
_CONTRADICTED = {**aiter_asm_moe.CONTRADICTED, **aiter_asm_attention.CONTRADICTED}
_FAMILIES = tuple(dict.fromkeys(p.family for table in _TABLES for patterns in table.values() for p in patterns))
_BY_FAMILY: dict[str, tuple[Pattern, ...]] = {
    family: tuple(p for patterns in _BY_HEAD.values() for p in patterns if p.family == family) for family in _FAMILIES
}


class AiterAsm(Grammar):
    """aiter's assembly kernels."""

    name = "aiter_asm"
    families = _FAMILIES
    formal = frozenset(_FAMILIES)
    prefixes = ("aiter::", *_BY_HEAD)
    link = "https://github.com/ROCm/aiter/tree/main/hsa"
    keys: ClassVar[Mapping[str, Key]] = {
        **aiter_asm_gemm.KEYS,
        **aiter_asm_moe.KEYS,
        **aiter_asm_attention.KEYS,
        **pick("in_namespace"),
    }

    def accepts(self, name: str) -> bool:
        head = _HEAD(name)
        return head is not None and _REST(name, head.end()) is not None

    def read(self, name: str, context: Context = NO_CONTEXT) -> DecodedName | None:
        head = _HEAD(name)
        if head is None:
            return None
        patterns = _BY_HEAD[head[1]]
        for pattern in patterns:
            answer = pattern.match(name, "aiter_asm")
            if answer is not None:
                return _without_contradicted(answer)
        return self._repair(patterns, name) if _REST(name, head.end()) is not None else None

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        answer = self.read(name, context)
        if answer is None:
            raise ValueError(f"{self.name} was asked to decode {name[:80]!r}, which it does not accept")
        return answer

    def _repair(self, patterns: tuple[Pattern, ...], name: str) -> DecodedName:
        tries = [pattern.repair(name, self.name) for pattern in patterns]
        return _without_contradicted(max(tries, key=lambda answer: answer.unparsed[0].start if answer.unparsed else 0))

    def format(self, family: str, fields: Mapping[str, FieldValue]) -> str:
        problems = []
        named = {key.removesuffix(_AS_NAMED): value for key, value in fields.items()}
        for pattern in _BY_FAMILY.get(family, ()):
            try:
                name = pattern.format(named)
            except ValueError as error:
                problems.append(str(error))
                continue
            again = pattern.match(name, self.name)
            if again is not None and _without_contradicted(again).fields == dict(fields):
                return name
            problems.append(f"{name} says something else")
        raise ValueError(f"{family}: no name says this: {'; '.join(problems) or 'no such family'}")

    def view(self, decoded: DecodedName) -> GemmView | None:
        f = decoded.fields
        if decoded.family == "aiter_asm_gemm":
            return aiter_asm_gemm.view(f)
        if decoded.family in ("aiter_asm_fmoe", "aiter_asm_fmoe_2stages"):
            return aiter_asm_moe.view(f)
        return None


def _without_contradicted(answer: DecodedName) -> DecodedName:
    """Takes out the fields whose reading aiter's own tables contradict for this very name."""
    name = answer.spelled.removeprefix("aiter::")
    contradicted: Iterable[str] = _CONTRADICTED.get(name, ())
    if answer.family == aiter_asm_gemm.FAMILY:
        contradicted = aiter_asm_gemm.contradicted(name, answer.fields) or contradicted
    if not contradicted:
        return answer
    keys = [key for key in contradicted if key in answer.fields]
    if not keys:
        return answer
    for key in keys:
        value, span = answer.fields.pop(key), answer.spans.pop(key)
        if span[0] < span[1] and key + _AS_NAMED in AiterAsm.keys:
            answer.fields[key + _AS_NAMED], answer.spans[key + _AS_NAMED] = value, span
    note = f"not stated: {', '.join(keys)}; aiter's own table says otherwise than the name does"
    return msgspec.structs.replace(answer, notes=(*answer.notes, note))
