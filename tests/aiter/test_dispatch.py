"""What aiter's rules choose for a call: the instance, the hops to it, and that every line cited says what is said."""

from __future__ import annotations

import pytest

from tests.aiter.calls import FP8, MI300X, MI308X, MI355X, gemm, none, quant, scalar, tensor
from tracer.aiter.dispatch import resolve_dispatch
from tracer.aiter.tree import AiterTree
from tracer.model.capture import Argument, BoundaryCall
from tracer.model.environment import Target
from tracer.model.evidence import Evidence
from tracer.model.source import Dispatch, Layer, MissReason, TunedStatus
from tracer.names import registry

DEFAULT = "a8w8_blockscale_1x128x128_256x16x128x256_16x16_16x16_16x16x1_16x16x1_1x16x1x16_8_1x2_intrawave_v1"
TUNED = "a8w8_blockscale_1x128x128_256x16x64x256_16x16_16x16_16x16x1_16x16x1_1x16x1x16_4_1x1_intrawave_v1"


def chosen(tree: AiterTree, call: BoundaryCall, target: Target = MI300X, **environment: str) -> Dispatch:
    answer = resolve_dispatch(tree, call, target, environment)
    assert answer is not None
    assert answer.boundary == call.id
    return answer


def blockscale(tree: AiterTree, m: int, n: int, k: int, target: Target = MI300X, **more: str) -> Dispatch:
    return chosen(tree, gemm("gemm_a8w8_blockscale", m, n, k, dtype=FP8[target.arch or ""], **more), target)


def check_lines(tree: AiterTree, answer: Dispatch) -> None:
    """Every hop's line holds the hop's name, and every step's line exists."""
    for hop in answer.hops:
        if hop.source is None:
            assert hop.evidence is Evidence.UNRESOLVED
            continue
        lines = tree.absolute(hop.source.file).read_text().splitlines()
        if hop.source.line is None:
            assert hop.name == "miss"
            continue
        line = lines[hop.source.line - 1]
        name = hop.name.partition("<<<")[0].replace("m.def(", "").strip('")')
        if hop.layer is Layer.INSTANCE:
            assert "nstance(" in line
        elif "<<<" in hop.name:
            assert name in line or "<<<" in line  # a macro writes the launch with the kernel's name as its argument
        elif hop.layer is Layer.TUNED_CONFIG:
            assert name in line or name == "miss"
        else:
            assert name in line, (hop, line)
    for step in answer.core_flow:
        assert step.source is not None
        assert (step.source.line or 0) <= len(tree.absolute(step.source.file).read_text().splitlines())


@pytest.mark.parametrize(
    ("target", "instance", "status", "reason"),
    [
        (MI300X, TUNED, TunedStatus.EXACT, None),
        (MI308X, DEFAULT, TunedStatus.MISS, MissReason.DROPPED_BY_MERGE),
        (MI355X, DEFAULT, TunedStatus.MISS, MissReason.DROPPED_BY_MERGE),
    ],
)
def test_the_wheel_chooses_for_128_1536_7168_by_the_gpu(
    wheel: AiterTree, target: Target, instance: str, status: TunedStatus, reason: MissReason | None
) -> None:
    answer = blockscale(wheel, 128, 1536, 7168, target)
    assert answer.instance == instance
    assert answer.tuned is not None
    assert (answer.tuned.status, answer.tuned.reason) == (status, reason)
    check_lines(wheel, answer)


