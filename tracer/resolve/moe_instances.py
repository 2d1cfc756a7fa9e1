"""From a kernel of CK's MoE to aiter's instances: a symbol's fields in, the instances that compile to it out.

Which JIT modules can hold the kernel follows from its types, its grid-wise kernel, its activation and whether it
multiplies the routed weights; what aiter's generator writes for them is compared with the symbol field by field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from tracer.aiter.instances import Instance
from tracer.aiter.moe_generated import GENERATOR, MoeModule
from tracer.aiter.moe_names import of_module
from tracer.aiter.tree import AiterTree
from tracer.names.registry import decode

#: element types as symbols are decoded -> the generator's words
_WORDS = {"fp8": "f8", "bf16": "b16", "fp16": "f16", "int8": "i8", "int4": "i4", "fp4": "fp4x2"}
#: what the name and the symbol of an instance both state; the second stage's symbols have no activation
_SHARED = ("stage", "block_size", "m_per_block", "n_per_block", "k_per_block", "m_waves", "n_waves", "cde_element_op",
           "pipeline_version", "n_swizzle", "mul_routed_weight")  # fmt: skip
_TARGETS = ("gfx942", "gfx950")
_GRIDWISE = "GridwiseMoeGemm"


def is_moe_kernel(fields: Mapping[str, Any]) -> bool:
    """Whether decoded fields are those of a kernel of CK's MoE."""
    return str(fields.get("gridwise", "")).startswith(_GRIDWISE)


def moe_instances(fields: Mapping[str, Any], tree: AiterTree) -> list[Instance]:
    """The instances whose kernels decoded fields can be, each name once.

    Raises:
        SourceTreeError: the generator can't be read.
    """
    if not tree.absolute(GENERATOR).is_file():
        return []
    stated = {**fields, **_waves(fields)}
    found: dict[str, Instance] = {}
    for module, arch in product(_modules(fields), _TARGETS):
        for written in of_module(tree, module, arch):
            instance = written.instance
            if instance.name not in found and _fits(decode(instance.name).fields, stated):
                found[instance.name] = instance
    return list(found.values())


def _fits(named: Mapping[str, Any], stated: Mapping[str, Any]) -> bool:
    same = all(named.get(key) == stated.get(key) for key in _SHARED)
    return same and (named.get("stage") == 2 or named.get("activation") == stated.get("activation"))


def _waves(fields: Mapping[str, Any]) -> dict[str, int]:
    """Waves along M and N: the tile by what one wave computes of it."""
    waves = {}
    for letter in "mn":
        parts = [fields.get(f"{letter}_{part}") for part in ("per_block", "xdl_per_wave", "per_xdl")]
        if all(isinstance(part, int) and part > 0 for part in parts):
            tile, repeats, instruction = (int(part) for part in parts if part is not None)
            waves[f"{letter}_waves"] = tile // (repeats * instruction)
    return waves


def _modules(fields: Mapping[str, Any]) -> Iterator[MoeModule]:
    """The JIT modules that can hold a kernel."""
    a, b, c = (_WORDS.get(str(fields.get(f"dtype_{letter}"))) for letter in "abc")
    stage, weighted = fields.get("stage"), fields.get("mul_routed_weight")
    if a is None or b is None or stage not in (1, 2) or not isinstance(weighted, bool):
        return
    gridwise = str(fields["gridwise"])
    weight_stage = stage if weighted else 3 - stage
    activation = str(fields.get("activation")) if stage == 1 else "silu"
    # with a split K the first stage writes fp32, whatever the module's output is
    for out, splitk in product((c,) if c is not None else ("b16", "f16"), (False, True)):
        preshuffle = "preshuffle" in gridwise.lower()
        yield MoeModule(a, b, out, activation, _quantisation(a, fields), weight_stage, preshuffle, splitk)


def _quantisation(a: str, fields: Mapping[str, Any]) -> str:
    """The word of the quantisation: its own grid-wise kernel, or whether the scales are a token's or a tensor's."""
    gridwise = str(fields["gridwise"])
    if "BlockScale" in gridwise:
        return "per_1x128"
    if "MX" in gridwise:
        return "per_1x32"
    if a in ("f16", "b16"):
        return "no"
    return "per_token" if fields.get("per_token_quant") else "per_tensor"
