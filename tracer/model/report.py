"""The report: one record with all that was decoded, resolved and analysed about it; what a page is written from."""

from __future__ import annotations

import enum

import msgspec

from tracer.model.capture import BoundaryCall, CaptureRecord, Frame, Launch
from tracer.model.kernel import DecodedName, GemmView
from tracer.model.roofline import Advice, Implication, RooflinePoint
from tracer.model.source import Dispatch, Hop


class FrameNode(msgspec.Struct, frozen=True, kw_only=True):
    """A frame in the tree that a page shows.

    Attributes:
        frame: the frame.
        children: shown calls.
        folded: for a stand-in node: how many frames stand behind it; folded_by names the filter.
        boundary: the JIT boundary call made directly in it.
        launches: ids of launches made directly in it.
        layer: recognised JIT layer ("compile_ops wrapper", "torch guard", ...), or None.
    """

    frame: Frame | None
    children: tuple[FrameNode, ...] = ()
    folded: int = 0
    folded_by: str | None = None
    boundaries: tuple[BoundaryCall, ...] = ()
    launches: tuple[int, ...] = ()
    layer: str | None = None


class KernelReport(msgspec.Struct, frozen=True, kw_only=True):
    """One launch with what is known about its kernel.

    Attributes:
        launch: the launch.
        decoded: its kernel's name, read; instance_decoded: its instance's name, read.
        view: the common GEMM view, or None.
        hops: the chain that ends in it.
        dispatch: the library's choice behind it, or None.
        implications: what the fields imply for this shape.
        disagreement: where two ways to know something differ, a sentence for the top of the page; else None.
    """

    launch: Launch
    decoded: DecodedName | None = None
    instance_decoded: DecodedName | None = None
    view: GemmView | None = None
    hops: tuple[Hop, ...] = ()
    dispatch: Dispatch | None = None
    implications: tuple[Implication, ...] = ()
    disagreement: str | None = None


class Path(msgspec.Struct, frozen=True, kw_only=True):
    """One sub-flow of the call: from the frame where it starts to the kernels where it ends."""

    title: str
    tree: tuple[FrameNode, ...]
    hops: tuple[Hop, ...] = ()
    kernels: tuple[KernelReport, ...] = ()


class NoteLevel(enum.StrEnum):
    """How loud a note is on the page."""

    INFO = "info"
    WARNING = "warning"
    DANGER = "danger"


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A note on the page: `text_key` is a key of the language files, `values` fill it."""

    level: NoteLevel
    text_key: str
    values: dict[str, str] = {}


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything for one page."""

    record: CaptureRecord
    title: str
    paths: tuple[Path, ...]
    roofline: RooflinePoint | None = None
    advice: tuple[Advice, ...] = ()
    notes: tuple[Note, ...] = ()
