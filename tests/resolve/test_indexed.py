"""Where calls without a dispatch rule lead, by the static index."""

from __future__ import annotations

import pytest

from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError
from tracer.model.capture import BoundaryCall
from tracer.model.evidence import Evidence
from tracer.model.source import Layer
from tracer.resolve.indexed import indexed_dispatch


@pytest.fixture(scope="module")
def tree() -> AiterTree:
    try:
        return AiterTree.find()
    except SourceTreeError:
        pytest.skip("aiter is not installed")


def test_a_call_leads_from_its_binding_to_the_kernels_own_source(tree: AiterTree) -> None:
    dispatch = indexed_dispatch(tree, BoundaryCall(id=3, module="module_rmsnorm", function="rmsnorm2d_fwd"))
    assert dispatch is not None
    assert dispatch.boundary == 3
    assert dispatch.instance is None
    layers = [hop.layer for hop in dispatch.hops]
    assert layers[0] is Layer.BINDING
    assert layers[-1] is Layer.KERNEL
    for hop in dispatch.hops:
        assert hop.evidence is Evidence.RESOLVED
        assert hop.source is not None
        assert tree.absolute(hop.source.file).is_file()


def test_a_function_that_no_module_declares_leads_nowhere(tree: AiterTree) -> None:
    assert indexed_dispatch(tree, BoundaryCall(id=0, module="module_rmsnorm", function="no_such_function")) is None
