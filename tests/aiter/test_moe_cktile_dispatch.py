"""The two-stage MoE on CK-tile: what the generator writes, and what C++ chooses, against the real script and g++."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.aiter.calls import FP8, MI300X, MI355X, none, scalar, tensor
from tests.aiter.generators import run_generator
from tracer.aiter.dispatch import resolve_dispatch
from tracer.aiter.moe_cktile_generated import GENERATOR, HEADER, MODULE, TABLES, tile_generated
from tracer.aiter.tree import AiterTree
from tracer.model.capture import Argument, BoundaryCall
from tracer.model.environment import Target
from tracer.model.evidence import Evidence
from tracer.model.source import Dispatch, Hop, Layer

COMPILER = shutil.which("g++")
SOURCE = "csrc/ck_tile_gemm_moe_2stages/moe_cktile2stages.cu"
FP4 = "float4_e2m1fn_x2"
GEMM1 = "moe_cktile2stages_gemm1_256x32x256x256_1x4_16x16x32_2perCU_1x32_silu"
TREES = pytest.mark.parametrize("tree_name", ["wheel", "main_tree"])


def really_generated(tree: AiterTree, arch: str, folder: Path) -> dict[str, str]:
    return run_generator(tree.absolute(GENERATOR), arch, ["-w", str(folder)], folder)


def stage(
    tree: AiterTree,
    target: Target,
    number: int = 1,
    *,
    block: Argument | int = 32,
    a: str = "bfloat16",
    w: str = FP4,
    out: str = "bfloat16",
    activation: int = 0,
    bias: bool = False,
    splits: int = 1,
    name: str = "",
) -> Dispatch:
    """64 tokens, 8 experts of 1536 x 4096, 2 a token; the last four arguments but `block_m` are main's."""
    first = number == 1
    block_m = block if isinstance(block, Argument) else scalar("block_m", block)
    mains = tree.layout != "wheel"
    arguments = (
        tensor("XQ", (64, 4096) if first else (64, 2, 1536), a),
        tensor("WQ", (8, 3072, 2048) if first else (8, 4096, 768), w),
        tensor("Y", (64, 2, 1536) if first else (64, 4096), out),
        tensor("sorted_ids", (384,), "int32"),
        tensor("sorted_expert_ids", (12,), "int32"),
        tensor("max_token_ids", (2,), "int32"),
        scalar("topk", 2),
        scalar("n_padded_zeros", 0),
        scalar("k_padded_zeros", 0),
        none("topk_weight"),
        none("x_scale"),
        tensor("w_scale", (8, 3072, 128), "float8_e8m0fnu"),
        tensor("exp_bias", (8, 3072), "float32") if bias else none("exp_bias"),
        *([scalar("activation", activation)] if mains else []),
        block_m,
        *([scalar("split_k", splits), scalar("kernel_name", name)] if mains else []),
    )
    call = BoundaryCall(id=5, module=MODULE, function=f"cktile_moe_gemm{number}", arguments=arguments)
    answer = resolve_dispatch(tree, call, target, {})
    assert answer is not None
    return answer


def line(tree: AiterTree, hop: Hop) -> str:
    assert hop.source is not None
    assert hop.source.line is not None
    return tree.absolute(hop.source.file).read_text().splitlines()[hop.source.line - 1]


