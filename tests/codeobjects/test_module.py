"""Built modules: hand-made libraries, and one that the host's own compiler and binutils make."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.codeobjects.handmade import bundle, code_object, elf, host_module, kernel, mangled, wave
from tracer.codeobjects.module import module_name, read_module
from tracer.errors import CodeObjectError

BLOCKSCALE = (
    "a8w8_blockscale_1x128x128_256x16x128x256_16x16_16x16_16x16x1_16x16x1_1x16x1x16_8_1x2_intrawave_v1",
    "a8w8_blockscale_1x128x128_256x128x128x128_16x16_32x32_8x32x1_8x32x1_1x32x1x8_8_1x1_intrawave_v3",
)
ASSEMBLY = "_ZN5aiter42I8gemm_bf16_perTokenI8_BpreShuffle_128x128E"
FATBIN = bundle(
    [(wave("gfx942"), code_object([kernel("k")])), (wave("gfx950"), code_object([kernel("k")], machine=0x4F))]
)


def test_device_code_of_every_target_is_found() -> None:
    module = read_module(host_module(FATBIN), "module_x.so")
    assert [str(target) for target in module.targets] == ["gfx942", "gfx950"]
    assert [[k.name for k in code.kernels] for code in module.objects] == [["k"], ["k"]]
    assert [code.entry for code in module.objects] == [wave("gfx942"), wave("gfx950")]
    assert module.lost == ()


def test_instances_are_found_among_functions_and_constants() -> None:
    module = read_module(host_module(functions=[BLOCKSCALE[0]], constants=[BLOCKSCALE[1]]), "module_x.so")
    assert module.instances == tuple(sorted(BLOCKSCALE))


def test_a_longer_name_that_holds_an_instance_is_not_that_instance() -> None:
    longer = f"{BLOCKSCALE[0]}_and_more"
    module = read_module(host_module(functions=[longer], constants=[f"about_{BLOCKSCALE[1]}"]), "module_x.so")
    assert module.instances == ()
    assert BLOCKSCALE[0] not in module.names


def test_assembly_kernels_are_found_with_and_without_the_architecture_before_them() -> None:
    for constant in (ASSEMBLY, f"gfx942{ASSEMBLY}"):
        module = read_module(host_module(constants=[constant]), "module_x.so")
        assert module.assembly_kernels == (ASSEMBLY,)


def test_functions_of_a_stripped_library_have_no_names() -> None:
    module = read_module(host_module(functions=BLOCKSCALE, stripped=True), "module_x.so")
    assert (module.instances, module.stripped) == ((), True)


def test_cuda_code_is_named_and_not_read() -> None:
    module = read_module(host_module(b"\x50\xed\x55\xba", section=".nv_fatbin"), "module_x.so")
    assert (module.cuda, module.objects) == (True, ())


def test_a_code_object_in_a_bundle_that_is_none_is_counted() -> None:
    module = read_module(host_module(bundle([(wave("gfx942"), b"not an ELF file")])), "module_x.so")
    (lost,) = module.lost
    assert (module.objects, lost.what) == ((), "code objects that can't be read")
    assert wave("gfx942") in (lost.detail or "")


def test_a_library_that_is_cut_off_is_refused() -> None:
    whole = host_module(FATBIN)
    with pytest.raises(CodeObjectError, match="broken or cut off"):
        read_module(whole[: len(whole) // 2], "module_x.so")


def test_a_code_object_is_no_module() -> None:
    with pytest.raises(CodeObjectError, match="no module of the host"):
        read_module(elf([], machine=224), "a.co")


def test_names_of_modules_lose_every_suffix() -> None:
    assert module_name("/x/module_gemm_a8w8.cpython-312-x86_64-linux-gnu.so") == "module_gemm_a8w8"


def test_a_module_of_the_hosts_compiler_is_read(hsa: Path, tmp_path: Path) -> None:
    compiler, objcopy = shutil.which("g++"), shutil.which("objcopy")
    if compiler is None or objcopy is None:
        pytest.skip("g++ or objcopy is missing")
    objects = {arch: next(iter(sorted((hsa / arch).rglob("*.co")))).read_bytes() for arch in ("gfx942", "gfx950")}
    (tmp_path / "fatbin").write_bytes(bundle([(wave(arch), content) for arch, content in objects.items()]))
    (tmp_path / "module.cpp").write_text(
        "namespace at { struct Tensor {}; }\n"
        f"template <class D, class E> at::Tensor {BLOCKSCALE[0]}(at::Tensor &x) {{ return x; }}\n"
        f"template at::Tensor {BLOCKSCALE[0]}<float, double>(at::Tensor &);\n"
        f'extern "C" const char *named() {{ return "{BLOCKSCALE[1]}"; }}\n'
    )
    plain, file = tmp_path / "plain.so", tmp_path / "module_x.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-fvisibility=hidden", str(tmp_path / "module.cpp"), "-o", str(plain)],
        check=True,
    )
    add = ["--add-section", f".hip_fatbin={tmp_path / 'fatbin'}"]
    subprocess.run([objcopy, *add, str(plain), str(file)], check=True)
    module = read_module(file.read_bytes(), str(file), modified_ns=1)
    assert [str(target) for target in module.targets] == ["gfx942", "gfx950"]
    assert module.instances == tuple(sorted(BLOCKSCALE))
    assert (module.name, module.lost, module.stripped) == ("module_x", (), False)
    assert all(len(code.kernels) == 1 for code in module.objects)


def test_mangled_names_are_written_as_the_compiler_does() -> None:
    compiler = shutil.which("c++filt")
    if compiler is None:
        pytest.skip("c++filt is missing")
    said = subprocess.run([compiler, mangled(BLOCKSCALE[0])], capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"at::Tensor {BLOCKSCALE[0]}<float")
