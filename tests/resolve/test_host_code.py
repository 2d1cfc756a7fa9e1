"""Host functions that build a kernel's arguments and launch it: their text in, the kernels that run out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aiter.conftest import write_package
from tracer.aiter.tree import AiterTree
from tracer.index.tree_index import TreeIndex
from tracer.resolve.cxx.environment import Env, Function
from tracer.resolve.cxx.headers import Headers
from tracer.resolve.cxx.mangling import mangle
from tracer.resolve.cxx.values import Constant, Named, Object, Pack, integer
from tracer.resolve.cxx.walk import Walker

HEADER = """
#pragma once
namespace tile {
using index_t = int;
template <index_t...> struct sequence;
template <index_t... Is>
struct sequence
{
    static constexpr index_t at(index_t i);
};
template <auto v> struct fixed { static constexpr auto value = v; };
enum class Tail { Odd, Even };
template <int Step> struct Scale { };
template <typename Tag = int>
struct Sizes
{
    Sizes(index_t parts_, index_t K_) : parts(parts_), K(K_) {}
    index_t parts;
    index_t K;
};
template <class S = Scale<-1>>
struct Args : public Sizes<>
{
    Args() = default;
    Args(const void* a_, index_t parts_, index_t K_, S scale_ = nullptr) : Args(a_, {}, parts_, K_, scale_) {}
    Args(const void* a_, const void* b_, index_t parts_, index_t K_, S scale_)
        : Sizes(parts_, K_), a(a_), b(b_), scale(scale_)
    {
    }
    const void* a;
    const void* b;
    S scale;
};
template <class S = Scale<-1>> struct Other { };
template <typename Shape, Tail T, bool Split>
struct Kernel
{
    template <class S = Scale<-1>> static auto Taken(const Other<S>& given) { return 0; }
    template <class S = Scale<-1>> static auto Taken(const Args<S>& given) { return given; }
};
template <int Blocks, typename K, typename... As>
__global__ void entry(As... as)
{
}
template <typename Arch, int Blocks, typename K, typename... As>
__global__ void entry(As... as)
{
}
template <int Blocks = 1, typename Arch = void, typename K, typename... As>
auto made(K /*kernel*/, dim3 grid, As... as)
{
    const auto kernel = []() {
        if constexpr(std::is_void_v<Arch>) { return entry<Blocks, K, As...>; }
        else { return entry<Arch, Blocks, K, As...>; }
    }();
    return [=](const stream& s) { kernel<<<grid, 256, 0, s.id>>>(as...); };
}
template <typename Shape, typename Given>
void run(const Given& given)
{
    const index_t steps = given.K / Shape::at(fixed<1>{}) / given.parts;
    const auto Run = [&](const auto tail_, const auto split_) {
        using Chosen = Kernel<Shape, tail_.value, split_.value>;
        auto taken = Chosen::Taken(given);
        float time{0};
        time = launch(made<2>(Chosen{}, unknown_grid(), taken));
    };
    const auto Parts = [&](const auto tail_) {
        if(given.parts == 1) { Run(tail_, fixed<false>{}); }
        else { Run(tail_, fixed<true>{}); }
    };
    if(steps % 2 == 0) { Parts(fixed<Tail::Even>{}); }
    else { Parts(fixed<Tail::Odd>{}); }
}
}
"""
#: what a generator writes; no file of the tree holds it
GENERATED = """
#include "lib.hpp"
template <typename T>
void instance(Tensor& x, std::optional<Tensor> scales)
{
    int K = x.size(1);
    if(scales != std::nullopt)
    {
        auto scale = tile::Scale<1>{scales.data()};
        tile::Args<decltype(scale)> args{x.data(), 1, K, scale};
        tile::run<tile::sequence<16, 64 / sizeof(T)>>(args);
    }
    else
    {
        auto scale = tile::Scale<-1>{nullptr};
        tile::Args<decltype(scale)> args{x.data(), 1, K, scale};
        tile::run<tile::sequence<16, 64 / sizeof(T)>>(args);
    }
}
"""


@pytest.fixture
def walker(tmp_path: Path) -> Walker:
    root = write_package(tmp_path)
    (root / "csrc").mkdir()
    (root / "csrc/lib.hpp").write_text(HEADER)
    index = TreeIndex(AiterTree.find(root), root / "cache")
    return Walker(Headers(index, "csrc/generated.hip", (), GENERATED))


def kernels(walker: Walker, types: str, **extents: int) -> list[tuple[str, int, int]]:
    """(the scale's step, the tail, whether K is split) of the kernels that run."""
    function = walker.evaluate(f"instance<{types}>", Env(""))
    assert isinstance(function, Function)
    walker.follow(function, extents)
    assert not walker.undecided
    found = []
    for use in walker.uses:
        blocks, kernel, taken = use.kernel.args or ()
        assert blocks == integer(2)
        assert isinstance(kernel, Named)
        assert isinstance(taken, Pack)
        (args,) = taken.values
        assert isinstance(args, Named)
        assert args.name == "tile::Args"
        _, tail, split = kernel.args or ()
        assert isinstance(tail, Constant)
        assert isinstance(split, Constant)
        found.append(
            (mangle(use.kernel, use.parameters, use.types).partition("ScaleI")[2][:5], tail.value, split.value)
        )
    return found


def test_without_a_problem_every_kernel_that_is_compiled_is_found(walker: Walker) -> None:
    every = [(tail, split) for tail in (1, 0) for split in (0, 1)]
    assert kernels(walker, "short") == [(scale, *rest) for scale in ("Li1EE", "Lin1E") for rest in every]


@pytest.mark.parametrize(
    ("types", "k", "tail"), [("short", 128, 1), ("short", 96, 0), ("char", 128, 1), ("char", 64, 0)]
)
def test_a_problem_decides_what_the_arguments_members_decide(walker: Walker, types: str, k: int, tail: int) -> None:
    assert kernels(walker, types, K=k) == [("Li1EE", tail, 0), ("Lin1E", tail, 0)]


def test_a_constructor_sets_the_members_that_its_initialisers_name(walker: Walker) -> None:
    type_ = walker.evaluate("tile::Args<tile::Scale<3>>", Env(""))
    assert isinstance(type_, Named)
    walker.follow(walker.evaluate("instance<short>", Env("")), {"K": 64})
    assert walker.construct(type_, [integer(4)]) == Object(type_)  # nothing is set where no problem is given
    walker._extents = {"K": 64}
    made = walker.construct(type_, [integer(9), integer(4), integer(64)])
    assert (made.field("a"), made.field("parts"), made.field("K")) == (integer(9), integer(4), integer(64))


def test_the_symbol_is_what_a_compiler_writes(walker: Walker) -> None:
    kernels(walker, "short", K=64)
    use = walker.uses[0]
    assert mangle(use.kernel, use.parameters, use.types) == (
        "_ZN4tile5entryILi2ENS_6KernelINS_8sequenceIJLi16ELi32EEEELNS_4TailE1ELb0EEEJNS_4ArgsINS_5ScaleILi1EEEEEEEEvDpT1_"
    )
