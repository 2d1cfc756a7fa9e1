"""Walks through host C++: on small files of our own, and against aiter's functions compiled with g++."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tracer.aiter.cpp_eval import Walk
from tracer.aiter.cpp_events import Refused, Undecided
from tracer.aiter.cpp_operators import apply_binary, literal
from tracer.aiter.cpp_values import DType, InstanceRef, Null, Tensor, Unknown
from tracer.aiter.tree import AiterTree
from tracer.model.capture import TensorInfo


def walk(folder: Path, source: str, **more: Any) -> Walk:
    file = folder / "host.cu"
    file.write_text(source)
    return Walk(file, **more)


def fp16(*shape: int) -> Tensor:
    return Tensor(TensorInfo(shape, "float16", None))


DISPATCH = """
#include <cmath>
using Kernel = int;
template <typename D, typename E = D>
Kernel heuristic(int M, int N)
{
    // return of_a_comment<D>;
    if(M % 16 != 0 || N / 2 > 3) { return padded<D, E>; }
    else if(M << 1 == 32) return shifted<D, E>;
    else { return plain<D, E>; }
}
template <typename D, typename E = D>
Kernel dispatch(int M, int N)
{
    static const auto lookup = [] { return Map{TABLE(D)}; }();
    auto it = lookup.find({M, N});
    if(it != lookup.end()) { return it->second; }
    int padded_m = M;
    padded_m = getPaddedM(M, N, 0, 0);
    it = lookup.find({padded_m, N});
    if(it != lookup.end())
        return it->second;
    return heuristic<D, E>(M, N);
}
torch::Tensor gemm(torch::Tensor& X, std::optional<torch::Tensor> bias, int splitK = 1)
{
    TORCH_CHECK(X.dim() == 2, "two dimensions");
    int M = X.size(0);
    int N = X.size(-1);
    int KBatch = std::pow(2, splitK);
    if(X.dtype() == at::ScalarType::Half && bias == std::nullopt)
    {
        dispatch<F32, F16>(M, N)(X, KBatch);
    }
    else
    {
        TORCH_CHECK(false, "unsupported");
    }
    return X;
}
"""
PADDING = {"getPaddedM": lambda m, n, k, level: (m + 15) // 16 * 16}


def chosen(
    folder: Path, tensor: Tensor, table: dict[tuple[int, ...], str] | None = None
) -> tuple[str, tuple[str, ...], Any]:
    def find(key: tuple[Any, ...]) -> InstanceRef | None:
        name = (table or {}).get(key)
        return InstanceRef(name, (), 0, from_table=True) if name else None

    done = walk(folder, DISPATCH, find=find, functions=PADDING)
    done.call("gemm", [tensor, Null()])
    ((instance, arguments),) = done.chosen
    return instance.name, instance.types, arguments[-1]


def test_a_dispatch_ends_in_the_instance_that_is_called(tmp_path: Path) -> None:
    assert chosen(tmp_path, fp16(16, 4)) == ("shifted", ("F32", "F16"), 2)
    assert chosen(tmp_path, fp16(32, 4)) == ("plain", ("F32", "F16"), 2)
    assert chosen(tmp_path, fp16(17, 4)) == ("padded", ("F32", "F16"), 2)


def test_a_table_is_asked_with_the_keys_that_the_text_builds(tmp_path: Path) -> None:
    assert chosen(tmp_path, fp16(17, 4), {(32, 4): "tuned"})[0] == "tuned"
    assert chosen(tmp_path, fp16(17, 4), {(17, 4): "exact", (32, 4): "tuned"})[0] == "exact"


def test_the_walk_tells_what_it_passed_and_where(tmp_path: Path) -> None:
    done = walk(tmp_path, DISPATCH, find=lambda key: None, functions=PADDING)
    done.call("gemm", [fp16(16, 4), Null()])
    passed = [(e.kind, e.line, e.outcome) for e in done.events if e.kind in ("enter", "lookup", "return")]
    assert passed == [
        ("enter", line_of("torch::Tensor gemm("), None),
        ("enter", line_of("Kernel dispatch("), None),
        ("lookup", line_of("find({M, N})"), False),
        ("lookup", line_of("find({padded_m, N})"), False),
        ("enter", line_of("Kernel heuristic("), None),
        ("return", line_of("return shifted"), None),
        ("return", line_of("return heuristic"), None),
    ]


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(DISPATCH.splitlines(), 1) if text in line)


def test_a_check_that_fails_is_a_refusal_with_its_message(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="two dimensions") as caught:
        walk(tmp_path, DISPATCH).call("gemm", [fp16(16, 4, 2), Null()])
    assert caught.value.line == line_of("TORCH_CHECK(X.dim()")
    with pytest.raises(Refused, match="unsupported"):
        walk(tmp_path, DISPATCH).call("gemm", [Tensor(TensorInfo((16, 4), "float32", None)), Null()])


def test_a_condition_that_can_not_be_known_stops_the_walk(tmp_path: Path) -> None:
    with pytest.raises(Undecided) as caught:
        walk(tmp_path, "void f(int a)\n{\n    if(a > device_count())\n        go();\n}\n").call("f", [3])
    assert (caught.value.line, caught.value.text, caught.value.function) == (3, "(a > device_count())", "f")


def test_a_known_side_decides_even_when_the_other_is_not_known(tmp_path: Path) -> None:
    source = "int f(int a)\n{\n    if(a > 2 || device_count() > 1)\n        return big<1>;\n    return small<1>;\n}\n"
    assert walk(tmp_path, source).call("f", [3]).name == "big"
    with pytest.raises(Undecided):
        walk(tmp_path, source).call("f", [1])


def test_a_launch_is_found_behind_macros_types_and_lambdas(tmp_path: Path) -> None:
    source = """
