"""Kernel symbols as a compiler emits them: instances of an aiter in, one JSON line an instance out.

    python -m tests.resolve.compile_symbols --clang clang++-19 --rocm /opt/rocm > tests/data/ck_symbols.jsonl

Clang compiles CK's headers for the device, without code generation, and the kernels are read off its LLVM IR. No GPU
and no device library is needed, only HIP's headers (5.2 and later do). The device operation's type is the one that
aiter's generator writes; everything behind it is the compiler's work, so the lines are truth for `tracer.resolve`.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from tracer.aiter.instances import Instance, instance_table
from tracer.aiter.tree import AiterTree
from tracer.index.recipes import CK
from tracer.names.registry import decode
from tracer.resolve.instance_code import InstanceCode, read_instance_code

#: (family, instance or its number from the front of the table, types or None for the first ones, bias)
WANTED: tuple[tuple[str, str | int, str | None, bool], ...] = (
    ("a8w8_blockscale", 0, None, False),
    ("a8w8_blockscale", 8, "F32, F16", False),
    ("a8w8", "a8w8_rowwise_256x128x128x128_32x32_2x2_8x32x1_8x32x1_1x32x1x8_8x8x1_1x1_intrawave_v4", None, False),
    ("a8w8", "a8w8_rowwise_256x128x128x128_32x32_2x2_8x32x1_8x32x1_1x32x1x8_8x8x1_1x1_intrawave_v5", None, False),
    ("a8w8", "a8w8_rowwise_64x16x16x64_16x16_1x1_4x16x1_4x16x1_1x16x1x4_4x4x1_1x1_interwave_v2", "F8, F32, B16", False),
    ("a8w8", "a8w8_rowwise_64x16x16x128_16x16_1x1_8x8x1_8x8x1_1x16x1x4_4x4x1_1x1_intrawave_v1", "I8, B16", True),
    ("a8w8_bpreshuffle", 0, None, False),
    ("a8w8_bpreshuffle", 20, "F32, F16", False),
    ("a8w8_blockscale_bpreshuffle", 0, None, False),
    ("a4w4_blockscale", 0, None, False),
    ("batched_a8w8", 0, None, False),
    ("batched_bf16", 0, None, False),
)
#: names that CK takes from HIP's own headers since ROCm 6
OLDER_HIP = """
#include <hip/hip_runtime.h>
#include <type_traits>
#if HIP_VERSION_MAJOR < 6
namespace __hip_internal { using std::is_same; }
#define __hip_assert(held)
#endif
"""


class Compiled(msgspec.Struct, frozen=True):
    """One line: the kernels of an instance for wavefronts of 64, as `types` and `bias` make them."""

    instance: str
    family: str
    types: str
    bias: bool
    symbols: tuple[str, ...]


def unit(code: InstanceCode, header: str, types: str) -> str:
    """The C++ to compile: the helper header as far as it needs no torch, and a use of the instance for each padding."""
    text = re.sub(r'#include\s+[<"](?:ATen|torch|c10|ck/library)/[^\n]*', "", header)
    torch = text.find("torch::Tensor")
    if torch >= 0:
        text = text[: text.rindex("template", 0, torch)] + "\n#endif\n"
    lines = [OLDER_HIP, "#define USE_ROCM 1", text]
    defaults = {name: f" = {value}" for name, value in code.defaults.items()}
    declared = ", ".join(f"typename {name}{defaults.get(name, '')}" for name in code.parameters)
    for spec in code.specs:
        lines += [f"template <{declared}>" if declared else "", f"void use_{spec}() {{"]
        lines += [f"  using {name} = {value};" for name, value in code.aliases]
        lines.append(f"  using Instance = {code.type.replace('{GemmSpec}', spec)};")
        lines.append("  typename Instance::Argument* argument = nullptr;")
        lines.append("  Instance instance; instance.MakeInvoker().Run(*argument);\n}")
        if declared:
            lines.append(f"template void use_{spec}<{types}>();")
    return "\n".join(lines)


def emitted(
    clang: str, rocm: Path, tree: AiterTree, source: str, before: Sequence[Path] = (), side: str = "device"
) -> list[str]:
    """The kernels that the compiler emits for gfx942, or those that its host code launches (`side` "host").

    Includes are looked for in the folders of `before` first.
    """
    root = tree.absolute(CK)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "unit.hip"
        file.write_text(source, encoding="utf-8")
        command = [clang, "-x", "hip", "--offload-arch=gfx942", f"--cuda-{side}-only", f"--rocm-path={rocm}"]
        command += ["-nogpulib", "-std=c++20", "-w", "-O1", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm"]
        command += ["-D__HIP_PLATFORM_AMD__=1", "-D__HIP_PLATFORM_HCC__=1", "-o", "-", str(file)]
        folders = (
            *before,
            rocm / "include",
            tree.absolute("3rdparty/ck_helper"),
            root / "include",
            root / "library/include",
        )
        command += [f"-I{folder}" for folder in folders]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException("\n".join(done.stderr.splitlines()[:8]))
    if side == "host":  # a constant that points to the function which launches
        return re.findall(r"^@(\w+) = [^\n]*constant ptr @\w*__device_stub__", done.stdout, re.MULTILINE)
    return re.findall(r"^define [^\n]*amdgpu_kernel[^\n@]*@(\w+)\(", done.stdout, re.MULTILINE)


def compiled(
    clang: str, rocm: Path, tree: AiterTree, family: str, instance: Instance, types: str | None, bias: bool
) -> Compiled:
    """Compiles one instance."""
    folder = instance.file.rpartition("/")[0]
    script = tree.absolute(f"{folder}/gen_instances.py").read_text(encoding="utf-8")
    code = read_instance_code(script, instance.fields, "bias" if bias else "nobias")
    assert code is not None
    places = (tree.absolute(f"{folder}/include/{code.header}"), tree.absolute(f"{folder}/{code.header}"))
    header = next(place for place in places if place.is_file()).read_text(encoding="utf-8")
    chosen = types or next(iter(code.instantiations), "")
    symbols = emitted(clang, rocm, tree, unit(code, header, chosen))
    own: dict[str, Any] = instance.values
    kept = [s for s in symbols if decode(s).fields.get("n_xdl_per_wave") == own["n_xdl_per_wave"]]
    return Compiled(instance.name, family, chosen, bias, tuple(sorted(kept)))


def wanted(tree: AiterTree) -> Sequence[tuple[str, Instance, str | None, bool]]:
    """The instances of WANTED."""
    found = []
    for family, which, types, bias in WANTED:
        table = instance_table(tree, family, "gfx942")
        instance = list(table.by_id.values())[which] if isinstance(which, int) else table.named(which)
        assert instance is not None, which
        found.append((family, instance, types, bias))
    return found


@click.command()
@click.option("--clang", required=True, help="A clang++ that knows HIP and gfx942.")
@click.option("--rocm", required=True, type=click.Path(path_type=Path), help="The folder that holds include/hip.")
def main(clang: str, rocm: Path) -> None:
    """Compiles every wanted instance of the installed aiter."""
    tree = AiterTree.find()
    for family, instance, types, bias in wanted(tree):
        line = compiled(clang, rocm, tree, family, instance, types, bias)
        click.echo(msgspec.json.encode(line).decode())


if __name__ == "__main__":
    main()
