"""What kind of trouble a shape has: its tiling, a roofline and a device's CUs in, advice with its numbers out.

Judged from the number of tiles against the number of CUs where the tile is known. Several patterns can hold at once;
the one that matters most comes first.
"""

from __future__ import annotations

from tracer.analyse.tiles import Tiling
from tracer.model.roofline import Advice, Bound, RooflinePoint, ShapePattern

Values = dict[str, str | int | float]

#: what a launch costs whatever it does, in µs: a rule of thumb for graph-replayed kernels on MI300-class parts
FIXED_US = 6.0
#: so many of the CUs must be without a block before splitting K is worth its sum
IDLE_SHARE = 0.25
#: a time this many times above the fixed cost is not explained by it
NOT_LAUNCH = 2.0
#: a split of K should leave each block at least this many main-loop steps
STEPS_A_SPLIT = 4


def _short_of_k(tiling: Tiling, units: int, launched: int | None) -> Advice | None:
    """Too few output tiles for the CUs, with K long enough to be shared among several blocks."""
    if launched is not None and launched != tiling.blocks:
        return None  # the kernel shares its tiles out in a way that the tile does not tell
    if tiling.blocks > units * (1 - IDLE_SHARE) or tiling.k_steps is None:
        return None
    turned = tiling.problem.turned
    n, tile_n = (tiling.problem.m, tiling.tile.m) if turned else (tiling.problem.n, tiling.tile.n)
    if n < tile_n:
        return None  # so little output that adding up the parts costs more than they save
    split = min(-(-units // tiling.blocks), tiling.k_steps // STEPS_A_SPLIT)
    if split < 2:
        return None
    values: Values = {
        "blocks": tiling.blocks,
        "idle": units - tiling.blocks,
        "units": units,
        "steps": tiling.k_steps,
        "split": split * tiling.tile.split_k,
        "after": tiling.blocks * split,
    }
    return Advice(pattern=ShapePattern.SHORT_OF_K_PARALLELISM, text_key="advice.short_of_k", values=values)


def _launch(point: RooflinePoint, tiling: Tiling | None, units: int | None, vendor: str) -> Advice | None:
    """So little work that the fixed cost of a launch outweighs it, and no known time that says otherwise."""
    if vendor != "AMD" or point.floor_us is None or point.floor_us >= FIXED_US:
        return None
    known = point.measured_us or point.quoted_us
    if known is not None and known > NOT_LAUNCH * FIXED_US:
        return None
    if tiling is not None and units and tiling.rounds(units) > 1:
        return None
    values: Values = {"floor": round(point.floor_us, 2), "fixed": FIXED_US}
    return Advice(pattern=ShapePattern.LAUNCH_BOUND, text_key="advice.launch", values=values)


def _roof(point: RooflinePoint, tiling: Tiling | None, units: int | None, launched: int | None) -> Advice:
    """Which roof the call stands under."""
    if point.bound is Bound.UNKNOWN:
        return Advice(pattern=ShapePattern.UNKNOWN, text_key="advice.unknown")
    values: Values = {"intensity": round(point.work.arithmetic_intensity, 1)}
    blocks = launched if launched is not None else tiling.blocks if tiling is not None else None
    if point.bound is Bound.MEMORY:
        busy = blocks is not None and units is not None and blocks >= units
        if busy and blocks and units:
            values |= {"blocks": blocks, "units": units}
        key = "advice.memory_busy" if busy else "advice.memory"
        return Advice(pattern=ShapePattern.MEMORY_BOUND, text_key=key, values=values)
    if tiling is None or units is None or blocks != tiling.blocks:
        return Advice(pattern=ShapePattern.COMPUTE_BOUND, text_key="advice.compute", values=values)
    waste = round(100 * (1 - tiling.wave_efficiency(units)), 1)
    values |= {"blocks": blocks, "units": units, "rounds": tiling.rounds(units), "waste": waste}
    return Advice(pattern=ShapePattern.COMPUTE_BOUND, text_key="advice.compute_tiles", values=values)


def advise(
    point: RooflinePoint,
    tiling: Tiling | None,
    compute_units: int | None,
    *,
    launched: int | None = None,
    vendor: str = "AMD",
) -> tuple[Advice, ...]:
    """The patterns that hold for a call.

    Args:
        point: where it stands under the roof.
        tiling: the shape cut into the kernel's tiles, or None when the tile is not known.
        compute_units: CUs (SMs) in use, or None.
        launched: blocks of the launch, where its grid is known.
        vendor: whose device it is; the fixed cost of a launch is known for AMD's only.

    Returns:
        Advice, the most pressing first. Without a tile it is judged from the roofline alone and says so.
    """
    short = _short_of_k(tiling, compute_units, launched) if tiling is not None and compute_units else None
    # a long loop over K on few CUs is time that the fixed cost of a launch does not explain
    found = [short or _launch(point, tiling, compute_units, vendor)]
    found.append(_roof(point, tiling, compute_units, launched))
    if tiling is None:
        found.append(Advice(pattern=ShapePattern.UNKNOWN, text_key="advice.no_tile"))
    return tuple(advice for advice in found if advice is not None)
