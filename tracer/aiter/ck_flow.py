"""The core flow of a CK GEMM kernel: its pipeline and grid-wise headers in, numbered steps with their lines out.

The steps are the same for every instance of one pipeline version; a step whose line is not in the header is left out.
"""

from __future__ import annotations

import re

from tracer.aiter import text
from tracer.aiter.ck import CkPlaces, Place
from tracer.aiter.tree import AiterTree
from tracer.model.source import FlowStep

#: (kind, sentence, expression, where the search begins): in the pipeline's Run
_PIPELINE = (
    ("load", "Each thread reads its part of the first K tile of A from global memory into registers.",
     r"a_blockwise_copy\.RunRead\(", None),
    ("load", "The same for B.", r"b_blockwise_copy\.(?:RunRead|Run)\(", None),
    ("scale", "Each thread reads the quantisation scales of A for its rows.", r"a_scale_thread_copy\.Run\(", None),
    ("scale", "The scales of B.", r"b_scale_thread_copy\.Run\(", None),
    ("store", "The tile is written from registers to LDS.", r"a_blockwise_copy\.RunWrite\(", None),
    ("load", "After a barrier, each wave reads its operands of A from LDS.", r"a_thread_copy_\.Run\(", None),
    ("loop", "Main loop over K: the next tile is fetched while this one is multiplied.",
     r"if constexpr\(HasMainLoop\)", None),
    ("mfma", "MFMA instructions multiply the operands into the accumulators.",
     r"xdlops_gemm(?:\.template|\.)\s*Run", "loop"),
    ("scale", "The partial sums are multiplied by both scales and added to the fp32 accumulators.",
     r"c_thread_buf\(Number<c_offset>\{\}\)\s*\+=|c_scale_thread_buf\[Number", "mfma"),
    ("tail", "The last tiles, already fetched, are multiplied after the loop.",
     r"if constexpr\(TailNum == TailNumber::", "mfma"),
)  # fmt: skip
#: ... and in the grid-wise kernel's Run
_GRID = (
    ("map", "The block finds its tile of the output from its block id.", r"CalculateBottomIndex\(", None),
    ("epilogue", "The accumulators go through LDS, a few MFMA tiles at a time, so that stores are wide.",
     r"c_thread_copy_vgpr_to_lds\.Run\(", None),
    ("store", "The tile is converted to the output type and written to global memory.",
     r"cde?_(?:shuffle_)?block_copy_lds_(?:and|to)_global\.Run\(", None),
)  # fmt: skip


def core_flow(tree: AiterTree, places: CkPlaces) -> tuple[FlowStep, ...]:
    """The steps of the kernel that an instance compiles to; empty where CK's headers are not there."""
    if places.gridwise is None:
        return ()
    grid = _steps(tree, places.gridwise, _GRID, r"\bRun\(const ADataType\*|\bstatic void Run\(")
    pipeline = _steps(tree, places.pipeline, _PIPELINE, r"__device__ void Run\(") if places.pipeline else []
    mapped = [step for step in grid if step.kind == "map"]
    return (*mapped, *pipeline, *(step for step in grid if step.kind != "map"))


def _steps(
    tree: AiterTree, place: Place, wanted: tuple[tuple[str, str, str, str | None], ...], begin: str
) -> list[FlowStep]:
    path = tree.absolute(place.file)
    lines = text.blank_comments(text.read(path)).splitlines()
    start = next((i for i in range(place.line - 1, len(lines)) if re.search(begin, lines[i])), place.line - 1)
    lines_of: dict[str, int] = {}
    steps = []
    for kind, sentence, pattern, after in wanted:
        first = lines_of.get(after, start) if after else start
        if after and after not in lines_of:
            continue
        found = next((i for i in range(first, len(lines)) if re.search(pattern, lines[i])), None)
        if found is None:
            continue
        lines_of.setdefault(kind, found)
        steps.append(FlowStep(kind, sentence, tree.ref(place.file, found + 1), shared=True))
    return steps
