"""The GPU of this process, as torch states it: a running torch in, the target and random inputs for it out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracer.devices.base import Device
from tracer.devices.registry import get_device, identify
from tracer.errors import CaptureError
from tracer.model.environment import Target
from tracer.model.evidence import Evidence

_SEED = 1


class Gpu:
    """What is known of the GPU that calls run on.

    Attributes:
        target: as the record states it.
        device: its entry in the device tables, or None.
        vendor: "cuda" or "rocm".
    """

    def __init__(self, wished: str | None) -> None:
        """Asks torch.

        Args:
            wished: a device key that the user named, or None.

        Raises:
            CaptureError: torch can't use a GPU.
        """
        import torch

        if not torch.cuda.is_available():
            raise CaptureError(
                f"torch {torch.__version__} can't use the GPU of this machine",
                expected="a ROCm or CUDA build of torch, and a driver that it can talk to",
                hint="run `ktrace doctor`, or use --mode dry",
            )
        properties = torch.cuda.get_device_properties(0)
        self.vendor = "rocm" if torch.version.hip else "cuda"
        arch = getattr(properties, "gcnArchName", "").split(":")[0] if torch.version.hip else None
        arch = arch or f"sm_{properties.major}{properties.minor}"
        found = identify(
            name=properties.name,
            arch=arch,
            wave_size=properties.warp_size,
            compute_units=properties.multi_processor_count,
            memory_bytes=properties.total_memory,
        )
        self.device: Device | None = get_device(wished) if wished else found.device
        evidence = Evidence.OBSERVED if found.evidence is Evidence.STATED else found.evidence
        self.target = Target(
            arch=arch,
            compute_units=properties.multi_processor_count,
            wave_size=properties.warp_size,
            device=self.device.key if self.device else None,
            device_evidence=Evidence.STATED if wished else evidence,
            device_name=properties.name,
            memory_bytes=properties.total_memory,
        )

    @property
    def cache_bytes(self) -> int | None:
        """Last-level cache (L2 + Infinity Cache) of the part by its data sheet, in bytes; None where not known."""
        if self.device is None or self.device.l2_bytes.value is None or self.device.mall_bytes.value is None:
            return None
        return int(self.device.l2_bytes.value + self.device.mall_bytes.value)


class LiveTensors:
    """Makes input tensors on the GPU, filled with random values; zeros would run faster than real data do.

    Attributes:
        bytes_made: bytes of the tensors made since the last `reset`.
    """

    def __init__(self) -> None:
        import torch

        self._torch = torch
        self._generator = torch.Generator(device="cuda").manual_seed(_SEED)
        self.bytes_made = 0

    def reset(self) -> None:
        """Begins a new set of inputs."""
        self.bytes_made = 0

    def tensor(self, shape: Sequence[int], dtype: Any, *, low: float = -1.0, high: float = 1.0) -> Any:
        """A tensor of uniformly random values in [low, high); integers are drawn from [int(low), max(int(high), 2))."""
        torch = self._torch
        shape = tuple(shape)
        if dtype.is_floating_point:
            wide = torch.float32 if dtype.itemsize == 1 else dtype
            made = (
                torch.empty(shape, dtype=wide, device="cuda").uniform_(low, high, generator=self._generator).to(dtype)
            )
        elif dtype is torch.bool:
            made = torch.rand(shape, device="cuda", generator=self._generator) < 0.5
        else:
            bounds = int(low), max(int(high), 2)
            made = torch.randint(*bounds, shape, dtype=dtype, device="cuda", generator=self._generator)
        self.bytes_made += made.numel() * made.element_size()
        return made
