"""Every op that ktrace knows by name: a name in, the Op out, or an error that offers the nearest names."""

from __future__ import annotations

import difflib
import re

from tracer.errors import UsageError
from tracer.ops.base import Op
from tracer.ops.gemm import GemmA8W8Blockscale, QuantGemmA8W8Blockscale, QuantPer1x128
from tracer.ops.torch_gemm import TorchLinear, TorchMm
from tracer.ops.triton_gemm import GemmA16W16

OPS: tuple[Op, ...] = (
    GemmA8W8Blockscale(),
    QuantPer1x128(),
    QuantGemmA8W8Blockscale(),
    TorchMm(),
    TorchLinear(),
    GemmA16W16(),
)

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
#: the name of a file, which no function's is
_FILE = re.compile(
    r".+\.(?:a|bin|c|cc|co|cpp|csv|cuh?|db|gz|hip|hpp|h|hsaco|html|jsonl?|md|o|pb|ptx|pyc?|sh?|so|toml|tsv|txt|whl|xz|ya?ml"
    r"|zip|zst)",
    re.IGNORECASE,
)
_BY_NAME = {op.name: op for op in OPS}


def get_op(name: str) -> Op:
    """The op called `name`.

    Raises:
        UsageError: there is none; the nearest names are offered.
    """
    if name in _BY_NAME:
        return _BY_NAME[name]
    raise UsageError(
        f"there is no op called {name!r}",
        expected="one of the ops that `ktrace ops` lists, or any importable callable as pkg.mod:fn",
        hint=_nearest(name),
    )


def _nearest(name: str) -> str | None:
    """What may have been meant: an op of a similar name, or a function that is written as a callable."""
    near = difflib.get_close_matches(name, _BY_NAME, n=3, cutoff=0.5)
    if near:
        return "did you mean " + " or ".join(near) + "?"
    if not _DOTTED.fullmatch(name) or _FILE.fullmatch(name):
        return None
    module, _, function = name.rpartition(".")
    return f"a function of a package is called as {module or 'aiter'}:{function} --arg NAME=VALUE ..."
