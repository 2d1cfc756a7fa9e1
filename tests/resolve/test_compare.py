"""The instance that was resolved against the kernel that ran: the only real proof on ROCm."""

from __future__ import annotations

import msgspec

from tests import handmade
from tracer.model.evidence import Evidence
from tracer.model.report import NoteLevel
from tracer.pipeline import build_report


def observed_as(kernel: str, evidence: Evidence = Evidence.OBSERVED) -> object:
    record = handmade.blockscale()
    launch = msgspec.structs.replace(record.launches[0], kernel=kernel, instance=None, evidence=evidence)
    return msgspec.structs.replace(record, launches=(launch,))


def test_a_kernel_of_another_tile_is_a_disagreement_at_the_top_of_the_page() -> None:
    report = build_report(observed_as(handmade.DEFAULT))  # type: ignore[arg-type]
    found = report.paths[0].kernels[0].disagreement
    assert found is not None
    assert found.fields["n_per_block"] == ("64", "128")
    assert "m_per_block" not in found.fields
    assert found.observed_instances == ()
    loudest = report.notes[0]
    assert (loudest.level, loudest.text_key) == (NoteLevel.DANGER, "note.disagreement")


def test_the_same_kernel_is_no_disagreement() -> None:
    report = build_report(observed_as(handmade.INSTANCE))  # type: ignore[arg-type]
    assert report.paths[0].kernels[0].disagreement is None


def test_a_kernel_that_was_itself_resolved_proves_nothing() -> None:
    report = build_report(observed_as(handmade.DEFAULT, Evidence.RESOLVED))  # type: ignore[arg-type]
    assert report.paths[0].kernels[0].disagreement is None


def test_a_name_that_cannot_be_read_proves_nothing() -> None:
    report = build_report(observed_as("some_kernel"))  # type: ignore[arg-type]
    assert report.paths[0].kernels[0].disagreement is None
