"""Words that aiter's tuners write where a kernel name would stand: in comes `auto`, out comes what it stands for.

They name no kernel, so they have no field but the word itself: a note says which path of aiter the row selects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, FieldValue
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key

_TUNER = "aiter's tuner writes this in place of a kernel name: "
_MEANINGS = (
    ("auto", "Triton's a16w16 GEMM with the configuration that it chooses itself"),
    ("triton", "the Triton kernel of this op, with the configuration that it chooses itself"),
    ("native", "torch's own matrix product"),
    ("Null|None", "no kernel (the row has none in this stage)"),
    (r"sol[0-9]{1,9}", "a solution of aiter's skinny GEMM, by number"),
    (r"cktile_a[0-9]{1,2}w[0-9]{1,2}_bm[0-9]{1,9}", "the ck_tile MoE kernel that aiter picks for this block of M"),
    (r"swiglu_[a-z0-9]{1,16}_[a-z0-9]{1,16}_cktile", "the ck_tile MoE kernel that aiter picks for these types"),
    (r"grouped_gemm1_[a-z0-9]{1,16}_(?:gugu|gguu)", "the grouped gate-and-up GEMM of these types and this gate layout"),
    (r"grouped_gemm2_(?:a[0-9]{1,2}w[0-9]{1,2}|(?:bf|fp|int)[0-9]{1,2})", "the grouped down GEMM of these types"),
)
_TOKEN = re.compile("|".join(f"({regex})" for regex, _ in _MEANINGS))


class AiterCsv(Grammar):
    """Non-names in the kernelName columns of aiter's tuned CSVs."""

    name = "aiter_csv"
    families = ("aiter_csv_token",)
    formal = frozenset(families)
    prefixes = (
        "auto", "triton", "native", "Null", "None", "cktile_a", "swiglu_", "grouped_gemm1_", "grouped_gemm2_",
        *(f"sol{digit}" for digit in range(10)),
    )  # fmt: skip
    keys: ClassVar[Mapping[str, Key]] = {"token": Key("The word that stands in place of a kernel's name.")}
    link = "https://github.com/ROCm/aiter/tree/main/aiter/configs"

    def accepts(self, name: str) -> bool:
        """Says whether `name` is one of the words."""
        return _TOKEN.fullmatch(name) is not None

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        """Tells what the word stands for."""
        match = _TOKEN.fullmatch(name)
        if match is None or match.lastindex is None:
            raise ValueError(f"{name[:80]!r} is none of the words that aiter's tuners write")
        note = _TUNER + _MEANINGS[match.lastindex - 1][1]
        return DecodedName(
            name, name, self.name, "aiter_csv_token", {"token": name}, {"token": (0, len(name))}, notes=(note,)
        )

    def format(self, family: str, fields: Mapping[str, FieldValue]) -> str:
        """The word itself. Raises ValueError for one that the tuners do not write."""
        token = fields.get("token")
        if family not in self.families or set(fields) != {"token"} or not self.accepts(str(token)):
            raise ValueError(f"{token!r} is none of the words that aiter's tuners write")
        return str(token)
