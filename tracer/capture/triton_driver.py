"""A Triton driver for a GPU that is not there: the target's facts in, an object that Triton takes for its driver out.

Triton asks its active driver for the target, the launcher and the loader. This one names the target, loads nothing and
launches nothing: what is to be launched goes to the launcher that it was made with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracer.capture.protocol import TargetFacts
from tracer.codeobjects.kernel import KernelCode
from tracer.codeobjects.metadata import kernel_notes


def note_of(name: str, binary: bytes) -> KernelCode | None:
    """What a code object says of its kernel of that name; None when it has none."""
    return next((note for note in kernel_notes(binary) if note.name == name), None)


class _Utilities:
    """What `driver.active.utils` offers."""

    def __init__(self, facts: TargetFacts) -> None:
        self._facts = facts

    def get_device_properties(self, device: int) -> dict[str, Any]:
        return {
            "max_shared_mem": self._facts.lds_bytes_per_block,
            "multiprocessor_count": self._facts.target.compute_units,
            "warpSize": self._facts.target.wave_size,
            "arch": self._facts.target.arch,
        }

    def load_binary(self, name: str, binary: bytes, shared: int, device: int) -> tuple[Any, ...]:
        note = note_of(name, binary)
        registers = note.resources.vgprs if note else None
        threads = note.max_block_threads if note else None
        return object(), 1, registers or 0, 0, threads or 1024


def absent_driver(facts: TargetFacts, launcher: Callable[..., Any]) -> Any:
    """The driver of a GPU that is not there.

    Args:
        facts: the target.
        launcher: makes the launcher of a compiled kernel from its source and metadata, as Triton's own drivers do.
    """
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import GPUDriver

    target = GPUTarget("hip", facts.target.arch, facts.target.wave_size)

    class Driver(GPUDriver):  # type: ignore[misc]  # Triton is not there for the type checker
        def __init__(self) -> None:
            self.utils = _Utilities(facts)
            self.launcher_cls = launcher
            self.get_current_device = lambda: 0
            self.set_current_device = lambda device: None
            self.get_current_stream = lambda device=None: 0
            self.get_device_capability = lambda device=None: None

        @staticmethod
        def is_active() -> bool:
            return True

        def map_python_to_cpp_type(self, ty: str) -> str:
            raise NotImplementedError(f"a dry run builds no C launcher (asked for the type {ty})")

        def get_current_target(self) -> Any:
            return target

        def get_active_torch_device(self) -> Any:
            import torch

            return torch.device("cuda", 0)

        def get_device_interface(self) -> Any:
            import torch

            return torch.cuda

        def get_benchmarker(self) -> Any:
            raise NotImplementedError("a dry run measures nothing: give the configuration that autotuning would choose")

        def get_empty_cache_for_benchmark(self) -> Any:
            raise NotImplementedError("a dry run measures nothing")

        def clear_cache(self, cache: Any) -> None:
            raise NotImplementedError("a dry run measures nothing")

    Driver.__abstractmethods__ = frozenset()
    return Driver()
