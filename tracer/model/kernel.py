"""What a kernel name states: in comes nothing (plain values), out come the types every grammar answers with.

A field of a `DecodedName` is *stated* by the name: its text, or by a token that the name leaves out. Values that only
the source knows never stand here.
"""

from __future__ import annotations

from typing import Any

import msgspec

#: int, bool, float, str, None, a list of these, or a mapping of these (CK-tile FMHA's `tile`, Triton's `constexprs`).
FieldValue = Any

#: Half-open offsets (start, end) into `DecodedName.spelled`; start == end means "stated by leaving a token out".
Span = tuple[int, int]


class Unparsed(msgspec.Struct, frozen=True):
    """A piece of the name that no rule of the grammar explains.

    Attributes:
        text: the piece, as it stands in the name.
        start: its offset in `DecodedName.spelled`.
        reason: what was expected there, or None.
    """

    text: str
    start: int
    reason: str | None = None


class DecodedName(msgspec.Struct, frozen=True):
    """One kernel name, read.

    Attributes:
        text: the name as it came, noise and all.
        spelled: the text that spans index: noise removed, and demangled where that was needed.
        grammar: the grammar that claimed the name; None when none did.
        family: the family of names it belongs to; None when unknown.
        fields: key -> value, exactly what the name states. Keys are documented in the glossary.
        spans: key -> offsets into `spelled`. Every key of `fields` is here.
        unparsed: the pieces that were not understood; empty for a name read completely.
        likely: key -> value, readings that no public generator confirms. Not facts.
        notes: sentences for the reader (ambiguity, noise removed, syntax problem).
        demangle: None (the name is not mangled), "ok", or "failed".
    """

    text: str
    spelled: str
    grammar: str | None = None
    family: str | None = None
    fields: dict[str, FieldValue] = {}
    spans: dict[str, Span] = {}
    unparsed: tuple[Unparsed, ...] = ()
    likely: dict[str, FieldValue] = {}
    notes: tuple[str, ...] = ()
    demangle: str | None = None

    @property
    def known(self) -> bool:
        """Whether a grammar claimed the name."""
        return self.family is not None

    @property
    def complete(self) -> bool:
        """Whether a grammar claimed the name and explained all of it."""
        return self.family is not None and not self.unparsed


class GemmView(msgspec.Struct, frozen=True, kw_only=True):
    """The common view of a GEMM-like kernel, so that a CK, a Tensile and a CUTLASS kernel fit in one table.

    All sizes are in elements; None means the name does not state it. `tile_*` is what one block computes, `wave_tile_*`
    what one wave (warp) computes of it, `instruction` the matrix instruction's M x N x K (K is None where not stated).
    Types have one spelling for all families; `dtype_c` is the type of what is written. The layout of a matrix is `row`
    or `col` (for A, row is K fastest; for B, col is), that of a convolution's tensor as printed. `likely` lists the
    keys whose values rest on readings that no public generator confirms.
    """

    op: str | None = None
    tile_m: int | None = None
    tile_n: int | None = None
    tile_k: int | None = None
    wave_tile_m: int | None = None
    wave_tile_n: int | None = None
    instruction_m: int | None = None
    instruction_n: int | None = None
    instruction_k: int | None = None
    waves_m: int | None = None
    waves_n: int | None = None
    waves_k: int | None = None
    threads_per_block: int | None = None
    dtype_a: str | None = None
    dtype_b: str | None = None
    dtype_c: str | None = None
    dtype_acc: str | None = None
    layout_a: str | None = None
    layout_b: str | None = None
    layout_c: str | None = None
    split_k: int | None = None
    stages: int | None = None
    pipeline: str | None = None
    likely: tuple[str, ...] = ()
