"""Sub-flows: one path for each, none lost."""

from __future__ import annotations

import msgspec

from tests import handmade
from tests.resolve.shown import show
from tracer.model.capture import BoundaryCall, CaptureRecord, Launch
from tracer.model.evidence import Evidence
from tracer.model.report import Report
from tracer.pipeline import build_report
from tracer.resolve.paths import End, in_launch_order


def outline(report: Report) -> list[tuple[str, list[str]]]:
    return [(path.title, [kernel.name[:24] for kernel in path.kernels]) for path in report.paths]


def test_one_kernel_is_one_path() -> None:
    assert outline(build_report(handmade.blockscale())) == [
        ("gemm_a8w8_blockscale", ["a8w8_blockscale_1x128x128"[:24]])
    ]


def test_quantise_and_multiply_are_two_paths_and_what_precedes_belongs_to_the_first() -> None:
    report = build_report(handmade.pair())
    assert [path.title for path in report.paths] == ["per_group_quant_hip", "gemm_a8w8_blockscale"]
    assert show(report.paths[0].tree).splitlines()[0] == "get_hip_quant"


def test_a_path_whose_kernel_is_not_known_ends_in_an_unresolved_hop() -> None:
    path = build_report(handmade.pair()).paths[0]
    assert path.kernels == ()
    assert path.hops[-1].evidence is Evidence.UNRESOLVED
    assert path.hops[-1].reason == "no dispatch rule is known for module_quant.dynamic_per_token_scaled_quant"


def test_a_triton_gemm_and_its_reduction_are_one_path() -> None:
    assert outline(build_report(handmade.triton())) == [
        ("gemm_a16w16", ["_gemm_a16_w16_kernel_BLO", "_gemm_a16w16_reduce_kern"])
    ]


def layer() -> CaptureRecord:
    """A model's function that calls two ops which launch by themselves."""
    frames = handmade.Frames()
    entry = frames("forward", "mine/model.py", 3)
    inner = frames("attention", "mine/model.py", 9, under=entry, at=5)
    first = frames("norm", "aiter/ops/norm.py", 1, under=inner, at=11)
    second = frames("rope", "aiter/ops/rope.py", 1, under=inner, at=12)
    return msgspec.structs.replace(
        handmade.failed(),
        exception=None,
        frames=tuple(frames.all),
        launches=(
            Launch(id=0, kernel="norm_kernel", frame=first.id, evidence=Evidence.OBSERVED),
            Launch(id=1, kernel="rope_kernel", frame=second.id, evidence=Evidence.OBSERVED),
        ),
    )


def test_what_all_paths_share_is_shown_once_before_them() -> None:
    report = build_report(layer())
    assert outline(report) == [("norm", ["norm_kernel"]), ("rope", ["rope_kernel"])]
    assert show(report.entry) == "forward\nattention\n"


def test_the_chain_of_each_path_still_begins_at_the_entry() -> None:
    names = [[hop.name for hop in path.hops] for path in build_report(layer()).paths]
    assert names == [["forward", "attention", "norm", "norm_kernel"], ["forward", "attention", "rope", "rope_kernel"]]


def test_an_imported_launch_has_its_own_path_with_outer_callers_apart() -> None:
    (path,) = build_report(handmade.imported()).paths
    assert path.title == "rmsnorm2d_fwd"
    assert show(path.tree).splitlines()[:3] == ["... 4 (outer)", "forward", "  decoder"]
    assert len(path.kernels[0].hops) == len(path.hops)


def test_launches_without_a_frame_have_paths_too() -> None:
    record = handmade.imported()
    bare = msgspec.structs.replace(
        record, frames=(), launches=(*record.launches, Launch(id=1, kernel="k", evidence=Evidence.OBSERVED))
    )
    report = build_report(bare)
    assert [path.tree for path in report.paths] == [(), ()]
    assert sum(len(path.kernels) for path in report.paths) == 2


def test_a_host_function_behind_the_boundary_is_no_end() -> None:
    frames = handmade.Frames()
    op = frames("get_padded_m", "aiter/ops/gemm_op_common.py", 9)
    record = msgspec.structs.replace(
        handmade.failed(),
        frames=tuple(frames.all),
        boundaries=(
            BoundaryCall(id=0, frame=op.id, module="module_gemm_common", function="get_padded_m", answered="true"),
        ),
    )
    (path,) = build_report(record).paths
    assert path.kernels == ()
    assert path.hops[-1].reason == "the call raised before it reached a kernel"


def test_ends_stand_in_launch_order_though_a_frames_own_launch_follows_its_calls() -> None:
    ends = (End(spine=(), launch=2), End(spine=()), End(spine=(), launch=0), End(spine=(), launch=1))
    assert [end.launch for end in in_launch_order(ends)] == [0, None, 1, 2]
