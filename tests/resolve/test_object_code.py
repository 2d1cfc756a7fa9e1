"""Assembly objects behind dispatches: the kernel of a `.co` that a chain ends at, with its resources."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codeobjects.handmade import code_object, kernel
from tracer.aiter.tree import AiterTree
from tracer.model.capture import Call, CaptureRecord, Launch
from tracer.model.environment import Environment, Target
from tracer.model.evidence import Evidence, Mode
from tracer.model.source import Dispatch, Hop, Layer, SourceRef
from tracer.resolve.object_code import object_code, record_code

FILE = "hsa/gfx942/i8gemm/k.co"


@pytest.fixture
def tree(tmp_path: Path) -> AiterTree:
    file = tmp_path / FILE
    file.parent.mkdir(parents=True)
    file.write_bytes(code_object([kernel("other"), kernel("wanted", vgpr_count=96, group_segment_fixed_size=4096)]))
    return AiterTree(
        layout="checkout", version=None, commit=None, python_root=tmp_path, meta_root=tmp_path, ck_root=None
    )


def _dispatch(file: str = FILE, **more: object) -> Dispatch:
    hop = Hop(layer=Layer.KERNEL, name="k.co", source=SourceRef(file, tree="aiter"), evidence=Evidence.RESOLVED)
    return Dispatch(boundary=0, hops=(hop,), **more)  # type: ignore[arg-type]


def test_the_kernel_that_the_dispatch_names_is_taken(tree: AiterTree) -> None:
    for dispatch in (_dispatch(symbols=("wanted",)), _dispatch(instance="wanted")):
        found = object_code(tree, dispatch)
        assert found is not None
        assert (found.name, found.resources.vgprs, found.resources.lds_bytes) == ("wanted", 96, 4096)


@pytest.mark.parametrize(
    "dispatch",
    [
        _dispatch(symbols=("nowhere",)),
        _dispatch("hsa/gfx942/i8gemm/missing.co", symbols=("wanted",)),
        _dispatch("csrc/kernels/quant.cu", symbols=("wanted",)),
        Dispatch(),
    ],
    ids=["another kernel", "no such file", "a source file", "no hops"],
)
def test_a_dispatch_that_ends_at_no_such_kernel_has_none(tree: AiterTree, dispatch: Dispatch) -> None:
    assert object_code(tree, dispatch) is None


def test_a_broken_code_object_has_none(tree: AiterTree) -> None:
    tree.absolute(FILE).write_bytes(b"\x7fELF")
    assert object_code(tree, _dispatch(symbols=("wanted",))) is None


def test_a_record_takes_what_the_code_object_states_and_keeps_the_launched_block(tree: AiterTree) -> None:
    record = CaptureRecord(
        mode=Mode.DRY,
        call=Call(op="gemm"),
        target=Target(arch="gfx942", wave_size=64),
        environment=Environment(ktrace="0"),
        recorded_at="2026-01-01T00:00:00Z",
        launches=(Launch(id=0, kernel="wanted", boundary=0, block=(256, 1, 1), evidence=Evidence.RESOLVED),),
        dispatches=(_dispatch(symbols=("wanted",)),),
    )
    (found,) = record_code(record, tree).kernels
    assert (found.resources.vgprs, found.launched_block, found.code_bytes) == (96, (256, 1, 1), 256)
    (bare,) = record_code(record, None).kernels
    assert (bare.resources.vgprs, bare.launched_block) == (None, (256, 1, 1))
