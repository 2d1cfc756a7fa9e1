"""The assembly object behind a dispatch: an aiter and a dispatch that ends at a `.co` in, its kernel's code out."""

from __future__ import annotations

import msgspec

from tracer.aiter.tree import AiterTree
from tracer.codeobjects.files import resources_of
from tracer.codeobjects.kernel import CodeObject, KernelCode
from tracer.codeobjects.records import code_of_record
from tracer.errors import CodeObjectError
from tracer.model.capture import CaptureRecord
from tracer.model.source import Dispatch

_SUFFIXES = (".co", ".hsaco")


def object_code(tree: AiterTree, dispatch: Dispatch) -> KernelCode | None:
    """The kernel that a dispatch ends at, as its code object states it.

    Args:
        tree: the aiter that the dispatch was resolved with.
        dispatch: what the library's rules chose.

    Returns:
        The kernel; None where the dispatch ends at no code object, or that one is missing, broken, or without it.
    """
    files = [hop.source.file for hop in dispatch.hops if hop.source is not None]
    file = next((file for file in reversed(files) if file.endswith(_SUFFIXES)), None)
    if file is None:
        return None
    try:
        kernels = resources_of(tree.absolute(file))
    except CodeObjectError:
        return None
    wanted = (*dispatch.symbols, *((dispatch.instance,) if dispatch.instance else ()))
    return next((kernel for kernel in kernels if kernel.name in wanted), None)


def record_code(record: CaptureRecord, tree: AiterTree | None) -> CodeObject:
    """The kernels of a record as code, those that aiter loads from a code object with what that states.

    Args:
        record: the record.
        tree: the aiter that its dispatches were resolved with; None leaves out what only its files state.
    """
    code = code_of_record(record)
    if tree is None:
        return code
    found = {kernel.name: kernel for kernel in (object_code(tree, d) for d in record.dispatches) if kernel is not None}
    kernels = tuple(
        msgspec.structs.replace(found[kernel.name], launched_block=kernel.launched_block)
        if kernel.name in found
        else kernel
        for kernel in code.kernels
    )
    return msgspec.structs.replace(code, kernels=kernels)
