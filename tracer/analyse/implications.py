"""What a kernel's fields imply for a shape on a device: a subject in, statements with formula, source and evidence out.

Each function answers one question and is silent (returns nothing) when an input that it needs is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from tracer.analyse import mfma
from tracer.analyse.occupancy import Occupancy, analyse_occupancy
from tracer.analyse.tiles import Tiling, ceil_div
from tracer.devices.base import Device
from tracer.model.capture import Launch
from tracer.model.evidence import Evidence
from tracer.model.kernel import GemmView
from tracer.model.roofline import Implication

_TILE_SOURCE = "source.tile"
_GRID = "CK include/ck/tensor_operation/gpu/grid/"


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel as far as it is known.

    Attributes:
        arch: the target; device: the part, or None; compute_units: CUs in use, or None.
        family: family of the decoded name, or None.
        fields: what the name states; beside: what only the source states (the same keys).
        view: the common GEMM view, or None.
        dtype: element type of the operands in ktrace's spelling, or None.
        tiling: the shape cut into the kernel's tiles, or None.
        launch: the launch.
        agprs_included: see analyse_occupancy.
    """

    arch: str | None
    device: Device | None
    compute_units: int | None
    family: str | None
    fields: Mapping[str, Any]
    beside: Mapping[str, Any] = {}
    view: GemmView | None
    dtype: str | None
    tiling: Tiling | None
    launch: Launch
    agprs_included: bool = True

    def value(self, key: str) -> Any:
        """What the name states of `key`, else what the source does; None when neither."""
        return self.fields.get(key, self.beside.get(key))

    @property
    def threads(self) -> int | None:
        """Threads of one block."""
        if self.launch.block is not None:
            x, y, z = self.launch.block
            return x * y * z
        return self.view.threads_per_block if self.view else None

    @property
    def launched(self) -> int | None:
        """Blocks of the launch, where its grid is known."""
        grid = self.launch.grid
        return grid[0] * grid[1] * grid[2] if grid is not None else None

    @property
    def one_block_a_tile(self) -> bool:
        """Whether nothing says that the kernel launches other than one block a tile."""
        return self.tiling is not None and self.launched in (None, self.tiling.blocks)

    @property
    def wave_size(self) -> int | None:
        """Lanes of a wave (warp)."""
        size = self.device.wave_size.value if self.device else None
        return int(size) if size else None


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


def wave_layout(subject: Subject) -> Iterator[Implication]:
    """How the waves of a CK block share its tile."""
    keys = ("m_per_block", "n_per_block", "m_per_xdl", "n_per_xdl", "m_xdl_per_wave", "n_xdl_per_wave")
    m, n, mx, nx, mw, nw = (subject.value(key) for key in keys)
    if not all(isinstance(v, int) and v > 0 for v in (m, n, mx, nx, mw, nw)):
        return
    along_m, along_n = m // (mw * mx), n // (nw * nx)
    yield Implication(
        key="wave_layout",
        value=f"{along_m} x {along_n}",
        unit="waves",
        formula=f"{m} / ({mw} * {mx}) x {n} / ({nw} * {nx}) = {along_m} x {along_n}",
        source=f"{_GRID}gridwise_gemm_xdl_cshuffle_v3*.hpp: MWave = MPerBlock / (MXdlPerWave * MPerXdl)",
    )


