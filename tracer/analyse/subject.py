"""A kernel as far as it is known: what `implications` asks its questions about. Values in, a few derived values out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tracer.analyse.tiles import Tiling
from tracer.devices.base import Device
from tracer.model.capture import Launch
from tracer.model.evidence import Evidence
from tracer.model.kernel import GemmView


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
        lds_rule: the line of source whose rule gave the launch its LDS; None where it is stated, or not known.
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
    lds_rule: str | None = None
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
        return self.launch.blocks

    @property
    def one_block_a_tile(self) -> bool:
        """Whether nothing says that the kernel launches other than one block a tile."""
        return self.tiling is not None and self.launched in (None, self.tiling.blocks)

    @property
    def tiling_evidence(self) -> Evidence:
        """How it is known which extent of the call each extent of the tile divides."""
        t = self.tiling
        return Evidence.INFERRED if t and t.problem.turned and self.launched != t.blocks else Evidence.RESOLVED

    @property
    def wave_size(self) -> int | None:
        """Lanes of a wave (warp)."""
        size = self.device.wave_size.value if self.device else None
        return int(size) if size else None
