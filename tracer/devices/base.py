"""What a device file states, typed: shape, rates, peaks and limits, each with its source."""

from __future__ import annotations

import msgspec


class Figure(msgspec.Struct, frozen=True):
    """One number of a device with its source.

    Attributes:
        value: in the unit that the key's name ends with; None when it is not public.
        source: who says so, and how sure it is.
    """

    value: float | None
    source: str


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """One part that kernels run on.

    Attributes:
        key: the name on the command line ("MI300X").
        name: in full; vendor: "AMD" or "NVIDIA"; arch: "gfx942", "sm_90".
        compute_units: CUs (SMs) of the whole part.
        wave_size: lanes of a wave (warp).
        clock_mhz: the engine clock that the peaks are reckoned with.
        hbm_bytes_per_s, hbm_bytes, l2_bytes, mall_bytes: memory; mall_bytes is AMD's Infinity Cache (0: none).
        lds_bytes_per_cu, lds_granule_bytes, lds_bytes_per_block: LDS (shared memory).
        simds_per_cu, waves_per_simd, vgprs_per_simd, vgpr_granule: AMD occupancy rules (NVIDIA: registers a SM, warps a SM).
        peaks: dtype -> FLOP/s, dense ("fp8", "bf16", "fp32_vector", ...); a dtype that the part lacks is not there.
        achievable: measured ceilings of somebody, name -> figure; never mixed with peaks.
        names: strings by which runtimes and traces call this part.
        default_for: (arch, compute units) for which this part is assumed when nobody names one.
    """

    key: str
    name: str
    vendor: str
    arch: str
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
    waves_per_simd: Figure
    vgprs_per_simd: Figure
    vgpr_granule: Figure
    peaks: dict[str, Figure]
    achievable: dict[str, Figure] = {}
    names: tuple[str, ...] = ()
    default_for: tuple[tuple[str, int], ...] = ()
