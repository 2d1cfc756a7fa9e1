"""What a kernel is called on a page, what sort it is, and its fields with their places in the name."""

from __future__ import annotations

import pytest

from tests import handmade
from tracer.model.capture import Launch
from tracer.model.evidence import Evidence
from tracer.model.report import KernelKind
from tracer.model.source import Hop, Layer
from tracer.names import registry
from tracer.pipeline import build_report
from tracer.resolve.kernels import field_rows, short_name


def launch(kernel: str | None, instance: str | None = None) -> Launch:
    return Launch(id=0, kernel=kernel, instance=instance, evidence=Evidence.OBSERVED)


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        ("_gemm_a16_w16_kernel_BLOCK_SIZE_M_16", "_gemm_a16_w16_kernel_BLOCK_SIZE_M_16"),
        (
            handmade.RMSNORM_KERNEL,
            "aiter::add_rmsnorm_quant_kernel<std::bfloat16_t, std::bfloat16_t, 256, 16, false, false, true, 1>",
        ),
        ("void at::native::f<4>(int, float (*)(int))", "at::native::f<4>"),
        ("void ns::k<" + "x" * 200 + ">(int)", "ns::k<…>"),
        ("void odd(", "odd("),
    ],
)  # fmt: skip
def test_a_signature_is_shown_without_result_and_parameters(kernel: str, name: str) -> None:
    assert short_name(launch(kernel), registry.decode(kernel)) == name


def test_the_instance_is_what_a_library_calls_the_kernel() -> None:
    assert short_name(launch("kernel_gemm", "a8w8_blockscale_x")) == "a8w8_blockscale_x"


def test_without_either_the_chains_last_kernel_names_it() -> None:
    hops = (
        Hop(layer=Layer.LAUNCH, name="hipLaunchKernel", evidence=Evidence.OBSERVED),
        Hop(layer=Layer.KERNEL, name="quant_kernel", evidence=Evidence.RESOLVED),
    )
    assert short_name(launch(None), None, hops) == "quant_kernel"
    assert short_name(launch(None)) == "?"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("blockscale", KernelKind.HIP),
        ("triton", KernelKind.TRITON),
        ("imported", KernelKind.HIP),
        ("live", KernelKind.CUDA),
    ],
)
def test_the_kind_follows_from_how_it_was_made_and_for_what(name: str, kind: KernelKind) -> None:
    assert build_report(handmade.ALL[name]()).paths[0].kernels[0].kind is kind


def test_fields_keep_their_place_in_the_name() -> None:
    decoded = registry.decode(handmade.INSTANCE)
    for row in field_rows(decoded):
        assert decoded.spelled[row.start : row.end] == row.stated
        assert row.meaning
