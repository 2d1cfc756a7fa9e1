"""What Triton would launch on a GPU that is not there: kernels really compiled for the target in, a `Launch` each out.

A launch is `resolved`: the call that leads to it ran and is observed (`frame_evidence`), the kernel is really there,
and only a GPU could have run it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from tracer.capture.definitions import definition_of
from tracer.capture.frames import FrameRecorder
from tracer.capture.places import Places
from tracer.capture.protocol import TargetFacts
from tracer.capture.triton_driver import absent_driver, note_of
from tracer.capture.triton_steps import core_flow
from tracer.capture.values import Values
from tracer.codeobjects.amdgcn import read_amdgcn
from tracer.model.capture import CompiledKernel, Launch, Resources
from tracer.model.evidence import Evidence, GridUnit

_REASON = (
    "compiled for the target and not run: name, registers and LDS are the code object's, "
    "the grid is what the launcher was given"
)
_OPTIONS = (
    "waves_per_eu", "matrix_instr_nonkdim", "kpack", "num_ctas", "schedule_hint", "enable_fp_fusion",
    "launch_cooperative_grid", "maxnreg", "ir_override",
)  # fmt: skip
_COMPILER = "calls of Triton's compiler"


class TritonLaunches:
    """Collects the launches that Triton would make.

    Args:
        facts: the target.
        places: names files relative to their trees.
        locate: gives the id of the innermost recorded frame at or above a frame.
        number: gives the next launch's id.
        values: told which tensors a kernel may write to.
    """

    def __init__(
        self,
        facts: TargetFacts,
        places: Places,
        locate: Callable[[FrameType | None], int | None],
        number: Callable[[], int],
        values: Values,
    ) -> None:
        self._facts = facts
        self._places = places
        self._locate = locate
        self._number = number
        self._values = values
        self._compiled: dict[str, Any] = {}
        self._counted: dict[str, dict[str, int]] = {}
        self._recorder: FrameRecorder | None = None
        self.launches: list[Launch] = []

    def begin(self, recorder: FrameRecorder) -> None:
        """Forgets the last op's launches; `recorder` is paused while the compiler runs."""
        self.launches = []
        self._recorder = recorder

    def install(self) -> None:
        """Makes the driver active and keeps what the compiler makes, for good."""
        import triton
        import triton.compiler

        triton.runtime.driver.set_active(absent_driver(self._facts, self.launcher))
        real_compile = triton.compiler.compile

        # JITFunction imports `compile` from this package when it first runs (triton 3.4 to 3.6)
        def compile_and_keep(*args: Any, **kwargs: Any) -> Any:
            recorder = self._recorder
            was = recorder.pause(_COMPILER) if recorder is not None else False
            try:
                compiled = real_compile(*args, **kwargs)
                self._counted[compiled.metadata.hash] = _instructions(compiled)
            finally:
                if recorder is not None:
                    recorder.resume(was)
            self._compiled[compiled.metadata.hash] = compiled
            return compiled

        triton.compiler.compile = compile_and_keep

    def launcher(self, source: Any, metadata: Any) -> Callable[..., None]:
        """The launcher of one compiled kernel: called as Triton calls it, with the grid first."""

        def launch(grid_x: int, grid_y: int, grid_z: int, stream: int, function: Any, *args: Any) -> None:
            frame = self._locate(sys._getframe(1))
            self.launches.append(self._launch(source, metadata, (grid_x, grid_y, grid_z), frame))
            for value in args:
                if hasattr(type(value), "untyped_storage"):
                    self._values.written(value, f"the kernel {metadata.name}", lambda _: None)

        return launch

    def _launch(self, source: Any, metadata: Any, grid: tuple[int, int, int], frame: int | None) -> Launch:
        compiled = self._compiled.get(metadata.hash)
        binary = compiled.asm.get("hsaco", b"") if compiled is not None else b""
        note = note_of(metadata.name, binary)
        resources = note.resources if note is not None else Resources()
        wave = self._facts.target.wave_size or 64
        return Launch(
            id=self._number(),
            kernel=metadata.name,
            grid=(int(grid[0]), int(grid[1]), int(grid[2])),
            grid_unit_seen=GridUnit.BLOCKS,
            block=(int(metadata.num_warps) * wave, 1, 1),
            # the metadata's figure counts static and dynamic LDS; the note of some Tritons leaves the dynamic part out
            resources=_with_lds(resources, int(metadata.shared)),
            frame=frame,
            evidence=Evidence.RESOLVED,
            frame_evidence=Evidence.OBSERVED if frame is not None else Evidence.UNRESOLVED,
            reason=_REASON,
            compiled=self._kernel(source, metadata, compiled, len(binary)),
        )

    def _kernel(self, source: Any, metadata: Any, compiled: Any, binary_bytes: int) -> CompiledKernel:
        function = source.fn
        assembly = compiled.asm.get("amdgcn", "") if compiled is not None else ""
        constants = _constexprs(source, function)
        return CompiledKernel(
            target=self._facts.target.arch or "",
            num_warps=metadata.num_warps,
            num_stages=metadata.num_stages,
            options={name: _plain(getattr(metadata, name)) for name in _OPTIONS if hasattr(metadata, name)},
            constexprs=constants,
            keys=_repr_keys(function),
            source=self._places.ref(function.fn.__code__.co_filename, definition_of(function.fn.__code__).line),
            core_flow=core_flow(function, self._places, constants),
            isa_lines=assembly.count("\n") or None,
            binary_bytes=binary_bytes or None,
            instructions=self._counted.get(metadata.hash, {}),
        )


def _with_lds(resources: Resources, lds_bytes: int) -> Resources:
    import msgspec

    return msgspec.structs.replace(resources, lds_bytes=lds_bytes)


def _instructions(compiled: Any) -> dict[str, int]:
    """Mnemonic -> how often it stands in the assembly of a compiled kernel; empty where it has no AMD assembly."""
    kernels = read_amdgcn(compiled.asm.get("amdgcn", "")).kernels
    kernel = next((kernel for kernel in kernels if kernel.name == compiled.metadata.name), None)
    return (kernel.instructions or {}) if kernel is not None else {}


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)


def _constexprs(source: Any, function: Any) -> dict[str, Any]:
    """Compile-time arguments by name: Triton keys them by path, a tuple of positions (3.2 and later)."""
    found = {}
    for path, value in source.constants.items():
        position = path[0] if isinstance(path, tuple) else path
        name = function.arg_names[position] if isinstance(position, int) else str(position)
        found[name] = _plain(value)
    return found


def _repr_keys(function: Any) -> tuple[str, ...] | None:
    """The keys that a kernel's own `repr` joins into its name: aiter's make_kernel_repr closes over the list."""
    naming = getattr(function, "_repr", None)
    code = getattr(naming, "__code__", None)
    cells = getattr(naming, "__closure__", None)
    if code is None or "config_keys" not in code.co_freevars or not cells:
        return None
    keys = cells[code.co_freevars.index("config_keys")].cell_contents
    return tuple(keys) if all(isinstance(key, str) for key in keys) else None
