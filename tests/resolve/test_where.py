"""Names led to their source: over a miniature tree in full, over the wheel and aiter's main by samples."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.index.mini import write_mini
from tracer.aiter.tree import AiterTree
from tracer.cli.where import as_json, as_text, command
from tracer.errors import SourceTreeError
from tracer.index.tree_index import TreeIndex
from tracer.model.source import Layer, SourceRef, UnresolvedReason
from tracer.resolve.answers import Where, WhereKind, WhereStatus
from tracer.resolve.asked import find
from tracer.resolve.chain import Chains
from tracer.resolve.coverage import Coverage, coverage
from tracer.resolve.hip_flow import hip_flow
from tracer.resolve.where import Finder


@pytest.fixture
def mini(tmp_path: Path) -> Path:
    return write_mini(tmp_path / "mini")


def _finder(mini: Path, cache: Path | None) -> Finder:
    """What reads the miniature as it is now."""
    return Finder(TreeIndex(AiterTree.find(mini), cache))


@pytest.fixture
def finder(mini: Path, tmp_path: Path) -> Finder:
    return _finder(mini, tmp_path / "cache")


def _places(answer: Where) -> list[tuple[str, str, str]]:
    return [
        (hop.layer, hop.name, f"{hop.source.file}:{hop.source.line}" if hop.source else str(hop.reason))
        for hop in answer.hops
    ]


def test_an_op_is_led_from_python_to_its_kernel(finder: Finder) -> None:
    answer = finder.find("norm_it")
    assert (answer.kind, answer.status) == (WhereKind.OP, WhereStatus.RESOLVED)
    assert _places(answer) == [
        ("python", "norm_it", "aiter/ops/norm.py:5"),
        ("registered_op", "aiter::norm_it", "aiter/jit/utils/torch_guard.py:6"),
        ("jit", "compile_ops", "aiter/jit/core.py:1"),
        ("jit", "module_norm", "aiter/jit/optCompilerConfig.json:2"),
        ("binding", "NORM_PYBIND", "csrc/pybind/norm_pybind.cu:4"),
        ("binding", 'm.def("norm_fwd")', "csrc/include/ops.h:3"),
        ("cpp", "ns::norm_fwd", "csrc/kernels/norm.cu:20"),
        ("launch", "ns::norm_kernel<float, 128>, ns::norm_kernel<float, 256>", "csrc/include/ops.h:8"),
        ("kernel", "ns::norm_kernel", "csrc/kernels/norm.cu:6"),
    ]
    assert answer.source is not None
    assert answer.source.end_line == 19


@pytest.mark.parametrize(
    "name",
    [
        "norm_fwd", "aiter::norm_it", "aiter.ops.norm.norm_it", "torch.ops.aiter.norm_it", "aiter::norm_it.default",
        "torch.ops.aiter.norm_it.default",
    ],
)  # fmt: skip
def test_an_op_answers_to_all_of_its_names(finder: Finder, name: str) -> None:
    assert finder.find(name).hops == finder.find("norm_it").hops


def test_a_name_that_a_package_only_imports_is_what_it_imports(finder: Finder) -> None:
    assert finder.find("aiter.norm_it").hops == finder.find("norm_it").hops
    assert finder.find("aiter.scale_it").hops == finder.find("scale_it").hops
    assert finder.find("aiter.nothing_it").reason is UnresolvedReason.NO_SUCH_NAME


def test_an_autograd_function_is_followed_into_its_forward(mini: Path, tmp_path: Path) -> None:
    (mini / "aiter/ops/grad.py").write_text(
        "import torch\nfrom .norm import norm_it, plain_one\n\n"
        "class Norm(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        return norm_it(x, x)\n"
        "    @staticmethod\n    def backward(ctx, x):\n        return plain_one(x)\n\n"
        "def norm_with_grad(x):\n    return Norm.apply(x)\n"
    )
    answer = _finder(mini, tmp_path / "grad").find("norm_with_grad")
    assert [route.to for route in answer.routes] == ["norm_it"]
    assert [hop.source.line for hop in answer.routes[0].hops if hop.source] == [13, 7, 5]


def test_a_kernel_of_ck_is_found_by_its_bare_name_where_one_header_has_it(mini: Path, tmp_path: Path) -> None:
    folder = mini / "3rdparty/composable_kernel/include/ck"
    folder.mkdir(parents=True)
    (folder / "one.hpp").write_text(
        "namespace ck {\n__global__ void kernel_of_one(int x) {}\nstruct OnlyStruct {};\n}\n"
    )
    (folder / "two.hpp").write_text("namespace ck {\n__global__ void kernel_of_two(int x) {}\n}\n")
    (folder / "three.hpp").write_text("namespace ck {\n\n__global__ void kernel_of_two(int x) {}\n}\n")
    finder = _finder(mini, tmp_path / "ck")
    for name, place in (
        ("kernel_of_one", "one.hpp:2"),
        ("ck::kernel_of_one", "one.hpp:2"),
        ("OnlyStruct", "one.hpp:3"),
    ):
        answer = finder.find(name)
        assert answer.status is WhereStatus.RESOLVED
        assert _places(answer)[-1][2].endswith(place)
    for name in ("kernel_of_two", "ck::kernel_of_two"):
        answer = finder.find(name)
        assert (answer.status, len(answer.candidates)) == (WhereStatus.AMBIGUOUS, 2)


def test_an_op_that_the_guard_leaves_plain_is_no_registered_op(finder: Finder) -> None:
    answer = finder.find("plain_one")
    assert answer.status is WhereStatus.RESOLVED
    assert Layer.REGISTERED_OP not in {hop.layer for hop in answer.hops}
    assert "launches no kernel" in " ".join(answer.notes)


def test_a_kernels_flow_calls_a_layout_no_load_and_an_atomic_load_no_addition() -> None:
    source = (
        "__global__ void k(float* out, int* flag)\n{\n"
        "    auto layout = make_layout_load_a(4);\n"
        "    int ready = __atomic_load_n(flag, 0);\n"
        "    atomicAdd(out, 1.0f);\n}\n"
    )
    steps = hip_flow(source, 1, "k.cu", lambda file, line: SourceRef(file=file, line=line))
    assert [step.text for step in steps] == [
        "Reads atomically: __atomic_load_n(flag, 0).",
        "Adds or exchanges atomically: atomicAdd(out, 1.0f).",
    ]


@pytest.mark.parametrize(
    ("name", "reason"),
    [("unbound", UnresolvedReason.NO_BINDING), ("no_recipe", UnresolvedReason.NO_RECIPE)],
)
def test_an_op_that_cannot_be_led_says_why_in_a_fixed_word(finder: Finder, name: str, reason: UnresolvedReason) -> None:
    answer = finder.find(name)
    assert (answer.status, answer.reason) == (WhereStatus.UNRESOLVED, reason)


def test_a_ctypes_op_ends_at_its_code_object(finder: Finder) -> None:
    answer = finder.find("c_one")
    assert _places(answer)[-3:] == [
        ("cpp", "c_one", "csrc/c/c_one.cu:2"),
        ("launch", "/one/one.co", "csrc/c/c_one.cu:5"),
        ("kernel", "one.co", "hsa/gfx942/one/one.co:None"),
    ]


def test_a_name_of_a_python_function_and_a_triton_kernel_is_ambiguous(mini: Path, tmp_path: Path) -> None:
    (mini / "aiter/ops/other.py").write_text("def _helper(x):\n    return x\n")
    answer = _finder(mini, tmp_path / "cache").find("_helper")
    assert answer.status is WhereStatus.AMBIGUOUS
    assert [c.source.file for c in answer.candidates if c.source] == ["aiter/ops/other.py", "aiter/ops/tri.py"]


def test_a_method_does_not_take_the_name_of_a_triton_kernel(mini: Path, tmp_path: Path) -> None:
    (mini / "aiter/ops/other.py").write_text("class C:\n    def _helper(self):\n        return 1\n")
    answer = _finder(mini, tmp_path / "cache").find("_helper")
    assert (answer.kind, answer.status) == (WhereKind.TRITON, WhereStatus.RESOLVED)
    assert answer.hops[0].note == "calls it here, on the device"


@pytest.mark.parametrize(
    ("name", "dotted"),
    [("aiter:norm_it", "aiter.norm_it"), ("aiter.ops.wrapped:scale_it", "aiter.ops.wrapped.scale_it")],
)
def test_a_callable_as_run_spells_it_is_the_function_of_its_dotted_name(finder: Finder, name: str, dotted: str) -> None:
    answer, same = find(finder, name), finder.find(dotted)
    assert (answer.name, answer.kind, answer.source) == (name, same.kind, same.source)
    assert answer.source is not None


def test_the_function_that_an_op_of_the_name_runs_says_so_among_the_candidates(mini: Path, tmp_path: Path) -> None:
    registered = "from aiter.jit.utils.torch_guard import torch_compile_guard\n\n\n@torch_compile_guard()\n"
    for module, text in (("tuned_gemm", registered), ("ops/triton/gemm_a16w16", "")):
        path = mini / f"aiter/{module}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{text}def gemm_a16w16(a, b):\n    return a\n")
    answer = find(_finder(mini, tmp_path / "cache"), "gemm_a16w16")
    assert answer.source is not None
    assert answer.source.file == "aiter/tuned_gemm.py"
    assert [(c.name, c.note) for c in answer.candidates] == [
        ("aiter.ops.triton.gemm_a16w16.gemm_a16w16", "`ktrace gemm_a16w16` runs this one")
    ]


def test_a_code_object_leads_to_the_launch_whose_function_names_it(finder: Finder) -> None:
    answer = finder.find("one.co")
    assert (answer.kind, answer.status, answer.ops) == (
        WhereKind.CODE_OBJECT,
        WhereStatus.RESOLVED,
        ("aiter.ops.norm.c_one",),
    )
    assert [hop.layer for hop in answer.hops][-3:] == ["launch", "instance", "kernel"]


def test_a_code_object_that_nothing_names_says_so(mini: Path, tmp_path: Path) -> None:
    (mini / "hsa/gfx942/one/stray.co").write_text("not really an object")
    answer = _finder(mini, tmp_path / "cache").find("stray.co")
    assert (answer.status, answer.ops) == (WhereStatus.RESOLVED, ())
    assert "no table of this tree lists it and no source names it" in answer.notes


def test_a_kernel_is_not_the_empty_stub_of_the_pass_for_the_host(mini: Path, tmp_path: Path) -> None:
    (mini / "csrc/c/c_one.cu").write_text(
        "#if !defined(__HIP_DEVICE_COMPILE__)\n__global__ void work_kernel(void*)\n{\n}\n#else\n"
        "__global__ void work_kernel(void* b)\n{\n    b[0] = 1;\n}\n#endif\n"
        'extern "C" void c_one(void* x)\n{\n    work_kernel<<<1, 64>>>(x);\n}\n'
    )
    chain = _finder(mini, tmp_path / "cache").find("c_one").chains[0]
    assert [kernel.source.line for kernel in chain.launches[0].kernels if kernel.source] == [6]


def test_each_launch_of_a_function_has_the_tables_that_its_own_kernel_comes_from(mini: Path, finder: Finder) -> None:
    (mini / "csrc/c/c_one.cu").write_text(
        '#include "asm.h"\nextern "C" void c_one(void* x)\n{\n'
        "    auto one_table = &cfg_one;\n    auto two_table = &cfg_two;\n"
        "    AiterAsmKernel* one = make(one_table->find(x));\n    AiterAsmKernel* two = make(two_table->find(x));\n"
        "    if(!x) return;\n    one->launch_kernel(1);\n    two->launch_kernel(2);\n}\n"
    )
    (mini / "hsa/gfx942/two").mkdir()
    (mini / "hsa/gfx942/two/two.csv").write_text("knl_name,co_name\n_ZN5aiter3twoE,two.co\n")
    launches = finder.find("c_one").chains[0].launches
    assert [(end.kernel, [kernel.name for kernel in end.kernels]) for end in launches] == [
        ("cfg_one", ["cfg_one"]),
        ("cfg_two", ["cfg_two"]),
    ]
    assert launches[0].conditions == ("not (!x)",)


def test_an_op_that_only_asks_for_a_size_launches_nothing(mini: Path, tmp_path: Path) -> None:
    (mini / "csrc/c/c_one.cu").write_text(
        "__global__ void work_kernel(void* b) {}\n"
        "void work(void* buf, int& size)\n{\n    if(!buf)\n    {\n        size = 64;\n        return;\n    }\n"
        "    work_kernel<<<1, 64>>>(buf);\n}\n"
        "void pass_on(void* buf, int& size)\n{\n    work(buf, size);\n}\n"
        'extern "C" void c_one(void* x)\n{\n    int size = 0;\n    pass_on(nullptr, size);\n}\n'
        'extern "C" void c_two(void* x)\n{\n    int size = 0;\n    pass_on(x, size);\n}\n'
    )
    (mini / "aiter/ops/norm.py").write_text(
        (mini / "aiter/ops/norm.py").read_text() + '\n@compile_ops("module_c", ffi_type="ctypes")\ndef c_two(x): ...\n'
    )
    finder = _finder(mini, tmp_path / "cache")
    sizes, works = finder.find("c_one").chains[0], finder.find("c_two").chains[0]
    assert (sizes.launch, sizes.launches) == ("host_only", ())
    assert [(end.kernel, end.conditions) for end in works.launches] == [("work_kernel", ("not (!buf)",))]


def test_a_python_function_reaches_ops_and_triton_kernels(finder: Finder) -> None:
    answer = finder.find("scale_it")
    assert answer.kind is WhereKind.PYTHON
    assert [(route.to, route.kind) for route in answer.routes] == [
        ("_scale_kernel", WhereKind.TRITON),
        ("norm_it", WhereKind.OP),
    ]
    assert [(hop.name, hop.source.line if hop.source else None) for hop in answer.routes[1].hops] == [
        ("aiter.ops.wrapped.scale_it", 8),
        ("aiter.ops.wrapped.inner", 12),
        ("aiter.ops.norm.norm_it", 5),
    ]


def test_a_triton_kernel_has_its_launch_and_its_flow_from_its_own_text(finder: Finder) -> None:
    answer = finder.find("_scale_kernel")
    assert _places(answer) == [
        ("python", "aiter.ops.wrapped.scale_it", "aiter/ops/wrapped.py:9"),
        ("kernel", "_scale_kernel", "aiter/ops/tri.py:9"),
    ]
    assert [(step.kind, step.source.line if step.source else None) for step in answer.core_flow] == [
        ("map", 10), ("loop", 12), ("load", 13), ("call", 14), ("load", 6), ("dot", 15), ("scale", 15),
        ("epilogue", 16), ("store", 17), ("atomic", 18),
    ]  # fmt: skip


def test_triton_kernels_of_one_name_are_told_apart_by_their_dotted_names(mini: Path, tmp_path: Path) -> None:
    head = "import triton\nimport triton.language as tl\n\n"
    (mini / "aiter/ops/tri2.py").write_text(
        head
        + "@triton.jit\ndef _scale_kernel(x):\n    tl.store(x, tl.load(x))\n\n"
        + "class Kernels:\n    @triton.jit\n    def inner_kernel(x):\n        tl.store(x, tl.load(x))\n\n"
        + '"""\n@triton.jit\ndef shown_kernel(x):\n    pass\n"""\n'
    )
    finder = _finder(mini, tmp_path / "two")
    plain = finder.find("_scale_kernel")
    assert plain.status is WhereStatus.AMBIGUOUS
    assert [c.name for c in plain.candidates] == ["aiter.ops.tri._scale_kernel", "aiter.ops.tri2._scale_kernel"]
    for name, line in (("aiter.ops.tri2._scale_kernel", 5), ("tri._scale_kernel", 9), ("inner_kernel", 10)):
        answer = finder.find(name)
        assert answer.status is WhereStatus.RESOLVED
        assert answer.source is not None
        assert answer.source.line == line
    for name in ("other._scale_kernel", "shown_kernel"):
        assert finder.find(name).reason is UnresolvedReason.NO_SUCH_NAME


@pytest.mark.parametrize(
    "name",
    [
        "ns::norm_kernel",
        "void ns::norm_kernel<float, 128>(float*, float const*)",
        "_ZN2ns11norm_kernelIfLi128EEEvPT_PKS1_",
    ],
)
def test_a_hip_kernel_is_found_by_name_text_and_symbol(finder: Finder, name: str) -> None:
    answer = finder.find(name)
    assert (answer.kind, answer.status) == (WhereKind.HIP_KERNEL, WhereStatus.RESOLVED)
    assert answer.source is not None
    assert (answer.source.file, answer.source.line) == ("csrc/kernels/norm.cu", 6)
    assert answer.ops == ("aiter.ops.norm.norm_it",)
    assert [step.kind for step in answer.core_flow] == [
        "lds", "map", "loop", "load", "lds", "lds", "barrier", "reduce", "store",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["ns::norm_kernel", "ns::norm_fwd"])
def test_only_ops_that_lead_to_a_name_are_led_to_their_ends(
    finder: Finder, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    led: list[str] = []
    make = finder.chains.chain
    monkeypatch.setattr(finder.chains, "chain", lambda op: led.append(op.declaration.name) or make(op))
    assert finder.find(name).ops == ("aiter.ops.norm.norm_it",)
    assert led == ["norm_it"]


def test_a_kernel_with_another_template_is_only_inferred(finder: Finder) -> None:
    answer = finder.find("void ns::norm_kernel<float, 128, true>(float*, float const*)")
    assert answer.status is WhereStatus.INFERRED
    assert "another version" in " ".join(answer.notes)


def test_kernels_of_one_name_are_told_apart_by_what_the_name_shows(mini: Path, finder: Finder) -> None:
    (mini / "csrc/kernels/other.cu").write_text(
        "template <typename T, bool B>\n__global__ void norm_kernel(T* out, int n) { out[0] = n; }\n"
    )
    asked = Finder(TreeIndex(finder.index.tree, finder.index.cache.path.parent.parent))
    both = asked.find("norm_kernel")
    assert (both.status, both.reason) == (WhereStatus.AMBIGUOUS, UnresolvedReason.AMBIGUOUS)
    assert {c.source.file for c in both.candidates if c.source} == {"csrc/kernels/norm.cu", "csrc/kernels/other.cu"}
    one = asked.find("void norm_kernel<float, true>(float*, int)")
    assert one.status is WhereStatus.RESOLVED
    assert one.source is not None
    assert one.source.file == "csrc/kernels/other.cu"


_TILE = {
    "aiter/ops/tile.py": (
        "from ..jit.core import compile_ops\n"
        '@compile_ops("module_tile")\ndef one(x): ...\n\n'
        '@compile_ops("module_tile")\ndef two(x): ...\n\n'
        '@compile_ops("module_tile")\ndef three(x): ...\n'
    ),
    "csrc/tile/kernels.h": "struct KernelOne {};\nstruct KernelTwo {};\nstruct KernelThree {};\n",
    "csrc/tile/bind.cu": (
        'PYBIND11_MODULE(NAME, m)\n{\n    m.def("one", &one);\n    m.def("two", &two);\n'
        '    m.def("three", &three);\n}\n'
    ),
    "csrc/tile/one.cu": (
        '#include "kernels.h"\nvoid one(int x)\n{\n    using Kernel = KernelOne;\n'
        "    launch_kernel(s, make_kernel<1>(Kernel{}, grids, blocks, 0, x));\n}\n"
    ),
    "csrc/tile/two.cu": (
        '#include "kernels.h"\nusing kernel_two = KernelTwo;\nvoid two(int x)\n{\n    using Kernel = kernel_two;\n'
        "    launch_kernel(s, make_kernel<1>(Kernel{}, grids, blocks, 0, x));\n}\n"
    ),
    "csrc/tile/three.cu": (
        '#include "kernels.h"\n#define RUN_IT() \\\n    { \\\n        using k = KernelThree; \\\n'
        "        launch_kernel(s, make_kernel<1>(k{}, grids, blocks, 0, x)); \\\n    }\n"
        "void three(int x)\n{\n    RUN_IT();\n}\n"
    ),
}


@pytest.mark.parametrize(("op", "kernel"), [("one", "KernelOne"), ("two", "KernelTwo"), ("three", "KernelThree")])
def test_a_kernel_class_is_the_one_that_the_launching_text_names(
    mini: Path, tmp_path: Path, op: str, kernel: str
) -> None:
    for name, text in _TILE.items():
        (mini / name).parent.mkdir(exist_ok=True)
        (mini / name).write_text(text)
    config = mini / "aiter/jit/optCompilerConfig.json"
    sources = [f"f'{{AITER_CSRC_DIR}}/tile/{name}.cu'" for name in ("bind", "one", "two", "three")]
    config.write_text(json.dumps({**json.loads(config.read_text()), "module_tile": {"srcs": sources}}, indent=4))
    answer = _finder(mini, tmp_path / "tile").find(op)
    assert answer.status is WhereStatus.RESOLVED
    assert (answer.hops[-1].layer, answer.hops[-1].name) == (Layer.KERNEL, kernel)
    assert answer.source is not None
    assert answer.source.file == "csrc/tile/kernels.h"


def test_a_macro_that_is_defined_anew_means_what_it_means_on_its_line(mini: Path, tmp_path: Path) -> None:
    (mini / "csrc/include/ops.h").write_text(
        (mini / "csrc/include/ops.h").read_text()
        + "#define GO(n) other_kernel<n><<<grid, block>>>(x)\ninline void other(int x) { GO(1); }\n#undef GO\n"
        + "template <int N> __global__ void other_kernel(int x) {}\n"
    )
    (mini / "csrc/kernels/norm.cu").write_text(
        '#include "ops.h"\n'
        "template <int N> __global__ void first_kernel(int x) {}\n"
        "template <int N> __global__ void second_kernel(int x) {}\n"
        "template <int N> __global__ void third_kernel(int x) {}\n"
        "#define GO(n) first_kernel<n><<<grid, block>>>(x)\nvoid before(int x) { GO(1); }\n#undef GO\n"
        "#if ONE_WAY\n#define GO(n) second_kernel<n><<<grid, block>>>(x)\n"
        "#else\n#define GO(n) third_kernel<n><<<grid, block>>>(x)\n#endif\n"
        "namespace ns {\nvoid norm_fwd(torch::Tensor& out, torch::Tensor& x)\n{\n    GO(1);\n}\n}\n"
        "int plain_one(int x) { return x + 1; }\n"
    )
    answer = _finder(mini, tmp_path / "anew").find("norm_it")
    found = [kernel.name for end in answer.chains[0].launches for kernel in end.kernels]
    assert sorted(found) == ["second_kernel", "third_kernel"]


def test_a_way_that_is_lost_with_composable_kernel_is_said(main: Finder) -> None:
    for name, entry in (("mha_fwd", "fmha_fwd"), ("mha_varlen_fwd", "fmha_fwd_splitkv")):
        (chain,) = main.find(f"aiter.ops.mha.{name}").chains
        assert any(end.kind == "asm" for end in chain.launches)
        lost = "the way through" if main.index.tree.ck_root is None else ""
        assert any(lost in note and entry in note for note in chain.notes) == bool(lost)


def test_overloads_are_told_from_branches_of_one_condition(mini: Path, tmp_path: Path) -> None:
    (mini / "csrc/kernels/other.cu").write_text(
        "template <int N> __global__ enable_if_t<(N > 0)> two_ways(float* x) { x[0] = 1; x[1] = 1; }\n\n"
        "template <int N> __global__ enable_if_t<(N == 0)> two_ways(float* x) { x[0] = 1; }\n"
        "#if defined(__gfx9__)\n__global__ void one_way(float* x)\n{\n    x[0] = 1;\n}\n"
        "#else\n__global__ void one_way(float* x) {}\n#endif\n"
    )
    finder = _finder(mini, tmp_path / "overloads")
    overloads = finder.find("void two_ways<0>(float*)")
    assert overloads.status is WhereStatus.AMBIGUOUS
    assert [c.source.line for c in overloads.candidates if c.source] == [1, 3]
    branches = finder.find("one_way")
    assert branches.status is WhereStatus.RESOLVED
    assert branches.source is not None
    assert branches.source.line == 5


def test_a_kernel_of_a_source_template_leads_to_the_python_that_compiles_it(finder: Finder) -> None:
    assert _places(finder.find("itf_kernel")) == [
        ("jit", "compile_template_op", "csrc/cpp_itfs/it.py:4"),
        ("launch", "itf_kernel", "csrc/cpp_itfs/it.cpp.jinja:4"),
        ("kernel", "itf_kernel", "csrc/cpp_itfs/it.cuh:1"),
    ]


@pytest.mark.parametrize("name", ["_ZN5aiter3oneE", "_ZN5aiter3oneE.kd", "aiter::one", "one.co"])
def test_an_assembly_kernel_ends_at_its_object(finder: Finder, name: str) -> None:
    answer = finder.find(name)
    assert answer.source is not None
    assert answer.source.file == "hsa/gfx942/one/one.co"
    assert answer.hops[-2].source == SourceRef("hsa/gfx942/one/one.csv", 2, "aiter")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no_such_thing_at_all", UnresolvedReason.NO_SUCH_NAME),
        ("", UnresolvedReason.NO_SUCH_NAME),
        ("\x00\ud800<<<", UnresolvedReason.NO_SUCH_NAME),
        ("a" * 5000, UnresolvedReason.NO_SUCH_NAME),
        ("void at::native::vectorized_elementwise_kernel<4, x>(int)", UnresolvedReason.OTHER_LIBRARY),
        ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI16x16x16x1_SN", UnresolvedReason.OTHER_LIBRARY),
        ("aten::mm", UnresolvedReason.OTHER_LIBRARY),
        ("void (anonymous namespace)::with_index<int, at::native::arange(c10::Scalar const&)::{lambda()#1}>(int)",
         UnresolvedReason.OTHER_LIBRARY),
        ("void (anonymous namespace)::our_kernel<aiter::Params, c10::Half>(int)", UnresolvedReason.NO_SUCH_NAME),
    ],
)  # fmt: skip
def test_what_the_tree_does_not_hold_is_unresolved_with_a_reason(
    finder: Finder, name: str, reason: UnresolvedReason
) -> None:
    answer = finder.find(name)
    assert (answer.kind, answer.status, answer.reason) == (WhereKind.UNKNOWN, WhereStatus.UNRESOLVED, reason)


def test_a_typing_error_is_answered_with_close_names(finder: Finder) -> None:
    assert "norm_it" in {candidate.name for candidate in finder.find("nrom_it").candidates}


def test_a_file_that_vanishes_between_index_and_answer_is_not_cited(mini: Path, finder: Finder) -> None:
    assert finder.index.cpp("csrc/kernels/norm.cu") is not None
    chains = Chains(finder.index)
    op = next(op for op in finder.index.ops if op.declaration.name == "norm_it")
    for recipe in finder.index.recipes.values():
        chains.scope(recipe)
    (mini / "csrc/kernels/norm.cu").unlink()
    chain = chains.chain(op)
    cited = next(hop for hop in chain.hops if hop.layer is Layer.CPP)
    assert (cited.source, cited.reason) == (None, UnresolvedReason.CHANGED)


def test_a_line_that_changed_is_not_cited(mini: Path, finder: Finder) -> None:
    finder.find("norm_it")
    text = (mini / "csrc/kernels/norm.cu").read_text()
    (mini / "csrc/kernels/norm.cu").write_text("\n" * 40 + text)
    fresh = Finder(TreeIndex(finder.index.tree, finder.index.cache.path.parent.parent)).find("norm_it")
    assert ("cpp", "ns::norm_fwd", "csrc/kernels/norm.cu:60") in _places(fresh)


def test_a_header_that_does_not_parse_costs_only_itself(mini: Path, tmp_path: Path) -> None:
    (mini / "csrc/include/broken.h").write_text("template < class { { ((( void f(\n")
    (mini / "csrc/kernels/norm.cu").write_text('#include "broken.h"\n' + (mini / "csrc/kernels/norm.cu").read_text())
    answer = _finder(mini, tmp_path / "cache").find("norm_it")
    assert answer.status is WhereStatus.RESOLVED


def test_a_checkout_of_another_project_is_refused(tmp_path: Path) -> None:
    (tmp_path / "aiter").mkdir()
    (tmp_path / "aiter/__init__.py").write_text("")
    with pytest.raises(SourceTreeError):
        AiterTree.find(tmp_path)


def test_the_verb_prints_text_and_documented_json(mini: Path, tmp_path: Path) -> None:
    environment = {"KTRACE_CACHE": str(tmp_path / "cache")}
    runner = CliRunner()
    shown = runner.invoke(command, ["norm_it", "--aiter", str(mini)], env=environment)
    assert "csrc/kernels/norm.cu:20" in shown.stdout
    plain = runner.invoke(command, ["norm_it", "nothing_here", "--json", "--aiter", str(mini)], env=environment)
    rows = [json.loads(line) for line in plain.stdout.splitlines()]
    assert [row["schema"] for row in rows] == ["ktrace.where/1"] * 2
    assert rows[0]["hops"][6]["source"]["line"] == 20
    assert rows[1]["reason"] == "no_such_name"
    assert rows[0]["tree"]["composable_kernel"] is False
    assert "composable_kernel" in plain.stderr


@pytest.mark.parametrize(
    ("names", "code"),
    [(["nothing_here"], 1), (["nothing_here", "nor_here"], 1), (["nothing_here", "norm_it"], 0), (["aten::mm"], 0)],
)
def test_the_verb_leaves_with_1_where_nothing_bears_any_of_the_names(
    mini: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str], code: int
) -> None:
    monkeypatch.setenv("KTRACE_CACHE", str(tmp_path / "cache"))
    assert command.main([*names, "--aiter", str(mini)], standalone_mode=False) == code


def test_names_of_any_bytes_are_shown_and_written(mini: Path, tmp_path: Path) -> None:
    env = {"KTRACE_AITER": str(mini), "KTRACE_CACHE": str(tmp_path / "cache")}
    for name, shown in (("a\udcffb", "a\\xffb"), ("a\x1b[31mb", "a\\x1b[31mb"), ("a\nb", "a\\nb"), ("", "(empty)")):
        text = CliRunner().invoke(command, [name], env=env)
        assert text.stdout.startswith(f"{shown}: unknown, unresolved")
        written = CliRunner().invoke(command, [name, "--json"], env=env)
        assert json.loads(written.stdout)["name"] == name


def test_of_many_kernels_that_a_line_launches_a_few_are_shown(mini: Path, finder: Finder) -> None:
    end = finder.find("norm_it").chains[0].launches[0]
    assert end.kernel == "ns::norm_kernel<float, 128>, ns::norm_kernel<float, 256>"
    (mini / "csrc/kernels/norm.cu").write_text(
        (mini / "csrc/kernels/norm.cu")
        .read_text()
        .replace("LAUNCH(float, 256)", "".join(f"LAUNCH(float, {n}) " for n in (256, 384, 512, 640)))
    )
    text = as_text(_finder(mini, None).find("norm_it"))
    assert "ns::norm_kernel<float, 128>, ns::norm_kernel<float, 256>, ns::norm_kernel<float, 384>, and 2 more" in text


def test_a_cache_folder_that_cannot_be_written_is_said_and_no_more(mini: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    result = CliRunner().invoke(command, ["norm_it", "--aiter", str(mini)], env={"KTRACE_CACHE": str(blocked)})
    assert "csrc/kernels/norm.cu:20" in result.stdout
    assert "KTRACE_CACHE" in result.stderr


def test_every_answer_of_the_mini_tree_has_text_and_json(finder: Finder) -> None:
    for name in ("norm_it", "scale_it", "_scale_kernel", "ns::norm_kernel", "itf_kernel", "one.co", "nothing"):
        answer = finder.find(name)
        assert as_text(answer)
        assert as_json(answer, finder.index)["name"] == name


def test_coverage_counts_by_module_and_in_total(finder: Finder) -> None:
    found = coverage(finder.chains)
    assert found.total.ops == 5
    assert found.total.definition == {"resolved": 3, "unresolved": 2}
    assert found.total.launch == {"resolved": 2, "host_only": 1, "unresolved": 2}
    assert found.total.reasons == {"no_binding": 1, "no_recipe": 1}
    assert {count.module for count in found.modules} == {"module_norm", "module_none", "module_c"}


def test_no_torch_triton_or_aiter_is_imported(mini: Path, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from tracer.cli.main import main\n"
        "try:\n"
        f"    main(['where', 'norm_it', '--aiter', {str(mini)!r}])\n"
        "except SystemExit:\n"
        "    pass\n"
        "assert not {'torch', 'triton', 'aiter'} & set(sys.modules), 'imported'\n"
    )
    environment = {"KTRACE_CACHE": str(tmp_path), "PATH": ""}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


# ---- the real trees -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(installed_aiter: AiterTree, tmp_path_factory: pytest.TempPathFactory) -> Finder:
    return Finder(TreeIndex(installed_aiter, tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="module")
def main(main_tree: AiterTree, tmp_path_factory: pytest.TempPathFactory) -> Finder:
    return Finder(TreeIndex(main_tree, tmp_path_factory.mktemp("cache")))


def _check(found: Coverage, finder: Finder, definition: float, launch: float) -> None:
    assert found.total.definition_share >= definition
    assert found.total.launch_share is not None
    assert found.total.launch_share >= launch
    for row in found.ops:
        for source in (row.definition_source, *row.launch_sources):
            if source is not None and source.line is not None:
                lines = finder.citations.lines(source.file)
                assert lines is not None
                assert source.line <= len(lines)
        if row.definition not in ("resolved", "inferred"):
            assert row.definition_reason in set(UnresolvedReason)
        if row.launch == "unresolved":
            assert row.launch_reason in set(UnresolvedReason)


def test_the_wheels_ops_are_led_to_their_definitions_and_launches(wheel: Finder) -> None:
    _check(coverage(wheel.chains), wheel, 0.95, 0.85)


def test_mains_ops_are_led_to_their_definitions_and_launches(main: Finder) -> None:
    _check(coverage(main.chains), main, 0.95, 0.85)


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("gemm_a8w8_blockscale", "gridwise_gemm_xdl_cshuffle_v3_multi_d_ab_scale.hpp"),
        ("aiter::mha_batch_prefill", "fmha_batch_prefill_kernel.hpp"),
        ("rmsnorm2d_fwd", "rmsnorm2d_fwd_kernel.hpp"),
        ("pa_fwd_asm", "pa_asm.csv"),
        ("paged_attention_ragged", "csrc/cpp_itfs/pa/pa_ragged.cuh"),
    ],
)
def test_ops_of_the_wheel_end_at_the_right_source(wheel: Finder, name: str, end: str) -> None:
    answer = wheel.find(name)
    kernels = [hop.source.file for hop in answer.hops if hop.layer is Layer.KERNEL and hop.source is not None]
    assert any(file.endswith(end) for file in kernels), _places(answer)


def test_kernels_of_real_traces_end_at_the_right_source(wheel: Finder, main: Finder, ktrace_data: Path) -> None:
    rows = (json.loads(line) for line in (ktrace_data / "names/real_names.jsonl").read_text().splitlines())
    names = {row["name"] for row in rows}
    expected = {
        "add_rmsnorm_quant_kernel": "csrc/kernels/rmsnorm_quant_kernels.cu",
        "paged_attention_ll4mi_QKV_mfma16_kernel": "csrc/cpp_itfs/pa/pa_ragged.cuh",
        "paged_attention_ll4mi_reduce_kernel": "csrc/cpp_itfs/pa/pa_ragged.cuh",
    }
    for word, file in expected.items():
        for name in (n for n in names if word in n):
            source = main.find(name).source
            assert source is not None
            assert source.file == file
    for name in (n for n in names if "FmhaBatchPrefillWithPagedKVCacheKernel" in n):
        source = wheel.find(name).source
        assert source is not None
        assert source.file.endswith("ops/fmha/kernel/fmha_batch_prefill_kernel.hpp")
        assert wheel.find(name).ops == ("aiter.ops.mha.mha_batch_prefill",)


def test_a_compiled_symbol_leads_to_instance_op_and_header(wheel: Finder, ktrace_data: Path) -> None:
    row = json.loads((ktrace_data / "names/ck_symbols.jsonl").read_text().splitlines()[0])
    answer = wheel.find(row["symbol"])
    assert (answer.kind, answer.status) == (WhereKind.CK_KERNEL, WhereStatus.RESOLVED)
    assert [match.instance for match in answer.instances] == [row["instance"]]
    assert "aiter.ops.gemm_op_a8w8.gemm_a8w8_blockscale_ck" in answer.ops
    assert answer.core_flow
    assert all(step.shared for step in answer.core_flow)
