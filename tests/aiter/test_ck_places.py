"""Where CK instances lead to: CK-tile kernels, grid-wise headers picked by layout, rows that a call does not use."""

from __future__ import annotations

import pytest

from tests.aiter.calls import FP8, MI300X, MI355X, gemm, none, scalar, tensor
from tracer.aiter.dispatch import resolve_dispatch
from tracer.aiter.tree import AiterTree
from tracer.aiter.tuned import lookup
from tracer.model.capture import BoundaryCall
from tracer.model.environment import Target
from tracer.model.evidence import Evidence
from tracer.model.source import Dispatch, Layer


def resolve(tree: AiterTree, call: BoundaryCall, target: Target) -> Dispatch:
    answer = resolve_dispatch(tree, call, target, {})
    assert answer is not None
    return answer


def test_deepgemm_ends_at_its_ck_tile_kernel(wheel: AiterTree) -> None:
    arguments = (
        tensor("XQ", (4, 128, 7168), "bfloat16"),
        tensor("WQ", (4, 4096, 7168), "bfloat16"),
        tensor("Y", (4, 128, 4096), "bfloat16"),
        tensor("group_layout", (4,), "int32"),
        none("x_scale"),
        none("w_scale"),
    )
    call = BoundaryCall(id=1, module="module_deepgemm", function="deepgemm", arguments=arguments)
    answer = resolve(wheel, call, MI300X)
    *_, wrapper, launch, kernel = answer.hops
    assert (wrapper.layer, wrapper.name) == (Layer.CPP, "grouped_flatmm")
    assert (launch.layer, launch.name) == (Layer.LAUNCH, "ck_tile::launch_kernel")
    assert (kernel.layer, kernel.name) == (Layer.KERNEL, "ck_tile::GroupedFlatmmKernel")
    for hop, words in (
        (wrapper, "grouped_flatmm("),
        (launch, "launch_kernel("),
        (kernel, "struct GroupedFlatmmKernel"),
    ):
        assert hop.source is not None
        assert words in wheel.absolute(hop.source.file).read_text().splitlines()[(hop.source.line or 0) - 1]


def test_the_layout_that_the_generator_writes_picks_the_grid_wise_header(wheel: AiterTree) -> None:
    arguments = (
        tensor("XQ", (128, 3584), "float4_e2m1fn_x2"),
        tensor("WQ", (1536, 3584), "float4_e2m1fn_x2"),
        tensor("x_scale", (128, 224), "float8_e8m0fnu"),
        tensor("w_scale", (1536, 224), "float8_e8m0fnu"),
        tensor("Out", (128, 1536), "bfloat16"),
        scalar("splitK", 0),
    )
    module = "module_gemm_a4w4_blockscale"
    call = BoundaryCall(id=1, module=module, function="gemm_a4w4_blockscale", arguments=arguments)
    answer = resolve(wheel, call, MI355X)
    assert answer.instance is not None
    assert answer.instance.endswith("_v3")
    last = answer.hops[-1]
    assert last.source is not None
    assert last.source.file.endswith("/gridwise_gemm_xdl_cshuffle_v3_mx_bpreshuffle.hpp")
    lines = wheel.absolute(last.source.file).read_text().splitlines()
    head = "\n".join(lines[max(0, (last.source.line or 0) - 8) : last.source.line])
    assert "enable_if_t<Use2LDS, void>" in head  # v3 keeps two buffers


@pytest.mark.parametrize(
    ("module", "kernel"),
    [("gemm_a8w8_blockscale_cktile", "QuantGemmKernel"), ("gemm_a8w8_bpreshuffle_cktile", "FlatmmKernel")],
)
def test_main_names_the_ck_tile_kernel_that_its_missing_submodule_has(
    main_tree: AiterTree, module: str, kernel: str
) -> None:
    call = gemm(module, 128, 1536, 7168, scalar("splitK", 0), scalar("kernelName", ""))
    last = resolve(main_tree, call, MI300X).hops[-1]
    assert (last.layer, last.evidence) == (Layer.KERNEL, Evidence.UNRESOLVED)
    assert f"ck_tile::{kernel} is defined in" in (last.reason or "")


def test_a_row_whose_kernel_the_call_does_not_pass_is_not_said_to_be_used(main_tree: AiterTree) -> None:
    def tuned(name: str) -> bool:
        more = (scalar("isBpreshuffled", False), scalar("kernelName", name))
        call = gemm("gemm_a8w8_blockscale", 128, 1536, 7168, *more, dtype=FP8["gfx942"])
        found = resolve(main_tree, call, MI300X).tuned
        return found is not None and found.row is not None

    shape = {"M": 128, "N": 1536, "K": 7168}
    row = lookup(main_tree, "gemm_a8w8_blockscale", shape, MI300X, {}).row
    assert row is not None
    assert tuned(row.values["kernelName"])
    assert not tuned("")
