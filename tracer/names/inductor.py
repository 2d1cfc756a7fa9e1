"""Names that torch's Inductor gives its Triton kernels: in comes `triton_poi_fused_add_0`, out come kind, ops, index.

    triton_{kind, three letters}_fused[_{ops}]_{index}

The kind is the first three letters of the heuristic that the kernel was generated under. The ops are joined by
underscores, contain underscores themselves, and are cut to a maximum number, so they are kept as one text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tracer.names.base import Key
from tracer.names.formal import FormalGrammar, OneOf
from tracer.names.pattern import Part, Pattern, choice, lit, num, text

_KINDS = {
    "poi": "pointwise", "red": "reduction", "per": "persistent_reduction", "for": "foreach", "spl": "split_scan",
    "tem": "template", "unk": "unknown",
}  # fmt: skip


def _kernel(*ops: Part) -> Pattern:
    return Pattern(
        "inductor_triton",
        lit("triton_") + choice("kind", _KINDS) + lit("_fused"),
        *ops,
        lit("_") + num("index"),
    )


_WITH_OPS = _kernel(lit("_"), text("fused_ops_text", r"\w+?", before=r"_[0-9]+\Z"))
_WITHOUT_OPS = _kernel(text("fused_ops_text", ""))


class Inductor(FormalGrammar):
    """torch Inductor's Triton kernels."""

    name = "inductor"
    link = "https://github.com/pytorch/pytorch/blob/main/torch/_inductor/codegen/triton.py"
    guard = r"\w*_[0-9]+\Z"
    readers: ClassVar[Mapping[str, Pattern | OneOf]] = {
        f"triton_{kind}_fused": OneOf(_WITH_OPS, _WITHOUT_OPS) for kind in _KINDS
    }
    keys: ClassVar[Mapping[str, Key]] = {
        "kind": Key(
            "The heuristic that the kernel was generated under: pointwise, reduction, persistent_reduction ..."
        ),
        "fused_ops_text": Key("The fused ops, joined by underscores (op names contain underscores too), as printed."),
        "index": Key("Running number of the kernel in its graph."),
    }
