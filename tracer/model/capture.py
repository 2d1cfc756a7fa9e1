"""The record: what one call of an op (or one stretch of a trace) showed, whoever collected it.

A dry run, a live run and an imported trace fill the same `CaptureRecord`. It holds facts only; names are decoded,
ceilings computed and pages written from it again at any time, on any machine. Field by field: docs/record.md.
"""

from __future__ import annotations

import enum
import math
from typing import Any

import msgspec

from tracer.model.environment import Environment, Target, TraceOrigin
from tracer.model.evidence import Evidence, GridUnit, Mode
from tracer.model.source import Decorator, Dispatch, FlowStep, SourceRef
from tracer.model.timing import Timing

SCHEMA_VERSION = 1
#: `Lost.what` of torch's own operators that a dry run passed; `detail` names them
TORCH_OPERATORS = "torch operators"


class TensorInfo(msgspec.Struct, frozen=True):
    """What is recorded of a tensor: never its values.

    Attributes:
        shape: extents in elements.
        dtype: torch's spelling without the prefix ("bfloat16", "float8_e4m3fnuz").
        stride: strides in elements, or None where not known (imported traces may omit them).
        device: "cuda:0", "cpu", ... or None.
    """

    shape: tuple[int, ...]
    dtype: str
    stride: tuple[int, ...] | None = None
    device: str | None = None


class ArgumentKind(enum.StrEnum):
    """What sort of value an argument was."""

    TENSOR = "tensor"
    SCALAR = "scalar"
    ENUM = "enum"
    DTYPE = "dtype"
    NONE = "none"
    SEQUENCE = "sequence"
    MAPPING = "mapping"
    OBJECT = "object"


