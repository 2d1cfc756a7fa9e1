"""Kernel symbols on CK-tile as a compiler emits them: instances of an aiter in, one JSON line an instantiation out.

    python -m tests.resolve.compile_cktile_symbols --clang clang++-19 --rocm /opt/rocm > tests/data/cktile_symbols.jsonl

The files that aiter's own generators write are compiled as they are, for the host, whose code names the kernels that it
launches. What they ask of torch are tensors' extents and addresses: a stand-in answers. See `compile_symbols` beside.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from tests.aiter.generators import run_generator
from tests.resolve.compile_moe_symbols import OLDER_STD
from tests.resolve.compile_symbols import OLDER_HIP, emitted
from tracer.aiter.tree import AiterTree
from tracer.index.recipes import CK

#: (family, target, generator, include folders, the instantiations whose lines the tests keep)
FAMILIES: tuple[tuple[str, str, str, tuple[str, ...], re.Pattern[str]], ...] = (
    (
        "deepgemm",
        "gfx942",
        "csrc/ck_deepgemm/gen_instances.py",
        ("csrc/ck_deepgemm/include", f"{CK}/example/ck_tile/18_flatmm"),
        # one instance with all its types; the others as they are called with fp8
        re.compile(r"128x128x128_16x16x64|<fp8, float, bf16>"),
    ),
    (
        "moe_cktile2stages",
        "gfx950",
        "csrc/ck_tile_gemm_moe_2stages/gen_instances.py",
        ("csrc/ck_tile_gemm_moe_2stages/include",),
        re.compile(""),
    ),
)
_INSTANTIATION = re.compile(r"^template torch::Tensor\s+(\w+)<([^<>]*)>\(", re.MULTILINE)
_TENSOR = """#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>
#include <hip/hip_runtime.h>
namespace at {
struct Tensor { std::int64_t size(int) const; void* data_ptr() const; };
namespace hip { struct Stream { hipStream_t stream() const; }; Stream getCurrentHIPStreamMasqueradingAsCUDA(); }
}
namespace torch { using at::Tensor; }
"""
#: what the headers take from torch, and aiter's header over it, which these files do not use
STAND_INS = {
    "torch/extension.h": _TENSOR,
    "torch/all.h": "#include <torch/extension.h>",
    "ATen/ATen.h": "#include <torch/extension.h>",
    "ATen/hip/HIPContext.h": "#include <torch/extension.h>",
    "ATen/hip/impl/HIPGuardImplMasqueradingAsCUDA.h": "",
    "ATen/hip/impl/HIPStreamMasqueradingAsCUDA.h": "",
    "py_itfs_common.h": "",
}


class CompiledTile(msgspec.Struct, frozen=True):
    """One line: the kernels of an instance as one instantiation on one target has them."""

    arch: str
    family: str
    instance: str
    types: str
    symbols: tuple[str, ...]


def instantiation(source: str) -> tuple[str, str]:
    """The instance's name and the argument list of a generated file, as it is written there."""
    found = _INSTANTIATION.search(source)
    assert found is not None, source
    return found.group(1), found.group(2)


def compiled(clang: str, rocm: Path, tree: AiterTree, *, every: bool = False) -> Iterator[CompiledTile]:
    """Compiles every wanted instantiation, or all that there are."""
    with tempfile.TemporaryDirectory() as work:
        stand_ins = Path(work) / "include"
        for name, text in STAND_INS.items():
            (stand_ins / name).parent.mkdir(parents=True, exist_ok=True)
            (stand_ins / name).write_text(text, encoding="utf-8")
        for family, arch, generator, includes, wanted in FAMILIES:
            folder = Path(work) / family
            folder.mkdir()
            files = run_generator(tree.absolute(generator), arch, ["-w", str(folder)], folder)
            folders = (stand_ins, folder, folder / "instances", *map(tree.absolute, includes))
            for _, source in sorted(item for item in files.items() if item[0].endswith(".cpp")):
                name, types = instantiation(source)
                if every or wanted.search(f"{name}<{types}>"):
                    symbols = emitted(clang, rocm, tree, OLDER_HIP + OLDER_STD + source, folders, "host")
                    yield CompiledTile(arch, family, name, types, tuple(sorted(symbols)))


@click.command()
@click.option("--clang", required=True, help="A clang++ that knows HIP and gfx942.")
@click.option("--rocm", required=True, type=click.Path(path_type=Path), help="The folder that holds include/hip.")
@click.option("--every", is_flag=True, help="All instantiations, not only those that the tests keep.")
def main(clang: str, rocm: Path, every: bool) -> None:
    """Compiles the wanted instances of the installed aiter."""
    for line in compiled(clang, rocm, AiterTree.find(), every=every):
        click.echo(msgspec.json.encode(line).decode())


if __name__ == "__main__":
    main()
