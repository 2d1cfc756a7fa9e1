"""C++ as the index reads it: definitions told from declarations, comments and strings; macros, launches, templates."""

from __future__ import annotations

import pytest

from tests.index.mini import FILES
from tracer.index.conditions import conditions_at
from tracer.index.cpp_file import read_file
from tracer.index.cpp_macros import mask, read_macros, split_arguments
from tracer.index.cpp_templates import Parameter, read_templates
from tracer.index.cpp_text import prepare


def _macros(text: str) -> dict[str, object]:
    return {macro.name: macro for macro in read_macros(mask(text))}


def test_definitions_are_told_from_declarations_comments_and_strings() -> None:
    facts = read_file(
        "// void a() {}\n"
        "/* void b() {} */\n"
        'const char* s = "void c() {}";\n'
        "void d(int x);\n"
        "void d(int x) { e(x); }\n"
        "struct S { void m(); int n() { return 1; } };\n"
        "void S::m() { d(2); }\n"
        "namespace x { namespace y { template <typename T> T f(T t) { return t; } } }\n"
    )
    found = {(f.name, f.kind, f.line) for f in facts.functions if f.kind != "fragment"}
    assert ("d", "declaration", 4) in found
    assert ("d", "definition", 5) in found
    assert ("S::n", "definition", 6) in found
    assert ("S::m", "definition", 7) in found
    assert ("x::y::f", "definition", 8) in found
    assert not {name for name, _, _ in found} & {"a", "b", "c"}


@pytest.mark.parametrize(
    "launch",
    [
        "k<T, 4><<<grid, block, 0, stream>>>(x);",
        "k<T,\n      4>\n    <<<dim3(1, 2), dim3((n + 255) / 256)>>>(x);",
        "ns::k<ns::V<T>, (4 > 3)><<<g, b>>>(x);",
    ],
)
def test_a_triple_chevron_launch_is_found_with_its_configuration(launch: str) -> None:
    facts = read_file(f"void host(int n)\n{{\n    int a = n >> 2;\n    {launch}\n}}\n")
    host = next(f for f in facts.functions if f.name == "host")
    assert len(host.launches) == 1
    assert host.launches[0].kernel.rpartition("::")[2].startswith(("k<", "V<"))
    assert host.launches[0].configuration


def test_a_kernel_is_known_by_its_mark_also_behind_attributes_and_macros() -> None:
    facts = read_file(
        "template <int N>\n__launch_bounds__(N, 2) __global__ void a(float* x) { x[0] = 1; }\n"
        '#define KERNEL extern "C" __global__\nKERNEL void b(float* x) { x[0] = 1; }\n'
        "__device__ int c(int x) { return x; }\n"
        "__host__ __device__ int d(int x) { return x; }\n"
    )
    named = {f.name: f for f in facts.functions if f.kind == "definition"}
    assert named["a"].kernel
    assert named["b"].kernel
    assert named["b"].extern_c
    assert named["c"].device
    assert not named["d"].device


def test_a_macro_of_another_file_is_expanded_at_namespace_scope() -> None:
    table = _macros("#define MAKE(name) void name##_it(int x) { launch(name, x); }\n")
    facts = read_file("namespace n {\nMAKE(one)\nMAKE(two);\n}\n", table)  # type: ignore[arg-type]
    made = [f for f in facts.functions if f.kind == "definition"]
    assert [(f.name, f.line) for f in made] == [("n::one_it", 2), ("n::two_it", 3)]


def test_statements_that_macros_take_from_one_another_stay_in_their_function() -> None:
    text = (
        "void host(int x)\n{\n    WITH_VEC(n,\n        WITH_BUFFER(\n            double_buffer,\n"
        "        if(x) {\n            one<<<1, 1>>>(x);\n        } else {\n            if constexpr(A)\n            {\n"
        "                two<<<1, 1>>>(x);\n            }\n            else\n            {\n"
        "                WITH_STRIDE(S, x,\n                    three<D><<<1, 1>>>(x););\n"
        "            }\n        }));\n}\n"
        "void after() { other(); }\n"
    )
    facts = read_file(text)
    assert facts.errors == 0
    assert [(f.name, f.last, [site.kernel for site in f.launches]) for f in facts.functions] == [
        ("host", 19, ["one", "two", "three<D>"]),
        ("after", 20, []),
    ]
    assert conditions_at(text, 11) == ("(A)", "not (x)")


def test_a_member_template_of_a_dependent_class_is_called_by_its_name() -> None:
    facts = read_file("template <class S> auto f()\n{\n    return Pick<S, 1>::\n        template get<64, S>();\n}\n")
    assert [(c.name, c.template) for c in facts.functions[0].calls if c.arguments == 0] == [("Pick::get", "64, S")]


