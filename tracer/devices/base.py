"""What a device file states, typed: shape, rates, peaks and limits, each with its source."""

from __future__ import annotations

import msgspec

from tracer.model.evidence import Evidence


class Figure(msgspec.Struct, frozen=True):
    """One number of a device with its source.

    Attributes:
        value: in the unit that the key's name ends with; None when it is not public.
        source: who says so, and how sure it is.
    """

    source: str
    value: float | None = None


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """One part that kernels run on.

    Attributes:
        key: the name on the command line ("MI300X").
        name: in full; vendor: "AMD" or "NVIDIA"; arch: "gfx942", "sm_90".
        compute_capability: as runtimes report it ("9.4"). MI210 and H100 share one: the wave size tells them apart.
        compute_units: CUs (SMs) of the whole part; wave_size: lanes of a wave (warp).
        clock_mhz: the engine clock that the matrix peaks are reckoned with.
        hbm_bytes_per_s, hbm_bytes, l2_bytes, mall_bytes: memory; mall_bytes is AMD's Infinity Cache (0: none).
        lds_bytes_per_cu, lds_granule_bytes, lds_bytes_per_block: LDS (shared memory).
        reserved_lds_bytes_per_block: NVIDIA takes this much of every block's share.
        simds_per_cu, blocks_per_cu: AMD: blocks of more than one wave, for which min(32 / waves, blocks_per_cu) holds.
        waves_per_simd, vgprs_per_simd, vgpr_granule: AMD's occupancy rules; None on NVIDIA.
        registers_per_sm, register_granule, warps_per_sm: NVIDIA's; None on AMD.
        rates_flop_per_clk_per_unit: dtype -> FLOP per clock of one CU (SM).
        peaks_flop_per_s: dtype -> FLOP/s, dense; a dtype that the part lacks is not there.
        achievable: measured ceilings of somebody, name -> figure; never mixed with peaks.
        names: strings by which runtimes and traces call this part.
        default_for: (arch, compute units) for which this part is assumed when nobody names one.
        partitions: partition mode -> compute units that it shows.
    """

    key: str
    name: str
    vendor: str
    arch: str
    compute_capability: str
    compute_units: Figure
    wave_size: Figure
    clock_mhz: Figure
    hbm_bytes_per_s: Figure
    hbm_bytes: Figure
    l2_bytes: Figure
    mall_bytes: Figure
    lds_bytes_per_cu: Figure
    lds_bytes_per_block: Figure
    lds_granule_bytes: Figure
    simds_per_cu: Figure
    blocks_per_cu: Figure
    reserved_lds_bytes_per_block: Figure | None = None
    waves_per_simd: Figure | None = None
    vgprs_per_simd: Figure | None = None
    vgpr_granule: Figure | None = None
    registers_per_sm: Figure | None = None
    register_granule: Figure | None = None
    warps_per_sm: Figure | None = None
    rates_flop_per_clk_per_unit: dict[str, Figure] = {}
    peaks_flop_per_s: dict[str, Figure] = {}
    achievable: dict[str, Figure] = {}
    names: tuple[str, ...] = ()
    default_for: tuple[tuple[str, int], ...] = ()
    partitions: dict[str, int] = {}


class Identification(msgspec.Struct, frozen=True, kw_only=True):
    """Which part something ran on, as far as its properties tell.

    Attributes:
        device: the part; None when it stays open.
        evidence: stated (a name says so), inferred (the properties fit one part only), assumed (the default of the
            target), unresolved.
        reason: why it is not better known, or None.
        candidates: keys of the parts that fit, when more than one does.
        arch: the architecture, where the properties tell that much.
        partition: the partition mode ("CPX") when the compute units are those of a part of the device.
    """

    device: Device | None
    evidence: Evidence
    reason: str | None = None
    candidates: tuple[str, ...] = ()
    arch: str | None = None
    partition: str | None = None