def mfma_instruction(subject: Subject) -> Iterator[Implication]:
    """The matrix instruction of a CK tile, and whether it runs at half rate."""
    m, n = subject.value("m_per_xdl"), subject.value("n_per_xdl")
    if not (subject.arch and subject.dtype and isinstance(m, int) and isinstance(n, int)):
        return
    choice = mfma.choose(
        arch=subject.arch,
        family=subject.family,
        m_per_xdl=m,
        n_per_xdl=n,
        dtype=subject.dtype,
        ak1=subject.value("ak1"),
        bk1=subject.value("bk1"),
        k_per_block=subject.value("k_per_block"),
    )
    if choice is None:
        return
    if choice.instruction is None:
        yield Implication(
            key="mfma_instruction",
            value=" / ".join(f"v_{c.name}" for c in choice.candidates),
            formula=choice.formula,
            source=choice.source,
            evidence=Evidence.INFERRED,
            note_key="implication.note.mfma_open",
        )
        return
    found = choice.instruction
    yield Implication(
        key="mfma_instruction",
        value=f"v_{found.name}",
        formula=choice.formula,
        source=choice.source,
        note_key="implication.note.half_rate" if found.half_rate else None,
    )
    k, mw, nw = (subject.value(key) for key in ("k_per_block", "m_xdl_per_wave", "n_xdl_per_wave"))
    if all(isinstance(v, int) for v in (k, mw, nw)) and k % found.k == 0:
        count = mw * nw * (k // found.k)
        yield Implication(
            key="mfma_per_step",
            value=count,
            unit="MFMA",
            formula=f"{mw} * {nw} * ({k} / {found.k}) = {count}",
            source="MXdlPerWave * NXdlPerWave * (KPerBlock / K of the instruction)",
        )


#: families whose A and B tiles lie in LDS once, and the grid-wise header that states the size
_LDS_ONCE = {
    "aiter_ck_a8w8_blockscale": "gridwise_gemm_xdl_cshuffle_v3_multi_d_ab_scale.hpp: GetSharedMemoryNumberOfByte",
    "aiter_ck_a8w8_rowwise": "gridwise_gemm_xdl_cshuffle_v3_multi_d.hpp: GetSharedMemoryNumberOfByte",
    "aiter_ck_a8w8_batched_rowwise": "gridwise_gemm_xdl_cshuffle_v3_multi_d.hpp: GetSharedMemoryNumberOfByte",
    "aiter_ck_bf16_batched": "gridwise_gemm_xdl_cshuffle_v3_multi_d.hpp: GetSharedMemoryNumberOfByte",
}
_WIDTH = {"fp8": 1, "int8": 1, "bf16": 2, "fp16": 2}


def lds_bytes(subject: Subject) -> Iterator[Implication]:
    """LDS of one block: what the code object states, else what CK's header adds up to."""
    stated = subject.launch.resources.lds_bytes
    if stated is not None:
        yield Implication(
            key="lds_bytes",
            value=stated,
            unit="B",
            formula=str(stated),
            source="source.resources",
            evidence=Evidence.STATED,
        )
        return
    header = _LDS_ONCE.get(subject.family or "")
    width = _WIDTH.get(subject.dtype or "")
    keys = ("m_per_block", "n_per_block", "k_per_block", "m_per_xdl", "n_per_xdl", "m_xdl_per_wave", "n_xdl_per_wave",
            "cshuffle_m", "cshuffle_n", "pipeline_version")  # fmt: skip
    values = [subject.value(key) for key in keys]
    if header is None or width is None or not all(isinstance(v, int) and v > 0 for v in values):
        return
    m, n, k, mx, nx, mw, nw, sm, sn, version = values
    tiles = (m + n) * k * width
    shuffle_m, shuffle_n = sm * (m // (mw * mx)) * mx, sn * (n // (nw * nx)) * nx
    shuffle = shuffle_m * shuffle_n * 4
    # pipeline v4 declares the buffer twice (kernel_..._2lds); the C shuffle reuses the first
    copies = 2 if version == 4 else 1
    total = copies * max(tiles, shuffle)
    formula = f"max(({m} + {n}) * {k} * {width}, {shuffle_m} * {shuffle_n} * 4) = max({tiles}, {shuffle})"
    formula = f"2 * {formula} = {total}" if copies == 2 else formula
    yield Implication(
        key="lds_bytes",
        value=total,
        unit="B",
        formula=formula,
        source=_GRID + header,
        note_key=f"implication.note.lds_{'double' if copies == 2 else 'single'}",
        note_values={"pipeline": f"v{version}"},
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
    yield Implication(
        key="grid",
        value=t.blocks,
        unit="blocks",
        formula=f"{' * '.join(factors)} = {' * '.join(numbers)} = {t.blocks}",
        source=_TILE_SOURCE,
        evidence=Evidence.INFERRED if differs else Evidence.RESOLVED,
        note_key="implication.note.grid_differs" if differs else None,
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
