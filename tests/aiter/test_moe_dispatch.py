"""The two-stage CK MoE: what the generator writes, and what its C++ chooses, against the real generator and g++."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.aiter.calls import MI300X, MI355X, none, scalar, tensor
from tests.aiter.generators import run_generator
from tracer.aiter.cpp_eval import Walk
from tracer.aiter.cpp_events import Refused
from tracer.aiter.cpp_values import InstanceRef
from tracer.aiter.dispatch import resolve_dispatch
from tracer.aiter.evaluate import Evaluator
from tracer.aiter.moe_generated import GENERATOR, Generated, MoeModule, generated, module_of, plain
from tracer.aiter.records import Namespace, Opaque
from tracer.aiter.tree import AiterTree
from tracer.model.capture import Argument, BoundaryCall
from tracer.model.environment import Target
from tracer.model.evidence import Evidence
from tracer.model.source import Dispatch, Layer

COMPILER = shutil.which("g++")

MODULES = [
    MoeModule("f8", "f8", "b16", "silu", "per_1x128", 2, preshuffle=False, splitk=False),
    MoeModule("f8", "f8", "b16", "gelu", "per_token", 1, preshuffle=True, splitk=False),
    MoeModule("b16", "b16", "b16", "silu", "no", 1, preshuffle=False, splitk=False),
    MoeModule("f8", "i4", "f16", "silu", "per_tensor", 2, preshuffle=False, splitk=False),
    MoeModule("fp4x2", "fp4x2", "b16", "silu", "per_1x32", 2, preshuffle=True, splitk=False),
    MoeModule("fp4x2", "fp4x2", "b16", "silu", "per_1x32", 2, preshuffle=False, splitk=False),
]
SPLIT = MoeModule("f8", "f8", "b16", "silu", "per_1x128", 2, preshuffle=False, splitk=True)
CASES = [("wheel", module) for module in MODULES] + [("main_tree", module) for module in (*MODULES, SPLIT)]
IDS = [f"{tree}-{m.a}-{m.b}-{m.quant}-{m.preshuffle}-{m.splitk}" for tree, m in CASES]


def really_generated(tree: AiterTree, module: MoeModule, arch: str, folder: Path) -> dict[str, str]:
    """What aiter's own script writes for a module, by file name."""
    options = ["-a", module.a, "-b", module.b, "-c", module.c, "-q", module.quant, "-act", module.activation]
    options += ["-m", str(module.weight_stage), "-w", str(folder)]
    options += ["--preshuffle"] if module.preshuffle and module.b == "fp4x2" else []
    options += ["--issplitk"] if module.splitk else []
    return run_generator(tree.absolute(GENERATOR), arch, options, folder)


