"""The choice among assembly kernels: against aiter's own functions compiled with g++, and the order they iterate in."""

from __future__ import annotations

import itertools
import os
import random
import re
import shutil
import string
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.aiter.calls import MI300X, MI355X, none, scalar, tensor
from tracer.aiter.asm_configs import asm_configs
from tracer.aiter.binding import recipe
from tracer.aiter.cpp_eval import Walk
from tracer.aiter.cpp_events import Refused
from tracer.aiter.cpp_objects import LoadedKernel
from tracer.aiter.cpp_source import load
from tracer.aiter.cpp_values import Null
from tracer.aiter.dispatch import resolve_dispatch
from tracer.aiter.hash_order import iteration_order
from tracer.aiter.host_names import host_functions, host_names
from tracer.aiter.tree import AiterTree
from tracer.model.capture import Argument, BoundaryCall
from tracer.model.environment import Target
from tracer.model.evidence import Evidence
from tracer.model.source import Dispatch, Layer

COMPILER = shutil.which("g++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no g++")

HEAD = """
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>
#include "configs.hpp"
static int cus;
typedef int hipDevice_t;
struct hipDeviceProp_t { int multiProcessorCount; };
int hipGetDevice(hipDevice_t*) { return 0; }
int hipGetDeviceProperties(hipDeviceProp_t* p, hipDevice_t) { p->multiProcessorCount = cus; return 0; }
uint32_t get_num_cu_func() { return cus; }
#define HIP_CALL(x) (void)(x)
#define TORCH_CHECK(held, ...) if(!(held)) throw 1
#define AITER_CHECK(held, ...) if(!(held)) throw 1
struct FMoeKernel {
    std::string name; uint32_t tgs;
    FMoeKernel(const char* n, const char*, uint32_t, uint32_t t) : name(n), tgs(t) {}
};
void say(const std::string& name) { std::cout << name << "\\n"; }
void say(const std::tuple<std::string, int>& t) { std::cout << std::get<0>(t) << " " << std::get<1>(t) << "\\n"; }
void say(const FMoeKernel* k) { std::cout << k->name << " " << k->tgs << "\\n"; }
"""


def answers_of_cpp(folder: Path, function: str, header: str, calls: list[str], units: tuple[int, ...]) -> list[str]:
    """What the compiled function answers to calls as C++ writes them, first with one number of CUs, then the next."""
    (folder / "configs.hpp").write_text("#include <string>\n" + header)
    body = "".join(f'try {{ say({call}); }} catch(int) {{ std::cout << "refused\\n"; }}\n' for call in calls)
    body = f"cus = std::atoi(arguments[1]);\n{body}"
    (folder / "main.cpp").write_text(f"{HEAD}{function}\nint main(int, char** arguments) {{\n{body}}}\n")
    assert COMPILER is not None
    subprocess.run([COMPILER, "-w", "-std=c++17", "-o", folder / "a.out", folder / "main.cpp"], check=True)
    # a process for each: aiter keeps what it found between calls, and a machine has one number of CUs
    runs = [subprocess.run([folder / "a.out", str(cus)], check=True, capture_output=True, text=True) for cus in units]
    return [line for ran in runs for line in ran.stdout.splitlines()]