def test_the_chain_goes_from_the_binding_to_the_device_function(wheel: AiterTree) -> None:
    answer = blockscale(wheel, 128, 1536, 7168)
    assert [(hop.layer, hop.name) for hop in answer.hops] == [
        (Layer.BINDING, "GEMM_A8W8_BLOCKSCALE_PYBIND"),
        (Layer.BINDING, 'm.def("gemm_a8w8_blockscale")'),
        (Layer.CPP, "gemm_a8w8_blockscale"),
        (Layer.TUNED_CONFIG, TUNED),
        (Layer.DISPATCH, "blockscale_dispatch"),
        (Layer.DISPATCH, "get_tune_dict"),
        (Layer.INSTANCE, TUNED),
        (Layer.CPP, "gemm_a8w8_blockscale_impl"),
        (Layer.CPP, "DeviceGemmHelperF8BlockScale"),
        (Layer.CPP, "DeviceGemmMultiD_ABScale_Xdl_CShuffle_V3"),
        (Layer.LAUNCH, "launch_and_time_kernel"),
        (Layer.KERNEL, "kernel_gemm_xdl_cshuffle_v3"),
    ]
    assert answer.assumption is not None
    assert "304 CUs" in answer.assumption
    assert "rebuild" in answer.assumption


def test_values_that_the_name_leaves_out_come_from_the_source(wheel: AiterTree) -> None:
    assert blockscale(wheel, 128, 1536, 7168).not_in_name == {"m_xdl_per_wave": 1, "n_xdl_per_wave": 1}
    assert blockscale(wheel, 128, 1536, 7168, MI308X).not_in_name == {"m_xdl_per_wave": 1, "n_xdl_per_wave": 2}


def test_the_launch_follows_from_tile_and_shape(wheel: AiterTree) -> None:
    parameters = blockscale(wheel, 128, 1536, 7168).parameters
    assert parameters["block"] == [256, 1, 1]
    assert parameters["grid"] == [8 * 24, 1, 1]  # 128 / 16 by 1536 / 64 tiles
    assert parameters["lds_bytes"] == 16 * 256 + 64 * 256  # fp8 tiles of A and B; the shuffle buffer is smaller
    assert parameters["gemm_specialization"] == "Default"
    padded = blockscale(wheel, 100, 1544, 7168).parameters
    assert padded["gemm_specialization"] == "MNKPadding"
    assert padded["grid"] == [7 * 13, 1, 1]


@pytest.mark.parametrize(
    ("m", "status", "padded"), [(127, TunedStatus.PADDED_FINE, 128), (70, TunedStatus.PADDED_COARSE, 128)]
)
def test_an_m_between_rows_takes_a_padded_row(wheel: AiterTree, m: int, status: TunedStatus, padded: int) -> None:
    answer = blockscale(wheel, m, 1536, 7168)
    assert answer.tuned is not None
    assert (answer.tuned.status, answer.tuned.padded_m, answer.instance) == (status, padded, TUNED)


def test_a_shape_that_no_file_has_takes_the_default(wheel: AiterTree) -> None:
    answer = blockscale(wheel, 128, 1664, 896)
    assert answer.tuned is not None
    assert (answer.instance, answer.tuned.reason) == (DEFAULT, MissReason.NO_SUCH_NK)


def test_the_core_flow_is_the_pipelines_own_order(wheel: AiterTree) -> None:
    flow = blockscale(wheel, 128, 1536, 7168).core_flow
    kinds = [step.kind for step in flow]
    assert kinds[0] == "map"
    assert kinds.index("loop") < kinds.index("mfma") < kinds.index("tail") < kinds.index("epilogue")
    assert kinds[-1] == "store"
    assert all(step.shared for step in flow)


@pytest.mark.parametrize(("k", "steps", "tail"), [(128, 1, "Odd"), (256, 1, "Odd"), (384, 2, "Full"), (512, 2, "Full")])
def test_the_core_flow_of_a_k_that_is_fetched_ahead_goes_through_the_tail(
    wheel: AiterTree, k: int, steps: int, tail: str
) -> None:
    answer = blockscale(wheel, 128, 1536, k)
    assert answer.instance == DEFAULT  # its tile takes 256 of K a step
    flow = answer.core_flow
    kinds = [step.kind for step in flow]
    assert kinds.index("loop") < kinds.index("tail") < kinds.index("mfma") < kinds.index("epilogue")
    loop, ending, mfma = (flow[kinds.index(kind)] for kind in ("loop", "tail", "mfma"))
    assert loop.text == f"The main loop does not run: K takes {steps} of its steps, and 2 are fetched ahead of it."
    assert ending.text == f"The tail {tail} multiplies what was fetched."
    assert ending.source is not None
    assert mfma.source is not None
    lines = wheel.absolute(ending.source.file).read_text().splitlines()
    assert f"if constexpr(TailNum == TailNumber::{tail})" in lines[(ending.source.line or 0) - 1]
    between = lines[ending.source.line or 0 : (mfma.source.line or 0) - 1]
    assert not [line for line in between if "TailNumber::" in line or "HasMainLoop" in line]
    assert not any(step.shared for step in flow if step.source is not None and step.source.file == ending.source.file)


