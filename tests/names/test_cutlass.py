"""CUTLASS names: the generator as a second opinion where it is installed, and what the view makes of them."""

from __future__ import annotations

import builtins
from types import SimpleNamespace
from typing import Any

import pytest

from tracer.names import registry

_LIBRARY = "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8"


def test_a_name_inside_a_kernel_template_says_the_same_as_the_bare_one() -> None:
    bare = registry.decode(_LIBRARY)
    inside = registry.decode(f"void cutlass::Kernel2<{_LIBRARY}>({_LIBRARY}::Params)")
    assert {k: v for k, v in inside.fields.items() if k not in ("kernel_template", "signature")} == bare.fields
    assert inside.fields["kernel_template"] == "cutlass::Kernel2"


def test_types_that_equal_the_accumulator_are_fields_with_an_empty_span() -> None:
    answer = registry.decode("cutlass_tensorop_h16816gemm_128x64_32x6_tn_align8")
    assert [answer.fields[key] for key in ("dtype_a", "dtype_b", "dtype_c")] == ["f16"] * 3
    assert all(start == end for start, end in (answer.spans[key] for key in ("dtype_a", "dtype_b", "dtype_c")))


def test_the_view_holds_tile_instruction_and_stages() -> None:
    view = registry.view(registry.decode("cutlass_tensorop_s16816gemm_bf16_128x64_32x6_tn_align8"))
    assert view is not None
    assert (view.tile_m, view.tile_n, view.tile_k, view.stages) == (128, 64, 32, 6)
    assert (view.instruction_m, view.instruction_n, view.instruction_k) == (16, 8, 16)
    assert (view.dtype_a, view.dtype_acc, view.layout_a, view.layout_b) == ("bf16", "fp32", "row", "col")


def _operations(arch: str) -> list[Any]:
    builtins.CUTLASS_IGNORE_PACKAGE = False  # type: ignore[attr-defined]  # the package asks for it
    generator = pytest.importorskip("cutlass_library.generator")
    manifest = pytest.importorskip("cutlass_library.manifest")
    arguments = generator.define_parser().parse_args(
        ["--kernels", "all", "--architectures", arch, "--cuda-version", "12.9", "--log-level", "error"]
    )
    made = manifest.Manifest(arguments)
    getattr(generator, f"GenerateSM{arch.rstrip('a')}")(made, SimpleNamespace(cuda_version="12.9").cuda_version)
    return [op for by_name in made.operations.values() for ops in by_name.values() for op in _leaves(ops)]


def _leaves(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return [leaf for child in node.values() for leaf in _leaves(child)]
    return [leaf for child in node for leaf in _leaves(child)] if isinstance(node, list) else [node]


@pytest.mark.parametrize("arch", ["80", "90a"])
def test_every_name_that_the_generator_prints_is_read_whole_and_written_back(arch: str) -> None:
    library = pytest.importorskip("cutlass_library.library")
    operations = _operations(arch)
    assert operations
    for operation in operations:
        name = operation.procedural_name()
        answer = registry.decode(name)
        assert answer.grammar == "cutlass"
        assert answer.complete, name
        assert registry.format_name(answer) == name
        assert answer.fields["dtype_a"] == library.DataTypeNames[operation.A.element], name
