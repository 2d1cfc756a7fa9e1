"""The chain of a kernel, hop by hop, with the evidence of each."""

from __future__ import annotations

import msgspec

from tests import handmade
from tracer.model.capture import RuntimeCall
from tracer.model.evidence import Evidence
from tracer.model.report import Report
from tracer.model.source import Hop, Layer, SourceRef
from tracer.pipeline import build_report


def short(source: SourceRef | None) -> str:
    return f"{source.file.rpartition('/')[2]}:{source.line}" if source else "-"


def chain(report: Report, path: int = 0) -> str:
    return "\n".join(
        f"{hop.layer:13} {hop.evidence:9} {hop.name[:36]:36} {short(hop.source)}" for hop in report.paths[path].hops
    )


def test_the_chain_of_the_main_job() -> None:
    assert (
        chain(build_report(handmade.blockscale()))
        == """\
jit           observed  wrapper_custom                       torch_guard.py:277
jit           observed  __call__                             _ops.py:1267
jit           observed  outer_wrapper                        torch_guard.py:300
jit           observed  wrapper                              torch_guard.py:196
python        observed  gemm_a8w8_blockscale                 gemm_op_a8w8.py:441
jit           observed  wrapper_custom                       torch_guard.py:277
jit           observed  outer_wrapper                        torch_guard.py:300
jit           observed  wrapper                              torch_guard.py:196
jit           observed  custom_wrapper                       core.py:902
jit           observed  wrapper                              core.py:738
jit           observed  module_gemm_a8w8_blockscale.gemm_a8w -
tuned_config  stated    aiter/configs/a8w8_blockscale_tuned_ a8w8_blockscale_tuned_gemm.csv:29
binding       resolved  m.def("gemm_a8w8_blockscale")        rocm_ops.hpp:428
cpp           resolved  gemm_a8w8_blockscale                 gemm_a8w8_blockscale.cu:94
dispatch      resolved  blockscale_dispatch                  gemm_a8w8_blockscale.cu:38
instance      resolved  a8w8_blockscale_1x128x128_256x16x64x gemm_a8w8_blockscale_common.py:89
kernel        resolved  kernel_gemm_xdl_cshuffle_v3          gridwise_ab_scale.hpp:39"""
    )


def test_the_chain_of_an_imported_launch_ends_in_the_runtime_call_and_the_observed_kernel() -> None:
    lines = chain(build_report(handmade.imported())).splitlines()
    assert [line.split()[0] for line in lines[-3:]] == ["binding", "launch", "kernel"]
    assert all(line.split()[1] == "observed" for line in lines)


def test_a_runtime_call_that_was_told_apart_by_a_guess_is_inferred_with_the_reason() -> None:
    record = handmade.imported()
    call = RuntimeCall(name="hipLaunchKernel", evidence=Evidence.INFERRED, reason="two calls share its id")
    launch = msgspec.structs.replace(record.launches[0], runtime=call)
    hops = build_report(msgspec.structs.replace(record, launches=(launch,))).paths[0].hops
    (told,) = [hop for hop in hops if hop.layer is Layer.LAUNCH]
    assert (told.name, told.evidence, told.reason) == ("hipLaunchKernel", Evidence.INFERRED, "two calls share its id")


def test_an_operator_stands_below_the_frame_that_calls_it_and_above_the_frames_that_it_calls() -> None:
    names = [hop.name for hop in build_report(handmade.imported()).paths[0].hops]
    at = names.index("aiter::rmsnorm")
    assert names[at - 2 : at + 3] == ["__call__", "rmsnorm", "aiter::rmsnorm", "outer_wrapper", "wrapper"]


def test_frames_that_were_only_matched_are_inferred_with_the_reason() -> None:
    record = handmade.imported()
    launch = msgspec.structs.replace(
        record.launches[0], frame_evidence=Evidence.INFERRED, reason="matched by order and name", graph_replay=True
    )
    hops = build_report(msgspec.structs.replace(record, launches=(launch,))).paths[0].hops
    assert {(hop.evidence, hop.reason) for hop in hops if hop.layer == "python"} == {
        (Evidence.INFERRED, "matched by order and name")
    }


def test_operators_that_ran_when_a_graph_was_captured_are_inferred_with_the_reason() -> None:
    record = handmade.imported()
    launch = msgspec.structs.replace(
        record.launches[0], frame_evidence=Evidence.INFERRED, reason="matched by order and name", graph_replay=True
    )
    hops = build_report(msgspec.structs.replace(record, launches=(launch,))).paths[0].hops
    operators = [hop for hop in hops if hop.layer == "registered_op"]
    assert operators
    assert {(hop.evidence, hop.reason) for hop in operators} == {(Evidence.INFERRED, "matched by order and name")}
    assert {hop.evidence for hop in hops if hop.layer in ("launch", "kernel")} == {Evidence.OBSERVED}


def test_open_candidates_are_listed_on_an_unresolved_hop() -> None:
    record = handmade.blockscale()
    open_choice = msgspec.structs.replace(record.dispatches[0], instance=None, hops=(), candidates=("a", "b"))
    hops = build_report(msgspec.structs.replace(record, dispatches=(open_choice,), launches=())).paths[0].hops
    assert (hops[-1].evidence, hops[-1].candidates) == (Evidence.UNRESOLVED, ("a", "b"))


def test_a_choice_that_ends_before_a_kernel_ends_with_its_own_reason() -> None:
    record = handmade.blockscale()
    why = "module_gemm_a8w8_blockscale does not build: tuned.csv:2: kernelId 99 is not in common.py"
    stop = Hop(layer=Layer.DISPATCH, name="?", evidence=Evidence.UNRESOLVED, reason=why)
    dispatch = msgspec.structs.replace(record.dispatches[0], instance=None, hops=(stop,), parameters={})
    launch = msgspec.structs.replace(record.launches[0], instance=None, evidence=Evidence.UNRESOLVED, reason=why)
    report = build_report(msgspec.structs.replace(record, dispatches=(dispatch,), launches=(launch,)))
    last = report.paths[0].hops[-1]
    assert (last.layer, last.name, last.evidence, last.reason) == (Layer.KERNEL, "?", Evidence.UNRESOLVED, why)


def test_the_hop_out_of_python_stands_where_the_function_is_declared() -> None:
    record = handmade.blockscale()
    declared = SourceRef("aiter/ops/gemm_op_a8w8.py", 120, "aiter")
    call = msgspec.structs.replace(record.boundaries[0], declared_as="gemm_a8w8_blockscale_ck", source=declared)
    hops = build_report(msgspec.structs.replace(record, boundaries=(call,))).paths[0].hops
    (hop,) = [hop for hop in hops if hop.name == "module_gemm_a8w8_blockscale.gemm_a8w8_blockscale"]
    assert (hop.source, hop.evidence, hop.note) == (declared, Evidence.OBSERVED, "declared as gemm_a8w8_blockscale_ck")


def test_the_hop_out_of_python_says_what_a_module_named_for_the_call_is_built_from() -> None:
    record = handmade.blockscale()
    call = msgspec.structs.replace(record.boundaries[0], declared_as=None, built_from="module_mha_fwd")
    hops = build_report(msgspec.structs.replace(record, boundaries=(call,))).paths[0].hops
    assert "built from module_mha_fwd when it is called" in [hop.note for hop in hops]
