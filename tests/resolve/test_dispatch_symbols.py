"""The symbol of the kernel that runs for a call: by the types, the shape and the bias that aiter itself passes on."""

from __future__ import annotations

import msgspec
import pytest

from tests.aiter.calls import FP8, MI300X, MI355X, gemm, none, tensor
from tests.aiter.test_moe_cktile_dispatch import stage
from tracer.aiter.dispatch import resolve_dispatch
from tracer.aiter.families import CK_FAMILIES
from tracer.aiter.tree import AiterTree
from tracer.model.capture import Argument, BoundaryCall
from tracer.model.source import Dispatch
from tracer.names.registry import decode
from tracer.resolve.dispatch_symbols import read_ahead, with_symbol
from tracer.resolve.symbol_instances import instances_of

FACTS = ("gemm_spec", "main_k_loop", "mem_op", "tail", "dtype_c")


def symbol_of(tree: AiterTree, call: BoundaryCall) -> Dispatch:
    chosen = resolve_dispatch(tree, call, MI300X, {})
    assert chosen is not None
    return with_symbol(tree, chosen, "gfx942")


@pytest.mark.parametrize(
    ("shape", "out", "facts"),
    [
        ((128, 1536, 7168), "bfloat16", ("Default", True, "Set", "Full", "bf16")),
        ((128, 1536, 7168), "float16", ("Default", True, "Set", "Full", "fp16")),
        ((100, 1536, 7168), "bfloat16", ("MNKPadding", True, "Set", "Full", "bf16")),
        ((128, 1536, 256), "bfloat16", ("Default", False, "Set", "Odd", "bf16")),
    ],
)
def test_the_symbol_follows_the_shape_and_the_output_type(
    wheel: AiterTree, shape: tuple[int, int, int], out: str, facts: tuple[object, ...]
) -> None:
    answer = symbol_of(wheel, gemm("gemm_a8w8_blockscale", *shape, out=out))
    assert answer.symbols_reason is None
    (symbol,) = answer.symbols
    fields = decode(symbol).fields
    assert tuple(fields[key] for key in FACTS) == facts


def rowwise(bias: Argument) -> BoundaryCall:
    return gemm("gemm_a8w8", 128, 1536, 7168, bias, dtype="int8")


def test_a_call_with_a_bias_runs_another_kernel(wheel: AiterTree) -> None:
    without = symbol_of(wheel, rowwise(none("bias")))
    bias = symbol_of(wheel, rowwise(tensor("bias", (1, 1536), "bfloat16")))
    assert without.instance == bias.instance
    epilogues = [decode(answer.symbols[0]).fields["cde_element_op"] for answer in (without, bias)]
    assert epilogues == ["RowwiseScale", "MultiplyMultiplyAdd"]


def test_the_instances_own_name_and_the_symbol_state_the_same_tile(wheel: AiterTree) -> None:
    answer = symbol_of(wheel, gemm("gemm_a8w8_blockscale", 7, 7168, 2048))
    stated, run = decode(str(answer.instance)).fields, decode(answer.symbols[0]).fields
    shared = (stated.keys() & run.keys()) - {"a_bits", "b_bits"}
    assert {"m_per_block", "n_per_block", "k_per_block", "pipeline_version"} <= shared
    assert {key: stated[key] for key in shared} == {key: run[key] for key in shared}


def test_a_tree_without_composable_kernel_says_why_there_is_no_symbol(main_tree: AiterTree) -> None:
    if main_tree.ck_root is not None:
        pytest.skip("this checkout has the submodule")
    call = msgspec.structs.replace(rowwise(none("bias")), function="gemm_a8w8", module="module_gemm_a8w8")
    answer = symbol_of(main_tree, call)
    assert answer.instance is not None
    assert not answer.symbols
    assert "composable_kernel" in str(answer.symbols_reason)


def test_reading_ahead_changes_no_answer(wheel: AiterTree) -> None:
    read_ahead(wheel, CK_FAMILIES["module_gemm_a8w8_blockscale"].instances, "gfx942")
    call = gemm("gemm_a8w8_blockscale", 128, 1536, 7168, dtype=FP8["gfx942"])
    assert symbol_of(wheel, call) == symbol_of(wheel, call)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize(
    ("dtype", "k", "tail"),
    # the tile has 256 bytes of K
    [("bfloat16", 7168, "Even"), ("bfloat16", 7168 + 64, "Odd"), (FP8["gfx942"], 7168, "Even"),
     (FP8["gfx942"], 7168 + 64, "Odd")],
)  # fmt: skip
def test_deepgemm_runs_the_kernel_for_its_types_its_depth_and_its_scales(
    wheel: AiterTree, dtype: str, k: int, tail: str, scaled: bool
) -> None:
    scale = [tensor(f"{letter}_scale", (4, 128), "float32") if scaled else none(f"{letter}_scale") for letter in "xw"]
    operands = (tensor("XQ", (4, 128, k), dtype), tensor("WQ", (4, 4096, k), dtype))
    arguments = (*operands, tensor("Y", (4, 128, 4096), "bfloat16"), tensor("group_layout", (4,), "int32"), *scale)
    call = BoundaryCall(id=1, module="module_deepgemm", function="deepgemm", arguments=arguments)
    answer = symbol_of(wheel, call)
    assert answer.symbols_reason is None
    (symbol,) = answer.symbols
    fields = decode(symbol).fields
    assert (fields["tail"], fields["scaled_a"], fields["scaled_b"]) == (tail, scaled, scaled)
    assert fields["dtype_a"] == ("bf16" if dtype == "bfloat16" else "fp8")
    assert answer.instance in [match.instance for match in instances_of(decode(symbol), wheel)]


@pytest.mark.parametrize("number", [1, 2])
def test_a_moe_stage_on_ck_tile_runs_the_kernel_of_its_stage(wheel: AiterTree, number: int) -> None:
    answer = with_symbol(wheel, stage(wheel, MI355X, number), "gfx950")
    assert answer.symbols_reason is None
    (symbol,) = answer.symbols
    fields = decode(symbol).fields
    assert (fields["stage"], fields["tail"], fields["dtype_b"]) == (number, "Even", "fp4")
    assert [match.instance for match in instances_of(decode(symbol), wheel)] == [answer.instance]
