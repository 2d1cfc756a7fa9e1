"""How ktrace knows what it says: the words for evidence and for the mode of a record."""

from __future__ import annotations

import enum


class Evidence(enum.StrEnum):
    """How a fact is known, from strongest to none."""

    OBSERVED = "observed"  #: a frame ran, a profiler saw it
    STATED = "stated"  #: a name, a CSV row or a code object says so
    RESOLVED = "resolved"  #: found in source by a rule; file and line were checked
    INFERRED = "inferred"  #: a match that could be wrong; the reason is given
    ASSUMED = "assumed"  #: a default nobody stated
    UNRESOLVED = "unresolved"  #: could not be established; the reason is given


class Mode(enum.StrEnum):
    """How a record came to be."""

    LIVE = "live"  #: ran on a GPU here: frames and launches observed, times measured
    DRY = "dry"  #: the real library code ran without a GPU: frames observed, launches resolved, nothing timed
    IMPORTED = "imported"  #: read from a trace that somebody recorded


class GridUnit(enum.StrEnum):
    """What the grid numbers counted where they were seen; the record itself always counts blocks."""

    BLOCKS = "blocks"
    WORK_ITEMS = "work_items"
