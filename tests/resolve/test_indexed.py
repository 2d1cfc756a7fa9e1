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


def test_a_call_whose_text_launches_one_kernel_ends_there_without_its_template_arguments(
    installed_aiter: AiterTree,
) -> None:
    dispatch = indexed_dispatch(installed_aiter, BoundaryCall(id=3, module="module_rmsnorm", function="rmsnorm2d_fwd"))
    assert dispatch is not None
    assert dispatch.parameters == {"kernel": "ck_tile::Rmsnorm2dFwd"}
    assert "template arguments are not known" in (dispatch.hops[-1].note or "")
    assert dispatch.assumption is None
    assert dispatch.candidates == ()


def test_a_choice_that_no_rule_follows_is_left_open_with_each_launch_and_its_conditions(
    installed_aiter: AiterTree,
) -> None:
    call = BoundaryCall(id=3, module="module_moe_sorting", function="moe_sorting_fwd")
    dispatch = indexed_dispatch(installed_aiter, call)
    assert dispatch is not None
    end = dispatch.hops[-1]
    assert (end.layer, end.name, end.evidence, end.candidates) == (
        Layer.KERNEL,
        "?",
        Evidence.UNRESOLVED,
        dispatch.candidates,
    )
    by_kernel = {launch.kernel: launch for launch in dispatch.launches}
    single, phased = by_kernel["ck_tile::MoeSortingKernel"], by_kernel["ck_tile::MoeSortingMultiPhaseKernel_P23"]
    asked = "(moe_sorting_get_workspace_size(a.tokens, a.num_experts, a.topk, t.dispatch_policy) != 0)"
    assert asked in phased.conditions
    assert f"not {asked}" in single.conditions
    for launch in dispatch.launches:
        for place in (launch.source, launch.launch):
            assert place is not None
            assert installed_aiter.absolute(place.file).is_file()


def test_a_module_named_for_the_call_is_followed_by_its_recipe(installed_aiter: AiterTree) -> None:
    call = BoundaryCall(id=0, module="mha_fwd_bf16_mask", function="mha_fwd", built_from="module_mha_fwd")
    dispatch = indexed_dispatch(installed_aiter, call)
    assert dispatch is not None
    assert "ck_tile::FmhaFwdKernel" in dispatch.candidates


def test_a_template_compiled_when_called_leads_to_the_kernels_that_it_launches(installed_aiter: AiterTree) -> None:
    template = "csrc/cpp_itfs/pa/pa.cpp.jinja"
    dispatch = indexed_dispatch(installed_aiter, BoundaryCall(id=0, module="pa", function="pa_1", built_from=template))
    assert dispatch is not None
    assert dispatch.candidates == ("paged_attention_ll4mi_QKV_mfma16_kernel", "paged_attention_ll4mi_reduce_kernel")
    for launch in dispatch.launches:
        assert launch.launch is not None
        assert launch.launch.file == template
        assert launch.source is not None
        assert launch.source.file == "csrc/cpp_itfs/pa/pa.cuh"
