"""The dry run behind `ktrace isa OP`: an op and its arguments as typed in, the code of each call's kernels out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tracer.aiter.tree import AiterTree
from tracer.capture.protocol import CallRequest
from tracer.capture.select import capture
from tracer.cli.op_arguments import explicit_config, named_options, shapes_of
from tracer.codeobjects.kernel import CodeObject
from tracer.errors import SourceTreeError, UsageError
from tracer.model.capture import CaptureRecord
from tracer.ops.base import Op
from tracer.ops.callable import CallableOp, is_callable_path
from tracer.ops.registry import get_op
from tracer.resolve.object_code import record_code


def dry_code(
    name: str,
    *,
    shapes: tuple[str, ...],
    options: tuple[str, ...],
    arguments: tuple[str, ...],
    config_text: str | None,
    target: str | None,
    cu_num: int | None,
    aiter_path: Path | None,
    timeout_s: int,
    show: Callable[[CaptureRecord, CodeObject], None],
) -> int:
    """Dry-runs an op for every shape, and calls `show` with each record and the code of its kernels.

    Returns:
        How many calls raised.

    Raises:
        UsageError: no such op, option, shape or target.
        SourceTreeError, CaptureError: as a dry run does.
    """
    op: Op = CallableOp(name, arguments) if is_callable_path(name) else _op(name)
    if shapes and not op.dims:
        raise UsageError(f"{name} takes no --shape", hint="give each tensor's shape: --arg 'x=bf16[128,7168]'")
    settings = named_options(op, options)
    config = explicit_config(op, config_text)
    requests = [
        CallRequest(op=name, shape=shape, options=settings, config=config, arguments=arguments)
        for shape in (shapes_of(op, shapes, settings) if op.dims else [{}])
    ]
    try:
        tree: AiterTree | None = AiterTree.find(aiter_path)
    except SourceTreeError:  # an op that needs aiter says so itself
        tree = None
    raised = 0

    def on_record(_: int, record: CaptureRecord) -> None:
        nonlocal raised
        raised += record.exception is not None
        show(record, record_code(record, tree))

    capture(
        requests,
        mode="dry",
        target=target,
        cu_num=cu_num,
        device=None,
        aiter_path=aiter_path,
        timeout_s=timeout_s,
        on_record=on_record,
    )
    return raised


def _op(name: str) -> Op:
    try:
        return get_op(name)
    except UsageError as error:
        raise UsageError(
            f"there is neither a file nor an op called {name!r}",
            expected=f"a file, or {error.expected}",
            hint=error.hint,
        ) from None
