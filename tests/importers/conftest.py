"""Fixtures of the trace readers' tests."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import pytest

from tracer.importers import kineto_plain


@pytest.fixture(params=["compiled", "typed"], scope="module")
def either_reader(request: pytest.FixtureRequest) -> Iterator[str]:
    """torch.profiler's events by the compiled reader where it can, and by the typed decoder alone."""
    if request.param == "typed":
        with mock.patch.object(kineto_plain, "EventReader", None):
            yield "typed"
        return
    if kineto_plain.EventReader is None:
        pytest.skip("the compiled reader was not built: there was no C compiler")
    yield "compiled"