def header_of(tree: AiterTree, kind: str, arch: str, folder: Path) -> str:
    """The tables as aiter's own script writes them."""
    pytest.importorskip("pandas")
    if tree.layout == "wheel":
        command = [str(tree.hsa_root / arch / kind / "codegen.py")]
    else:
        command = [str(tree.hsa_root / "codegen.py"), "-m", kind]
    environment = {**os.environ, "AITER_GPU_ARCHS": arch, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"}
    subprocess.run([sys.executable, *command, "--output_dir", str(folder)], check=True, env=environment)
    (written,) = folder.glob("asm_*_configs.hpp")
    return written.read_text()


def said(walked: Callable[[], Any]) -> str:
    try:
        value = walked()
    except Refused:
        return "refused"
    if isinstance(value, LoadedKernel):
        return f"{value.name} {value.members['num_persistent_tgs']}"
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


ROWS = (1, 3, 16, 33, 64, 100, 129, 512, 3000)
COLUMNS = ((256, 512), (1280, 8192), (5120, 2880), (7168, 256), (384, 640), (4608, 7168))
SHAPES = [(m, n, k) for m in ROWS for n, k in COLUMNS]

#: tree, file, kind of table, architecture, table, (C++ arguments, arguments of the walk) from a shape
GEMMS = [
    ("wheel", "asm_gemm_a8w8", "i8gemm", "gfx942", "cfg_i8gemm_bf16_perTokenI8",
     lambda m, n, k, a, c: (f"{m},{n},{k},std::nullopt,true,&{c}", [m, n, k, Null(), True])),
    ("wheel", "asm_gemm_a8w8", "i8gemm", "gfx942", "cfg_i8gemm_bf16_perTokenI8",
     lambda m, n, k, a, c: (f"{m},{n},{k},3,false,&{c}", [m, n, k, 3, False])),
    ("wheel", "asm_gemm_a16w16", "bf16gemm", "gfx942", "cfg_bf16gemm_outf32",
     lambda m, n, k, a, c: (f"{m},{n},{k},&{c}", [m, n, k])),
    ("wheel", "asm_gemm_a4w4", "f4gemm", "gfx950", "cfg_f4gemm_bf16_per1x32Fp4",
     lambda m, n, k, a, c: (f"{m},{n},{k},std::nullopt,true,&{c}", [m, n, k, Null(), True])),
    ("wheel", "asm_gemm_a4w4", "f4gemm", "gfx950", "cfg_f4gemm_bf16_per1x32Fp4",
     lambda m, n, k, a, c: (f"{m},{n},{k},2,true,&{c}", [m, n, k, 2, True])),
    ("wheel", "asm_moe_2stage", "fmoe_2stages", "gfx942", "cfg_fmoe_stage1_bf16_pertokenFp8_g1u1",
     lambda m, n, k, a, c: (f"{m},{n},{k % 48 + 16},&{c}", [m, n, k % 48 + 16])),
    ("wheel", "asm_fmoe", "fmoe", "gfx942", "cfg_fmoe_bf16_pertokenFp8_g1u1_silu",
     lambda m, n, k, a, c: (f"{n},{m},&{c}", [n, m])),
    ("wheel", "asm_fmoe", "fmoe", "gfx950", "cfg_fmoe_bf16_pertokenFp8_g1u1_silu",
     lambda m, n, k, a, c: (f"{n},{m},&{c},1", [n, m, 1])),
    ("main", "asm_gemm_a8w8", "i8gemm", "gfx942", "cfg_i8gemm_bf16_perTokenI8",
     lambda m, n, k, a, c: (f'{m},{n},{k},"{a}",std::nullopt,true,&{c}', [m, n, k, a, Null(), True])),
    ("main", "asm_gemm_a8w8", "i8gemm", "gfx950", "cfg_i8gemm_bf16_perTokenI8",
     lambda m, n, k, a, c: (f'{m},{n},{k},"{a}",-1,true,&{c}', [m, n, k, a, -1, True])),
    ("main", "asm_gemm_a16w16", "bf16gemm", "gfx942", "cfg_bf16gemm_fp32bf16",
     lambda m, n, k, a, c: (f'{m},{n},{k},&{c},"{a}",false,0', [m, n, k, a, False, 0])),
    ("main", "asm_gemm_a16w16", "bf16gemm", "gfx950", "cfg_bf16gemm_fp32bf16",
     lambda m, n, k, a, c: (f'{m},{n},{k},&{c},"{a}",true,1', [m, n, k, a, True, 1])),
    ("main", "asm_gemm_a4w4", "f4gemm", "gfx950", "cfg_f4gemm_bf16_per1x32Fp4",
     lambda m, n, k, a, c: (f'{m},{n},{k},"{a}",-1,1,&{c}', [m, n, k, a, -1, 1])),
]  # fmt: skip


@needs_compiler
@pytest.mark.parametrize("case", GEMMS, ids=[f"{c[0]}-{c[1]}-{c[3]}-{i}" for i, c in enumerate(GEMMS)])
def test_the_walk_chooses_what_the_compiled_heuristic_chooses(
    case: tuple[Any, ...], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    tree_name, file, kind, arch, table, arguments = case
    tree: AiterTree = request.getfixturevalue("wheel" if tree_name == "wheel" else "main_tree")
    path = tree.absolute(f"csrc/py_itfs_cu/{file}.cu")
    configs = recipe_tables(tree, kind, arch)
    units = (80, 304) if arch == "gfx942" else (256,)
    calls = [f"get_heuristic_kernel({arguments(*shape, arch, table)[0]})" for shape in SHAPES]
    walked = []
    for cus, (m, n, k) in itertools.product(units, SHAPES):
        written, given = arguments(m, n, k, arch, table)
        place = written.split(",").index(f"&{table}")
        given.insert(place, configs[table])
        on = Target(arch=arch, compute_units=cus)
        walk = Walk(path, functions=host_functions(on, {}), names=host_names(tree, on))
        walked.append(said(lambda walk=walk, given=given: walk.call("get_heuristic_kernel", given)))  # type: ignore[misc]
    function = load(path).functions["get_heuristic_kernel"].text
    assert function is not None
    assert walked == answers_of_cpp(tmp_path, function.decode(), header_of(tree, kind, arch, tmp_path), calls, units)
    assert len(set(walked)) > 1


def recipe_tables(tree: AiterTree, kind: str, arch: str) -> dict[str, Any]:
    """The tables of whichever module is built with this kind."""
    modules = ("module_gemm_a8w8_asm", "module_gemm_a16w16_asm", "module_gemm_a4w4_asm", "module_moe_asm")
    known: dict[str, Any] = {}
    for module in modules:
        how = recipe(tree, module)
        if how is not None:
            known |= asm_configs(tree, how, arch).tables
    return known


@needs_compiler
def test_maps_iterate_in_the_order_of_libstdcxx(tmp_path: Path) -> None:
    chance = random.Random(7)
    lists = []
    for count in (*range(1, 31), 60, 61, 97, 300):
        names = ("".join(chance.choices(string.ascii_letters, k=chance.randrange(1, 40))) for _ in range(count))
        lists.append([f"_ZN5aiter{name}E" for name in names])
    lists.append(["twice", "once", "twice"])
    body = "".join(
        "{ static std::unordered_map<std::string, int> m = {"
        + ",".join(f'{{"{name}", 1}}' for name in names)
        + '}; for(const auto& e : m) printf("%s ", e.first.c_str()); puts(""); }\n'
        for names in lists
    )
    (tmp_path / "m.cpp").write_text(
        f"#include <cstdio>\n#include <string>\n#include <unordered_map>\nint main() {{\n{body}}}\n"
    )
    assert COMPILER is not None
    subprocess.run([COMPILER, "-O0", "-o", tmp_path / "m", tmp_path / "m.cpp"], check=True)
    printed = subprocess.run([tmp_path / "m"], check=True, capture_output=True, text=True).stdout.splitlines()
    assert [line.split() for line in printed] == [iteration_order(names) for names in lists]


def test_tables_hold_what_aiters_script_writes(wheel: AiterTree, tmp_path: Path) -> None:
    how = recipe(wheel, "module_gemm_a4w4_asm")
    assert how is not None
    table = asm_configs(wheel, how, "gfx950").tables["cfg_f4gemm_bf16_per1x32Fp4"]
    written = header_of(wheel, "f4gemm", "gfx950", tmp_path)
    rows = re.findall(r'ADD_CFG\(\s*(\d+),\s*(\d+),\s*(\d+),\s*(\d+), "([^"]*)", "([^"]*)", "([^"]*)"\)', written)
    assert {name: (*map(int, numbers), path + file) for *numbers, path, name, file in rows} == {
        key: tuple(row.get(member) for member in ("tile_M", "tile_N", "splitK", "bpreshuffle", "co_name"))
        for key, row in table.entries.items()
    }


def ask(tree: AiterTree, module: str, target: Target, *arguments: Argument) -> Dispatch:
    function = module.removeprefix("module_")
    call = BoundaryCall(id=5, module=module, function=function, arguments=arguments)
    answer = resolve_dispatch(tree, call, target, {})
    assert answer is not None
    return answer


def a8w8(m: int, n: int, k: int, name: str, split: Argument) -> tuple[Argument, ...]:
    return (
        tensor("XQ", (m, k), "int8"),
        tensor("WQ", (n, k), "int8"),
        tensor("x_scale", (m, 1), "float32"),
        tensor("w_scale", (1, n), "float32"),
        tensor("Out", (m, n), "bfloat16"),
        scalar("kernelName", name),
        tensor("bias", (1, n), "float32"),
        scalar("bpreshuffle", True),
        split,
    )


def test_hops_end_at_the_code_object(wheel: AiterTree) -> None:
    answer = ask(wheel, "module_gemm_a8w8_asm", MI300X, *a8w8(64, 5120, 2880, "", none("splitK")))
    kernel = "_ZN5aiter42I8gemm_bf16_perTokenI8_BpreShuffle_128x128E"
    assert (answer.instance, answer.symbols) == (kernel, (kernel,))
    layers = "binding binding cpp dispatch dispatch instance launch kernel"
    assert [str(hop.layer) for hop in answer.hops] == layers.split()
    assert all(hop.evidence is Evidence.RESOLVED for hop in answer.hops)
    *_, row, _, last = answer.hops
    assert row.source is not None
    assert kernel in wheel.absolute(row.source.file).read_text().splitlines()[(row.source.line or 0) - 1]
    assert last.source is not None
    assert last.source.file == "hsa/gfx942/i8gemm/I8gemm_bf16_perTokenI8_BpreShuffle_128x128.co"
    assert (answer.parameters["grid"], answer.parameters["block"]) == ([40, 1, 1], [256, 1, 1])
    assert answer.assumption is not None


def test_a_kernel_that_python_names_is_taken(wheel: AiterTree) -> None:
    name = "_ZN5aiter42I8gemm_bf16_perTokenI8_BpreShuffle_192x128E"
    answer = ask(wheel, "module_gemm_a8w8_asm", MI300X, *a8w8(64, 5120, 2880, name, scalar("splitK", 1)))
    assert answer.instance == name
    assert "get_heuristic_kernel" not in [hop.name for hop in answer.hops]


def test_a_kernel_that_no_table_has_is_refused(wheel: AiterTree) -> None:
    answer = ask(wheel, "module_gemm_a8w8_asm", MI300X, *a8w8(64, 5120, 2880, "_ZN5aiter4nopeE", none("splitK")))
    assert answer.instance is None
    assert "refuses the call" in (answer.hops[-1].reason or "")


def test_what_stops_without_a_cu_count_is_named_with_its_candidates(wheel: AiterTree) -> None:
    target = Target(arch="gfx942", compute_units=None)
    answer = ask(wheel, "module_gemm_a8w8_asm", target, *a8w8(64, 5120, 2880, "", none("splitK")))
    assert answer.instance is None
    assert "depends on what can't be known here" in (answer.hops[-1].reason or "")
    assert len(answer.candidates) == 2


def test_mains_ctypes_entry_is_followed(main_tree: AiterTree) -> None:
    m, n, k = 64, 5120, 2880
    answer = ask(
        main_tree,
        "module_gemm_a4w4_asm",
        MI355X,
        tensor("A", (m, k // 2), "float4_e2m1fn_x2"),
        tensor("B", (n, k // 2), "float4_e2m1fn_x2"),
        tensor("A_scale", (m, k // 32), "float8_e8m0fnu"),
        tensor("B_scale", (n, k // 32), "float8_e8m0fnu"),
        tensor("out", (m, n), "bfloat16"),
        none("kernelName"),
        none("bias"),
        scalar("alpha", 1),
        scalar("beta", 0),
        scalar("bpreshuffle", 1),
        scalar("log2_k_split", -1),
    )
    first = answer.hops[0]
    assert (first.layer, first.name) == (Layer.BINDING, "AITER_CTYPES_DEFINE_ENTRYPOINT_VOID")
    assert answer.instance is not None
    assert answer.hops[-1].evidence is Evidence.RESOLVED
    assert answer.hops[-1].source is not None
    assert main_tree.absolute(answer.hops[-1].source.file).is_file()


def moe(dtype: str, *more: Argument) -> tuple[Argument, ...]:
    """The arguments that the one-stage MoE functions begin with: 64 tokens, 8 experts of 14336 x 4096, 2 a token."""
    return (
        tensor("out", (64, 4096), "bfloat16"),
        tensor("input", (64, 4096), dtype),
        tensor("gate", (8, 28672, 4096), dtype),
        tensor("down", (8, 4096, 14336), dtype),
        tensor("sorted_token_ids", (384,), "int32"),
        tensor("sorted_weights", (384,), "float32"),
        tensor("sorted_expert_ids", (12,), "int32"),
        tensor("num_valid_ids", (2,), "int32"),
        scalar("topk", 2),
        *more,
    )


def f32(name: str, *shape: int) -> Argument:
    return tensor(name, shape, "float32")


SCALES = (f32("input_scale", 64, 1), f32("fc1_scale", 8, 1, 14336), f32("fc2_scale", 8, 1, 4096))
FP8 = "float8_e4m3fnuz"
PAGED = (
    tensor("Q", (8, 16, 128), "bfloat16"),
    tensor("K", (100, 1, 8, 16, 16), FP8),
    tensor("V", (100, 1, 1, 128, 16), FP8),
    tensor("block_tables", (8, 10), "int32"),
    tensor("context_lens", (8,), "int32"),
    scalar("block_tables_stride0", 10),
    scalar("max_qlen", 1),
    f32("K_QScale", 100, 1, 16),
    f32("V_QScale", 100, 1, 16),
    none("out_"),
    none("qo_indptr"),
    scalar("high_precision", 1),
    none("kernelName"),
)


@pytest.mark.parametrize(
    ("module", "function", "arguments", "kernel", "code_object", "grid"),
    [
        ("moe_asm", "fmoe", moe("bfloat16"), "fmoe_kernel_func", "fmoe_b16.co", [28, 12, 1]),
        (
            "moe_asm",
            "fmoe_int8_g1u0",
            moe("int8", *SCALES, f32("fc2_smooth_scale", 8, 1, 14336), scalar("activation", 0)),
            "fmoe_int8_g1u0_subGU_512",
            "fmoe/silu/fmoe_int8_g1u0_subGU_512.co",
            [28, 12, 1],
        ),
        (
            "moe_asm",
            "fmoe_g1u1",
            moe(FP8, *SCALES, scalar("kernelName", ""), none("fc2_smooth_scale"), scalar("activation", 0)),
            "_ZN5aiter48fmoe_bf16_pertokenFp8_g1u1_vs_silu_1tg_ps_32x448E",
            "fmoe/silu/fmoe_bf16_pertokenFp8_g1u1_vs_silu_1tg_ps_32x448.co",
            [304, 1, 1],
        ),
        (
            "attention_asm",
            "pa_fwd_asm",
            PAGED,
            "_ZN5aiter32pa_bf16_pertokenFp8_gqa16_2tg_4wE",
            "pa/pa_bf16_pertokenFp8_gqa16_2tg_4w.co",
            [1, 8, 1],
        ),
    ],
    ids=["fmoe", "int8", "g1u1", "paged attention"],
)
def test_moe_and_attention_end_at_their_code_objects(
    wheel: AiterTree,
    module: str,
    function: str,
    arguments: tuple[Argument, ...],
    kernel: str,
    code_object: str,
    grid: list[int],
) -> None:
    call = BoundaryCall(id=5, module=f"module_{module}", function=function, arguments=arguments)
    answer = resolve_dispatch(wheel, call, MI300X, {})
    assert answer is not None
    assert (answer.instance, answer.parameters["grid"]) == (kernel, grid)
    last = answer.hops[-1]
    assert (last.evidence, last.source and last.source.file) == (Evidence.RESOLVED, f"hsa/gfx942/{code_object}")


def test_an_environment_variable_that_the_cpp_asks_for_counts(wheel: AiterTree) -> None:
    arguments = moe(FP8, *SCALES, scalar("kernelName", ""), none("fc2_smooth_scale"), scalar("activation", 0))
    call = BoundaryCall(id=5, module="module_moe_asm", function="fmoe_g1u1", arguments=arguments)
    answer = resolve_dispatch(wheel, call, MI300X, {"AITER_ENABLE_VSKIP": "0"})
    assert answer is not None
    assert "No suitable kernel found" in (answer.hops[-1].reason or "")  # these tables have kernels with vskip only
    assert answer.candidates == ()


def test_a_module_without_a_family_gets_an_answer_where_the_walk_reaches_a_launch(wheel: AiterTree) -> None:
    arguments = (tensor("out", (64, 4096), "bfloat16"), tensor("input", (64, 8192), "bfloat16"))
    call = BoundaryCall(id=5, module="module_activation", function="silu_and_mul", arguments=arguments)
    answer = resolve_dispatch(wheel, call, MI300X, {})
    assert answer is not None
    assert (answer.hops[-1].name, answer.parameters["grid"]) == ("act_and_mul_kernel", [64, 1, 1])
    assert answer.core_flow == ()


def i32(name: str, *shape: int) -> Argument:
    return tensor(name, shape, "int32")


PLAIN_8 = "float8_e4m3fn"


@pytest.mark.parametrize(
    ("module", "function", "target", "arguments", "kernel", "grid"),
    [
        (
            "gemm_a8w8_blockscale_bpreshuffle_asm",
            "gemm_a8w8_blockscale_bpreshuffle_asm",
            MI355X,
            (
                tensor("A", (128, 7168), PLAIN_8),
                tensor("B", (4096, 7168), PLAIN_8),
                tensor("out", (128, 4096), "bfloat16"),
                f32("A_scale", 128, 56),
                f32("B_scale", 32, 56),
                none("bias"),
                scalar("splitK", -1),
                none("kernelName"),
                scalar("bpreshuffle", 1),
                f32("zero_bias_buf", 4096),
            ),
            "_ZN5aiter43fp8gemm_bf16_blockscale_BpreShuffle_128x128E",
            [32, 1, 1],
        ),
        ("attention_asm", "pa_fwd", MI300X, PAGED, "_ZN5aiter32pa_bf16_pertokenFp8_gqa16_2tg_4wE", [1, 8, 1]),
        (
            "moe_topksoftmax_asm",
            "topk_softmax_asm",
            MI300X,
            (
                f32("topk_weights", 64, 8),
                i32("topk_indices", 64, 8),
                i32("token_expert_indices", 64, 8),
                tensor("gating_output", (64, 128), "bfloat16"),
                scalar("need_renorm", 1),
            ),
            "_ZN5aiter24topksoftmax_4x128x8_bf16E",
            [16, 1, 1],
        ),
    ],
    ids=["blockscale", "paged attention", "topk softmax"],
)
def test_mains_c_functions_are_followed_to_their_code_objects(
    main_tree: AiterTree,
    module: str,
    function: str,
    target: Target,
    arguments: tuple[Argument, ...],
    kernel: str,
    grid: list[int],
) -> None:
    call = BoundaryCall(id=5, module=f"module_{module}", function=function, arguments=arguments)
    answer = resolve_dispatch(main_tree, call, target, {})
    assert answer is not None
    assert (answer.instance, answer.parameters["grid"]) == (kernel, grid)
    assert all(hop.evidence is Evidence.RESOLVED for hop in answer.hops)
    row = next(hop for hop in answer.hops if hop.layer is Layer.INSTANCE)
    assert row.source is not None
    assert kernel in main_tree.absolute(row.source.file).read_text().splitlines()[(row.source.line or 0) - 1]
