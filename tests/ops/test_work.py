"""Work formulas against figures reckoned by hand."""

from __future__ import annotations

import pytest

from tracer.ops.registry import OPS, get_op


def test_blockscale_gemm_counts_operands_scales_and_output() -> None:
    work = get_op("gemm_a8w8_blockscale").work({"M": 128, "N": 1536, "K": 7168}, {"dtype": "bf16"})
    assert work.flops == 2 * 128 * 1536 * 7168
    # x 917504, w 11010048, x scales 4*128*56, w scales 4*12*56, out 2*128*1536
    assert work.bytes_moved == 917504 + 11010048 + 28672 + 2688 + 393216
    assert work.compute_dtype == "fp8"


def test_partial_weight_blocks_still_have_a_scale() -> None:
    work = get_op("gemm_a8w8_blockscale").work({"M": 1, "N": 129, "K": 128}, {"dtype": "bf16"})
    assert dict(work.items)["w_scale"] == 4 * 2 * 1


def test_the_quantiser_moves_three_bytes_and_a_share_of_a_scale_an_element() -> None:
    work = get_op("quant_per_1x128").work({"M": 64, "K": 7168}, {"quant_dtype": "fp8"})
    assert work.bytes_moved / (64 * 7168) == pytest.approx(3.03125)


def test_the_pair_is_the_sum_of_its_parts() -> None:
    shape, options = {"M": 128, "N": 1536, "K": 7168}, {"dtype": "bf16", "quant_dtype": "fp8"}
    pair = get_op("quant_gemm_a8w8_blockscale").work(shape, options)
    gemm = get_op("gemm_a8w8_blockscale").work(shape, options)
    quant = get_op("quant_per_1x128").work({"M": 128, "K": 7168}, options)
    assert pair.bytes_moved == gemm.bytes_moved + quant.bytes_moved
    assert pair.flops == gemm.flops + quant.flops


def test_a_bias_adds_one_operation_an_output_and_its_own_bytes() -> None:
    shape, options = {"M": 16, "N": 32, "K": 64}, {"dtype": "bf16"}
    plain = get_op("torch_mm").work(shape, options)
    biased = get_op("torch_linear").work(shape, options)
    assert biased.flops - plain.flops == 16 * 32
    assert biased.bytes_moved - plain.bytes_moved == 2 * 32


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_op_states_formulas_with_a_source_and_items_that_add_up(op) -> None:  # type: ignore[no-untyped-def]
    shape = {dim.name: 256 * dim.multiple_of for dim in op.dims}
    work = op.work(shape, {option.name: option.default for option in op.options})
    assert work.flops_formula
    assert work.bytes_formula
    assert work.source
    assert sum(size for _, size in work.items) == work.bytes_moved
