"""What a kernel's fields imply for a shape on a device: a subject in, statements with formula, source and evidence out.

Each function answers one question and is silent (returns nothing) when an input that it needs is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from tracer.analyse.instance import lds_bytes, mfma_instruction, wave_layout
from tracer.analyse.occupancy import Occupancy, analyse_occupancy
from tracer.analyse.subject import Subject
from tracer.analyse.tiles import ceil_div
from tracer.model.evidence import Evidence
from tracer.model.roofline import Implication

_TILE_SOURCE = "source.tile"


def waves_per_block(subject: Subject) -> Iterator[Implication]:
    """Threads of a block over lanes of a wave."""
    threads, lanes = subject.threads, subject.wave_size
    if threads and lanes and subject.device:
        waves = ceil_div(threads, lanes)
        yield Implication(
            key="waves_per_block",
            value=waves,
            unit="waves",
            formula=f"ceil({threads} / {lanes}) = {waves}",
            source=subject.device.wave_size.source,
        )


def occupancy_of(subject: Subject) -> Occupancy | None:
    """The occupancy, from the launch's resources and, for LDS, from what `lds_bytes` finds."""
    threads = subject.threads
    if subject.device is None or threads is None:
        return None
    resources = subject.launch.resources
    if resources.lds_bytes is None:
        for found in lds_bytes(subject):
            resources = msgspec.structs.replace(resources, lds_bytes=int(found.value))
    return analyse_occupancy(subject.device, threads, resources, agprs_included=subject.agprs_included)


def occupancy(subject: Subject) -> Iterator[Implication]:
    """Blocks that a CU holds at once, and what limits them."""
    found = occupancy_of(subject)
    if found is None:
        return
    binding = found.limits[0]
    yield Implication(
        key="blocks_per_cu",
        value=found.blocks_per_cu,
        unit="blocks",
        formula="; ".join(f"{limit.what}: {limit.formula}" for limit in found.limits),
        source=binding.source,
        evidence=Evidence.RESOLVED if found.complete else Evidence.INFERRED,
        note_key=f"implication.note.limited_by_{binding.what}"
        if found.complete
        else "implication.note.registers_not_known",
    )
    waves = found.waves_per_simd
    yield Implication(
        key="waves_per_simd",
        value=int(waves) if waves.is_integer() else round(waves, 2),
        unit="waves",
        formula=f"{found.blocks_per_cu} * {found.waves_per_block} / {found.simds} = {waves:g}",
        source="source.simds",
        evidence=Evidence.RESOLVED if found.complete else Evidence.INFERRED,
    )


def grid(subject: Subject) -> Iterator[Implication]:
    """Blocks for this shape, held against the launch's grid where one was seen."""
    t = subject.tiling
    if t is None:
        return
    factors = [f"ceil({t.problem.m} / {t.tile.m})", f"ceil({t.problem.n} / {t.tile.n})"]
    numbers = [str(t.along_m), str(t.along_n)]
    if t.problem.batch > 1:
        factors.append(str(t.problem.batch))
        numbers.append(str(t.problem.batch))
    if t.tile.split_k > 1:
        factors.append(str(t.tile.split_k))
        numbers.append(str(t.tile.split_k))
    differs = not subject.one_block_a_tile
    turned = "implication.note.turned" if t.problem.turned else None
    yield Implication(
        key="grid",
        value=t.blocks,
        unit="blocks",
        formula=f"{' * '.join(factors)} = {' * '.join(numbers)} = {t.blocks}",
        source=_TILE_SOURCE,
        evidence=Evidence.INFERRED if differs else subject.tiling_evidence,
        note_key="implication.note.grid_differs" if differs else turned,
        note_values={"launched": subject.launched or 0},
    )


def k_steps(subject: Subject) -> Iterator[Implication]:
    """Main-loop steps of one block."""
    t = subject.tiling
    if t is None or t.k_steps is None or not subject.one_block_a_tile:
        return
    k = f"ceil({t.problem.k} / {t.tile.split_k})" if t.tile.split_k > 1 else str(t.problem.k)
    yield Implication(
        key="k_steps",
        value=t.k_steps,
        unit="steps",
        formula=f"ceil({k} / {t.tile.k}) = {t.k_steps}",
        source="source.k_step",
    )


def tiles_per_cu(subject: Subject) -> Iterator[Implication]:
    """Blocks over compute units, and how many of the CUs' turns stay empty."""
    t, units = subject.tiling, subject.compute_units
    if t is None or not units:
        return
    blocks = subject.launched or t.blocks
    yield Implication(
        key="tiles_per_cu",
        value=round(blocks / units, 3),
        unit="blocks",
        formula=f"{blocks} / {units} = {blocks / units:.3g}",
        source="source.grid" if subject.launched else _TILE_SOURCE,
        evidence=Evidence.RESOLVED if subject.launched else subject.tiling_evidence,
        note_key="implication.note.idle_units" if blocks < units else None,
        note_values={"idle": units - blocks},
    )
    if not subject.one_block_a_tile:
        return
    rounds, efficiency = t.rounds(units), t.wave_efficiency(units)
    yield Implication(
        key="wave_quantisation",
        value=round(100 * (1 - efficiency), 1),
        unit="%",
        formula=f"1 - {t.blocks} / (ceil({t.blocks} / {units}) * {units}) = 1 - {t.blocks} / {rounds * units}",
        source="source.turns",
        evidence=subject.tiling_evidence,
    )


def padding_waste(subject: Subject) -> Iterator[Implication]:
    """The part of the computed output that nobody asked for."""
    t = subject.tiling
    if t is None:
        return
    m, n = t.along_m * t.tile.m, t.along_n * t.tile.n
    yield Implication(
        key="padding_waste",
        value=round(100 * (1 - t.useful), 1),
        unit="%",
        formula=f"1 - {t.problem.m} * {t.problem.n} / ({m} * {n}) = {1 - t.useful:.3g}",
        source="source.whole_tiles",
        evidence=subject.tiling_evidence,
        note_key="implication.note.turned" if t.problem.turned and not subject.one_block_a_tile else None,
    )


#: every question, in the order of the page
QUESTIONS: tuple[Callable[[Subject], Iterator[Implication]], ...] = (
    waves_per_block,
    wave_layout,
    mfma_instruction,
    lds_bytes,
    occupancy,
    grid,
    k_steps,
    tiles_per_cu,
    padding_waste,
)


def implications(subject: Subject) -> tuple[Implication, ...]:
    """Everything that follows from what is known of a kernel."""
    return tuple(found for question in QUESTIONS for found in question(subject))
