"""Kernel symbols of the MoE stages as a compiler emits them: instances of an aiter in, one JSON line an instance out.

    python -m tests.resolve.compile_moe_symbols --clang clang++-19 --rocm /opt/rocm > tests/data/moe_symbols.jsonl

The files that aiter's own generator writes are compiled as they are, for the host, whose code names the kernels that it
launches (so kernels of gfx950 need no compiler that knows it); of torch, which they include for the types of their
callers, only declarations are given. See `compile_symbols` beside.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from tests.aiter.generators import run_generator
from tests.resolve.compile_symbols import OLDER_HIP, emitted
from tracer.aiter.moe_generated import FOLDER, GENERATOR, MoeModule
from tracer.aiter.tree import AiterTree
from tracer.names.registry import decode

#: (target, module, which instances of each stage, from the front of those that the generator writes)
WANTED: tuple[tuple[str, MoeModule, int], ...] = (
    ("gfx942", MoeModule("f8", "f8", "b16", "silu", "per_1x128", 2, preshuffle=False, splitk=False), 0),
    ("gfx942", MoeModule("f8", "f8", "b16", "gelu", "per_token", 1, preshuffle=False, splitk=False), 2),
    ("gfx942", MoeModule("b16", "b16", "b16", "silu", "no", 2, preshuffle=False, splitk=False), 1),
    ("gfx942", MoeModule("f8", "i4", "f16", "silu", "per_tensor", 2, preshuffle=False, splitk=False), 0),
    ("gfx950", MoeModule("i8", "i8", "b16", "silu", "per_token", 2, preshuffle=False, splitk=False), 3),
    ("gfx950", MoeModule("fp4x2", "fp4x2", "b16", "silu", "per_1x32", 2, preshuffle=True, splitk=False), 1),
    ("gfx950", MoeModule("fp4x2", "fp4x2", "b16", "silu", "per_1x32", 2, preshuffle=False, splitk=False), 0),
)
#: what the headers take from torch and from aiter's header over it
STAND_INS = {
    "torch/torch.h": "#include <torch/extension.h>",
    "torch/extension.h": """#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
namespace at { struct Tensor; enum class ScalarType { Half, BFloat16, Float, Char, Int, UInt32, F8, F4 }; }
namespace torch {
using at::Tensor;
constexpr auto kHalf = at::ScalarType::Half, kBFloat16 = at::ScalarType::BFloat16, kFloat = at::ScalarType::Float;
constexpr auto kInt8 = at::ScalarType::Char, kInt32 = at::ScalarType::Int, kUInt32 = at::ScalarType::UInt32;
}
""",
    "py_itfs_common.h": """#pragma once
#include <torch/extension.h>
constexpr auto torch_fp8 = at::ScalarType::F8, torch_fp4x2 = at::ScalarType::F4;
""",
}


#: functions that CK takes from namespace std and older C++ libraries have in the global one only
_FUNCTIONS = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp", "expm1", "exp2", "floor",
              "log", "log1p", "log2", "pow", "rint", "sin", "sinh", "sqrt", "tan", "tanh")  # fmt: skip
OLDER_STD = "#include <math.h>\nnamespace std {\n" + "".join(f"using ::{name}f;\n" for name in _FUNCTIONS) + "}\n"


class CompiledMoe(msgspec.Struct, frozen=True):
    """One line: the kernels of an instance for wavefronts of 64, as one JIT module on one target has it."""

    arch: str
    module: str
    instance: str
    symbols: tuple[str, ...]


def generated_files(tree: AiterTree, arch: str, module: MoeModule, folder: Path) -> dict[str, str]:
    """What aiter's generator writes for a module, by file name."""
    options = ["-a", module.a, "-b", module.b, "-c", module.c, "-q", module.quant, "-act", module.activation]
    options += ["-m", str(module.weight_stage), "-w", str(folder), *(["--preshuffle"] if module.preshuffle else [])]
    return run_generator(tree.absolute(GENERATOR), arch, options, folder)


def waves_of_64(instance: str, symbol: str) -> bool:
    """Whether a symbol is of the variant for wavefronts of 64: its waves are those that the instance names."""
    named, stated = decode(instance).fields, decode(symbol).fields
    repeats = stated.get("m_xdl_per_wave"), stated.get("n_xdl_per_wave")  # kernels that empty caches have neither
    tile = named["m_per_block"] // (16 * named["m_waves"]), named["n_per_block"] // (16 * named["n_waves"])
    return repeats == tile


def compiled(clang: str, rocm: Path, tree: AiterTree) -> Iterator[CompiledMoe]:
    """Compiles every wanted instance."""
    with tempfile.TemporaryDirectory() as work:
        stand_ins = Path(work) / "include"
        for name, text in STAND_INS.items():
            (stand_ins / name).parent.mkdir(parents=True, exist_ok=True)
            (stand_ins / name).write_text(text, encoding="utf-8")
        folders = (stand_ins, tree.absolute(FOLDER), tree.absolute("csrc/include"))
        for number, (arch, module, which) in enumerate(WANTED):
            folder = Path(work) / str(number)
            folder.mkdir()
            files = {n: t for n, t in sorted(generated_files(tree, arch, module, folder).items()) if n.endswith(".cu")}
            for stage in (1, 2):
                name, text = [item for item in files.items() if f"gemm{stage}" in item[0]][which]
                symbols = emitted(clang, rocm, tree, OLDER_HIP + OLDER_STD + text, folders, "host")
                instance = name.removesuffix(".cu")
                kept = sorted(symbol for symbol in symbols if waves_of_64(instance, symbol))
                yield CompiledMoe(arch, module.name, instance, tuple(kept))


@click.command()
@click.option("--clang", required=True, help="A clang++ that knows HIP and gfx942.")
@click.option("--rocm", required=True, type=click.Path(path_type=Path), help="The folder that holds include/hip.")
def main(clang: str, rocm: Path) -> None:
    """Compiles every wanted instance of the installed aiter."""
    for line in compiled(clang, rocm, AiterTree.find()):
        click.echo(msgspec.json.encode(line).decode())


if __name__ == "__main__":
    main()