class Argument(msgspec.Struct, frozen=True):
    """A summary of one argument.

    Attributes:
        name: the parameter's name, or its position as text.
        kind: what sort of value it was.
        type: the type's qualified name.
        value: scalars as they are, an enum as "QuantType.per_1x128 (=3)", a dtype as its name, the length of a sequence
            or mapping; None for tensors and objects.
        tensor: for a tensor.
        items: the first items of a sequence (at most eight).
    """

    name: str
    kind: ArgumentKind
    type: str
    value: str | int | float | bool | None = None
    tensor: TensorInfo | None = None
    items: tuple[Argument, ...] = ()


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a Python function.

    Attributes:
        id: position in call order, from 0, unique in the record.
        parent: id of the calling frame that was recorded, or None for the outermost.
        thread: id of the thread.
        function: code name.
        qualname: qualified name; None where the trace does not state it.
        module: dotted module name, or None.
        source: file relative to its package's tree, and the line of the function's `def`; of its first decorator where
            the source was not at hand (imported traces).
        decorators: those that turn it into a call across a JIT layer (`torch_compile_guard`); empty where not recorded.
        call_line: the line **in the caller** where this call stands, or None.
        enter_ns, exit_ns: nanoseconds since the epoch (imported: since the trace's start); None where not seen.
        arguments: summaries, in parameter order; empty where not recorded.
        raised: the exception's type name when the frame ended by one; else None.
        left_out: calls inside libraries that it led to, which led nowhere and are no frames of the record: tree
            ("pandas", "python", ..., or "generated" for code in no file, "logging" for what writes a log) -> how many.
    """

    id: int
    parent: int | None = None
    thread: int = 0
    function: str
    qualname: str | None = None
    module: str | None = None
    source: SourceRef | None = None
    decorators: tuple[Decorator, ...] = ()
    call_line: int | None = None
    enter_ns: int | None = None
    exit_ns: int | None = None
    arguments: tuple[Argument, ...] = ()
    raised: str | None = None
    left_out: dict[str, int] = {}


class Binding(enum.StrEnum):
    """How Python reaches C++."""

    PYBIND = "pybind"
    CTYPES = "ctypes"


class BoundaryCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that left Python for a JIT-built module (aiter's `compile_ops`).

    Attributes:
        id: unique in the record.
        frame: id of the innermost recorded frame that made it.
        module: JIT module ("module_gemm_a8w8_blockscale").
        function: the function loaded from it.
        built_from: what it is built from where the module's name is made for each call: the module whose recipe is
            narrowed ("module_mha_fwd"), as its declaration names it, or the template that is compiled when it is called
            ("csrc/cpp_itfs/pa/pa.cpp.jinja"); else None.
        declared_as: the Python function that declares it (the stub under `@compile_ops`), or None.
        source: where that stands (its `def`), or None.
        decorators: what declares it (`compile_ops`), with the line; empty where not recorded.
        binding: pybind or ctypes.
        arguments: what was passed.
        answered: "true" (a port of the host function answered as the original does), "output" (the output argument
            was returned, nothing computed), "invented" (values steer later Python and were made up; see `invented`), or
            "ran".
        invented: what was made up, or None.
        at_ns: when, nanoseconds since the epoch.
        evidence: observed, or resolved from an operator that a trace names.
        reason: how it was resolved, or None.
    """

    id: int
    frame: int | None = None
    module: str
    function: str
    built_from: str | None = None
    declared_as: str | None = None
    source: SourceRef | None = None
    decorators: tuple[Decorator, ...] = ()
    binding: Binding = Binding.PYBIND
    arguments: tuple[Argument, ...] = ()
    answered: str = "ran"
    invented: str | None = None
    at_ns: int | None = None
    evidence: Evidence = Evidence.OBSERVED
    reason: str | None = None


class CpuOp(msgspec.Struct, frozen=True, kw_only=True):
    """An operator that a profiler saw on the CPU (`aten::mm`, `aiter::rmsnorm2d_fwd`).

    Attributes:
        id: unique in the record.
        parent: the enclosing operator's id.
        name: as registered.
        inputs: tensor shapes and types, where the trace states them.
        external_id: the profiler's id, or None.
        thread: id of the thread.
        start_ns, duration_us: when and how long on the CPU.
        frame: id of the innermost Python frame around it.
        kernel_count: how many kernels it launched in the whole trace, picked or not; None where that is not known.
    """

    id: int
    parent: int | None = None
    name: str
    inputs: tuple[Argument, ...] = ()
    external_id: int | None = None
    thread: int = 0
    start_ns: int | None = None
    duration_us: float | None = None
    frame: int | None = None
    kernel_count: int | None = None


class RuntimeCall(msgspec.Struct, frozen=True, kw_only=True):
    """The runtime call that started a launch.

    Attributes:
        name: `hipLaunchKernel`, `cudaGraphLaunch`, ...
        start_ns, duration_us: when, and how long on the CPU.
        thread: id of the thread that made it.
        correlation: the profiler's id that joins it to the kernel.
        external_id: the profiler's id of the operator around it.
        frame: id of the innermost Python frame around it; for a graph launch, the frame that replays the graph.
        evidence: how it is known that this call started the launch: inferred where several share its id.
        reason: why it is known no better, or None.
    """

    name: str
    start_ns: int | None = None
    duration_us: float | None = None
    thread: int = 0
    correlation: int | None = None
    external_id: int | None = None
    frame: int | None = None
    evidence: Evidence = Evidence.OBSERVED
    reason: str | None = None


class Resources(msgspec.Struct, frozen=True, kw_only=True):
    """What one launch or compiled kernel takes of the machine. None means not known, zero means zero.

    Attributes:
        vgprs, agprs, sgprs: vector, accumulation and scalar registers of an AMD wave.
        registers: 32-bit registers of a CUDA thread.
        vgpr_spills, sgpr_spills: spilled registers.
        lds_bytes: LDS (shared memory) of one block, static and dynamic together, in bytes.
        scratch_bytes: private memory of one work-item, in bytes.
        occupancy_percent: the profiler's own estimate.
    """

    vgprs: int | None = None
    agprs: int | None = None
    sgprs: int | None = None
    registers: int | None = None
    vgpr_spills: int | None = None
    sgpr_spills: int | None = None
    lds_bytes: int | None = None
    scratch_bytes: int | None = None
    occupancy_percent: float | None = None


class CompiledKernel(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel that was really compiled for the target (Triton).

    Attributes:
        target: "gfx942", "sm_90", ...
        num_warps, num_stages: launch options of Triton.
        options: the other launch options (waves_per_eu, matrix_instr_nonkdim, ...).
        constexprs: compile-time arguments, in declaration order.
        keys: the kernel's own key list for its name (the `repr`'s), or None.
        source: where the kernel is defined.
        core_flow: its structure as steps with places; empty when its source was not at hand.
        isa_lines: lines of the assembly.
        binary_bytes: size of the code object, in bytes.
        instructions: mnemonic -> how often it stands in the assembly; up to ktrace 0.1.0 matrix instructions alone.
    """

    target: str
    num_warps: int | None = None
    num_stages: int | None = None
    options: dict[str, Any] = {}
    constexprs: dict[str, Any] = {}
    keys: tuple[str, ...] | None = None
    source: SourceRef | None = None
    core_flow: tuple[FlowStep, ...] = ()
    isa_lines: int | None = None
    binary_bytes: int | None = None
    instructions: dict[str, int] = {}


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """One execution of a kernel instance (or, in a dry record, one that would happen).

    Attributes:
        id: unique in the record, in launch order.
        kernel: the kernel's name as seen, or None when only the instance is known.
        instance: the library's instance name, where one is known.
        grid: blocks in x, y, z.
        grid_unit_seen: what the numbers counted where they were read.
        block: threads in x, y, z.
        cluster: thread-block cluster, where stated.
        resources: registers, LDS.
        start_ns, duration_us: on the device; None in a dry record, and where a trace states none.
        device, stream: where it ran.
        correlation: the profiler's id that joins it to the runtime call.
        runtime: the runtime call that started it.
        cpu_op: id of the innermost CpuOp.
        frame: id of the innermost Python frame.
        boundary: id of the BoundaryCall behind it.
        graph_replay: whether a graph launch started it.
        evidence: how the launch itself is known.
        frame_evidence: how its frame is known.
        reason: why not better.
        joined_by: "runtime", "cpu_op" or "frame", and what joined the launch to it (an id, nesting in time, ...).
        compiled: for a kernel compiled here.
        count: launches that this entry stands for (imported summaries); 1 for a single one.
    """

    id: int
    kernel: str | None = None
    instance: str | None = None
    grid: tuple[int, int, int] | None = None
    grid_unit_seen: GridUnit | None = None
    block: tuple[int, int, int] | None = None
    cluster: tuple[int, int, int] | None = None
    resources: Resources = Resources()
    start_ns: int | None = None
    duration_us: float | None = None
    device: int | None = None
    stream: int | None = None
    correlation: int | None = None
    runtime: RuntimeCall | None = None
    cpu_op: int | None = None
    frame: int | None = None
    boundary: int | None = None
    graph_replay: bool = False
    evidence: Evidence
    frame_evidence: Evidence | None = None
    reason: str | None = None
    joined_by: dict[str, str] = {}
    compiled: CompiledKernel | None = None
    count: int = 1

    @property
    def blocks(self) -> int | None:
        """Blocks of the grid, where that is known."""
        return math.prod(self.grid) if self.grid is not None else None


class ExceptionInfo(msgspec.Struct, frozen=True):
    """The exception that ended the call.

    Attributes:
        type, message: of the exception.
        frame: id of the recorded frame that raised it.
        traceback: its lines, innermost last, with paths relative to their trees.
    """

    type: str
    message: str
    frame: int | None = None
    traceback: tuple[str, ...] = ()


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """What was called.

    Attributes:
        op: the op's name in ktrace's table, a callable "pkg.mod:fn", or for a trace the operator or kernel picked.
        shape: named extents in elements, in the op's order ({"M": 128, "N": 1536, "K": 7168}); empty when not known.
        options: the op's options and their values, as text.
        config: an explicit kernel configuration (Triton), or None.
        command: the command line that makes this record again.
        entry: the callable that was called, as it is written.
    """

    op: str
    shape: dict[str, int] = {}
    options: dict[str, str] = {}
    config: dict[str, Any] | None = None
    command: str | None = None
    entry: str | None = None


class Lost(msgspec.Struct, frozen=True):
    """Something that a collector could not keep or join: counted, never silent.

    Attributes:
        what: "kernel without a launch", "frames over the limit", "bytes that are no JSON", "torch operators", ...
        count: how many.
        detail: where, or which.
    """

    what: str
    count: int
    detail: str | None = None


class CaptureRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One call of an op, or one stretch of a trace, with everything that was seen of it.

    Attributes:
        schema_version: version of this layout.
        mode: dry, live or imported.
        call: what was called.
        target: what the kernels are for.
        environment: versions and settings.
        recorded_at: UTC, in ISO form.
        frames: the Python calls that belong to the call's story, in call order.
        boundaries: calls that left Python for a JIT-built module.
        cpu_ops: operators that a profiler saw on the CPU.
        launches: kernels, in launch order.
        dispatches: what the library's own rules choose, resolved where the library's files were at hand.
        timings: measured times of the op.
        log: the library's own log lines.
        exception: what ended the call, when it raised.
        lost: what could not be kept or joined, with counts.
        warnings: sentences for the reader about this call.
        origin: for an imported record, the trace.
    """

    schema_version: int = SCHEMA_VERSION
    mode: Mode
    call: Call
    target: Target
    environment: Environment
    recorded_at: str
    frames: tuple[Frame, ...] = ()
    boundaries: tuple[BoundaryCall, ...] = ()
    cpu_ops: tuple[CpuOp, ...] = ()
    launches: tuple[Launch, ...] = ()
    dispatches: tuple[Dispatch, ...] = ()
    timings: tuple[Timing, ...] = ()
    log: tuple[str, ...] = ()
    exception: ExceptionInfo | None = None
    lost: tuple[Lost, ...] = ()
    warnings: tuple[str, ...] = ()
    origin: TraceOrigin | None = None
