"""The protocol every kernel-name grammar meets, and the glossary entry that documents a key.

Grammars import this module and never the registry; the registry imports the grammars.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from tracer.model.kernel import DecodedName, FieldValue, GemmView


class Key(msgspec.Struct, frozen=True):
    """One glossary entry: what a field means.

    Attributes:
        meaning: one sentence; names the axis and what is counted.
        unit: "elements", "threads", "waves", "bytes", ... or None for a flag or a label.
        source: the generator (repository path or header) that defines it; None when the vocabulary is the field's own.
    """

    meaning: str
    unit: str | None = None
    source: str | None = None


class Context(msgspec.Struct, frozen=True):
    """Facts from outside the name that settle what a name alone leaves open.

    Attributes:
        target: "gfx942", "sm_90", ... or None.
        constexpr_keys: a Triton kernel's own key list, longest names included, from its declaration.
        ck_version: "old" or "new" for grammars that changed between CK releases, or None.
    """

    target: str | None = None
    constexpr_keys: tuple[str, ...] | None = None
    ck_version: str | None = None


NO_CONTEXT = Context()


class Grammar(abc.ABC):
    """One kind of kernel name.

    A grammar is stateless; one instance stands in `registry.GRAMMARS`. `accepts` is cheap and decides alone: no two
    grammars may accept one name. `decode` reads what `accepts` accepted: it returns fields with spans, keeps what it
    does not understand in `unparsed`, and raises `NameSyntaxError` when the name claims the grammar and then breaks it
    beyond repair (the registry turns that into an answer). `format` is the inverse, from family and fields alone.
    """

    #: short name, unique in the registry
    name: ClassVar[str]
    #: every family this grammar may answer with
    families: ClassVar[tuple[str, ...]]
    #: the families whose names are formal: `format(decode(name)) == name`, byte for byte
    formal: ClassVar[frozenset[str]]
    #: literal beginnings of the names, for the registry's index; () means "ask accepts for every name"
    prefixes: ClassVar[tuple[str, ...]] = ()
    #: whether the grammar reads demangled C++ text (the registry demangles first)
    reads_cpp: ClassVar[bool] = False
    #: whether the grammar is asked last, for names that no other one claims (it may accept names of others)
    fallback: ClassVar[bool] = False
    #: the glossary: every key that decode may put into `fields` or `likely`
    keys: ClassVar[Mapping[str, Key]]
    #: where the code that builds such names stands, for people
    link: ClassVar[str]

    def accepts(self, name: str) -> bool:
        """Says, cheaply, whether `name` is of this grammar; unless a grammar knows more, its beginning decides."""
        return name.startswith(self.prefixes)

    def read(self, name: str, context: Context = NO_CONTEXT) -> DecodedName | None:
        """Reads `name` if it is of this grammar: `accepts` and `decode` in one, which a grammar may do in one step."""
        return self.decode(name, context) if self.accepts(name) else None

    @abc.abstractmethod
    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        """Reads `name`; spans index `name` itself. Sets text = spelled = name."""

    def format(self, family: str, fields: Mapping[str, FieldValue]) -> str:
        """Writes the name that `fields` describe.

        Raises:
            ValueError: the family is not formal, or a field is missing or out of range.
        """
        raise ValueError(f"{self.name}: family {family!r} has no formal grammar, so no name can be written from fields")

    def view(self, decoded: DecodedName) -> GemmView | None:
        """The common GEMM view of `decoded`, or None when the kernel is not GEMM-like."""
        return None
