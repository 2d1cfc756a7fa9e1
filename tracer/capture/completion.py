"""What a child's record lacks and files can tell: a record and an aiter tree in, it with choices and warnings out.

The child sees calls; which instance the C++ behind the JIT boundary would launch stands in aiter's own files, which are
read here, in the parent.
"""

from __future__ import annotations

import msgspec

from tracer.aiter.tree import AiterTree
from tracer.model.capture import CaptureRecord
from tracer.ops.triton_gemm import split_k_warning


def complete(record: CaptureRecord, tree: AiterTree | None) -> CaptureRecord:
    """Adds what aiter's files and the record itself imply.

    Args:
        record: as the child saw it.
        tree: the aiter that ran, or None.
    """
    del tree
    return msgspec.structs.replace(record, warnings=(*record.warnings, *_split_k_warnings(record)))


def _split_k_warnings(record: CaptureRecord) -> list[str]:
    k = record.call.shape.get("K")
    if k is None:
        return []
    found = [
        split_k_warning(k, launch.compiled.constexprs) for launch in record.launches if launch.compiled is not None
    ]
    return list(dict.fromkeys(text for text in found if text is not None))