def test_a_type_that_the_cpp_refuses_leaves_the_choice_open(wheel: AiterTree) -> None:
    answer = blockscale(wheel, 128, 1536, 7168, out="float32")
    assert answer.instance is None
    assert answer.hops[-1].evidence is Evidence.UNRESOLVED
    assert "Unsupported scales/output dtype!" in str(answer.hops[-1].reason)


def test_an_environment_without_rows_takes_the_default(wheel: AiterTree) -> None:
    call = gemm("gemm_a8w8_blockscale", 128, 1536, 7168)
    answer = chosen(wheel, call, MI300X, AITER_CONFIG_GEMM_A8W8_BLOCKSCALE="/nowhere/tuned.csv")
    assert answer.instance == DEFAULT
    assert answer.tuned is not None
    assert answer.tuned.reason is MissReason.FILE_MISSING


def test_a_module_without_a_rule_has_no_answer(wheel: AiterTree) -> None:
    call = BoundaryCall(id=0, module="module_gemm_common", function="get_padded_m")
    assert resolve_dispatch(wheel, call, MI300X, {}) is None


def test_a_function_that_the_module_does_not_bind_has_no_answer(wheel: AiterTree) -> None:
    call = BoundaryCall(id=0, module="module_gemm_a8w8_blockscale", function="no_such_function")
    assert resolve_dispatch(wheel, call, MI300X, {}) is None


