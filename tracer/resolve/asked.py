"""A name as somebody asks for it: also spelled as a callable, and beside an op of ktrace that bears it; a `Where` out.

How the function of a name is chosen is the finder's own matter (tracer.resolve.where).
"""

from __future__ import annotations

import msgspec

from tracer.ops.callable import dotted
from tracer.ops.registry import OPS
from tracer.resolve.answers import Where
from tracer.resolve.where import Finder


def find(finder: Finder, name: str) -> Where:
    """The answer for a name as typed: `pkg.mod:fn` means `pkg.mod.fn`; a candidate that `ktrace NAME` runs says so."""
    meant = dotted(name)
    answer = finder.find(meant)
    if meant != name:
        return msgspec.structs.replace(answer, name=name)
    entries = next((op.entries for op in OPS if op.name == name), ())
    if not entries:
        return answer
    runs = f"`ktrace {name}` runs this one"
    candidates = (msgspec.structs.replace(c, note=runs) if c.name in entries else c for c in answer.candidates)
    return msgspec.structs.replace(answer, candidates=tuple(candidates))
