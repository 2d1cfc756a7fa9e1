"""Whether CK refuses a problem: an instance's values and a shape in, the lines that refuse it and why out.

aiter's wrappers ask the device operation `IsSupportedArgument` and raise when it says no. What the grid-wise header
checks there is ported, in its order, and each check is used only while the header still states it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tracer.aiter import text
from tracer.aiter.ck import CkPlaces
from tracer.aiter.ck_launch import ELEMENT_BYTES, Problem, ceil_div, k_steps
from tracer.aiter.tree import AiterTree
from tracer.model.evidence import Evidence
from tracer.model.source import Hop, Layer

#: rows of the output are stored in vectors of this many elements
_VECTOR = r"karg\.N % CShuffleBlockTransferScalarPerVector_NPerBlock != 0"
_VECTOR_OF = r"CShuffleBlockTransferScalarPerVector_NPerBlock\s*=\s*CDEShuffleBlockTransferScalarPerVectors\{\}\[I0\]"
#: pipelines other than v1 (all of them in the B-preshuffled header) must have more steps than they fetch ahead
_STEPS = r"num_k_loop <= BlockwiseGemmPipe::PrefetchStages"
_NOT_V1 = "BlkGemmPipelineVer != BlockGemmPipelineVersion::v1"
#: the stages of pipeline v2 follow from the tile: as many as fill the memory's bandwidth, from 2 to 8
_STAGES = r"\bPrefetchStages\s*=\s*(?:(\d+);|FullMemBandPrefetchStages >= 2\b)"
_FULL_BANDWIDTH = (
    "integer_divide_ceil(32768 / WgpPerCU, (MPerBlock * sizeof(ADataType) + NPerBlock * sizeof(BDataType)) * KPerBlock)"
)
_WAVE = 64
#: with K padded, the last of the parts that K is split into must not be empty
_LAST_PART = r"\(KReadPadSplited \* \(karg\.KBatch - 1\)\) >= karg\.K"
_READ_VECTOR = "KReadVec = math::lcm(AK1Number, BK1Number)"
#: rows of A, and columns of B, are read in vectors of this many elements
_A_VECTOR = r"karg\.K % ABlockTransferSrcScalarPerVector != 0"
_B_VECTOR = r"karg\.K % BBlockTransferSrcScalarPerVector != 0"
_ASKS = r"IsSupportedArgument\("


class Refusal(msgspec.Struct, frozen=True):
    """A check that a problem does not pass.

    Attributes:
        file, line: aiter's line that asks and raises, or CK's check where it is not found.
        what: what does not hold, with CK's line.
    """

    file: str
    line: int
    what: str


def refusal(
    tree: AiterTree, places: CkPlaces, values: Mapping[str, Any], problem: Problem, *, padded: bool = False
) -> Refusal | None:
    """The first check that the problem fails; None when it passes all that are known here.

    Args:
        tree: the aiter.
        places: where the instance's family leads to in CK.
        values: the instance's values in the words of `tracer.names`.
        problem: the shape.
        padded: whether the instance is compiled with K padded to the tile.

    Raises:
        SourceTreeError: a header that is there can't be read.
    """
    if places.gridwise is None or places.wrapper is None:
        return None
    file = places.gridwise.file
    vectors = _vectors(tree, places, values)
    found = _last_part(tree, file, vectors, problem) if padded else None
    found = found or _read_vectors(tree, file, vectors, problem)
    found = found or _vector(tree, file, values, problem) or _steps(tree, places, values, problem)
    if found is None:
        return None
    line, what = found
    asks = text.find_line(tree.absolute(places.wrapper.file), _ASKS, start=places.wrapper.line)
    what = f"{what} ({file}:{line})"
    return Refusal(places.wrapper.file, asks, what) if asks is not None else Refusal(file, line, what)


def _vectors(tree: AiterTree, places: CkPlaces, values: Mapping[str, Any]) -> tuple[int, int] | None:
    """AK1 and BK1, in elements of K: the instance's own, else as the helper alias reckons them from the tile."""
    if values.get("ak1") and values.get("bk1"):
        return values["ak1"], values["bk1"]
    if places.helper is None:
        return None
    found: list[int] = []
    for line in text.lines(tree.absolute(places.helper.file))[places.helper.line - 1 :]:
        stated = re.match(r"\s*(?:(\d+)|KBLOCK / ([AB])BLOCK_TRANSFER\{\}\.At\(0\)),\s*// [AB]K1\b", line)
        if stated is None:
            continue
        lengths = values.get(f"{(stated.group(2) or '').lower()}_block_transfer")
        if stated.group(1):
            found.append(int(stated.group(1)))
        elif lengths and isinstance(values.get("k_per_block"), int):
            found.append(values["k_per_block"] // lengths[0])
        if len(found) == 2:
            return found[0], found[1]
    return None


def _last_part(tree: AiterTree, file: str, vectors: tuple[int, int] | None, problem: Problem) -> tuple[int, str] | None:
    path = tree.absolute(file)
    line = text.find_line(path, _LAST_PART)
    if line is None or vectors is None or _READ_VECTOR not in text.read(path):
        return None
    vector = math.lcm(*vectors)
    part = ceil_div(problem.k, problem.k_batch * vector) * vector
    if part * (problem.k_batch - 1) < problem.k:
        return None
    return line, f"K = {problem.k} in parts of {part} leaves nothing for the last of {problem.k_batch} parts"


def _read_vectors(
    tree: AiterTree, file: str, vectors: tuple[int, int] | None, problem: Problem
) -> tuple[int, str] | None:
    """K against the vectors in which A, and a B that is not preshuffled, are read."""
    path = tree.absolute(file)
    checks = (("A", _A_VECTOR), ("B", _B_VECTOR))[: 1 if "preshuffle" in file else 2]
    for (operand, check), width in zip(checks, vectors or (), strict=False):
        line = text.find_line(path, check)
        if line is not None and problem.k % width:
            return line, f"K = {problem.k} is no multiple of {width}, the vector in which {operand} is read"
    return None


def _vector(tree: AiterTree, file: str, values: Mapping[str, Any], problem: Problem) -> tuple[int, str] | None:
    path = tree.absolute(file)
    line = text.find_line(path, _VECTOR)
    widths = values.get("c_block_spv")
    if line is None or not widths or re.search(_VECTOR_OF, text.read(path)) is None or problem.n % widths[0] == 0:
        return None
    return line, f"N = {problem.n} is no multiple of {widths[0]}, the vector width of the output"


def _steps(tree: AiterTree, places: CkPlaces, values: Mapping[str, Any], problem: Problem) -> tuple[int, str] | None:
    assert places.gridwise is not None
    path = tree.absolute(places.gridwise.file)
    line = text.find_line(path, _STEPS)
    steps, version = k_steps(values, problem), values.get("pipeline_version")
    if line is None or places.pipeline is None or steps is None:
        return None
    spares_v1 = any(_NOT_V1 in above for above in text.lines(path)[max(0, line - 4) : line - 1])
    if spares_v1 and version == 1:
        return None
    header = text.lines(tree.absolute(places.pipeline.file))[places.pipeline.line - 1 :]
    stages = _stages(" ".join(" ".join(header).split()), values, problem)
    if stages is None or steps > stages:
        return None
    return line, f"K = {problem.k} makes {steps} main-loop steps, pipeline v{version} needs more than {stages}"


def _stages(header: str, values: Mapping[str, Any], problem: Problem) -> int | None:
    """How many tiles a pipeline fetches ahead: a number in its header, or by the bandwidth that it wants to fill."""
    found = re.search(_STAGES, header)
    if found is None:
        return None
    if found.group(1):
        return int(found.group(1))
    element = ELEMENT_BYTES.get(problem.dtype or "")
    wanted = ("m_per_block", "n_per_block", "k_per_block", "block_size")
    if element is None or _FULL_BANDWIDTH not in header.replace("( ", "(") or any(not values.get(k) for k in wanted):
        return None
    m, n, k, threads = (int(values[key]) for key in wanted)
    blocks_per_cu = max(1, 4 * _WAVE // threads)
    return min(max(ceil_div(32768 // blocks_per_cu, (m + n) * element * k), 2), 8)


def refusal_hop(tree: AiterTree, refused: Refusal, instance: str) -> Hop:
    """The end of a call that launches nothing: where aiter asks CK and raises, CK's check, and the chosen instance."""
    return Hop(
        layer=Layer.KERNEL,
        name="?",
        source=tree.ref(refused.file, refused.line),
        evidence=Evidence.UNRESOLVED,
        reason=f"{refused.file}:{refused.line} refuses the call: {refused.what}",
        candidates=(instance,),
    )
