"""ktrace: which line of Python ends in which GPU kernel, what its name says, how fast it is and why it was chosen.

    import tracer

    tracer.decode("a8w8_blockscale_1x128x128_256x16x128x256_...").fields
    record = tracer.trace("gemm_a8w8_blockscale", {"M": 128, "N": 1536, "K": 7168}, mode="dry", target="gfx942")
    report = tracer.build_report(record)

Everything is loaded when it is first used: importing the package loads neither torch nor Triton.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracer.api import trace
    from tracer.model.capture import CaptureRecord
    from tracer.model.kernel import DecodedName
    from tracer.model.report import Report
    from tracer.names.registry import decode
    from tracer.pipeline import build_report
    from tracer.store import load_record, save_record

__all__ = ["CaptureRecord", "DecodedName", "Report", "build_report", "decode", "load_record", "save_record", "trace"]

_HOMES = {
    "CaptureRecord": "tracer.model.capture",
    "DecodedName": "tracer.model.kernel",
    "Report": "tracer.model.report",
    "build_report": "tracer.pipeline",
    "decode": "tracer.names.registry",
    "load_record": "tracer.store",
    "save_record": "tracer.store",
    "trace": "tracer.api",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
