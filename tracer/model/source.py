"""Which line led to which kernel: places in source, hops of the chain, and the tuned-config look-up behind a choice."""

from __future__ import annotations

import enum
from typing import Any

import msgspec

from tracer.model.evidence import Evidence


class Layer(enum.StrEnum):
    """The layers a hop can stand in, outermost first."""

    PYTHON = "python"  #: a Python frame of the library
    TUNED_CONFIG = "tuned_config"  #: the row of a tuned CSV or JSON, or the default that stands in for it
    JIT = "jit"  #: compile_ops, torch guard, get_module, Triton's JITFunction.run
    REGISTERED_OP = "registered_op"  #: a torch.library op (aiter::..., aten::...)
    BINDING = "binding"  #: pybind macro or ctypes symbol
    CPP = "cpp"  #: the C++ function that is called
    DISPATCH = "dispatch"  #: the C++ (or Python) choice among instances
    INSTANCE = "instance"  #: one concrete specialisation
    KERNEL = "kernel"  #: the device function or code object
    LAUNCH = "launch"  #: the runtime call that started it


class UnresolvedReason(enum.StrEnum):
    """Why a name or a hop could not be led to source: the only reasons that `ktrace where` gives."""

    NO_SUCH_NAME = "no_such_name"  #: nothing in the tree bears the name
    OTHER_LIBRARY = "other_library"  #: the name belongs to a library whose source is not in this tree
    AMBIGUOUS = "ambiguous"  #: several places fit and the text does not choose; they are listed
    NO_RECIPE = "no_recipe"  #: the JIT module has no entry in optCompilerConfig.json
    SOURCE_MISSING = "source_missing"  #: a file that the recipe or a table names is not in this tree
    CK_MISSING = "ck_missing"  #: the way goes on in Composable Kernel, which this tree lacks
    NO_BINDING = "no_binding"  #: no source of the module binds the symbol
    NO_DEFINITION = "no_definition"  #: the binding names a function that no source of the module defines
    NO_LAUNCH = "no_launch"  #: the function calls what no source of the module defines, and no launch was found before
    NOT_STATED = "not_stated"  #: a generator writes it, and its templates do not state it
    NOT_PARSED = "not_parsed"  #: the file that should state it could not be parsed
    CHANGED = "changed"  #: the cited file changed or vanished while the answer was made


class SourceRef(msgspec.Struct, frozen=True):
    """A place in source.

    Attributes:
        file: path relative to its tree, with forward slashes (`aiter/ops/gemm_op_a8w8.py`, `csrc/...`).
        line: 1-based line, or None for a whole file.
        tree: which tree the path is relative to: "aiter", "torch", "triton", "ck", "user", ...; None when not known.
        end_line: last line of the cited range, or None.
        permalink: address of the same place in a public repository at a known commit or version, or None.
    """

    file: str
    line: int | None = None
    tree: str | None = None
    end_line: int | None = None
    permalink: str | None = None


class Decorator(msgspec.Struct, frozen=True):
    """A decorator that turns a Python function into a call across a JIT layer.

    Attributes:
        name: without its module ("compile_ops").
        line: where it stands, in the function's file.
    """

    name: str
    line: int


