"""What CK refuses: calls for which aiter's C++ raises before it launches anything, and none that the tuner ran."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aiter.calls import FP8, MI300X, MI308X, MI355X, gemm
from tracer.aiter.binding import recipe
from tracer.aiter.ck import ck_places
from tracer.aiter.ck_launch import Problem
from tracer.aiter.ck_refusal import refusal
from tracer.aiter.configs import merge, require
from tracer.aiter.csvfile import key_value
from tracer.aiter.dispatch import resolve_dispatch
from tracer.aiter.families import CK_FAMILIES
from tracer.aiter.instances import instance_table
from tracer.aiter.tree import AiterTree
from tracer.model.environment import Target
from tracer.model.evidence import Evidence
from tracer.model.source import Dispatch, Hop, Layer, MissReason

HEADER = "cu_num,M,N,K,kernelId,splitK,us,kernelName,tflops,bw,errRatio"
DEFAULT = "a8w8_blockscale_1x128x128_256x16x128x256_16x16_16x16_16x16x1_16x16x1_1x16x1x16_8_1x2_intrawave_v1"


def blockscale(tree: AiterTree, m: int, n: int, k: int, target: Target = MI300X, **environment: str) -> Dispatch:
    call = gemm("gemm_a8w8_blockscale", m, n, k, dtype=FP8[target.arch or ""])
    answer = resolve_dispatch(tree, call, target, environment)
    assert answer is not None
    return answer


def end(tree: AiterTree, answer: Dispatch) -> Hop:
    """The hop at which a refused call ends; its line, and CK's line in its reason, were looked up."""
    (hop,) = [hop for hop in answer.hops if hop.evidence is Evidence.UNRESOLVED]
    assert hop is answer.hops[-1]
    assert hop.layer is Layer.KERNEL
    assert hop.source is not None
    assert hop.source.line is not None
    assert "IsSupportedArgument(" in tree.absolute(hop.source.file).read_text().splitlines()[hop.source.line - 1]
    assert (answer.instance, answer.parameters) == (None, {})
    return hop


def cited(tree: AiterTree, reason: str) -> str:
    """The line of CK that a reason ends with."""
    file, _, line = reason.rpartition("(")[2].removesuffix(")").rpartition(":")
    return tree.absolute(file).read_text().splitlines()[int(line) - 1]


@pytest.mark.parametrize("n", [1, 36, 100, 4092])
def test_an_output_that_the_default_instances_vectors_do_not_divide_launches_nothing(wheel: AiterTree, n: int) -> None:
    answer = blockscale(wheel, 128, n, 7168)
    reason = end(wheel, answer).reason or ""
    assert f"refuses the call: N = {n} is no multiple of 8, the vector width of the output" in reason
    assert "karg.N % CShuffleBlockTransferScalarPerVector_NPerBlock != 0" in cited(wheel, reason)
    assert answer.candidates == (DEFAULT,)


def test_a_tuned_instance_with_narrower_vectors_takes_the_same_output(wheel: AiterTree) -> None:
    answer = blockscale(wheel, 16, 100, 5120, MI355X)
    assert answer.instance is not None
    assert answer.parameters["grid"] == [2, 1, 1]


@pytest.mark.parametrize(("k", "refused"), [(128, True), (256, True), (384, False)])
def test_pipeline_v3_needs_more_steps_than_it_fetches_ahead(
    wheel: AiterTree, tmp_path: Path, k: int, refused: bool
) -> None:
    tuned = tmp_path / "tuned.csv"
    tuned.write_text(f"{HEADER}\n304,128,1536,{k},3,0,9.5,any,1,1,0.0\n", encoding="utf-8")
    answer = blockscale(wheel, 128, 1536, k, AITER_CONFIG_GEMM_A8W8_BLOCKSCALE=str(tuned))
    assert (answer.instance is None) is refused
    if refused:
        reason = end(wheel, answer).reason or ""
        assert f"K = {k} makes {k // 128} main-loop steps, pipeline v3 needs more than 2" in reason
        assert "num_k_loop <= BlockwiseGemmPipe::PrefetchStages" in cited(wheel, reason)


def test_pipeline_v1_takes_a_single_step(wheel: AiterTree) -> None:
    assert blockscale(wheel, 128, 1536, 128).instance == DEFAULT