def test_types_as_macro_arguments_do_not_break_what_follows() -> None:
    facts = read_file(
        "namespace n {\nvoid f(int x)\n{\n    switch(x) { CASE_IT(float, 1) CASE_IT(int*, 2) }\n}\n}\nvoid g() {}\n"
    )
    assert {f.name for f in facts.functions if f.kind == "definition"} == {"n::f", "g"}
    calls = next(f for f in facts.functions if f.name == "n::f").calls
    assert [(c.name, c.text) for c in calls] == [("CASE_IT", "float, 1"), ("CASE_IT", "int*, 2")]


def test_a_macro_hands_its_arguments_on_to_macros_of_any_name_and_case() -> None:
    facts = read_file(
        "#define KL(n, name) \\\n  name<T, n><<<blocks, threads>>>(x);\n"
        "#define dispatch(n, name) \\\n  do { \\\n    if(n > 2) { KL(n, name) } \\\n"
        "    else { KL(n, name##_naive) } \\\n  } while(0)\n"
        "void f(int x)\n{\n    switch(x) { case 2: dispatch(2, one_stage); }\n}\n"
    )
    named = {f.name: f for f in facts.functions}
    assert [(s.kernel, s.line) for s in named["KL"].launches] == [("name<T, n>", 2)]
    assert [(c.name, c.text) for c in named["dispatch"].calls] == [("KL", "n, name"), ("KL", "n, name##_naive")]
    assert [(c.name, c.text) for c in named["f"].calls] == [("dispatch", "2, one_stage")]


def test_branches_that_open_the_same_brace_twice_are_read_once() -> None:
    facts = read_file("#if A\nvoid f(int x) {\n#else\nvoid f(long x) {\n#endif\n    g();\n}\nvoid h() {}\n")
    assert [f.name for f in facts.functions if f.kind == "definition"] == ["f", "h"]


def test_no_line_moves_when_text_is_prepared() -> None:
    for name, text in FILES.items():
        if name.endswith((".cu", ".h", ".cuh")):
            assert prepare(text).text.count("\n") == text.count("\n"), name


@pytest.mark.parametrize(
    "text", ["", "{", "}}}", "void f(", '"', "/*", "<<<", "#define", "template <", "\x00\xff", "a<b<c>>>>("]
)
def test_broken_text_gives_facts_not_errors(text: str) -> None:
    read_file(text)
    read_templates(text)
    conditions_at(text, 1)


def test_arguments_are_split_at_their_own_level() -> None:
    assert split_arguments("a, (b, c), {d, e}, f[g, h]") == ["a", "(b, c)", "{d, e}", "f[g, h]"]
    assert split_arguments("") == []


def test_conditions_around_a_line_are_given_innermost_first() -> None:
    text = "void f(int x)\n{\n    if(x > 1)\n    {\n    switch(x)\n    {\n    case 2: g();\n    }\n    }\n}\n"
    assert conditions_at(text, 7)[-1] == "(x > 1)"
    nested = "void f(int x)\n{\n    if(x > 1)\n    {\n        a();\n    }\n    else\n    {\n        b();\n    }\n}\n"
    assert conditions_at(nested, 5) == ("(x > 1)",)
    assert conditions_at(nested, 9) == ("not (x > 1)",)


def test_ifs_that_leave_the_function_before_a_line_are_conditions_of_it() -> None:
    text = (
        "void f(int x)\n{\n    if(x == 0) return;\n"
        "    {\n        if(!x)\n        {\n            g();\n            return;\n        }\n    }\n"
        "    if(x > 2) { throw E(); }\n"
        "    if(x > 3) { h(); }\n"
        "    if(x > 4) { return; } else { h(); }\n"
        "    launch();\n"
        "    if(x > 5) return;\n}\n"
    )
    assert conditions_at(text, 14) == ("not (x > 2)", "not (!x)", "not (x == 0)")


def test_template_heads_carry_parameters_defaults_and_bounds() -> None:
    heads = read_templates(
        "namespace ck {\n"
        "template <typename T, int N = 4, bool... Bs>\n"
        "struct A : public Base<T> { static constexpr int size = N * 2; };\n"
        "template <int N>\nstruct A<float, N> { };\n"
        "template <typename T> using B = A<T, 2>;\n"
        "enum struct E { x, y = 4, z };\n"
        "template <typename G>\n__global__ void k(typename G::Argument karg, const float* __restrict__ p) { }\n"
        "}\n"
    ).heads
    named = {(h.name, h.special): h for h in heads}
    plain = named["ck::A", ""]
    assert plain.parameters == (Parameter("T"), Parameter("N", "int", "4"), Parameter("Bs", "bool", "", True))
    assert plain.text == "Base<T>"
    assert named["ck::A", "<float, N>"].kind == "struct"
    assert named["ck::A::size", ""].text == "N * 2"
    assert named["ck::B", ""].text == "A<T, 2>"
    assert named["ck::E", ""].text == "x;y = 4;z"
    assert named["ck::k", ""].text == "typename G::Argument;const float*"
