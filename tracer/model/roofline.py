"""Work, ceilings and the roofline point: counts from a formula, limits from a device file, and what follows."""

from __future__ import annotations

import enum

import msgspec

from tracer.model.evidence import Evidence


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What a call must do at least.

    Attributes:
        flops: floating-point (or integer) operations, FMA = 2.
        bytes_moved: minimal bytes: every input read once, every output written once.
        compute_dtype: which peak bounds the arithmetic ("fp8", "bf16", "fp32_vector").
        flops_formula, bytes_formula: the formulas in the op's own symbols; source: where they come from.
        items: each operand with its bytes, for the page.
    """

    flops: int
    bytes_moved: int
    compute_dtype: str
    flops_formula: str
    bytes_formula: str
    source: str
    items: tuple[tuple[str, int], ...] = ()

    @property
    def arithmetic_intensity(self) -> float:
        """FLOPs over bytes moved."""
        return self.flops / self.bytes_moved


class Ceiling(msgspec.Struct, frozen=True, kw_only=True):
    """One limit of a device: a peak with its unit in the name and its source beside it.

    Attributes:
        name: "fp8 matrix", "HBM".
        per_s: FLOP/s or B/s; None when the device's figure is not public.
        source: who says so.
        basis: "peak" (datasheet) or "achievable" (measured by somebody).
    """

    name: str
    per_s: float | None
    source: str
    basis: str = "peak"


class Bound(enum.StrEnum):
    """Which ceiling is the nearer one."""

    MEMORY = "memory"
    COMPUTE = "compute"
    UNKNOWN = "unknown"


class RooflinePoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where a call stands under a device's roof.

    Attributes:
        device: key in ktrace's tables; device_evidence: how it is known that this is the device.
        work: the counts.
        compute, memory: the two ceilings.
        compute_us, memory_us: least time by each; floor_us: the larger; None when a ceiling is unknown.
        bound: which one that is.
        measured_us: the time it is held against; measured_how names it ("graph median", "trace", "tuner's CSV").
        share: floor_us / measured_us; over 1 is flagged on the page, never clipped.
        quoted_us: a time that somebody else states for this kernel (the tuner's, in its CSV); not measured here.
        quoted_how: who states it; quoted_share: floor_us / quoted_us.
        note: what was done to the device's figures (scaled to a partition), or None.
    """

    device: str
    device_evidence: Evidence
    work: Work
    compute: Ceiling
    memory: Ceiling
    compute_us: float | None
    memory_us: float | None
    floor_us: float | None
    bound: Bound
    measured_us: float | None = None
    measured_how: str | None = None
    share: float | None = None
    quoted_us: float | None = None
    quoted_how: str | None = None
    quoted_share: float | None = None
    note: str | None = None


class ShapePattern(enum.StrEnum):
    """What kind of trouble a shape has."""

    LAUNCH_BOUND = "launch_bound"
    MEMORY_BOUND = "memory_bound"
    COMPUTE_BOUND = "compute_bound"
    SHORT_OF_K_PARALLELISM = "short_of_k_parallelism"
    UNKNOWN = "unknown"


class Implication(msgspec.Struct, frozen=True, kw_only=True):
    """Something that follows from a kernel's fields and the shape, with its formula.

    Attributes:
        key: "waves_per_block", "grid", "tiles_per_cu", "padding_waste", "lds_bytes", ...
        value: the figure; unit: its unit ("waves", "B", "%", ...), or None.
        formula: with the numbers put in.
        source: where the rule comes from: a reference, or a key of the language files.
        evidence: resolved when every input is known, inferred otherwise.
        note_key: key of the page's language files for one more sentence, which note_values fill; or None.
    """

    key: str
    value: float | int | str
    unit: str | None = None
    formula: str
    source: str
    evidence: Evidence = Evidence.RESOLVED
    note_key: str | None = None
    note_values: dict[str, str | int | float] = {}


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """A shape pattern and what it suggests: `text_key` is a key of the page's language files, `values` fill it."""

    pattern: ShapePattern
    text_key: str
    values: dict[str, str | int | float] = {}
