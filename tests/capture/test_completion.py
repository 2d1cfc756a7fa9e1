"""What files add to a record that a child saw: choices at the launches, and warnings where there is no launch."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests import handmade
from tests.aiter.conftest import write_package
from tracer.aiter.tree import AiterTree
from tracer.capture import completion
from tracer.model.capture import Launch
from tracer.model.evidence import Evidence
from tracer.model.source import Dispatch, Hop, Layer

WHY = "common.cuh:160 refuses the call: N = 100 is no multiple of 8"


@pytest.mark.parametrize(
    ("dispatch", "reason", "warnings"),
    [
        (
            Dispatch(
                boundary=0,
                hops=(Hop(layer=Layer.KERNEL, name="?", evidence=Evidence.UNRESOLVED, reason=WHY),),
                candidates=("an_instance",),
            ),
            WHY,
            (WHY,),
        ),
        (
            Dispatch(boundary=0, candidates=("one", "another")),
            "which of 2 kernels run depends on what is not known here: one, another",
            (),
        ),
        (Dispatch(boundary=0, instance="an_instance", assumption="built here"), "built here", ()),
    ],
    ids=["refused", "open", "chosen"],
)
def test_a_launch_says_why_it_has_no_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dispatch: Dispatch, reason: str, warnings: tuple[str, ...]
) -> None:
    monkeypatch.setattr(completion, "resolve_dispatch", lambda *_: dispatch)
    seen = msgspec.structs.replace(
        handmade.blockscale(), launches=(Launch(id=0, boundary=0, evidence=Evidence.UNRESOLVED),), dispatches=()
    )
    (tmp_path / "csrc").mkdir()
    record = completion.complete(seen, AiterTree.find(write_package(tmp_path)))
    (launch,) = record.launches
    assert (launch.instance, launch.reason) == (dispatch.instance, reason)
    assert (launch.evidence is Evidence.RESOLVED) is (dispatch.instance is not None)
    assert record.warnings == warnings