def test_the_group_quantiser_launches_16_groups_a_block(wheel: AiterTree) -> None:
    answer = chosen(wheel, quant(128, 7168))
    assert answer.parameters["kernel"] == "dynamic_per_group_scaled_quant_kernel"
    assert answer.parameters["block"] == [64, 1, 1]
    assert answer.parameters["grid"] == [128 * 56 // 16, 1, 1]
    assert (answer.core_flow[0].kind, answer.core_flow[-1].kind) == ("map", "store")
    check_lines(wheel, answer)


def test_template_arguments_stand_under_their_parameters_and_deduced_ones_are_left_out(wheel: AiterTree) -> None:
    grouped, rowwise = chosen(wheel, quant(128, 7168)), chosen(wheel, quant(128, 7168, group=None))
    assert grouped.parameters["template"] == {"thread_data_size": "32"}  # its default; both types are deduced
    # of the output type the text states only what an alias is called
    assert rowwise.parameters["template"] == {"DTYPE_I": "bfloat16", "DTYPE_O": None, "thread_data_size": "16"}


def test_a_function_given_as_a_template_argument_stands_under_its_name_and_unknown_constants_are_none(
    wheel: AiterTree,
) -> None:
    arguments = (tensor("out", (128, 4096), "bfloat16"), tensor("input", (128, 8192), "bfloat16"))
    call = BoundaryCall(id=0, module="module_activation", function="silu_and_mul", arguments=arguments)
    assert chosen(wheel, call).parameters["template"] == {
        "DTYPE_I": "bfloat16",
        "ACT_FN": "aiter::silu_kernel<bfloat16>",
        "VEC_SIZE_I": None,
    }


@pytest.mark.parametrize("renorm", [True, False])
def test_a_template_argument_that_is_not_known_does_not_move_the_others(wheel: AiterTree, renorm: bool) -> None:
    arguments = (
        tensor("topk_weights", (128, 8), "float32"),
        tensor("topk_indices", (128, 8), "int32"),
        tensor("token_expert_indices", (128, 8), "int32"),
        tensor("gating_output", (128, 256), "float32"),
        scalar("need_renorm", renorm),
    )
    call = BoundaryCall(id=0, module="module_moe_asm", function="topk_softmax", arguments=arguments)
    template = chosen(wheel, call).parameters["template"]
    assert (template["NUM_EXPERTS"], template["need_renorm"]) == ("256", str(renorm).lower())


@pytest.mark.parametrize(
    ("module", "function", "arguments"),
    [
        (
            "module_activation",
            "silu_and_mul",
            (tensor("out", (8, 64), "float32"), tensor("input", (8, 128), "float32")),
        ),
        (
            "module_rmsnorm",
            "rmsnorm2d_fwd",
            (
                tensor("input", (8, 64), "float32"),
                tensor("weight", (64,), "float32"),
                scalar("epsilon", 0),
                scalar("m", 0),
            ),
        ),
    ],
)
def test_a_call_that_a_host_function_refuses_has_no_kernel_whatever_the_module(
    wheel: AiterTree, module: str, function: str, arguments: tuple[Argument, ...]
) -> None:
    answer = chosen(wheel, BoundaryCall(id=0, module=module, function=function, arguments=arguments))
    assert answer.hops[-1].evidence is Evidence.UNRESOLVED
    assert " refuses the call: " in (answer.hops[-1].reason or "")
    assert answer.parameters == {}


def test_a_function_that_launches_several_kernels_leads_to_each(wheel: AiterTree) -> None:
    arguments = (
        tensor("out", (128, 7168), FP8["gfx942"]),
        tensor("input", (128, 7168), "bfloat16"),
        tensor("scale", (1,), "float32"),
    )
    call = BoundaryCall(id=1, module="module_quant", function="dynamic_per_tensor_quant", arguments=arguments)
    answer = chosen(wheel, call)
    kernels = [hop for hop in answer.hops if hop.layer is Layer.KERNEL]
    assert [hop.name for hop in kernels] == ["initializeScale", "data_to_scale_kernel", "scaled_quant_kernel"]
    assert kernels[0].source is not None
    assert kernels[0].source.file == "csrc/include/quant_common.cuh"  # a header that the file includes
    assert [launched["grid"] for launched in answer.parameters["further"]] == [[128, 1, 1], [128, 1, 1]]
    check_lines(wheel, answer)


def test_the_token_quantiser_launches_a_block_a_row(wheel: AiterTree) -> None:
    answer = chosen(wheel, quant(100, 7168, group=None))
    assert answer.parameters["kernel"] == "dynamic_per_token_scaled_quant_kernel"
    assert answer.parameters["grid"] == [100, 1, 1]
    check_lines(wheel, answer)


def test_the_quantiser_refuses_the_other_targets_fp8(wheel: AiterTree) -> None:
    answer = chosen(wheel, quant(128, 7168, dtype=FP8["gfx950"]), MI300X)
    assert "kernel" not in answer.parameters
    assert "not support output type" in str(answer.hops[-1].reason)


FAMILIES = [
    ("gemm_a8w8", (none("bias"), scalar("splitK", 0)), "int8"),
    ("gemm_a8w8_bpreshuffle", (), None),
    ("gemm_a8w8_blockscale_bpreshuffle", (), None),
    ("gemm_a4w4_blockscale", (scalar("splitK", 0),), "uint8"),
]


@pytest.mark.parametrize(("function", "more", "dtype"), FAMILIES)
@pytest.mark.parametrize("target", [MI300X, MI308X, MI355X])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1280, 8192), (128, 1536, 7168), (4096, 2112, 7168)])
def test_every_family_of_the_wheel_resolves_to_an_instance_that_its_table_has(
    wheel: AiterTree, function: str, more: tuple[object, ...], dtype: str | None, target: Target, m: int, n: int, k: int
) -> None:
    call = gemm(function, m, n, k, *more, dtype=dtype or FP8[target.arch or ""])  # type: ignore[arg-type]
    answer = chosen(wheel, call, target)
    assert answer.instance is not None
    assert registry.decode(answer.instance).complete
    assert answer.hops[-1].layer is Layer.KERNEL
    assert answer.parameters["grid"][0] >= 1
    check_lines(wheel, answer)