const int32_t BlockSize = 64;
#define IMPL(kernel, OUT, N)                                    \\
    AITER_DISPATCH_FLOATING16_TYPES(x.scalar_type(), "n", [&] { \\
        ns::kernel<scalar_t, OUT, N><<<grid, block, 0, stream>>>(x); \\
    });
#define PICK(kernel, OUT, cols) \\
    if(cols <= 8 * BlockSize)   \\
    {                           \\
        IMPL(kernel, OUT, 8)    \\
    }                           \\
    else                        \\
    {                           \\
        IMPL(kernel, OUT, 16)   \\
    }
void launch(torch::Tensor& x)
{
    int const cols = x.size(-1);
    dim3 const grid(x.numel() / cols);
    dim3 const block(BlockSize);
    PICK(quant, fp8, cols);
}
"""
    done = walk(tmp_path, source)
    done.call("launch", [fp16(6, 1000)])
    (launch,) = done.launches
    assert (launch.kernel, launch.types) == ("quant", ("float16", "fp8", "16"))
    assert (launch.grid, launch.block, launch.line) == ((6, 1, 1), (64, 1, 1), 5)


def test_extents_that_are_computed_unsigned_are_plain_numbers_in_a_launch(tmp_path: Path) -> None:
    source = """
void launch(int n)
{
    uint32_t const blocks = n;
    dim3 const grid(blocks);
    kernel<<<grid, 64>>>();
}
"""
    done = walk(tmp_path, source)
    done.call("launch", [6])
    (launch,) = done.launches
    assert [type(extent) for extent in launch.grid or ()] == [int, int, int]  # a record can hold no other


@pytest.mark.parametrize(
    ("symbol", "left", "right", "value"),
    [
        ("/", -7, 2, -3),
        ("%", -7, 2, -1),
        ("/", 7, 2, 3),
        ("<<", 1, 4, 16),
        ("/", 7.0, 2, 3.5),
        ("==", DType("a"), DType("a"), True),
    ],
)
def test_operators_are_those_of_cpp(symbol: str, left: Any, right: Any, value: Any) -> None:
    assert apply_binary(symbol, left, right, "") == value


def test_literals() -> None:
    assert [literal(text) for text in ("0x10", "12u", "1'000", "1.5f", "true", '"a b"')] == [
        16,
        12,
        1000,
        1.5,
        True,
        "a b",
    ]
    assert isinstance(literal("thing"), Unknown)


HEURISTICS = [
    ("csrc/ck_gemm_a8w8/gemm_a8w8.cu", "rowwise_heuristic_dispatch"),
    ("csrc/ck_gemm_a8w8_bpreshuffle/gemm_a8w8_bpreshuffle.cu", "rowwise_heuristic_dispatch"),
    ("csrc/ck_deepgemm/deepgemm.cu", "rowwise_heuristic_dispatch"),
    ("csrc/ck_batched_gemm_a8w8/batched_gemm_a8w8.cu", "batched_rowwise_heuristic_dispatch"),
    ("csrc/ck_batched_gemm_bf16/batched_gemm_bf16.cu", "batched_heuristic_dispatch"),
]
EXTENTS = {
    "B": (1, 16),
    "M": (1, 16, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 5000),
    "N": (64, 1023, 1024, 1535, 1536, 2047, 2048, 2049, 8192),
    "K": (64, 128, 191, 192, 200, 511, 512, 576, 1023, 1024, 1535, 1536, 1600, 2047, 2048, 2049, 7168),
}


def compiled(path: Path, function: str, folder: Path) -> tuple[Any, list[str]]:
    """A heuristic of aiter's, its instances replaced by their names, compiled; and its parameters."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is not there")
    text = path.read_text()
    start = text.index(f"{function}(")
    opening = text.index("{", start)
    depth, end = 0, opening
    for end in range(opening, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            break
    body = re.sub(r"return\s+(\w+)\s*(?:<[^;]*>)?\s*;", r'return "\1";', text[opening : end + 1])
    body = re.sub(r"TORCH_CHECK\(false[^;]*;", 'return "refused";', body)
    parameters = re.findall(r"int (\w+)", text[start:opening])
    signature = ", ".join(f"int {name}" for name in parameters)
    source = folder / f"{path.stem}.cpp"
    source.write_text(f'extern "C" const char* heuristic({signature})\n{body}\n')
    library = source.with_suffix(".so")
    subprocess.run(["g++", "-shared", "-fPIC", "-w", "-o", str(library), str(source)], check=True)
    heuristic = ctypes.CDLL(str(library)).heuristic
    heuristic.restype = ctypes.c_char_p
    return heuristic, parameters


def check_against_compiled(tree: AiterTree, file: str, function: str, folder: Path) -> None:
    path = tree.absolute(file)
    original, parameters = compiled(path, function, folder)
    shapes: list[list[int]] = [[]]
    for name in parameters:
        shapes = [[*shape, extent] for shape in shapes for extent in EXTENTS[name]]
    seen = set()
    for shape in shapes[:: 1 + len(shapes) // 1500]:
        try:
            ours = Walk(path).call(function, shape).name
        except Refused:
            ours = "refused"
        assert ours == original(*shape).decode(), shape
        seen.add(ours)
    assert len(seen) > 1


@pytest.mark.parametrize(("file", "function"), HEURISTICS)
def test_a_walked_heuristic_of_the_wheel_equals_the_compiled_one(
    wheel: AiterTree, file: str, function: str, tmp_path: Path
) -> None:
    check_against_compiled(wheel, file, function, tmp_path)


@pytest.mark.parametrize(("file", "function"), HEURISTICS)
def test_a_walked_heuristic_of_main_equals_the_compiled_one(
    main_tree: AiterTree, file: str, function: str, tmp_path: Path
) -> None:
    check_against_compiled(main_tree, file, function, tmp_path)