@TREES
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_what_is_generated_is_what_aiters_script_writes(
    tree_name: str, arch: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    tree: AiterTree = request.getfixturevalue(tree_name)
    ours = tile_generated(tree, arch)
    files = really_generated(tree, arch, tmp_path)
    implemented = {name.removesuffix(".cuh") for name in files if name.endswith(".cuh")}
    assert set(ours.instances) == implemented
    made = [re.search(r"(\w+)<([^<>]*)>\(", text) for name, text in files.items() if name.endswith(".cpp")]
    assert {(found[1], found[2]) for found in made if found} == {
        (name, ", ".join(types)) for name, lists in ours.compiled.items() for types in lists
    }
    if tree_name == "main_tree":
        table = files["moe_cktile2stages_name_dispatch.h"]
        assert {f'{{"{n}", {n}<{", ".join(types)}>}}' for n, types in ours.by_name.items()} == set(
            re.findall(r"\{\"\w+\", \w+<[^<>]*>\}", table)
        )


@TREES
def test_lines_of_the_generated_functions_lead_back_to_the_template(
    tree_name: str, request: pytest.FixtureRequest
) -> None:
    tree: AiterTree = request.getfixturevalue(tree_name)
    script = tree.absolute(TABLES).read_text().splitlines()
    for arch in ("gfx942", "gfx950"):
        for chooser in tile_generated(tree, arch).choosers:
            node = chooser.source.functions[chooser.entry]
            assert node.text is not None
            lines = enumerate(node.text.decode().splitlines(), node.start_point[0])
            returns = {
                n: found[1] for n, text in lines if (found := re.search(r"return moe_cktile2stages_gemm(\d)", text))
            }
            assert returns
            for number, of_stage in returns.items():
                assert re.match(rf"\s*return \{{\({of_stage}, \d\)\}}<", script[number + chooser.offset])


HEAD = """
#include <cstdio>
namespace ck_tile { struct bf16_t {}; struct half_t {}; struct fp8_t {}; struct pk_fp4_t {}; }
using bf16 = ck_tile::bf16_t; using fp16 = ck_tile::half_t;
using fp8 = ck_tile::fp8_t; using pk_fp4 = ck_tile::pk_fp4_t;
using MoeKernel = const char*;
#define TORCH_CHECK(held, ...) if(!(held)) throw 1
"""


#: (activation, bias, parts of K)
COMBINATIONS = ((0, False, 1), (0, False, 4), (2, True, 1), (2, True, 4), (2, False, 1))


@pytest.mark.skipif(COMPILER is None, reason="no g++")
@TREES
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_the_choice_is_that_of_aiters_own_compiled_functions(
    tree_name: str, arch: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    tree: AiterTree = request.getfixturevalue(tree_name)
    target = MI355X if arch == "gfx950" else MI300X
    files = really_generated(tree, arch, tmp_path)
    general = re.search(
        r"template <typename ADataType.*?(?=__attribute__)", tree.absolute(HEADER).read_text(), re.DOTALL
    )
    host = re.search(
        r"template <typename ADataType.*?(?=^torch::Tensor)", tree.absolute(SOURCE).read_text(), re.S | re.M
    )
    assert host is not None
    written = "".join(text for name, text in files.items() if re.search(r"_heuristic_dispatch(?!_common)", name))
    written = re.sub(r"#pragma once|#include.*", "", written)
    written = re.sub(r"return (moe_cktile2stages_gemm\w+)<.*?>;", r'return "\1";', written)
    mains = tree_name == "main_tree"
    calls, expected = "", []
    for number in (1, 2):
        for block in (16, 32, 64, 128):
            for types, a in (("bf16", "bfloat16"), ("fp8", FP8[arch])):
                for activation, bias, splits in (
                    (0, False, 1),
                    (0, False, 4),
                    (2, True, 1),
                    (2, True, 4),
                    (2, False, 1),
                ):
                    if not mains and (types == "fp8" or (activation, bias, splits) != (0, False, 1)):
                        continue  # the wheel's function has neither
                    answer = stage(
                        tree, target, number, block=block, a=a, activation=activation, bias=bias, splits=splits
                    )
                    reason = answer.hops[-1].reason or ""
                    if "returns nothing" in reason:
                        continue  # what compiled code does there is not defined
                    more = f", {activation}, {str(bias).lower()}, {splits}" if mains else ""
                    calls += (
                        f"try {{ puts(moe_dispatch<{types}, pk_fp4, float, bf16, {number}>(0, 0, 0, {block}{more})); }}"
                    )
                    calls += ' catch(int) { puts("refused"); }\n'
                    chosen = answer.instance or next(iter(answer.candidates), None)
                    expected.append("refused" if "refuses the call" in reason else chosen)
    code = f"{HEAD}{general.group(0) if general and mains else ''}{written}{host.group(0)}\nint main() {{\n{calls}}}\n"
    (tmp_path / "m.cpp").write_text(code)
    assert COMPILER is not None
    subprocess.run([COMPILER, "-w", "-std=c++17", "-o", tmp_path / "m", tmp_path / "m.cpp"], check=True)
    printed = subprocess.run([tmp_path / "m"], check=True, capture_output=True, text=True).stdout.splitlines()
    assert expected == printed
    assert len(set(printed)) > 4


def test_the_block_size_chooses_and_the_template_is_cited(wheel: AiterTree) -> None:
    answer = stage(wheel, MI300X)
    assert answer.instance == GEMM1
    chooser = next(hop for hop in answer.hops if hop.name == "moe_gemm1_heuristic_dispatch")
    assert line(wheel, chooser).strip() == "return {(1, 1)}<ADataType, BDataType, AccDataType, CDataType>;"
    assert "block_m == 32" in (chooser.note or "")
    assert [str(hop.layer) for hop in answer.hops[-4:]] == ["instance", "cpp", "launch", "kernel"]
    assert "kernelInstance(" in line(wheel, answer.hops[-4])
    assert answer.hops[-1].name == "ck_tile::MoeFlatmmKernel"
    # 384 sorted tokens in blocks of 32, 3072 columns in blocks of 256
    assert (answer.parameters["grid"], answer.parameters["block"]) == ([144, 1, 1], [256, 1, 1])
    for file, number in (where.rsplit(":", 1) for where in answer.parameters["sources"].values()):
        assert len(wheel.absolute(file).read_text().splitlines()) >= int(number)


def test_types_bias_and_split_select_mains_specialisation(main_tree: AiterTree) -> None:
    answer = stage(main_tree, MI355X, activation=2, bias=True, splits=4)
    assert answer.instance == GEMM1.replace("silu", "HasBias_swiglu_SplitK")
    chooser = next(hop for hop in answer.hops if hop.name == "moe_gemm1_heuristic_dispatcher")
    assert "2, true, true>" in (chooser.note or "")
    assert "return {(1, 1)}" in line(main_tree, chooser)
    assert stage(main_tree, MI355X, a=FP8["gfx950"]).instance == GEMM1.replace("16x16x32", "16x16x128")


def test_a_combination_that_the_generator_does_not_write_is_said_to_return_nothing(main_tree: AiterTree) -> None:
    answer = stage(main_tree, MI355X, activation=2, bias=False)
    assert (answer.instance, answer.candidates) == (None, ())
    last = answer.hops[-1]
    assert last.evidence is Evidence.UNRESOLVED
    assert "no moe_gemm1_heuristic_dispatcher for <bf16, pk_fp4, float, bf16, 2, false, false>" in (last.reason or "")
    assert HEADER in (last.reason or "")


def test_a_name_is_looked_up_in_mains_table(main_tree: AiterTree) -> None:
    name = GEMM1.replace("2perCU", "4perCU")  # no heuristic returns it
    answer = stage(main_tree, MI355X, name=name)
    assert answer.instance == name
    lookup = next(hop for hop in answer.hops if hop.name == "get_cktile_name_lookup")
    assert "hits" in (lookup.note or "")
    assert "get_cktile_name_lookup" in line(main_tree, lookup)
    missing = stage(main_tree, MI355X, name="moe_cktile2stages_nothing")
    assert missing.instance is None
    assert "CKTile kernel not found" in (missing.hops[-1].reason or "")


def test_main_writes_no_fp4_instance_for_gfx942(main_tree: AiterTree) -> None:
    answer = stage(main_tree, MI300X)
    assert (answer.instance, answer.candidates) == (None, (GEMM1,))
    last = answer.hops[-1]
    assert last.layer is Layer.INSTANCE
    assert "does not load" in (last.reason or "")
    file, number = re.search(rf"({GENERATOR}):(\d+)", last.reason or "").groups()  # type: ignore[union-attr]
    assert "get_gfx_list()" in main_tree.absolute(file).read_text().splitlines()[int(number) - 1]


def test_types_that_no_branch_takes_launch_nothing(wheel: AiterTree) -> None:
    assert "refuses the call" in (stage(wheel, MI355X, w="uint8").hops[-1].reason or "")
    fp8 = stage(wheel, MI355X, a=FP8["gfx950"])
    assert fp8.instance is None
    assert "(XQ.dtype() == torch_fp8) holds, and after it nothing is launched" in (fp8.hops[-1].reason or "")


def test_a_block_size_that_was_not_given_is_refused_by_the_optional(wheel: AiterTree) -> None:
    assert "block_m.value()" in (stage(wheel, MI355X, block=none("block_m")).hops[-1].reason or "")


@TREES
def test_a_block_size_that_is_not_known_leaves_the_instances_that_the_function_names(
    tree_name: str, request: pytest.FixtureRequest
) -> None:
    tree: AiterTree = request.getfixturevalue(tree_name)
    unknown = scalar("block_m", 0)
    unknown = Argument(unknown.name, unknown.kind, "int", None)
    answer = stage(tree, MI355X, block=unknown)
    assert answer.instance is None
    assert len(answer.candidates) == 3
    assert GEMM1 in answer.candidates
    assert "block_m == 16" in (answer.hops[-1].reason or "")
    assert TABLES in (answer.hops[-1].reason or "")