@pytest.mark.parametrize(("tree_name", "module"), CASES, ids=IDS)
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_what_is_generated_is_what_aiters_script_writes(
    tree_name: str, module: MoeModule, arch: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    tree: AiterTree = request.getfixturevalue(tree_name)
    ours = generated(tree, module, arch)
    files = really_generated(tree, module, arch, tmp_path)
    names = re.findall(r'\{"(moe_ck2stages_\w+)"', files["gemm_moe_ck2stages_lookup.h"])
    assert list(ours.lookup) == names
    for name, header in ours.headers.items():
        assert Path(header).name in files[f"{name}.cu"]
    assert set(ours.headers) == set(ours.instances) == set(names)
    for stage in (1, 2):
        theirs = files[f"ck2stages_moe_stage{stage}_heuristic_dispatch.hpp"]
        assert_lines_lead_back(tree, ours, stage, theirs)


def assert_lines_lead_back(tree: AiterTree, ours: Generated, stage: int, theirs: str) -> None:
    """Each line that is led back to the script has the words of the generated line, but for what is filled in."""
    script = tree.absolute(GENERATOR).read_text().splitlines()
    written = theirs.splitlines()
    returns = [n for n, line in enumerate(written, 1) if "return ck_moe_stage" in line]
    assert returns
    assert set(returns) <= set(ours.lines[stage])
    for line, origin in ours.lines[stage].items():
        template = re.escape(script[origin - 1]).replace(r"\{\{", r"\{{1,2}").replace(r"\}\}", r"\}{1,2}")
        assert re.fullmatch(re.sub(r"\\\{\w+\\\}", ".*?", template), written[line - 1])


HEAD = """
#include <cstdio>
#include <cstdlib>
#include <string>
namespace at { enum class ScalarType { F8, F16, B16, I8, I4, FP4X2, F32 }; }
struct F8 {}; struct F16 {}; struct B16 {}; struct I8 {}; struct I4 {}; struct FP4X2 {}; struct F32 {};
template <typename T> at::ScalarType type_of();
#define TYPE(T) template <> at::ScalarType type_of<T>() { return at::ScalarType::T; }
TYPE(F8) TYPE(F16) TYPE(B16) TYPE(I8) TYPE(I4) TYPE(FP4X2) TYPE(F32)
template <typename T> struct dtype_checker { bool operator()(at::ScalarType t) { return t == type_of<T>(); } };
#define TORCH_CHECK(held, ...) if(!(held)) throw 1
#define __Float4_e2m1fn_x2
using MoeKernel = const char*;
"""


@pytest.mark.skipif(COMPILER is None, reason="no g++")
@pytest.mark.parametrize(("tree_name", "module"), CASES, ids=IDS)
def test_the_heuristic_chooses_what_the_compiled_one_chooses(
    tree_name: str, module: MoeModule, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    tree: AiterTree = request.getfixturevalue(tree_name)
    ours = generated(tree, module, "gfx942")
    files = really_generated(tree, module, "gfx942", tmp_path)
    stages, calls, walked = "", "", []
    for stage in (1, 2):
        content = files[f"ck2stages_moe_stage{stage}_heuristic_dispatch.hpp"]
        content = re.sub(r"#pragma once|#include.*", "", content)
        stages += re.sub(r"return (ck_moe_stage\d_gemm<.*?>);", r'return "\1";', content)
        takes_width = "int inter_dim" in content
        takes_shuffle = "bool is_shuffled" in content
        for block in (16, 32, 64, 128, 256, 48):
            for width in (192, 256, 1536):
                for out in (module.c.upper(), "F32"):
                    given: list[Any] = [
                        block,
                        *([width] if takes_width else []),
                        module.a.upper(),
                        module.b.upper(),
                        out,
                    ]
                    act = {"silu": 1, "gelu": 0}[module.activation] if stage == 1 else 0
                    quant = {"no": 0, "per_tensor": 1, "per_token": 2, "per_1x32": 3, "per_1x128": 4}[module.quant]
                    given += [act, quant, module.weight_stage == stage]
                    given += [module.preshuffle and module.b == "fp4x2"] if takes_shuffle else []
                    calls += f"try {{ puts(moe_stage{stage}_heuristic_dispatch({written(given)})); }} "
                    calls += 'catch(int) { puts("refused"); }\n'
                    walked.append(walk(ours, stage, given))
    (tmp_path / "m.cpp").write_text(f"{HEAD}{stages}\nint main() {{\n{calls}}}\n")
    assert COMPILER is not None
    subprocess.run([COMPILER, "-w", "-std=c++17", "-o", tmp_path / "m", tmp_path / "m.cpp"], check=True)
    printed = subprocess.run([tmp_path / "m"], check=True, capture_output=True, text=True).stdout.splitlines()
    assert walked == [line if line == "refused" else plain(line) for line in printed]
    assert len(set(walked)) > 2


def written(given: list[Any]) -> str:
    return ", ".join(
        f"at::ScalarType::{v}" if isinstance(v, str) else str(v).lower() if isinstance(v, bool) else str(v)
        for v in given
    )


def walk(ours: Generated, stage: int, given: list[Any]) -> str:
    types = ("F8", "F16", "B16", "I8", "I4", "FP4X2", "F32", "I32")
    checks = {f"is_{name}": (lambda value, name=name: value == name) for name in types}
    try:
        answer = Walk(ours.heuristics[stage], functions=checks).call(f"moe_stage{stage}_heuristic_dispatch", given)
    except Refused:
        return "refused"
    assert isinstance(answer, InstanceRef)
    return f"{answer.name}<{', '.join(answer.types)}>"


@pytest.mark.parametrize("tree_name", ["wheel", "main_tree"])
def test_a_modules_name_is_read_as_aiter_writes_it(tree_name: str, request: pytest.FixtureRequest) -> None:
    tree: AiterTree = request.getfixturevalue(tree_name)
    words = {"fp16": "f16", "bf16": "b16", "fp8": "f8", "i8": "i8", "fp4x2": "fp4x2"}
    given = {
        "dtypes": Namespace({name: name for name in words}),
        "torch": Opaque("torch"),
        "QuantType": Namespace({"per_128x128": "QuantType.per_128x128", "per_1x128": "QuantType.per_1x128"}),
        "AITER_CSRC_DIR": "csrc",
        "isinstance": lambda value, kind: False,
    }
    script = Evaluator(tree.absolute("aiter/ops/moe_op.py"), given)
    script.scope["dtype2str_dict"] = words
    for module in MODULES:
        types = [
            next(name for name, word in words.items() if word == w) for w in (module.a, module.b, module.c) if w != "i4"
        ]
        if len(types) < 3:
            continue
        name, commands = script.call(
            "get_moe_stage_module",
            *types,
            f"ActivationType.{module.activation.title()}",
            f"QuantType.{module.quant}",
            module.weight_stage,
            module.preshuffle,
        )
        assert module_of(name) == module
        assert ("--preshuffle" in commands[0]) is (module.preshuffle and module.b == "fp4x2")


BLOCK_SCALE = "module_moe_ck2stages_f8_f8_preshuffle_off_b16_silu_per_1x128_mulWeightStage2"


def stage1(
    tree: AiterTree,
    target: Target,
    block: int,
    name: str = "",
    module: str = BLOCK_SCALE,
    *more: Argument,
    k: int = 4096,
) -> Dispatch:
    """64 tokens, 8 experts of 1536 x k, 2 a token."""
    fp8 = "float8_e4m3fnuz" if target.arch == "gfx942" else "float8_e4m3fn"
    arguments = (
        tensor("hidden_states", (64, k), fp8),
        tensor("w1", (8, 3072, k), fp8),
        tensor("w2", (8, k, 1536), fp8),
        tensor("sorted_token_ids", (384,), "int32"),
        tensor("sorted_expert_ids", (12,), "int32"),
        tensor("num_valid_ids", (2,), "int32"),
        tensor("out", (64, 2, 1536), "bfloat16"),
        scalar("topk", 2),
        scalar("kernelName", name),
        tensor("w1_scale", (8, 768), "float32"),
        tensor("a1_scale", (64, 32), "float32"),
        scalar("block_m", block),
        none("sorted_weights"),
        scalar("quant_type", 4),
        scalar("activation", 0),
        *more,
    )
    call = BoundaryCall(id=9, module=module, function="ck_moe_stage1", arguments=arguments)
    answer = resolve_dispatch(tree, call, target, {})
    assert answer is not None
    return answer


def test_without_a_name_the_generated_heuristic_decides(wheel: AiterTree) -> None:
    answer = stage1(wheel, MI300X, 64)
    assert answer.instance == (
        "moe_ck2stages_gemm1_256x64x128x128_1x4_MulABScaleExpertWeightA8W8blkscale_v3_Nswizzle0_Quant4_MulRoutedWeight0"
        "_silu_F8_F8_B16"
    )
    heuristic = next(hop for hop in answer.hops if hop.name == "moe_stage1_heuristic_dispatch")
    assert heuristic.source is not None
    assert heuristic.source.file == GENERATOR
    line = wheel.absolute(GENERATOR).read_text().splitlines()[(heuristic.source.line or 0) - 1]
    assert "return ck_moe_stage1_gemm<" in line
    assert "V3, 256, 64, 128, 128/sizeof" in line
    assert [str(hop.layer) for hop in answer.hops[-5:]] == ["instance", "cpp", "cpp", "launch", "kernel"]
    assert answer.hops[-1].name == "kernel_moe_gemm_2lds"
    # 384 sorted tokens in blocks of 64, 1536 columns in blocks of 128
    assert (answer.parameters["grid"], answer.parameters["block"]) == ([12, 6, 1], [256, 1, 1])
    assert answer.core_flow


def test_a_name_from_the_tuned_config_is_looked_up(wheel: AiterTree) -> None:
    name = (
        "moe_ck2stages_gemm1_256x16x128x256_1x4_MulABScaleExpertWeightA8W8blkscale_v1_Nswizzle0_Quant4_MulRoutedWeight0"
        "_silu_F8_F8_B16"
    )
    answer = stage1(wheel, MI300X, 16, name)
    assert answer.instance == name
    assert "moe_stage1_heuristic_dispatch" not in [hop.name for hop in answer.hops]
    assert answer.hops[-1].name == "kernel_moe_gemm"


def test_a_name_that_the_module_does_not_have_falls_back_to_the_heuristic(wheel: AiterTree) -> None:
    assert stage1(wheel, MI300X, 64, "moe_ck2stages_gemm1_nothing").instance == stage1(wheel, MI300X, 64).instance


def test_a_block_size_that_no_branch_has_is_refused(wheel: AiterTree) -> None:
    answer = stage1(wheel, MI300X, 48)
    assert answer.instance is None
    assert answer.candidates == ()
    assert "Unsupported block_m value" in (answer.hops[-1].reason or "")
    assert GENERATOR in (answer.hops[-1].reason or "")


def test_main_says_that_ck_is_missing(main_tree: AiterTree) -> None:
    more = (scalar("splitk", 1), scalar("use_non_temporal_load", False), none("dst_type"), scalar("is_shuffled", True))
    answer = stage1(main_tree, MI355X, 64, "", BLOCK_SCALE, *more)
    assert answer.instance is not None
    last = answer.hops[-1]
    assert (last.layer, last.evidence) == (Layer.KERNEL, Evidence.UNRESOLVED)
    assert "submodule" in (last.reason or "")


def test_names_of_other_modules_are_no_stage_modules() -> None:
    assert module_of("module_moe_ck2stages") is None
    assert module_of("module_moe_cktile2stages") is None


def test_a_module_that_says_nothing_of_its_types_has_no_answer(wheel: AiterTree) -> None:
    call = BoundaryCall(id=9, module="module_moe_ck2stages", function="ck_moe_stage1")
    assert resolve_dispatch(wheel, call, MI300X, {}) is None


MI308X = Target(arch="gfx942", compute_units=80)
PLAIN = "module_moe_ck2stages_b16_b16_preshuffle_off_b16_silu_no_mulWeightStage2"
GEMM1 = "moe_ck2stages_gemm1_256x64x128x64_1x4_TypeCast_v3_Nswizzle0_Quant0_MulRoutedWeight0_silu_B16_B16_B16"
GEMM2 = "moe_ck2stages_gemm2_256x64x128x128_1x4_TypeCastExpertWeight_v3_Nswizzle0_Quant0_MulRoutedWeight1_B16_B16_B16"


def plain_stage(tree: AiterTree, stage: int, name: str) -> Dispatch:
    """Stage 1 or 2 of 512 tokens, 8 experts of 4096 x 6144, 2 a token, in bfloat16: a row of the wheel's CSV."""
    states = ("hidden_states", (512, 6144)) if stage == 1 else ("inter_states", (512, 2, 4096))
    out = (512, 2, 4096) if stage == 1 else (512, 6144)
    arguments = (
        tensor(states[0], states[1], "bfloat16"),
        tensor("w1", (8, 8192, 6144), "bfloat16"),
        tensor("w2", (8, 6144, 4096), "bfloat16"),
        tensor("sorted_token_ids", (1472,), "int32"),
        tensor("sorted_expert_ids", (23,), "int32"),
        tensor("num_valid_ids", (2,), "int32"),
        tensor("out", out, "bfloat16"),
        scalar("topk", 2),
        scalar("kernelName", name),
        none(f"w{stage}_scale"),
        none(f"a{stage}_scale"),
        scalar("block_m", 64),
        none("sorted_weights") if stage == 1 else tensor("sorted_weights", (1472,), "float32"),
        scalar("quant_type", 0),
        scalar("activation", 0),
    )
    call = BoundaryCall(id=9, module=PLAIN, function=f"ck_moe_stage{stage}", arguments=arguments)
    answer = resolve_dispatch(tree, call, MI308X, {})
    assert answer is not None
    return answer


@pytest.mark.parametrize(("stage", "name"), [(1, GEMM1), (2, GEMM2)])
def test_a_stage_names_the_row_that_its_kernel_comes_from(wheel: AiterTree, stage: int, name: str) -> None:
    answer = plain_stage(wheel, stage, name)
    assert answer.instance == name
    assert answer.tuned is not None
    assert answer.tuned.row is not None
    assert answer.tuned.row.values[f"kernelName{stage}"] == name
    assert [hop.layer for hop in answer.hops[:4]] == [Layer.BINDING, Layer.BINDING, Layer.CPP, Layer.TUNED_CONFIG]


def test_a_kernel_that_is_not_the_rows_is_not_said_to_come_from_it(wheel: AiterTree) -> None:
    assert plain_stage(wheel, 1, "").tuned is None