V1 = "a8w8_rowwise_64x16x16x128_16x16_1x1_8x8x1_8x8x1_1x16x1x4_4x4x1_1x1_intrawave_v1"
V2 = "a8w8_rowwise_64x16x16x64_16x16_1x1_4x16x1_4x16x1_1x16x1x4_4x4x1_1x1_interwave_v2"


@pytest.mark.parametrize(
    ("name", "shape", "reason"),
    [
        # what CK's own IsSupportedArgument answers when it is compiled for the host and asked
        (V1, (64, 512, 64, 2), None),
        (V1, (64, 512, 128, 3), None),
        (V1, (64, 512, 64, 3), "K = 64 in parts of 32 leaves nothing for the last of 3 parts"),
        (V1, (3, 256, 64, 8), "K = 64 in parts of 16 leaves nothing for the last of 8 parts"),
        (V1, (3, 256, 100, 1), "K = 100 is no multiple of 16, the vector in which A is read"),
        (V2, (16, 64, 512, 1), None),
        (V2, (16, 64, 1024, 2), None),
        (V2, (1, 192, 256, 2), "K = 256 makes 2 main-loop steps, pipeline v2 needs more than 4"),
    ],
)
def test_a_row_wise_instance_refuses_what_ck_refuses(
    wheel: AiterTree, name: str, shape: tuple[int, int, int, int], reason: str | None
) -> None:
    how = recipe(wheel, "module_gemm_a8w8")
    instance = instance_table(wheel, "a8w8", "gfx942").named(name)
    assert how is not None
    assert instance is not None
    places = ck_places(wheel, how.generators[0], instance.values["pipeline_version"])
    m, n, k, k_batch = shape
    problem = Problem(m, n, k, k_batch, dtype="int8")
    found = refusal(wheel, places, instance.values, problem, padded=True)
    assert (found and found.what.partition(" (")[0]) == reason


@pytest.mark.parametrize("target", [MI300X, MI308X, MI355X], ids=lambda target: str(target.compute_units))
@pytest.mark.parametrize(
    "module", ["module_gemm_a8w8_blockscale", "module_gemm_a8w8_blockscale_bpreshuffle", "module_gemm_a8w8_bpreshuffle"]
)
def test_nothing_that_a_shipped_row_says_was_timed_is_refused(wheel: AiterTree, module: str, target: Target) -> None:
    how = recipe(wheel, module)
    assert how is not None
    merged = merge(wheel, require(wheel, how.tuned[0]), {})
    table = instance_table(wheel, CK_FAMILIES[module].instances, target.arch or "")
    for row in (*merged.rows, *(lost.row for lost in merged.lost)):
        instance = table.by_id.get(key_value(row.values["kernelId"]))  # type: ignore[call-overload]
        if row.values["cu_num"] != str(target.compute_units) or instance is None or "_ZN" in row.values["kernelName"]:
            continue
        places = ck_places(wheel, how.generators[0], instance.values.get("pipeline_version"))
        m, n, k = (int(row.values[axis]) for axis in "MNK")
        for padded in (False, True):
            problem = Problem(m, n, k, dtype="float8_e4m3fnuz")
            assert refusal(wheel, places, instance.values, problem, padded=padded) is None, row


def test_a_row_whose_instance_is_not_there_leaves_no_module_to_call(wheel: AiterTree, tmp_path: Path) -> None:
    tuned = tmp_path / "tuned.csv"
    tuned.write_text(f"{HEADER}\n304,128,1536,7168,99,0,9.5,any,1,1,0.0\n", encoding="utf-8")
    named = blockscale(wheel, 128, 1536, 7168, AITER_CONFIG_GEMM_A8W8_BLOCKSCALE=str(tuned))
    other = blockscale(wheel, 64, 1536, 7168, AITER_CONFIG_GEMM_A8W8_BLOCKSCALE=str(tuned))
    assert named.tuned is not None
    assert other.tuned is not None
    assert (named.tuned.reason, other.tuned.reason) == (MissReason.NOT_COMPILED_IN, MissReason.M_DIFFERS)
    for answer in (named, other):
        assert (answer.instance, answer.candidates) == (None, ())
        reasons = [hop.reason or "" for hop in answer.hops if hop.evidence is Evidence.UNRESOLVED]
        assert ["kernelId 99 is not in" in reason for reason in reasons] == [True]
