"""Demangled C++ text: names, arguments and their places, as GNU, LLVM and NVIDIA print them, whole and cut off."""

from __future__ import annotations

import time

import pytest

from tracer.names import cpp


def _items(text: str) -> tuple[str, ...]:
    return cpp.read_function(text).items


@pytest.mark.parametrize(
    ("text", "name", "items"),
    [
        ("void f<1>(int)", "f", ("1",)),
        ("f(int)", "f", ()),
        ("void ns::f<A<B<1> >, C<2>>(A<B<1> >)", "ns::f", ("A<B<1> >", "C<2>")),
        ("void f<A<B<1>>, 3>(int)", "f", ("A<B<1>>", "3")),
        ("void f<(ck::TailNumber)10, -1, true>(int)", "f", ("(ck::TailNumber)10", "-1", "true")),
        ("void (anonymous namespace)::f<long>(long*)", "(anonymous namespace)::f", ("long",)),
        ("void a::(anonymous namespace)::f<b::(anonymous namespace)::C<2u> >(int)",
         "a::(anonymous namespace)::f", ("b::(anonymous namespace)::C<2u>",)),
        ("void f<g(int)::{lambda(int, long)#1}::operator()(int, long) const::{lambda()#2}, 4>(int)",
         "f", ("g(int)::{lambda(int, long)#1}::operator()(int, long) const::{lambda()#2}", "4")),
        ("void f<g(int)::'lambda0'(int, long), 4>(int)", "f", ("g(int)::'lambda0'(int, long)", "4")),
        ("std::enable_if<(((8)>(0)))&&T<int>::exists, void>::type ns::f<int, 8>(int*)", "ns::f", ("int", "8")),
        ("void f<&ns::silu<float>, (float (*)(float))0>(int)", "f", ("&ns::silu<float>", "(float (*)(float))0")),
        ("void f<std::integral_constant<bool, (3 > 2)>, 5>(int)",
         "f", ("std::integral_constant<bool, (3 > 2)>", "5")),
        ("A<int> const& ns::B<3>::operator<(int)", "ns::B<3>::operator<", ()),
        ("void ns::A<int>::f<float>(double)", "ns::A<int>::f", ("float",)),
        ("void f<>(int)", "f", ()),
    ],
)  # fmt: skip
def test_the_head_of_a_function(text: str, name: str, items: tuple[str, ...]) -> None:
    function = cpp.read_function(text)
    assert function.name == name
    assert function.items == items
    assert text.startswith(name, function.start)
    assert not function.cut
    if function.arguments is not None:
        for i, item in enumerate(function.items):
            start, end = function.arguments.span(i)
            assert text[start:end] == item


def test_both_spellings_of_closing_brackets_give_the_same_items() -> None:
    old = _items("void f<A<B<C<1> > >, D<2> >(int)")
    new = _items("void f<A<B<C<1>>>, D<2>>(int)")
    assert [item.replace("> >", ">>").replace("> >", ">>") for item in old] == list(new)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("void f<1, A<2, 3", ("1",)),
        ("void f<1, A<2, 3>", ("1",)),
        ("void f<1, A<2, 3>,", ("1", "A<2, 3>")),
        ("void f<1, A<2, 3>, ", ("1", "A<2, 3>")),
        ("void f<", ()),
    ],
)
def test_of_a_cut_list_only_what_a_comma_follows_is_whole(text: str, whole: tuple[str, ...]) -> None:
    function = cpp.read_function(text)
    assert function.cut
    assert function.arguments is not None
    assert function.arguments.whole(text) == whole


def test_a_nested_template_is_read_at_its_place() -> None:
    text = "void k<int, ck::Grid<float, ck::Sequence<8, 32, 1> >, true>(int)"
    args = cpp.read_function(text).arguments
    assert args is not None
    grid = cpp.template(text, args.span(1))
    assert grid.leaf == "Grid"
    assert grid.arguments is not None
    assert grid.arguments.items == ("float", "ck::Sequence<8, 32, 1>")
    assert text[slice(*grid.arguments.span(1))] == "ck::Sequence<8, 32, 1>"


@pytest.mark.parametrize(
    ("item", "value"),
    [("256", 256), ("-1", -1), ("2ul", 2), ("1024u", 1024), ("2048l", 2048), ("(ck::Tail)10", 10), ("true", None),
     ("float", None), ("", None), ("\u0663", None), ("9" * 5000, None)],
)  # fmt: skip
def test_the_value_of_an_integer_argument(item: str, value: int | None) -> None:
    assert cpp.integer(item) == value


def test_a_cast_names_its_enum() -> None:
    assert cpp.cast("(ck::tensor_operation::device::GemmSpecialization)7") == (
        "ck::tensor_operation::device::GemmSpecialization", 7,
    )  # fmt: skip
    assert cpp.cast("7") is None


@pytest.mark.parametrize(
    "text",
    [
        "void f" + "<A" * 100_000,
        "void f<" + "(" * 100_000,
        "void f<" + "1, " * 100_000 + "2>(int)",
        "void " + "a::" * 100_000 + "f<1>(int)",
        "<" * 1000 + ">" * 1000,
        "void f<" + "A<" * 500 + "1" + ">" * 500 + ">(int)",
        "operator" * 1000,
        "void f<\ud800, \0>(int)",
        "",
    ],
    ids=["open", "parentheses", "wide", "namespaces", "brackets", "deep", "operator", "odd characters", "empty"],
)
def test_no_text_is_slow_or_raises(text: str) -> None:
    start = time.perf_counter()
    function = cpp.read_function(text)
    if function.arguments is not None:
        for i in range(len(function.arguments)):
            cpp.template(text, function.arguments.span(i))
            if i > 20:
                break
    assert time.perf_counter() - start < 2