class Hop(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the chain from Python to the kernel.

    Attributes:
        layer: where in the chain it stands.
        name: function, macro, instance, file or symbol.
        source: the place, or None.
        evidence: how it is known.
        reason: why it is only inferred, assumed or unresolved; else None.
        note: one more sentence for the reader (a condition, an assumption), or None.
        candidates: what else it could be, when the choice depends on what can't be known here.
    """

    layer: Layer
    name: str
    source: SourceRef | None = None
    evidence: Evidence
    reason: str | None = None
    note: str | None = None
    candidates: tuple[str, ...] = ()


class TunedStatus(enum.StrEnum):
    """What a look-up in the tuned configs gave."""

    EXACT = "exact"
    PADDED_FINE = "padded_fine"
    PADDED_COARSE = "padded_coarse"
    MISS = "miss"


class MissReason(enum.StrEnum):
    """Why a look-up missed, most specific first."""

    DROPPED_BY_MERGE = "dropped_by_merge"  #: a shipped row for exactly this key was lost in aiter's own merge
    NOT_COMPILED_IN = "not_compiled_in"  #: a row exists but names an instance that is not built
    FILE_EMPTY = "file_empty"  #: the merged file has no rows
    FILE_MISSING = "file_missing"  #: the file that the environment or aiter's default names does not exist
    GFX_DIFFERS = "gfx_differs"  #: rows for this shape exist, for another architecture
    CU_NUM_DIFFERS = "cu_num_differs"  #: rows for this shape exist, for another CU count
    DTYPE_DIFFERS = "dtype_differs"  #: rows for this shape exist, for another dtype
    M_DIFFERS = "m_differs"  #: rows for this N and K exist, but for no M that padding reaches
    NO_SUCH_NK = "no_such_nk"  #: no row has this N and K
    NOT_CONSULTED = "not_consulted"  #: this path never looks at a tuned config


class CsvRow(msgspec.Struct, frozen=True):
    """A row of a tuned CSV, where it stands.

    Attributes:
        file: the shipped CSV, relative to its tree.
        line: 1-based line in that file.
        values: column -> text, as it stands in the file.
    """

    file: str
    line: int
    values: dict[str, str]


class TunedLookup(msgspec.Struct, frozen=True, kw_only=True):
    """One look-up in aiter's tuned configs, with everything that decided it.

    Attributes:
        status: exact, padded_fine, padded_coarse or miss.
        reason: for a miss, why; else None.
        key: the columns looked up and their values (`{"cu_num": "304", "M": "128", ...}`).
        padded_m: the M of the row that was hit; None for a miss.
        row: the row that was hit, where it stands in a shipped file.
        lost_row: for dropped_by_merge, the row that was lost; for a hit, a closer row that was lost before it.
        kept_row: the row that aiter's merge kept in the lost row's place.
        nearest: other rows of the same N and K, this GPU's first, then the closest M (at most five).
        files: the CSVs that were merged, in order, relative to their tree.
        missing: the CSVs that the variable or its default names, but that are not there.
        environment: the environment variables that decide the files, and their values (None = not set).
        recorded_us: the tuner's own time in the row, in µs; quoted, not measured here.
        untuned_row: the line to append to the untuned CSV so that the tuner covers this shape.
        untuned_file: that untuned CSV, relative to its tree; None where the library ships none.
        caveat: what makes the answer less than sure: the library's own merge or look-up raises on these files, or two
            rows recorded the same time and its sort is not stable; None when nothing does.
    """

    status: TunedStatus
    reason: MissReason | None = None
    key: dict[str, str] = {}
    padded_m: int | None = None
    row: CsvRow | None = None
    lost_row: CsvRow | None = None
    kept_row: CsvRow | None = None
    nearest: tuple[CsvRow, ...] = ()
    files: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    environment: dict[str, str | None] = {}
    recorded_us: float | None = None
    untuned_row: str | None = None
    untuned_file: str | None = None
    caveat: str | None = None


class Instantiation(msgspec.Struct, frozen=True, kw_only=True):
    """What selects one kernel among those that an instance compiles to.

    Attributes:
        types: the template arguments that the library's own code gives the instance, in its words ("F32", "B16"); for
            a MoE stage the words of the JIT module that it is built in.
        m, n, k: the extents of the problem as the device operation is given them.
        k_batch: parts that K is split into.
        batch: problems of these extents in one launch.
        bias: whether the instance is called with a bias.
        scales: whether the call passes scales of A and B; None where it has no such arguments.
    """

    types: tuple[str, ...] = ()
    m: int
    n: int
    k: int
    k_batch: int = 1
    batch: int = 1
    bias: bool = False
    scales: bool | None = None


class CandidateLaunch(msgspec.Struct, frozen=True, kw_only=True):
    """A launch that a call can come to, where no rule says which of them it does.

    Attributes:
        kernel: the kernel, as the launch names it.
        source: the kernel's own place, or None.
        launch: the line that launches it, or None.
        conditions: the conditions in the text under which that line runs, innermost first.
    """

    kernel: str
    source: SourceRef | None = None
    launch: SourceRef | None = None
    conditions: tuple[str, ...] = ()


class Dispatch(msgspec.Struct, frozen=True, kw_only=True):
    """What a library's own rules choose for one call across the JIT boundary.

    Attributes:
        boundary: id of the BoundaryCall it belongs to.
        instance: the chosen instance's name; None when it can't be known here (then `candidates` says which).
        tuned: the look-up behind the choice, or None where the path consults no tuned config.
        hops: from the binding to the kernel's own source.
        not_in_name: values of the instance that the source states and its name does not print.
        assumption: what must hold for the choice to be the one made on the target.
        candidates: instances it could be.
        launches: where no rule follows the choice: the launches that the text can come to.
        core_flow: the kernel's structure as steps with places; empty when not established.
        parameters: launch values known from source: block size, LDS bytes, ... with names in the field's words.
        instantiation: what selects the kernel among those of the instance; None where the library's code does not say.
        symbols: the symbol of the kernel that runs; several where the text does not decide among them; empty when not
            known.
        symbols_reason: why there is not one symbol, or None.
    """

    boundary: int | None = None
    instance: str | None = None
    tuned: TunedLookup | None = None
    hops: tuple[Hop, ...] = ()
    not_in_name: dict[str, Any] = {}
    assumption: str | None = None
    candidates: tuple[str, ...] = ()
    launches: tuple[CandidateLaunch, ...] = ()
    core_flow: tuple[FlowStep, ...] = ()
    parameters: dict[str, Any] = {}
    instantiation: Instantiation | None = None
    symbols: tuple[str, ...] = ()
    symbols_reason: str | None = None


class FlowStep(msgspec.Struct, frozen=True):
    """One step of a kernel's core flow.

    Attributes:
        kind: "load", "scale", "mfma", "dot", "loop", "epilogue", "store", "atomic", ...
        text: one sentence, English.
        source: the line it cites.
        shared: whether the list is the same for a whole family of instances.
    """

    kind: str
    text: str
    source: SourceRef | None = None
    shared: bool = False
