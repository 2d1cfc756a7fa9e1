"""The tree of shown frames: folding, merging, and nothing lost."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests import handmade
from tests.resolve.shown import show
from tracer.model.capture import Frame
from tracer.model.report import FrameNode
from tracer.model.source import SourceRef
from tracer.resolve.tree import SHOWN_SIDE_CALLS, build_tree


def test_the_main_job_reads_as_layers_and_library_frames() -> None:
    nodes, loose = build_tree(handmade.blockscale())
    assert loose == ()
    assert (
        show(nodes)
        == """\
wrapper_custom > __call__ > outer_wrapper > wrapper  [torch_guard]
  gemm_a8w8_blockscale
    get_CKGEMM_config
    wrapper_custom > outer_wrapper > wrapper  [torch_guard]
      custom_wrapper > wrapper  [compile_ops]
        get_module  [get_module]
        => module_gemm_a8w8_blockscale.gemm_a8w8_blockscale
        => launch 0
    ... 3 (no_kernel)
"""
    )


def test_tritons_launcher_stands_on_one_line_above_its_launch() -> None:
    nodes, _ = build_tree(handmade.triton())
    assert (
        show(nodes)
        == """\
gemm_a16w16
  <lambda> > run  [triton_jit]
    ... 1 (triton)
    => launch 0
  <lambda> > run  [triton_jit]
    => launch 1
  ... 1 (logging)
"""
    )


def test_a_profilers_names_of_c_functions_join_the_layers_around_them() -> None:
    nodes, _ = build_tree(handmade.imported())
    assert [line.strip() for line in show(nodes).splitlines()[-6:]] == [
        "wrapper_custom > __call__ > <built-in method rmsnorm of pybind11_bui  [torch_guard]",
        "aiter::rmsnorm  [operator]",
        "outer_wrapper > wrapper  [torch_guard]",
        "custom_wrapper > wrapper  [compile_ops]",
        "<built-in method rmsnorm of pybind11_bui  [builtin]",
        "=> launch 0",
    ]


def test_a_hidden_frames_shown_calls_take_its_place() -> None:
    frames = handmade.Frames()
    user = frames("train", "mine/train.py", 3)
    hidden = frames("_call_impl", "torch/nn/modules/module.py", 1779, under=user)
    frames("forward", "mine/model.py", 9, under=hidden)
    record = msgspec.structs.replace(handmade.failed(), frames=tuple(frames.all))
    assert show(build_tree(record)[0]) == "train\n  forward\n  ... 1 (torch)\n"


def test_calls_that_lead_to_no_kernel_are_counted_beyond_a_few() -> None:
    frames = handmade.Frames()
    user = frames("train", "mine/train.py", 3)
    for i in range(SHOWN_SIDE_CALLS + 4):
        frames(f"helper{i}", "mine/helpers.py", i + 1, under=user)
    record = msgspec.structs.replace(handmade.failed(), frames=tuple(frames.all))
    shown = show(build_tree(record)[0])
    assert shown.count("helper") == SHOWN_SIDE_CALLS
    assert "... 4 (no_kernel)" in shown


def test_a_launch_whose_frame_is_not_in_the_record_is_loose() -> None:
    record = handmade.triton()
    launch = msgspec.structs.replace(record.launches[0], frame=99999)
    assert build_tree(msgspec.structs.replace(record, launches=(launch,)))[1] == (0,)


def test_a_parent_that_is_missing_or_later_makes_a_root_and_no_loop() -> None:
    source = SourceRef("mine/a.py", 1, "mine")
    frames = (
        Frame(id=0, parent=1, function="early", source=source),
        Frame(id=1, parent=0, function="late", source=source),
        Frame(id=2, parent=77, function="orphan", source=source),
    )
    record = msgspec.structs.replace(handmade.failed(), frames=frames)
    assert show(build_tree(record)[0]) == "early\n  late\norphan\n"


def test_a_very_deep_stack_needs_no_recursion() -> None:
    source = SourceRef("torch/x.py", 1, "torch")
    frames = tuple(Frame(id=i, parent=i - 1 if i else None, function="f", source=source) for i in range(50_000))
    record = msgspec.structs.replace(handmade.failed(), frames=frames)
    assert build_tree(record) == ((), ())


def count(nodes: tuple[FrameNode, ...]) -> int:
    return sum((1 + len(n.merged) if n.frame else n.folded) + count(n.children) for n in nodes)


_FILES = ["aiter/ops/a.py", "torch/b.py", "pandas/c.py", "aiter/jit/core.py", "triton/runtime/jit.py", "mine/d.py"]


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.sampled_from(_FILES), st.sampled_from(["wrapper", "run", "f"])), max_size=40
    )
)
def test_every_frame_below_a_shown_one_is_shown_or_counted(drawn: list[tuple[int, str, str]]) -> None:
    frames = [Frame(id=0, function="root", source=SourceRef("mine/root.py", 1, "mine"))]
    for i, (parent, file, function) in enumerate(drawn, start=1):
        frames.append(Frame(id=i, parent=parent % i, function=function, source=SourceRef(file, i, file.split("/")[0])))
    record = msgspec.structs.replace(handmade.failed(), frames=tuple(frames))
    assert count(build_tree(record)[0]) == len(frames)
