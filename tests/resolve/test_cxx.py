"""Templates, evaluated and mangled: small headers in, values and symbols as a compiler gives them out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracer.aiter.tree import AiterTree
from tracer.index.tree_index import TreeIndex
from tracer.resolve.cxx.environment import Env, Function
from tracer.resolve.cxx.headers import Headers
from tracer.resolve.cxx.mangling import NotMangledError, mangle
from tracer.resolve.cxx.preprocess import active_text
from tracer.resolve.cxx.values import FALSE, TRUE, Constant, Named, Object, Pack, Unknown, integer
from tracer.resolve.cxx.walk import Walker

HEADER = """
#pragma once
#define WIDE_IMPL                      \\
    template <bool Wide>               \\
    static constexpr auto PerWave()    \\
    {                                  \\
        return Halved<Block, Wide>();  \\
    }
namespace ck {
using index_t = int32_t;
enum struct Mode { Set, AtomicAdd = 4, Add };
template <index_t... Is> struct Sequence { };
template <typename... Ts> struct Tuple { };
template <auto v> struct constant { static constexpr auto value = v; };
#if USE_OTHER
using number_t = other_t;
#else
struct number_t { };
#endif
namespace math { template <typename T> constexpr T min(T a, T b); }
template <index_t Block_, bool Wide>
static constexpr auto Halved()
{
    constexpr index_t waves = Wide ? Block_ / 64 : Block_ / 32;
    if constexpr(waves == 0) { return 0; }
    else { return waves; }
}
template <Mode M, index_t N> struct Pipe { };
template <index_t N> struct Pipe<Mode::Set, N>
{
    static constexpr index_t Stages = N > 2 ? 2 : 1;
    static constexpr bool HasLoop(index_t loops) { return loops > Stages; }
};
template <index_t N> struct Pipe<Mode::Add, N> { static constexpr index_t Stages = 7; };
template <Mode M, index_t N>
constexpr auto Select()
{
    if constexpr(N == 0) { return Pipe<Mode::Add, N>{}; }
    else { return Pipe<M, N>{}; }
}
template <typename G, bool Loop, Mode M, index_t Occupancy = 1>
__global__ void kernel_it(typename G::Argument karg)
{
}
template <typename A, Mode M, index_t Block, typename Lengths, typename B = A>
struct Grid
{
    using Argument = int;
    using Chosen = remove_cvref_t<decltype(Select<M, Block>())>;
    static constexpr bool HasLoop(index_t K)
    {
        const index_t loops = K / Block;
        return Chosen::HasLoop(loops);
    }
};
template <typename A, index_t Block, typename Lengths>
struct Device
{
    WIDE_IMPL
    static constexpr auto PerWave64 = PerWave<true>();
    template <index_t N> using Base = Grid<A, Mode::Set, Block, Lengths>;
    using G64 = Base<math::min(PerWave64, 4)>;
    struct Invoker
    {
        template <typename G>
        float RunImp(const Argument& arg)
        {
            const bool loop = G::HasLoop(arg.K);
            const auto Run = [&](const auto& kernel) { launch(kernel, arg); };
            constexpr index_t occupancy = []() {
                if constexpr(is_same_v<A, number_t>) { return 2; } else { return 1; }
            }();
            if(!G::Check(arg)) { throw std::runtime_error("no"); }
            if(loop)
            {
                if(arg.KBatch > 1)
                {
                    const auto kernel = kernel_it<G, true, Mode::AtomicAdd, occupancy>;
                    Run(kernel);
                }
                else
                {
                    const auto kernel = kernel_it<G, true, Mode::Set, occupancy>;
                    Run(kernel);
                }
            }
            else if constexpr(Block == 128)
            {
                Run(kernel_it<G, false, Mode::Set>);
            }
            return 0;
        }
    };
};
}
"""


@pytest.fixture
def walker(tmp_path: Path) -> Walker:
    package = tmp_path / "aiter"
    (package / "jit").mkdir(parents=True)
    for name in ("__init__.py", "jit/core.py"):
        (package / name).write_text("")
    (package / "jit/optCompilerConfig.json").write_text("{}")
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc/lib.hpp").write_text(HEADER)
    (tmp_path / "csrc/use.cuh").write_text(
        '#include "lib.hpp"\nusing F = ck::number_t;\ntemplate <ck::index_t... Is> using S = ck::Sequence<Is...>;\n'
    )
    index = TreeIndex(AiterTree.find(tmp_path), tmp_path / "cache")
    return Walker(Headers(index, "csrc/use.cuh", ()))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("F", Named("ck::number_t")),
        ("S<1, 2>", Named("ck::Sequence", (Pack((integer(1), integer(2))),))),
        ("ck::Mode::Add", Constant("ck::Mode", 5, "Add")),
        ("std::conditional_t<ck::is_same_v<F, int>, int, float>", Named("float")),
        ("(3 + 4) * 2 > 13 && !false", TRUE),
        ("128 / S<4, 64, 1>{}.At(1)", integer(2)),
        ("ck::Tuple<int, F>::Size()", integer(2)),
        ("unsigned long", Named("unsigned long")),
        ("sizeof(int8_t) * 8", Constant("unsigned long", 8)),
        ("std::is_same<F, F>::value", TRUE),
        ("ck::Halved<256, true>()", integer(4)),
        ("ck::Pipe<ck::Mode::Set, 8>::Stages", integer(2)),
        ("ck::constant<ck::Mode::Add>::value", Constant("ck::Mode", 5, "Add")),
        ("ck::Grid<F, ck::Mode::Set, 0, S<1>>::Chosen::Stages", integer(7)),
        ("ck::Device<F, 256, S<1>>::PerWave64", integer(4)),
        ("5 % 0", Unknown("%")),
        ("sizeof(_BitInt(8))", Constant("unsigned long", 1)),
        ("std::is_void_v<void> && !std::is_void_v<F>", TRUE),
    ],
)
def test_an_expression_has_the_value_that_a_compiler_gives_it(walker: Walker, text: str, value: object) -> None:
    assert walker.evaluate(text, Env("")) == value


def test_what_no_header_defines_is_unknown_and_stays_so(walker: Walker) -> None:
    assert isinstance(walker.evaluate("other::thing<3>::value + 1", Env("")), Unknown)
    assert walker.evaluate("other::flag || true", Env("")) == TRUE
    assert walker.evaluate("other::flag && false", Env("")) == FALSE


def _run(walker: Walker, block: int, **extents: int) -> list[tuple[object, ...]]:
    device = walker.evaluate(f"ck::Device<F, {block}, S<1>>", Env(""))
    assert isinstance(device, Named)
    place = walker.headers.find("ck::Device::Invoker", "")[0]
    env = Env(place.head.name, {}, (Named(place.head.name, None, device), place), walker.env_of(device))
    walker.restart()
    function = walker.apply(walker.headers.members(place, "RunImp"), [walker.member(device, "G64")], env)
    assert isinstance(function, Function)
    walker.call(function, [Object(Named("Argument"), tuple((n, integer(v)) for n, v in extents.items()))])
    return [tuple(getattr(a, "value", None) for a in (use.kernel.args or ())[1:]) for use in walker.uses]


def test_without_extents_every_kernel_that_is_compiled_is_found(walker: Walker) -> None:
    assert _run(walker, 256) == [(1, 4, 2), (1, 0, 2)]
    assert _run(walker, 128) == [(1, 4, 2), (1, 0, 2), (0, 0, 1)]


def test_with_extents_the_one_that_runs_is_found(walker: Walker) -> None:
    assert _run(walker, 128, K=4096, KBatch=1) == [(1, 0, 2)]
    assert _run(walker, 128, K=4096, KBatch=8) == [(1, 4, 2)]
    assert _run(walker, 128, K=128, KBatch=1) == [(0, 0, 1)]
    assert _run(walker, 256, K=128, KBatch=1) == []


def test_a_macro_that_defines_a_member_is_read(walker: Walker) -> None:
    device = walker.evaluate("ck::Device<int, 64, S<1>>", Env(""))
    assert isinstance(device, Named)
    assert walker.member(device, "PerWave64") == integer(1)


def test_inactive_branches_are_blanked_line_by_line() -> None:
    text = "#define A 2\n#if A > 1 && defined(A)\none\n#elif 1\ntwo\n#else\nthree\n#endif\n#ifdef B\nfour\n#endif\n"
    kept = active_text(text)
    assert kept.count("\n") == text.count("\n")
    assert [line for line in kept.split() if line in ("one", "two", "three", "four")] == ["one"]


# What g++ 12 writes for the same declarations; Clang 19 where there is a _BitInt.
ROW, COL = Named("ck::l::Row"), Named("ck::l::Col")
SEQUENCE = Named("ck::Sequence", (Pack((integer(1), integer(2))),))
DEVICE = Named("ck::t::d::Dev", (ROW, integer(-3), SEQUENCE))
GRID = Named(
    "ck::Grid",
    (
        Named("ck::Tuple", (Pack((ROW, COL)),)),
        Named("Rw", (Named("int"), Named("unsigned short"))),
        integer(5),
        Constant("ck::E", 1),
        SEQUENCE,
    ),
)
INNER = Named("ck::t::d::Dev::Inv", None, DEVICE)
OF_GRID = Named("ck::t::d::Dev::ArgBase", (GRID,), DEVICE)


@pytest.mark.parametrize(
    ("function", "parameters", "types", "symbol"),
    [
        (
            Named("ck::kern", (GRID, OF_GRID, TRUE, Constant("ck::E", 0), integer(2), INNER)),
            ("G", "B", "H", "e", "M", "X"),
            ("B",),
            "_ZN2ck4kernINS_4GridINS_5TupleIJNS_1l3RowENS3_3ColEEEE2RwIitELi5ELNS_1EE1ENS_8SequenceIJLi1ELi2EEEEEE"
            "NS_1t1d3DevIS4_Lin3ESB_E7ArgBaseISC_EELb1ELS9_0ELi2ENSG_3InvEEEvT0_",
        ),
        (
            Named("ck::kern2", (TRUE, GRID, Named("_Float16"))),
            ("L", "G", "B"),
            ("typename G::Argument", "G", "typename G::Argument"),
            "_ZN2ck5kern2ILb1ENS_4GridINS_5TupleIJNS_1l3RowENS3_3ColEEEE2RwIitELi5ELNS_1EE1ENS_8SequenceIJLi1ELi2EEEE"
            "EEDF16_EEvNT0_8ArgumentESD_SE_",
        ),
        (Named("plain", (Named("int"),)), ("T",), ("T",), "_Z5plainIiEvT_"),
        (
            Named("ck::pack", (Pack((Named("_BitInt(8)"), Named("_BitInt(8)"))),)),
            ("Ts",),
            ("Ts...",),
            "_ZN2ck4packIJDB8_S1_EEEvDpT_",
        ),
    ],
)
def test_a_symbol_is_what_a_compiler_writes(
    function: Named, parameters: tuple[str, ...], types: tuple[str, ...], symbol: str
) -> None:
    assert mangle(function, parameters, types) == symbol


def test_a_symbol_with_an_open_argument_is_not_written() -> None:
    with pytest.raises(NotMangledError):
        mangle(Named("f", (Unknown("x"),)), ("T",), ("T",))
    with pytest.raises(NotMangledError):
        mangle(Named("f", (Named("int"),)), ("T",), ("std::vector<T>&",))
