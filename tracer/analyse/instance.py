"""What a CK instance's fields imply about its code (waves, matrix instruction, LDS): a subject in, statements out."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tracer.analyse import mfma
from tracer.analyse.subject import Subject
from tracer.model.evidence import Evidence
from tracer.model.roofline import Implication

_GRID = "CK include/ck/tensor_operation/gpu/grid/"


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
    known, added = subject.launch.resources.lds_bytes, _lds_by_header(subject)
    if known is None:
        if added is not None:
            yield added
        return
    if added is not None and subject.lds_rule is not None and added.value == known:
        yield msgspec.structs.replace(added, source=subject.lds_rule)
        return
    yield Implication(
        key="lds_bytes",
        value=known,
        unit="B",
        formula=str(known),
        source=subject.lds_rule or "source.resources",
        evidence=Evidence.STATED if subject.lds_rule is None else Evidence.RESOLVED,
    )


def _lds_by_header(subject: Subject) -> Implication | None:
    header = _LDS_ONCE.get(subject.family or "")
    width = _WIDTH.get(subject.dtype or "")
    keys = ("m_per_block", "n_per_block", "k_per_block", "m_per_xdl", "n_per_xdl", "m_xdl_per_wave", "n_xdl_per_wave",
            "cshuffle_m", "cshuffle_n", "pipeline_version")  # fmt: skip
    values = [subject.value(key) for key in keys]
    if header is None or width is None or not all(isinstance(v, int) and v > 0 for v in values):
        return None
    m, n, k, mx, nx, mw, nw, sm, sn, version = values
    tiles = (m + n) * k * width
    shuffle_m, shuffle_n = sm * (m // (mw * mx)) * mx, sn * (n // (nw * nx)) * nx
    shuffle = shuffle_m * shuffle_n * 4
    # pipeline v4 declares the buffer twice (kernel_..._2lds); the C shuffle reuses the first
    copies = 2 if version == 4 else 1
    total = copies * max(tiles, shuffle)
    formula = f"max(({m} + {n}) * {k} * {width}, {shuffle_m} * {shuffle_n} * 4) = max({tiles}, {shuffle})"
    formula = f"2 * {formula} = {total}" if copies == 2 else formula
    return Implication(
        key="lds_bytes",
        value=total,
        unit="B",
        formula=formula,
        source=_GRID + header,
        note_key=f"implication.note.lds_{'double' if copies == 2 else 'single'}",
        note_values={"pipeline": f"v{version}"},
    )
