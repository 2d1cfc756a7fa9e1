"""Whether CK refuses a problem: an instance's values and a shape in, the lines that refuse it and why out.

aiter's wrappers ask the device operation `IsSupportedArgument` and raise when it says no; what the grid-wise header
checks there beyond padding is ported, and each check is used only while the header still states it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tracer.aiter import text
from tracer.aiter.ck import CkPlaces
from tracer.aiter.ck_launch import Problem, k_steps
from tracer.aiter.tree import AiterTree
from tracer.model.evidence import Evidence
from tracer.model.source import Hop, Layer

#: rows of the output are stored in vectors of this many elements
_VECTOR = r"karg\.N % CShuffleBlockTransferScalarPerVector_NPerBlock != 0"
_VECTOR_OF = r"CShuffleBlockTransferScalarPerVector_NPerBlock\s*=\s*CDEShuffleBlockTransferScalarPerVectors\{\}\[I0\]"
#: pipelines other than v1 (all of them in the B-preshuffled header) must have more steps than they fetch ahead
_STEPS = r"num_k_loop <= BlockwiseGemmPipe::PrefetchStages"
_NOT_V1 = "BlkGemmPipelineVer != BlockGemmPipelineVersion::v1"
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


def refusal(tree: AiterTree, places: CkPlaces, values: Mapping[str, Any], problem: Problem) -> Refusal | None:
    """The first check that the problem fails; None when it passes all that are known here.

    Args:
        tree: the aiter.
        places: where the instance's family leads to in CK.
        values: the instance's values in the words of `tracer.names`.
        problem: the shape.

    Raises:
        SourceTreeError: a header that is there can't be read.
    """
    if places.gridwise is None or places.wrapper is None:
        return None
    file = places.gridwise.file
    found = _vector(tree, file, values, problem) or _steps(tree, places, values, problem)
    if found is None:
        return None
    line, what = found
    asks = text.find_line(tree.absolute(places.wrapper.file), _ASKS, start=places.wrapper.line)
    what = f"{what} ({file}:{line})"
    return Refusal(places.wrapper.file, asks, what) if asks is not None else Refusal(file, line, what)


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
    stages = next((m for m in (re.search(r"\bPrefetchStages\s*=\s*(\d+);", h) for h in header) if m), None)
    if stages is None or steps > int(stages.group(1)):
        return None
    return line, f"K = {problem.k} makes {steps} main-loop steps, pipeline v{version} needs more than {stages.group(1)}"


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
