"""Where calls without a dispatch rule lead, by the static index."""

from __future__ import annotations

from tracer.aiter.tree import AiterTree
from tracer.model.capture import BoundaryCall
from tracer.model.evidence import Evidence
from tracer.model.source import Layer
from tracer.resolve.indexed import indexed_dispatch


def test_a_call_leads_from_its_binding_to_the_kernels_own_source(installed_aiter: AiterTree) -> None:
    dispatch = indexed_dispatch(installed_aiter, BoundaryCall(id=3, module="module_rmsnorm", function="rmsnorm2d_fwd"))
    assert dispatch is not None
    assert dispatch.boundary == 3
    assert dispatch.instance is None
    layers = [hop.layer for hop in dispatch.hops]
    assert layers[0] is Layer.BINDING
    assert layers[-1] is Layer.KERNEL
    for hop in dispatch.hops:
        assert hop.evidence is Evidence.RESOLVED
        assert hop.source is not None
        assert installed_aiter.absolute(hop.source.file).is_file()


def test_a_function_that_no_module_declares_leads_nowhere(installed_aiter: AiterTree) -> None:
    call = BoundaryCall(id=0, module="module_rmsnorm", function="no_such_function")
    assert indexed_dispatch(installed_aiter, call) is None
