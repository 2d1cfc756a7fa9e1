"""Which token counts aiter's fused MoE looks up: a number of tokens in, the counts that are tried out, in order.

`get_padded_M` of aiter/fused_moe.py is evaluated as it stands there; main (2026) also falls back to smaller tiers.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

from tracer.aiter import text
from tracer.aiter.evaluate import Evaluator
from tracer.aiter.padding import next_power_of_two
from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError

FILE = "aiter/fused_moe.py"
_PADDING = "get_padded_M"
_TIERS = "_PADDED_M_TIERS"
_LEGACY = "_LEGACY_CU_NUM_TO_GFX"
_CHIPS = "aiter/jit/utils/chip_info.py"


def padded_tokens(tree: AiterTree, tokens: int) -> tuple[int, ...]:
    """The token counts of the keys that are tried for a call.

    Raises:
        SourceTreeError: the function is not there or can't be evaluated.
    """
    path = tree.absolute(FILE)
    module = _module(text.read(path), path)
    padded = module.call(_PADDING, tokens)
    if not isinstance(padded, int):
        raise SourceTreeError(f"{FILE}: {_PADDING}({tokens}) gives {padded!r}", expected="a number of tokens")
    tiers = module.scope.get(_TIERS)
    # the fallback of get_2stage_cfgs: from the tier that was reached down to the smallest
    if isinstance(tiers, list) and padded in tiers:
        return (padded, *reversed(tiers[: tiers.index(padded)]))
    return (padded,)


@lru_cache(maxsize=4)
def _module(source: str, path: Path) -> Evaluator:
    del source  # part of the cache's key
    return Evaluator(path, {"nextPow2": next_power_of_two})


def legacy_arch(tree: AiterTree) -> dict[int, str]:
    """CU counts and the architecture that aiter takes a row without `gfx` to be for; empty where it has no such rule.

    Raises:
        SourceTreeError: the file can't be read.
    """
    path = tree.absolute(_CHIPS)
    if not path.is_file():
        return {}
    for node in text.python_module(path).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == _LEGACY:
            return dict(ast.literal_eval(node.value))
    return {}
