"""Host functions that launch their own kernels: grids, blocks and template arguments by the file's own text."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from tests.aiter.calls import MI300X, MI355X, none, quant, scalar, tensor
from tracer.aiter.binding import find_binding
from tracer.aiter.cpp_eval import Walk
from tracer.aiter.cpp_events import Refused, Undecided
from tracer.aiter.cpp_objects import Fields, Table
from tracer.aiter.cpp_source import load, parameters_of, text_of
from tracer.aiter.cpp_values import U32, DType, Null
from tracer.aiter.dispatch import resolve_dispatch
from tracer.aiter.tree import AiterTree
from tracer.model.capture import Argument, BoundaryCall
from tracer.model.environment import Target
from tracer.model.evidence import Evidence
from tracer.model.source import Layer


@pytest.mark.parametrize(
    ("rows", "columns", "group", "kernel", "grid", "block"),
    [
        # 128 * 7168 / 128 groups; 4 threads a group of 32 elements each, so that 16 groups fill a block of 64
        (128, 7168, 128, "dynamic_per_group_scaled_quant_kernel", 448, 64),
        (5, 4096, None, "dynamic_per_token_scaled_quant_kernel", 5, 512),
    ],
)
@pytest.mark.parametrize("target", [MI300X, MI355X], ids=["gfx942", "gfx950"])
def test_mains_quantiser_is_followed_through_its_macros_and_lambdas(
    main_tree: AiterTree, target: Target, rows: int, columns: int, group: int | None, kernel: str, grid: int, block: int
) -> None:
    call = quant(rows, columns, "float8_e4m3fnuz" if target is MI300X else "float8_e4m3fn", group)
    answer = resolve_dispatch(main_tree, call, target, {})
    assert answer is not None
    known = answer.parameters
    assert (known["kernel"], known["grid"], known["block"]) == (kernel, [grid, 1, 1], [block, 1, 1])
    assert list(known["template"].items())[:2] == [("DTYPE_I", "bfloat16"), ("DTYPE_O", "opus::fp8_t")]
    assert answer.core_flow
    for step in answer.core_flow:
        assert step.source is not None


def call(folder: Path, source: str, name: str, *arguments: Any, **more: Any) -> Any:
    file = folder / "host.cu"
    file.write_text(source)
    return Walk(file, **more).call(name, list(arguments))


def test_loops_take_what_they_break_and_continue(tmp_path: Path) -> None:
    source = """
int f(int n)
{
    int sum = 0;
    for(int i = n; i >= 1; i--)
    {
        if(i % 2 == 0) continue;
        if(i < 3) break;
        sum += i;
    }
    while(sum > 20) { sum -= 7; }
    for(auto& extra : std::vector<int>{1, 2}) { sum += extra; }
    return sum;
}
"""
    assert call(tmp_path, source, "f", 9) == (9 + 7 + 5 + 3 - 7) + 3


def test_a_loop_over_what_is_not_known_stops_the_walk(tmp_path: Path) -> None:
    with pytest.raises(Undecided) as caught:
        call(tmp_path, "int f(int n)\n{\n    for(auto& x : devices()) { n += x; }\n    return n;\n}\n", "f", 1)
    assert caught.value.line == 3


def test_a_loop_without_an_end_stops_the_walk(tmp_path: Path) -> None:
    with pytest.raises(Undecided, match="does not end"):
        call(tmp_path, "int f(int n)\n{\n    while(n > 0) { n += 1; }\n    return n;\n}\n", "f", 1)


def test_tables_are_met_in_their_order_and_found_by_key(tmp_path: Path) -> None:
    source = """
