"""What CK's own parameter names say, for the keys that are such names: a CamelCase name in, a glossary entry out."""

from __future__ import annotations

import re

from tracer.names.base import Key
from tracer.names.vocabulary import SHARED

#: pattern of a parameter's name, what it means, unit; {0} and {1} are parts of the name, and brackets hold what is said
#: only where the name has the part. The first pattern that fits counts.
_PATTERNS = (
    (r"TransposeTransfer(\w+?)ScalarPerVector\w*", "Elements that one access moves in the transposition, {0}",
     "elements"),
    (r"(\w+?)(?:Block|Thread)?TransferSrcScalarPerVector\w*", "Elements of {0} that one load reads", "elements"),
    (r"(\w+?)(?:Block|Thread)?TransferDstScalarPerVector\w*", "Elements of {0} that one store writes", "elements"),
    (r"(\w+?)(?:Block|Thread)?TransferScalarPerVector\w*", "Elements of {0} that one access moves", "elements"),
    (r"(\w*?)ScalarPerVector\w*", "Elements that one access moves[, {0}]", "elements"),
    (r"(\w+?)SrcVectorSize(?:Seq)?", "Elements of {0} that one load reads", "elements"),
    (r"(\w+?)DstVectorSize(?:Seq)?", "Elements of {0} that one store writes", "elements"),
    (r"(\w+?)VectorSize", "Elements of {0} that one access moves", "elements"),
    (r"(\w+?)(?:BlockTransfer)?(?:Src)?VectorDim", "Dimension of {0} along which vectors lie", None),
    (r"(\w*?)(?:Block)?(?:Thread)?(?:Transfer)?(?:Thread)?ClusterLengths_?(\w*)",
     "Threads of a block along each axis of the copy[ of {0}][, axes {1}]", "threads"),
    (r"(\w*?)(?:BlockTransfer)?ThreadSliceLengths_?(\w*)",
     "Elements of one thread along each axis of the copy[ of {0}][, axes {1}]", "elements"),
    (r"(\w*?)VectorTensorLengths_?(\w*)", "Extents of one vector access of {0}[, axes {1}]", "elements"),
    (r"([MNK])ThreadClusterSize", "Threads of a block along {0}", "threads"),
    (r"([MNK])ThreadSliceSize", "Elements of one thread along {0}", "elements"),
    (r"(\w*?)ThreadClusterSize_(\w*)", "Threads of a block in {0}, along {1}", "threads"),
    (r"(\w*?)ThreadSliceSize_(\w*)", "Elements of one thread in {0}, along {1}", "elements"),
    (r"Tile(\w*?)ThreadGroupSize", "Threads of the group for {0}", "threads"),
    (r"(\w*?)(M|N|K|L|H|W|M0|M1|N0|N1|Dim|Row)PerBlock", "{1} extent of one block's tile[, {0}]", "elements"),
    (r"(\w*?)(M|N|K|L|M0|M1|N1)PerThread\w*", "{1} extent of one thread's tile[, {0}]", "elements"),
    (r"(\w*?)([MNL])Per(?:Xdl|Wmma|Dpp)", "{1} extent of one matrix instruction[, {0}]", "elements"),
    (r"(\w*?)([MNL])(?:Xdl|Dpp)PerWave", "Matrix instructions of one wave along {1}[, {0}]", "instructions"),
    (r"(\w*?)EnableLds", "Whether {0} passes LDS", None),
    (r"Num(?:(\w+?)K)?Prefetch(?:Stage)?", "Main-loop steps that are loaded ahead[, {0}]", "stages"),
    (r"NumDim(\w)", "Dimensions that {0} stands for", "dimensions"),
    (r"([AB]\d?)K1", "K elements of {0} that stand together", "elements"),
)  # fmt: skip


def _said(meaning: str, parts: tuple[str, ...]) -> str:
    """`meaning` with the parts of a name in their places."""
    for i, part in enumerate(parts):
        meaning = re.sub(rf"\[([^]]*)\{{{i}\}}\]", rf"\g<1>{part}" if part else "", meaning).replace(f"{{{i}}}", part)
    return meaning


def parameter(name: str, source: str) -> Key:
    """The glossary entry of one of CK's template parameters; a shared key keeps its shared meaning.

    Args:
        name: the parameter, as CK's headers call it.
        source: the headers.
    """
    if name in SHARED:
        return SHARED[name]
    for pattern, meaning, unit in _PATTERNS:
        match = re.fullmatch(pattern, name)
        if match is not None:
            return Key(f"{_said(meaning, match.groups(''))} (CK's {name}).", unit, source)
    return Key(f"{name}, as CK's headers call it.", None, source)