@pytest.mark.parametrize(("exponent", "parts"), [(0, 1), (2, 4)])
def test_a_split_that_is_passed_as_an_exponent_is_counted_as_parts(wheel: AiterTree, exponent: int, parts: int) -> None:
    call = gemm("gemm_a4w4_blockscale", 128, 1536, 7168, scalar("splitK", exponent), dtype="uint8")
    parameters = chosen(wheel, call, MI355X).parameters
    assert (parameters["k_batch"], parameters["grid"][2]) == (parts, parts)


@pytest.mark.parametrize(
    ("function", "dtype", "scales"), [("batched_gemm_a8w8", "int8", True), ("batched_gemm_bf16", "bfloat16", False)]
)
def test_batched_families_resolve_by_batch_and_shape(wheel: AiterTree, function: str, dtype: str, scales: bool) -> None:
    arguments = [tensor("XQ", (16, 32, 8192), dtype), tensor("WQ", (16, 1280, 8192), dtype)]
    if scales:
        arguments += [tensor("x_scale", (16, 32, 1), "float32"), tensor("w_scale", (16, 1, 1280), "float32")]
    arguments += [tensor("Out", (16, 32, 1280), "bfloat16"), none("bias"), scalar("splitK", 0)]
    call = BoundaryCall(id=7, module=f"module_{function}", function=function, arguments=tuple(arguments))
    answer = chosen(wheel, call)
    assert answer.tuned is not None
    assert answer.tuned.status is TunedStatus.EXACT
    assert answer.tuned.row is not None
    assert answer.instance == answer.tuned.row.values["kernelName"]
    assert answer.parameters["grid"][2] == 16
    check_lines(wheel, answer)


def test_main_takes_the_name_that_python_passes(main_tree: AiterTree) -> None:
    name = "a8w8_blockscale_1x128x128_256x64x64x256_16x16_32x32_1x1_16x16x1_16x16x1_1x32x1x8_8_1x1_intrawave_v1"
    passed = (scalar("splitK", 0), scalar("kernelName", name))
    answer = chosen(main_tree, gemm("gemm_a8w8_blockscale", 128, 1536, 7168, *passed))
    assert answer.instance == name
    assert answer.not_in_name == {}
    assert answer.hops[-1].evidence is Evidence.UNRESOLVED or main_tree.ck_root is not None
    check_lines(main_tree, answer)


def test_main_refuses_a_name_that_is_not_compiled_in(main_tree: AiterTree) -> None:
    passed = (scalar("splitK", 0), scalar("kernelName", "a8w8_blockscale_of_another_day"))
    answer = chosen(main_tree, gemm("gemm_a8w8_blockscale", 128, 1536, 7168, *passed))
    assert answer.instance is None
    assert any("not present in the compiled registry" in str(hop.reason) for hop in answer.hops)


def test_main_without_a_name_takes_the_default(main_tree: AiterTree) -> None:
    answer = chosen(main_tree, gemm("gemm_a8w8_blockscale", 128, 1536, 7168))
    assert answer.instance is not None
    assert registry.decode(answer.instance).fields["m_xdl_per_wave"] == 1


def test_main_has_ck_tile_variants(main_tree: AiterTree) -> None:
    call = gemm("gemm_a8w8_blockscale_cktile", 128, 1536, 7168, dtype=FP8["gfx950"])
    answer = chosen(main_tree, call, MI355X)
    assert answer.instance == "a8w8_blockscale_cktile_128x128x128_1x4x1_16x16x64_intrawave_0x1x0_1"
    assert answer.hops[-1].evidence is Evidence.UNRESOLVED