std::string pick(int wanted, CFG* table)
{
    std::string best = "";
    for(const auto& el : *table)
    {
        const auto& cfg = el.second;
        if(cfg.tile == wanted) { best = el.first; }
    }
    auto it = table->find(best);
    if(it != table->end()) { return it->second.name + ".co"; }
    return best;
}
"""
    rows = {"a": Fields("a", {"tile": 16, "name": "ka"}), "b": Fields("b", {"tile": 16, "name": "kb"})}
    assert call(tmp_path, source, "pick", 16, Table("cfg", rows)) == "kb.co"
    assert call(tmp_path, source, "pick", 32, Table("cfg", rows)) == ""
    unordered = Table("cfg", rows, ordered=False)
    with pytest.raises(Undecided):
        call(tmp_path, source, "pick", 16, unordered)


@pytest.mark.parametrize(("given", "answer"), [(0, 1), (5, 5), (None, 1), (-1, -1)])
def test_an_optional_is_tested_for_being_there_and_zero_is_no_value(
    tmp_path: Path, given: int | None, answer: int
) -> None:
    source = """
int f(std::optional<int> splitK)
{
    if(!splitK && splitK.has_value()) { throw std::runtime_error("never"); }
    return splitK.value_or(0) ?: 1;
}
"""
    assert call(tmp_path, source, "f", Null() if given is None else given) == answer


def test_a_given_false_is_an_optional_that_is_there(tmp_path: Path) -> None:
    source = "int f(std::optional<bool> on)\n{\n    return (on.has_value() && !on) ? 0 : 1;\n}\n"
    assert call(tmp_path, source, "f", False) == 1


def test_unsigned_arithmetic_comes_round(tmp_path: Path) -> None:
    source = """
int f(int n)
{
    uint32_t few = 2;
    uint32_t round = 0xffffffff;
    return few - n < round ? 1 : 0;
}
"""
    assert call(tmp_path, source, "f", 3) == 0
    assert call(tmp_path, source, "f", 1) == 1
    assert U32(-1) == 0xFFFFFFFF


@pytest.mark.parametrize(("kind", "answer"), [(0, 10), (1, 21), (2, 21), (7, 99)])
def test_a_switch_falls_through_until_it_breaks(tmp_path: Path, kind: int, answer: int) -> None:
    source = """
int f(int kind)
{
    int x = 0;
    switch(kind)
    {
    case Kind::A: return 10;
    case Kind::B:
    case Kind::C: { x = 21; break; }
    default: x = 99;
    }
    return x;
}
"""
    assert call(tmp_path, source, "f", kind, names={"Kind::A": 0, "Kind::B": 1, "Kind::C": 2}) == answer


def test_a_code_object_is_launched_with_its_extents(tmp_path: Path) -> None:
    source = """
void f(int n)
{
    static std::unordered_map<std::string, std::unique_ptr<AiterAsmKernel>> kept;
    const char* name = n > 2 ? "big" : "small";
    auto result = kept.emplace(name, nullptr);
    if(result.second) { result.first->second = std::make_unique<AiterAsmKernel>(name, "dir/k.co"); }
    AiterAsmKernel* impl = result.first->second.get();
    impl->launch_kernel({&args, &size, n, // gdx
                         2, 1, 256, 1, 1, stream});
}
"""
    file = tmp_path / "host.cu"
    file.write_text(source)
    walk = Walk(file)
    walk.call("f", [3])
    (launch,) = walk.launches
    assert (launch.kernel, launch.code_object, launch.grid, launch.block) == ("big", "dir/k.co", (3, 2, 1), (256, 1, 1))
    assert (launch.line, launch.loaded) == (9, 7)
    with pytest.raises(Refused, match="extents are 0, 2, 1"):
        Walk(file).call("f", [0])


def test_statements_in_a_macro_are_walked_on_their_own_lines(tmp_path: Path) -> None:
    source = """
#define BY_SIZE(gs, ...) \\
    if((gs) == 32) { constexpr int _GS = 32; __VA_ARGS__ } \\
    else           { constexpr int _GS = 128; __VA_ARGS__ }
