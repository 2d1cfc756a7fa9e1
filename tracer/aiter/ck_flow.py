"""The core flow of a CK GEMM kernel: its pipeline and grid-wise headers in, numbered steps with their lines out.

The steps are the same for every instance of one pipeline version, but where K is so short that the main loop does not
run. A step whose line is not in the header is left out.
"""

from __future__ import annotations

import re

from tracer.aiter import text
from tracer.aiter.ck import CkPlaces, Place
from tracer.aiter.tree import AiterTree
from tracer.model.source import FlowStep

#: (kind, sentence, expression, the kind of step behind which the search begins; None: at the beginning)
_Wanted = tuple[str, str, str, str | None]
_MULTIPLIED = "MFMA instructions multiply the operands into the accumulators."
_SCALED = "The partial sums are multiplied by both scales and added to the fp32 accumulators."
_XDLOPS = r"xdlops_gemm(?:\.template|\.)\s*Run"
_SUMS = r"c_thread_buf\(Number<c_offset>\{\}\)\s*\+=|c_scale_thread_buf\[Number"
_LOOP = r"if constexpr\(HasMainLoop\)"
#: in the pipeline's Run, before its loop
_FETCH: tuple[_Wanted, ...] = (
    ("load", "Each thread reads its part of the first K tile of A from global memory into registers.",
     r"a_blockwise_copy\.RunRead\(", None),
    ("load", "The same for B.", r"b_blockwise_copy\.(?:RunRead|Run)\(", None),
    ("scale", "Each thread reads the quantisation scales of A for its rows.", r"a_scale_thread_copy\.Run\(", None),
    ("scale", "The scales of B.", r"b_scale_thread_copy\.Run\(", None),
    ("store", "The tile is written from registers to LDS.", r"a_blockwise_copy\.RunWrite\(", None),
    ("load", "After a barrier, each wave reads its operands of A from LDS.", r"a_thread_copy_\.Run\(", None),
)  # fmt: skip
#: ... the loop and what comes after it
_MAIN: tuple[_Wanted, ...] = (
    ("loop", "Main loop over K: the next tile is fetched while this one is multiplied.", _LOOP, None),
    ("mfma", _MULTIPLIED, _XDLOPS, "loop"),
    ("scale", _SCALED, _SUMS, "mfma"),
    ("tail", "The last tiles, already fetched, are multiplied after the loop.",
     r"if constexpr\(TailNum == TailNumber::", "mfma"),
)  # fmt: skip
#: ... and in the grid-wise kernel's Run
_GRID: tuple[_Wanted, ...] = (
    ("map", "The block finds its tile of the output from its block id.", r"CalculateBottomIndex\(", None),
    ("epilogue", "The accumulators go through LDS, a few MFMA tiles at a time, so that stores are wide.",
     r"c_thread_copy_vgpr_to_lds\.Run\(", None),
    ("store", "The tile is converted to the output type and written to global memory.",
     r"cde?_(?:shuffle_)?block_copy_lds_(?:and|to)_global\.Run\(", None),
)  # fmt: skip


#: by these lines of the pipeline's header, the loop of a K that was fetched ahead does not run, and a tail is chosen
_HOT_LOOP = re.compile(r"BlockHasHotloop\(index_t num_loop\)\s*\{\s*return num_loop > PrefetchStages;\s*\}")
_FETCHED = re.compile(r"\bindex_t PrefetchStages\s*=\s*(\d+);")
_TAIL = re.compile(r"BlockLoopTailNum\(index_t num_loop\)\s*\{([^{}]*)\}")
_TAIL_CHOICE = re.compile(r"return num_loop (== 1|% 2 == 0) \? TailNumber::(\w+) : TailNumber::(\w+);")
_TAIL_ONLY = re.compile(r"ignore = num_loop;\s*return TailNumber::(\w+);")


def core_flow(tree: AiterTree, places: CkPlaces, k_steps: int | None = None) -> tuple[FlowStep, ...]:
    """The steps of the kernel that an instance compiles to; empty where CK's headers are not there.

    Args:
        tree: the aiter.
        places: where the instance leads to in CK.
        k_steps: main-loop steps that K takes of one block, where the shape is known: of a K that the pipeline fetches
            ahead the main loop does not run, and the tail does the work.
    """
    if places.gridwise is None:
        return ()
    grid = _Body(tree, places.gridwise, r"\bRun\(const ADataType\*|\bstatic void Run\(").steps(_GRID)
    pipeline: list[FlowStep] = []
    if places.pipeline is not None:
        body = _Body(tree, places.pipeline, r"__device__ void Run\(")
        unlooped = _without_loop(body, k_steps) if k_steps is not None else None
        pipeline = body.steps((*_FETCH, *(unlooped or _MAIN)), shared=unlooped is None)
    mapped = [step for step in grid if step.kind == "map"]
    return (*mapped, *pipeline, *(step for step in grid if step.kind != "map"))


def _without_loop(body: _Body, k_steps: int) -> tuple[_Wanted, ...] | None:
    """What follows the fetching where the main loop does not run; None where it runs or the header does not tell."""
    fetched, tail = _FETCHED.search(body.header), _tail(body, k_steps)
    if fetched is None or tail is None or _HOT_LOOP.search(body.header) is None or k_steps > int(fetched[1]):
        return None
    why = f"The main loop does not run: K takes {k_steps} of its steps, and {fetched[1]} are fetched ahead of it."
    return (
        ("loop", why, _LOOP, None),
        (
            "tail",
            f"The tail {tail} multiplies what was fetched.",
            rf"if constexpr\(TailNum == TailNumber::{tail}",
            "loop",
        ),
        ("mfma", _MULTIPLIED, _XDLOPS, "tail"),
        ("scale", _SCALED, _SUMS, "mfma"),
    )


def _tail(body: _Body, k_steps: int) -> str | None:
    """The tail number that the pipeline's header gives for a number of main-loop steps."""
    found = _TAIL.search(body.header)
    if found is None:
        return None
    if (only := _TAIL_ONLY.search(found[1])) is not None:
        return only[1]
    choice = _TAIL_CHOICE.search(found[1])
    if choice is None:
        return None
    holds = k_steps == 1 if choice[1] == "== 1" else k_steps % 2 == 0
    return choice[2] if holds else choice[3]


class _Body:
    """A struct's header from its first line on, and where its Run begins."""

    def __init__(self, tree: AiterTree, place: Place, begin: str) -> None:
        self._tree = tree
        self._file = place.file
        self._lines = text.blank_comments(text.read(tree.absolute(place.file))).splitlines()
        self._start = self._find(begin, place.line - 1) or place.line - 1
        self.header = "\n".join(self._lines[place.line - 1 : self._start])

    def _find(self, pattern: str, first: int) -> int | None:
        return next((i for i in range(first, len(self._lines)) if re.search(pattern, self._lines[i])), None)

    def steps(self, wanted: tuple[_Wanted, ...], *, shared: bool = True) -> list[FlowStep]:
        """The steps whose lines are there, in the order given."""
        lines_of: dict[str, int] = {}
        steps = []
        for kind, sentence, pattern, after in wanted:
            if after and after not in lines_of:
                continue
            found = self._find(pattern, lines_of[after] if after else self._start)
            if found is None:
                continue
            lines_of.setdefault(kind, found)
            steps.append(FlowStep(kind, sentence, self._tree.ref(self._file, found + 1), shared=shared))
        return steps
