"""What an aiter at hand would choose for calls that somebody else recorded: a record in, it with dispatches out.

A profiler's trace names the operators that aiter registers and, where shapes were recorded, what they were called with.
That is a call across the JIT boundary, so the rules of dispatch can be held against the kernel that was seen to run.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import msgspec

from tracer.aiter.dispatch import resolve_dispatch
from tracer.aiter.families import CK_FAMILIES
from tracer.aiter.moe_generated import MODULE as MOE_MODULE
from tracer.aiter.tree import AiterTree
from tracer.errors import KtraceError
from tracer.index.python_ops import OpDeclaration
from tracer.index.tree_index import TreeIndex
from tracer.model.capture import BoundaryCall, CaptureRecord, CpuOp, Launch
from tracer.model.evidence import Evidence
from tracer.model.source import Dispatch, SourceRef
from tracer.resolve.dispatch_symbols import with_symbol
from tracer.resolve.operators import operators_around

_NAMESPACE = "aiter::"


def with_predictions(record: CaptureRecord, tree: AiterTree) -> CaptureRecord:
    """Adds, for each observed launch inside an operator of aiter's, what the tree's rules choose for that call.

    Args:
        record: a record of a trace, with operators and what they were called with.
        tree: the aiter at hand, which need not be the one that ran.
    """
    operators = {op.id: op for op in record.cpu_ops}
    around = {launch.id: op for launch in record.launches if (op := _operator(launch, operators)) is not None}
    if not around or record.target.arch is None:
        return record
    declared, ran = _declared(tree), _aiter_of(record)
    calls: dict[int, BoundaryCall] = {}
    dispatches: dict[int, Dispatch] = {}
    first = max((call.id for call in record.boundaries), default=-1) + 1
    for op in {op.id: op for op in around.values()}.values():
        known = declared.get(op.name)
        if known is None:
            continue
        call = _call(first + len(calls), op, *known, tree, ran)
        dispatch = _dispatch(tree, call, record)
        if dispatch is not None:
            calls[op.id], dispatches[op.id] = call, dispatch
    if not calls:
        return record
    return msgspec.structs.replace(
        record,
        boundaries=(*record.boundaries, *calls.values()),
        dispatches=(*record.dispatches, *dispatches.values()),
        launches=tuple(_crossing(launch, around, calls) for launch in record.launches),
    )


def _operator(launch: Launch, operators: Mapping[int, CpuOp]) -> CpuOp | None:
    """The innermost operator of aiter's around an observed launch whose call was recorded."""
    if launch.evidence is not Evidence.OBSERVED or launch.boundary is not None:
        return None
    recorded = (op for op in reversed(operators_around(operators, launch)) if op.inputs)
    return next((op for op in recorded if op.name.startswith(_NAMESPACE)), None)


@lru_cache(maxsize=2)
def _declared(tree: AiterTree) -> dict[str, tuple[OpDeclaration, str]]:
    """Registered operator -> its declaration and file, where it is of a module that chooses among instances."""
    index = TreeIndex(tree)
    found: dict[str, tuple[OpDeclaration, str]] = {}
    twice: set[str] = set()
    for op in index.ops:
        name, module = _NAMESPACE + op.declaration.name, op.declaration.module or ""
        if module in CK_FAMILIES or module.startswith(MOE_MODULE):
            if name in found:
                twice.add(name)
            found[name] = (op.declaration, op.file)
    return {name: known for name, known in found.items() if name not in twice}


def _aiter_of(record: CaptureRecord) -> str:
    """Which aiter ran, as far as the record says."""
    stated = next((tree.version for tree in record.environment.trees if tree.name == "aiter" and tree.version), None)
    return f"the trace states aiter {stated}" if stated else "the trace does not state which aiter ran"


def _call(id_: int, op: CpuOp, declaration: OpDeclaration, file: str, tree: AiterTree, ran: str) -> BoundaryCall:
    """The operator's call as one across the boundary, its arguments by the declaration's names."""
    names = declaration.parameters
    arguments = tuple(
        msgspec.structs.replace(argument, name=names[place]) if place < len(names) else argument
        for place, argument in enumerate(op.inputs)
    )
    return BoundaryCall(
        id=id_,
        frame=op.frame,
        module=declaration.module or "",
        function=declaration.symbol,
        declared_as=declaration.name,
        source=SourceRef(file, declaration.line, "aiter"),
        arguments=arguments,
        evidence=Evidence.RESOLVED,
        reason=f"aiter {tree.version or 'at hand'} declares {op.name} as this function; {ran}",
    )


def _dispatch(tree: AiterTree, call: BoundaryCall, record: CaptureRecord) -> Dispatch | None:
    assert record.target.arch is not None
    try:
        dispatch = resolve_dispatch(tree, call, record.target, record.environment.variables)
    except KtraceError:
        return None
    if dispatch is None or (dispatch.instance is None and dispatch.tuned is None):
        return None
    return with_symbol(tree, dispatch, record.target.arch)


def _crossing(launch: Launch, around: Mapping[int, CpuOp], calls: Mapping[int, BoundaryCall]) -> Launch:
    op = around.get(launch.id)
    call = calls.get(op.id) if op is not None else None
    return launch if call is None else msgspec.structs.replace(launch, boundary=call.id)
