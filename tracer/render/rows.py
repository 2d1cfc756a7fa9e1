"""Facts laid out as rows: parts of a report in, the cells of a table out. Nothing is decided here, only ordered."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from markupsafe import Markup

from tracer.model.capture import Argument, ArgumentKind, CaptureRecord, Launch
from tracer.model.environment import Environment
from tracer.model.evidence import Evidence, Mode
from tracer.model.report import KernelReport, Path
from tracer.model.source import CsvRow, FlowStep, TunedLookup
from tracer.render.filters import dims, field_value
from tracer.render.languages import Words


class ShownRow(msgspec.Struct, frozen=True):
    """A row of a tuned CSV: what it is to the look-up, where it stands, its values, and the instance it names."""

    role: Markup
    place: str
    values: str
    instance: str | None


def tuned_lookups(paths: Sequence[Path]) -> list[tuple[str, TunedLookup]]:
    """Every look-up in a tuned config, with the title of its path."""
    return [(path.title, d.tuned) for path in paths for d in path.dispatches if d.tuned is not None]


def csv_rows(tuned: TunedLookup, words: Words) -> list[ShownRow]:
    """The rows that a look-up hit, lost, kept or came near, in that order, each once."""
    found: list[tuple[str, CsvRow]] = []
    for role, row in (("row", tuned.row), ("lost_row", tuned.lost_row), ("kept_row", tuned.kept_row)):
        if row is not None:
            found.append((role, row))
    named = [row for _, row in found]
    found += [("nearest", row) for row in tuned.nearest if row not in named]
    return [
        ShownRow(
            words(f"tuned.{role}"),
            f"{row.file}:{row.line}",
            ", ".join(f"{column}={value}" for column, value in row.values.items() if column != "kernelName"),
            row.values.get("kernelName"),
        )
        for role, row in found
    ]


def registers(launch: Launch, words: Words) -> Markup:
    """The registers of a kernel on one line; empty when none are known."""
    res = launch.resources
    named = (
        ("VGPR", res.vgprs),
        ("AGPR", res.agprs),
        ("SGPR", res.sgprs),
        (words("kernel.vgpr_spills"), res.vgpr_spills),
        (words("kernel.scratch"), res.scratch_bytes),
    )
    thread = [] if res.registers is None else [words("kernel.registers_of_thread", n=res.registers)]
    each = (Markup("{} {}").format(name, value) for name, value in named if value is not None)
    return Markup(", ").join([*thread, *each])


class Parameter(msgspec.Struct, frozen=True):
    """A launch value known from source: key, value, and the place that states it, or None."""

    key: str
    value: Any
    place: str | None


def parameters(kernel: KernelReport) -> list[Parameter]:
    """The launch values that source states, without those that the launch itself has; then its further launches."""
    if kernel.dispatch is None:
        return []
    stated, launch = kernel.dispatch.parameters, kernel.launch
    sources = stated.get("sources") or {}
    own = {
        "grid": launch.grid,
        "block": launch.block,
        "lds_bytes": launch.resources.lds_bytes,
        "kernel": True if stated.get("kernel") in (kernel.name, launch.kernel) else None,
    }
    listed = [
        Parameter(key, value, sources.get(key))
        for key, value in stated.items()
        if key not in ("sources", "further") and own.get(key) is None
    ]
    return [*listed, *(_launched(launched) for launched in further(kernel))]


def further(kernel: KernelReport) -> Sequence[Mapping[str, Any]]:
    """The launches that the same call makes after the one that the kernel is named for."""
    return kernel.dispatch.parameters.get("further") or () if kernel.dispatch is not None else ()


def _launched(launched: Mapping[str, Any]) -> Parameter:
    """A launch after the one that the kernel is named for: its kernel and what is known of it, on one line."""
    sources = launched.get("sources") or {}
    known = {key: value for key, value in launched.items() if key not in ("kernel", "sources")}
    facts = [f"{key} {dims(tuple(known.pop(key)))}" for key in ("grid", "block") if known.get(key)]
    facts += [f"{key} {field_value(value)}" for key, value in known.items()]
    return Parameter("further", ", ".join([str(launched.get("kernel")), *facts]), next(iter(sources.values()), None))


def stated_at(kernel: KernelReport, key: str) -> str | None:
    """The place in source that states a launch value; None for one that was seen, or whose place is not known."""
    if kernel.dispatch is None or kernel.launch.evidence is not Evidence.RESOLVED:
        return None
    place = (kernel.dispatch.parameters.get("sources") or {}).get(key)
    return place if isinstance(place, str) else None


def passed(record: CaptureRecord, kernel: KernelReport) -> list[tuple[str, str]]:
    """What the call behind a kernel passed across the JIT boundary: names, with dtype and extents or the value."""
    call = next((call for call in record.boundaries if call.id == kernel.launch.boundary), None)
    return [(argument.name, _argument(argument)) for argument in call.arguments] if call is not None else []


def _argument(argument: Argument) -> str:
    if argument.tensor is not None:
        return f"{argument.tensor.dtype} {dims(argument.tensor.shape)}"
    if argument.kind is ArgumentKind.NONE:
        return "None"
    if argument.kind in (ArgumentKind.SEQUENCE, ArgumentKind.MAPPING):
        return f"{argument.type} ({argument.value})"
    return argument.type if argument.value is None else field_value(argument.value)


def step_files(steps: Sequence[FlowStep]) -> list[str]:
    """The files that a core flow cites, in order of first mention."""
    return list(dict.fromkeys(step.source.file for step in steps if step.source is not None))


def launch_options(launch: Launch) -> list[tuple[str, Any]]:
    """The launch options of a compiled kernel, those that people tune first."""
    compiled = launch.compiled
    if compiled is None:
        return []
    first: list[tuple[str, Any]] = [("num_warps", compiled.num_warps), ("num_stages", compiled.num_stages)]
    rest = [(key, value) for key, value in compiled.options.items() if key not in ("num_warps", "num_stages")]
    return [(key, value) for key, value in first + rest if value is not None]


def versions(environment: Environment) -> list[tuple[str, str]]:
    """The versions that are known beside the source trees."""
    trees = {tree.name for tree in environment.trees}
    named = (
        ("Python", environment.python if "python" not in trees else None),
        ("torch", environment.torch if "torch" not in trees else None),
        ("Triton", environment.triton if "triton" not in trees else None),
        ("ROCm", environment.rocm),
        ("CUDA", environment.cuda),
        ("driver", environment.driver),
        ("platform", environment.platform),
    )
    return [(name, value) for name, value in named if value is not None]


def steering(record: CaptureRecord) -> dict[str, str]:
    """The environment variables that the user set and that steer the library.

    `GPU_ARCHS` and `CU_NUM` are ktrace's own, from --target and --cu-num, but in a live run on an AMD GPU.
    """
    users = record.mode is Mode.LIVE and (record.target.arch or "").startswith("gfx")
    own = () if users else ("GPU_ARCHS", "CU_NUM")
    return {name: value for name, value in record.environment.variables.items() if name not in own}


def command_line(record: CaptureRecord) -> str | None:
    """The command that makes the record again, behind the variables that steered the library; None if not recorded."""
    if record.call.command is None:
        return None
    settings = [f"{name}={shlex.quote(value)}" for name, value in steering(record).items()]
    return " ".join([*settings, record.call.command])


def indented(text: Markup, spaces: int) -> Markup:
    """A block of Markdown put inside another: every line but the first (and empty ones) moved right."""
    pad = " " * spaces
    first, *rest = str(text).split("\n")
    return Markup("\n".join([first, *(pad + line if line else line for line in rest)]))
