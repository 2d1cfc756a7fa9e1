"""What a child's record lacks and files can tell: a record and an aiter tree in, it with choices and warnings out.

The child sees calls; which instance the C++ behind the JIT boundary would launch stands in aiter's own files, which are
read here, in the parent.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tracer.aiter import ck_dispatch
from tracer.aiter.dispatch import resolve_dispatch
from tracer.aiter.families import CK_FAMILIES
from tracer.aiter.tree import AiterTree
from tracer.errors import KtraceError
from tracer.model.capture import BoundaryCall, CaptureRecord, Launch, Resources
from tracer.model.environment import Target
from tracer.model.evidence import Evidence, GridUnit
from tracer.model.source import Dispatch
from tracer.ops.triton_gemm import split_k_warning

#: candidates that a reason names; the dispatch has them all
_MOST_CANDIDATES = 4


def read_ahead(tree: AiterTree | None, modules: Iterable[str], target: Target, environment: Mapping[str, str]) -> None:
    """Reads the sources behind JIT modules that are going to be called; what is amiss with them is said by `complete`.

    Args:
        tree: the aiter that runs, or None.
        modules: names of JIT modules.
        target: what the calls are for.
        environment: the environment variables of the calls.
    """
    if tree is None or target.arch is None:
        return
    for module in modules:
        family = CK_FAMILIES.get(module)
        if family is None:
            continue
        from tracer.resolve import dispatch_symbols

        with contextlib.suppress(KtraceError):
            ck_dispatch.read_ahead(tree, family, target, environment)
            dispatch_symbols.read_ahead(tree, family.instances, target.arch)


def complete(record: CaptureRecord, tree: AiterTree | None) -> CaptureRecord:
    """Adds what aiter's files and the record itself imply.

    Args:
        record: as the child saw it.
        tree: the aiter that ran, or None.
    """
    dispatches, warnings = _dispatches(record, tree) if tree is not None else ({}, [])
    return msgspec.structs.replace(
        record,
        dispatches=tuple(dispatches.values()),
        launches=tuple(_with_choice(launch, dispatches) for launch in record.launches),
        warnings=(*record.warnings, *warnings, *_split_k_warnings(record)),
    )


def _dispatches(record: CaptureRecord, tree: AiterTree) -> tuple[dict[int, Dispatch], list[str]]:
    """What aiter's rules choose for each call that launches something, by the call's id."""
    found: dict[int, Dispatch] = {}
    warnings: list[str] = []
    launching = {launch.boundary for launch in record.launches}
    for call in record.boundaries:
        if call.id not in launching:
            continue
        try:
            dispatch = resolve_dispatch(tree, call, record.target, record.environment.variables)
            if dispatch is None:
                dispatch = _indexed(tree, call)
        except KtraceError as error:
            warnings.append(f"the choice of {call.module}.{call.function} could not be followed: {error.message}")
            continue
        if dispatch is not None:
            found[call.id] = dispatch = _with_symbol(tree, dispatch, record.target)
            if (stop := _stop(dispatch)) is not None and " refuses the call: " in stop:
                warnings.append(stop)
    return found, warnings


def _indexed(tree: AiterTree, call: BoundaryCall) -> Dispatch | None:
    """The chain by the static index, which takes seconds to load and so is loaded only where no rule is known."""
    from tracer.resolve.indexed import indexed_dispatch

    return indexed_dispatch(tree, call)


def _with_symbol(tree: AiterTree, dispatch: Dispatch, target: Target) -> Dispatch:
    """The dispatch with its kernel's symbol; what evaluates CK's headers is loaded for CK instances only."""
    if dispatch.instantiation is None or target.arch is None:
        return dispatch
    from tracer.resolve.dispatch_symbols import with_symbol

    return with_symbol(tree, dispatch, target.arch)


def _with_choice(launch: Launch, dispatches: Mapping[int, Dispatch]) -> Launch:
    """The launch of a call across the boundary, with what its dispatch says of it."""
    dispatch = dispatches.get(launch.boundary) if launch.boundary is not None else None
    if dispatch is None:
        return launch
    known = dispatch.parameters
    kernel = dispatch.symbols[0] if len(dispatch.symbols) == 1 else known.get("kernel")
    chosen = dispatch.instance is not None or kernel is not None
    grid = _extents(known.get("grid"))
    return msgspec.structs.replace(
        launch,
        kernel=kernel,
        instance=dispatch.instance,
        grid=grid,
        grid_unit_seen=GridUnit.BLOCKS if grid is not None else None,
        block=_extents(known.get("block")),
        resources=Resources(lds_bytes=known.get("lds_bytes")),
        evidence=Evidence.RESOLVED if chosen else Evidence.UNRESOLVED,
        reason=dispatch.assumption if chosen else _stop(dispatch) or _open_choice(dispatch.candidates),
    )


def _stop(dispatch: Dispatch) -> str | None:
    """Why a dispatch ends before a kernel."""
    if dispatch.instance is not None:
        return None
    stops = (hop.reason for hop in reversed(dispatch.hops) if hop.evidence is Evidence.UNRESOLVED and hop.reason)
    return next(stops, None)


def _open_choice(candidates: tuple[str, ...]) -> str:
    if not candidates:
        return "which kernel runs depends on what is not known here"
    names = ", ".join(candidates[:_MOST_CANDIDATES]) + (", ..." if candidates[_MOST_CANDIDATES:] else "")
    return f"which of {len(candidates)} kernels run depends on what is not known here: {names}"


def _extents(value: Any) -> tuple[int, int, int] | None:
    if not isinstance(value, (list, tuple)) or len(value) != 3:
        return None
    x, y, z = (int(part) for part in value)
    return x, y, z


def _split_k_warnings(record: CaptureRecord) -> list[str]:
    k = record.call.shape.get("K")
    if k is None:
        return []
    compiled = [launch.compiled for launch in record.launches if launch.compiled is not None]
    found = [split_k_warning(k, kernel.constexprs) for kernel in compiled]
    return list(dict.fromkeys(text for text in found if text is not None))
