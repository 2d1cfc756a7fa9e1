"""Whether this aiter has a kernel that a MoE row names: the name and a target in, yes, no or "can't be told" out."""

from __future__ import annotations

import re

from tracer.aiter.moe_generated import GENERATOR, MoeModule, generated
from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError

_PREFIX = "moe_ck2stages_gemm"
_NAME = re.compile(
    rf"{_PREFIX}(?P<stage>[12])_.*_Quant(?P<quant>\d+)_MulRoutedWeight(?P<weight>[01])(?:_(?P<act>[a-z]+))?"
    r"_(?P<a>[A-Z0-9]+)_(?P<b>[A-Z0-9]+)_(?P<c>[A-Z0-9]+)$"
)
#: QuantType's numbers by the words of the generator's command line
_QUANTS = {"0": "no", "1": "per_tensor", "2": "per_token", "3": "per_1x32", "4": "per_1x128", "5": "per_1x128"}


def has_instance(tree: AiterTree, name: str, arch: str) -> bool | None:
    """Whether the generator of the two-stage CK MoE writes an instance of this name for a target.

    Returns:
        None for the name of another kind of kernel, or where the tree has no such generator.

    Raises:
        SourceTreeError: the generator can't be read.
    """
    found = _NAME.match(name)
    if not name.startswith(_PREFIX) or not tree.absolute(GENERATOR).is_file():
        return None
    if found is None or found["quant"] not in _QUANTS:
        return False
    stage = int(found["stage"])
    weight_stage = stage if found["weight"] == "1" else 3 - stage
    for preshuffle in (False, True):
        module = MoeModule(
            found["a"].lower(),
            found["b"].lower(),
            # with a split K the first stage writes fp32 whatever the output is
            found["c"].lower(),
            found["act"] or "silu",
            _QUANTS[found["quant"]],
            weight_stage,
            preshuffle,
            "Splitk" in name,
        )
        try:
            if name in generated(tree, module, arch).lookup:
                return True
        except (SourceTreeError, ValueError):
            continue  # the generator itself refuses these types
    return False