void f(int columns)
{
    BY_SIZE(columns,
        auto go = [&](auto type_tag, int rows, auto flag) {
            using out_t = decltype(type_tag);
            constexpr bool on = decltype(flag)::value;
            kernel<out_t, _GS, on><<<dim3(rows), dim3(64)>>>(x);
        };
        go(fp8::type{}, columns * 2, std::true_type{});
    )
}
"""
    file = tmp_path / "host.cu"
    file.write_text(source)
    walk = Walk(file)
    walk.call("f", [32])
    (launch,) = walk.launches
    assert (launch.types, launch.grid, launch.line) == (("fp8::type", "32", "True"), (64, 1, 1), 11)


def test_of_overloads_the_one_with_as_many_parameters_is_walked(tmp_path: Path) -> None:
    source = "int g(int a) { return 1; }\nint g(int a, int b) { return 2; }\nint f(int a)\n{\n    return g(a, a);\n}\n"
    assert call(tmp_path, source, "f", 1) == 2


def test_element_types_of_other_headers_are_told_by_name(tmp_path: Path) -> None:
    source = "int f(int a)\n{\n    return kind == AITER_DTYPE_bf16 ? 1 : 0;\n}\n"
    names = {"kind": DType("bfloat16"), "AITER_DTYPE_bf16": DType("bfloat16")}
    assert call(tmp_path, source, "f", 1, names=names) == 1


def declared(tree: AiterTree) -> list[tuple[str, str]]:
    """(module, function) of everything that aiter declares with `compile_ops`."""
    found = set()
    for path in sorted(tree.absolute("aiter").rglob("*.py")):
        source = path.read_text()
        if "compile_ops" not in source:
            continue
        functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
        for function in functions:
            for mark in function.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "compile_ops":
                    given = {k.arg: k.value for k in mark.keywords}
                    module, name = mark.args[0], given.get("fc_name", ast.Constant(function.name))
                    if isinstance(module, ast.Constant) and isinstance(name, ast.Constant):
                        found.add((str(module.value), str(name.value)))
    return sorted(found)


def plausible(parameter: str, name: str, tensors: tuple[int, ...]) -> Argument:
    if "optional" in parameter:
        return none(name)
    if "ensor" in parameter:
        return tensor(name, tensors, "bfloat16")
    if "string" in parameter or "char" in parameter:
        return scalar(name, "")
    return scalar(name, False) if "bool" in parameter else scalar(name, 16)


@pytest.mark.parametrize("shape", [(64, 4096), (4, 64, 128, 128)], ids=["two axes", "four axes"])
@pytest.mark.parametrize("tree_name", ["wheel", "main_tree"])
def test_every_declared_function_gets_an_answer_or_none_and_never_an_error(
    tree_name: str, shape: tuple[int, ...], request: pytest.FixtureRequest
) -> None:
    tree: AiterTree = request.getfixturevalue(tree_name)
    ends = 0
    for module, function in declared(tree):
        binding = find_binding(tree, module, function)
        if binding is None or binding.function is None:
            continue
        node = load(tree.absolute(binding.function[0])).functions[binding.symbol]
        parameters = [text_of(parameter) for parameter in parameters_of(node)]
        names = [name for name, _ in binding.arguments] or [f"a{i}" for i in range(len(parameters))]
        arguments = tuple(plausible(p, n, shape) for p, n in zip(parameters, names, strict=False))
        crossing = BoundaryCall(id=1, module=module, function=function, arguments=arguments)
        answer = resolve_dispatch(tree, crossing, MI300X, {})
        kernels = [hop for hop in answer.hops if hop.layer is Layer.KERNEL] if answer is not None else []
        for hop in kernels:
            assert hop.source is not None or (hop.evidence is Evidence.UNRESOLVED and hop.reason)
            if hop.source is not None:
                assert tree.absolute(hop.source.file).is_file()
        ends += any(hop.evidence is Evidence.RESOLVED for hop in kernels)
    assert ends > 5
