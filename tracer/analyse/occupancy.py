"""How many blocks fit on a CU (SM) at once: a device and a kernel's resources in, the limits, smallest first, out."""

from __future__ import annotations

import math

import msgspec

from tracer.devices.base import Device, Figure
from tracer.model.capture import Resources


class Limit(msgspec.Struct, frozen=True):
    """One limit on the blocks of a CU.

    Attributes:
        what: "registers", "lds" or "slots".
        blocks: blocks that it lets onto a CU at once.
        formula: with the numbers put in; source: who states the rule.
    """

    what: str
    blocks: int
    formula: str
    source: str


class Occupancy(msgspec.Struct, frozen=True, kw_only=True):
    """What fits on one CU.

    Attributes:
        limits: every limit that could be reckoned, the binding one first.
        blocks_per_cu: the smallest of them.
        waves_per_block: waves (warps) of a block.
        simds: SIMDs (sub-partitions) of a CU; waves_per_simd: waves on one of them at that many blocks.
        complete: whether both registers and LDS were known; else the true figure may be smaller.
    """

    limits: tuple[Limit, ...]
    blocks_per_cu: int
    waves_per_block: int
    simds: int
    waves_per_simd: float
    complete: bool


def _int(figure: Figure | None) -> int | None:
    return int(figure.value) if figure is not None and figure.value is not None else None


def _ceil_to(value: int, step: int) -> int:
    return -(-value // step) * step


def _lds_limit(device: Device, lds_bytes: int) -> Limit | None:
    whole, granule = _int(device.lds_bytes_per_cu), _int(device.lds_granule_bytes)
    reserved = _int(device.reserved_lds_bytes_per_block) or 0
    if not whole or not granule or lds_bytes + reserved == 0:
        return None
    taken = _ceil_to(lds_bytes + reserved, granule)
    plus = f" + {reserved}" if reserved else ""
    formula = f"{whole} // ({granule} * ceil(({lds_bytes}{plus}) / {granule})) = {whole} // {taken} = {whole // taken}"
    return Limit("lds", whole // taken, formula, device.lds_granule_bytes.source)


def _amd_registers(device: Device, resources: Resources, waves: int, *, agprs_included: bool) -> Limit | None:
    file, granule = _int(device.vgprs_per_simd), _int(device.vgpr_granule)
    simds, most = _int(device.simds_per_cu), _int(device.waves_per_simd)
    if resources.vgprs is None or not (file and granule and simds and most):
        return None
    # from CDNA2 on AGPRs lie behind the architectural VGPRs in one file, at an offset that is a multiple of 4
    agprs = 0 if agprs_included else resources.agprs or 0
    total = _ceil_to(resources.vgprs, 4) + agprs if agprs else resources.vgprs
    taken = max(granule, _ceil_to(total, granule))
    per_simd = min(most, file // taken)
    blocks = per_simd * simds // waves
    formula = (
        f"min({most}, {file} // {taken}) * {simds} // {waves} = {per_simd} * {simds} // {waves} = {blocks} "
        f"({resources.vgprs} VGPR{f' + {agprs} AGPR' if agprs else ''}, rounded up to {taken})"
    )
    assert device.vgpr_granule is not None
    return Limit("registers", blocks, formula, device.vgpr_granule.source)


def _nvidia_registers(device: Device, resources: Resources, waves: int, lanes: int) -> Limit | None:
    file, granule = _int(device.registers_per_sm), _int(device.register_granule)
    if resources.registers is None or not file or not granule:
        return None
    per_warp = _ceil_to(max(1, resources.registers) * lanes, granule)
    warps = file // per_warp // 4 * 4
    blocks = warps // waves
    formula = f"4 * floor({file} / {per_warp} / 4) // {waves} = {warps} // {waves} = {blocks}"
    assert device.register_granule is not None
    return Limit("registers", blocks, formula, device.register_granule.source)


def _slots(device: Device, waves: int) -> Limit | None:
    most = _int(device.blocks_per_cu)
    if most is None:
        return None
    if device.warps_per_sm is not None:
        warps = _int(device.warps_per_sm) or 0
        blocks = min(warps // waves, most)
        return Limit("slots", blocks, f"min({warps} // {waves}, {most}) = {blocks}", device.blocks_per_cu.source)
    all_waves = (_int(device.simds_per_cu) or 0) * (_int(device.waves_per_simd) or 0)
    blocks = all_waves if waves == 1 else min(all_waves // waves, most)
    formula = f"{all_waves} (one wave a block)" if waves == 1 else f"min({all_waves} // {waves}, {most}) = {blocks}"
    return Limit("slots", blocks, formula, device.blocks_per_cu.source)


def analyse_occupancy(
    device: Device, threads_per_block: int, resources: Resources, *, agprs_included: bool = True
) -> Occupancy | None:
    """Reckons how many blocks of a kernel one CU holds at once.

    Args:
        device: the part, whose file states every rule.
        threads_per_block: threads of one block.
        resources: registers and LDS of the kernel; what is None is left out of the reckoning.
        agprs_included: whether `vgprs` counts the AGPRs as well, as a code object's `.vgpr_count` does on gfx90a and
            later (amd-aiter 0.1.7's equal what the kernel descriptor allocates); profilers report them apart.

    Returns:
        The occupancy; None when neither registers nor LDS are known.
    """
    lanes = _int(device.wave_size)
    if not lanes or threads_per_block <= 0:
        return None
    waves = math.ceil(threads_per_block / lanes)
    lds = _lds_limit(device, resources.lds_bytes) if resources.lds_bytes is not None else None
    registers = (
        _amd_registers(device, resources, waves, agprs_included=agprs_included)
        if device.vgprs_per_simd is not None
        else _nvidia_registers(device, resources, waves, lanes)
    )
    if registers is None and resources.lds_bytes is None:
        return None
    limits = sorted((x for x in (registers, lds, _slots(device, waves)) if x), key=lambda limit: limit.blocks)
    blocks = limits[0].blocks
    simds = _int(device.simds_per_cu) or 1
    return Occupancy(
        limits=tuple(limits),
        blocks_per_cu=blocks,
        waves_per_block=waves,
        simds=simds,
        waves_per_simd=blocks * waves / simds,
        complete=registers is not None and resources.lds_bytes is not None,
    )
