"""aiter's main: a miniature in its layout always, the real one where KTRACE_AITER names a checkout."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from tests.capture.conftest import DTYPE, HERE, SHAPE, TILE, gemm, triton_gemm
from tests.capture.test_isolation import fingerprint, shared
from tracer.capture.dry import capture_dry
from tracer.capture.protocol import CallRequest
from tracer.model.capture import Binding, CaptureRecord

pytestmark = pytest.mark.dry


@pytest.fixture(scope="module")
def mini(needs_torch: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, CaptureRecord]:
    """Calls of the miniature, which is found unchanged afterwards."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("triton is not installed")
    checkout = tmp_path_factory.mktemp("mini") / "checkout"
    shutil.copytree(HERE / "mini_aiter", checkout, ignore=shutil.ignore_patterns("__pycache__"))
    before, shared_before = fingerprint(checkout), shared()
    requests = {
        "hit": gemm(128, 1536, 7168),
        "missed": gemm(100, 384, 512),
        "quant_gemm": CallRequest(
            op="quant_gemm_a8w8_blockscale", shape=SHAPE, options={**DTYPE, "quant_dtype": "fp8"}
        ),
        "triton": triton_gemm(16, 64, 64),
        "steered": CallRequest(op="aiter.ops.gemm:steered_by_a_count", arguments=("x=bf16[4]",)),
        "named_for_the_call": CallRequest(op="aiter.ops.attention:attention", arguments=("q=bf16[4,64]",)),
        "template": CallRequest(op="aiter.ops.attention:scale_rows", arguments=("x=bf16[4,64]", "factor=2.0")),
        "building": CallRequest(op="aiter.ops.attention:build_at_once"),
    }
    records = dict(zip(requests, capture_dry(list(requests.values()), aiter_path=checkout), strict=True))
    assert fingerprint(checkout) == before
    assert shared() == shared_before
    return records


def test_every_call_of_the_miniature_works(mini: dict[str, CaptureRecord]) -> None:
    raised = {name: record.exception for name, record in mini.items() if name != "building"}
    assert raised == dict.fromkeys(raised)


def test_the_kernel_name_that_python_chose_is_seen_at_the_boundary(mini: dict[str, CaptureRecord]) -> None:
    (call,) = mini["hit"].boundaries
    assert {a.name: a.value for a in call.arguments}["kernelName"] == "mini_instance_a"


def test_a_config_that_aiter_repairs_in_place_stays_as_it_is_and_the_record_says_so(
    mini: dict[str, CaptureRecord],
) -> None:
    (warning,) = mini["hit"].warnings
    assert "rewrote its own CSVs" in warning
    assert "Found repeated rows in aiter/configs/blockscale_tuned_gemm.csv" in warning
    assert mini["quant_gemm"].warnings == ()


def test_ctypes_bindings_are_answered_truly(mini: dict[str, CaptureRecord]) -> None:
    fine, coarse, launch = mini["missed"].boundaries
    assert (fine.module, fine.function, fine.binding, fine.answered) == (
        "module_gemm_common",
        "getPaddedM",
        Binding.CTYPES,
        "true",
    )
    assert [a.value for a in coarse.arguments] == [100, 384, 512, 1]
    assert launch.binding is Binding.PYBIND
    assert [entry.boundary for entry in mini["missed"].launches] == [2]


def test_a_registered_op_enters_its_real_body(mini: dict[str, CaptureRecord]) -> None:
    functions = [f.qualname for f in mini["hit"].frames if f.source is not None and f.source.tree == "aiter"]
    assert functions[:3] == [
        "registered.<locals>.decorate.<locals>.call",
        "registered.<locals>.decorate.<locals>.body",
        "gemm_a8w8_blockscale",
    ]


def test_triton_kernels_of_mains_layout_are_compiled(mini: dict[str, CaptureRecord]) -> None:
    (launch,) = mini["triton"].launches
    assert launch.compiled is not None
    assert (launch.kernel, launch.grid) == ("_copy_row_kernel", (64, 1, 1))
    assert launch.compiled.keys is None
    assert launch.compiled.source is not None
    assert launch.compiled.source.file == "aiter/ops/triton/gemm/basic/gemm_a16w16.py"


def test_a_value_that_steers_python_is_said_to_be_invented(mini: dict[str, CaptureRecord]) -> None:
    record = mini["steered"]
    (call,) = record.boundaries
    assert (call.answered, call.invented) == ("invented", "0 for a value of a int32 tensor of shape (1,)")
    assert record.warnings == (
        "a value was made up: 0 for a value of a int32 tensor of shape (1,) that module_quant.write_count writes",
    )


def test_a_module_named_for_the_call_is_crossed_under_that_name_and_its_recipe(
    mini: dict[str, CaptureRecord],
) -> None:
    (call,) = mini["named_for_the_call"].boundaries
    assert (call.module, call.function, call.built_from) == ("mha_fwd_bfloat16", "mha_fwd", "module_mha_fwd")
    assert [launch.boundary for launch in mini["named_for_the_call"].launches] == [0]
    assert mini["hit"].boundaries[0].built_from is None


def test_a_template_compiled_when_called_is_a_boundary_with_its_arguments_and_tensors(
    mini: dict[str, CaptureRecord],
) -> None:
    size, call = mini["template"].boundaries
    assert (call.module, call.function, call.declared_as) == ("scale", "scale_64", "compile")
    assert call.built_from == "csrc/cpp_itfs/scale/scale.cpp.jinja"
    assert {a.name: a.value for a in call.arguments} == {"out": None, "x": None, "width": 64}
    assert (size.function, size.answered) == ("scale_workspace_size", "invented")
    (launch,) = mini["template"].launches
    assert (launch.boundary, launch.kernel) == (call.id, "scale_kernel")


def test_a_build_that_nothing_stands_in_for_is_refused(mini: dict[str, CaptureRecord]) -> None:
    raised = mini["building"].exception
    assert raised is not None
    assert "aiter would build module_quant with ROCm's compiler here; a dry run builds nothing" in raised.message


@pytest.mark.aiter_main
def test_the_real_main_works_and_is_left_as_it_was(aiter_main: Path, needs_torch: None) -> None:
    watched = aiter_main / "aiter"
    before, shared_before = fingerprint(watched), shared()
    tuned = CallRequest(op="gemm_a16w16", shape={"M": 16, "N": 3072, "K": 3072}, options=DTYPE)
    split = {**TILE, "NUM_KSPLIT": 4, "SPLITK_BLOCK_SIZE": 768}
    requests = [gemm(128, 1536, 7168), tuned, triton_gemm(16, 3072, 3072), triton_gemm(16, 3072, 3072, **split)]
    blockscale, *triton = capture_dry(requests, aiter_path=aiter_main)
    assert fingerprint(watched) == before
    assert shared() == shared_before
    assert [r.exception for r in (blockscale, *triton)] == [None] * 4
    call = blockscale.boundaries[-1]
    assert call.module.startswith("module_gemm_a8w8_blockscale")
    assert "kernelName" in {a.name for a in call.arguments}
    assert [len(r.launches) for r in triton] == [1, 1, 2]
    kernel = triton[1].launches[0].kernel
    assert kernel is not None
    assert kernel.startswith("_gemm_a16_w16_kernel_BLOCK_SIZE_M_16_")
