"""Counting instructions with llvm-objdump: a stand-in that prints what the real one prints, and the real one."""

from __future__ import annotations

import shlex
import stat
from pathlib import Path

import pytest

from tests.codeobjects.handmade import code_object, kernel
from tracer.codeobjects.disassembly import disassemble, find_disassemblers
from tracer.codeobjects.kernel import CodeObject
from tracer.codeobjects.metadata import read_code_object

LISTING = """
code.o: file format elf64-amdgpu

Disassembly of section .text:

0000000000002000 <first>:
\ts_load_dword s25, s[0:1], 0xe0                             // 000000002000: C0020640 000000E0
\tbuffer_load_dword v9, s[24:27], 0 idxen lds                // 000000002008: E0512000 80060009
\tv_mfma_f32_16x16x16_bf16 v[0:3], v[0:1], v[2:3], 0         // 000000002010: D3E10000 02020500

0000000000002080 <label_0020>:
\tv_mfma_f32_16x16x16_bf16 v[0:3], v[0:1], v[2:3], 0         // 000000002080: D3E10000 02020500
\ts_endpgm                                                   // 000000002088: BF810000
\t<unknown>                                                  // 00000000208C: FFFFFFFF

0000000000002100 <second>:
\ts_nop 0                                                    // 000000002100: BF800000
"""


def _tool(folder: Path, *, version: str, script: str, name: str = "llvm-objdump") -> None:
    file = folder / name
    folder.mkdir(exist_ok=True)
    said = shlex.quote(f"LLVM (http://llvm.org/):\n  LLVM version {version}\n")
    file.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then printf %s {said}; exit 0; fi\n{script}\n')
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def _printing(folder: Path, **options: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "listing.txt").write_text(LISTING)
    _tool(folder, version=options.get("version", "22.0.0"), script=f"cat {shlex.quote(str(folder / 'listing.txt'))}")


TWO = code_object([kernel("first"), kernel("second")])


def _counted(path: Path, content: bytes = TWO) -> CodeObject:
    tools = [tool for tool in find_disassemblers({"PATH": f"{path}:/usr/bin:/bin"}) if tool.path.startswith(str(path))]
    return disassemble(tools, content, read_code_object(content, "a.co"))


def test_each_instruction_goes_to_the_kernel_in_whose_range_it_lies(tmp_path: Path) -> None:
    _printing(tmp_path)
    first, second = _counted(tmp_path).kernels
    assert first.instructions == {
        "s_load_dword": 1,
        "buffer_load_dword lds": 1,
        "v_mfma_f32_16x16x16_bf16": 2,
        "s_endpgm": 1,
    }
    assert (first.instructions_from, first.notes) == (
        "llvm-objdump 22.0.0",
        ("1 instructions are not known to llvm-objdump 22.0.0",),
    )
    assert (second.instructions, second.notes) == ({"s_nop": 1}, ())


def test_a_disassembler_that_does_not_know_the_target_says_so(tmp_path: Path) -> None:
    said = "'gfx942' is not a recognized processor for this target (ignoring processor)"
    _tool(tmp_path, version="14.0.6", script=f"echo {shlex.quote(said)} >&2; kill -ABRT $$")
    for found in _counted(tmp_path).kernels:
        assert found.instructions is None
        assert found.notes == (
            "its instructions are not counted: llvm-objdump 14.0.6 does not know gfx942: a newer one does",
        )


def test_the_newest_is_asked_first_and_the_next_where_it_fails(tmp_path: Path) -> None:
    _printing(tmp_path, version="9.0")
    _tool(tmp_path, version="19.1.7", script="exit 3", name="llvm-objdump-19")
    tools = find_disassemblers({"PATH": str(tmp_path)})
    mine = [tool.label for tool in tools if tool.path.startswith(str(tmp_path))]
    assert mine == ["llvm-objdump 19.1.7", "llvm-objdump 9.0"]
    assert _counted(tmp_path).kernels[0].instructions_from == "llvm-objdump 9.0"


@pytest.mark.parametrize(("script", "said"), [("exit 3", "failed with status 3"), ("true", "printed no instruction")])
def test_a_disassembler_that_fails_is_named(tmp_path: Path, script: str, said: str) -> None:
    _tool(tmp_path, version="22.0.0", script=script)
    assert said in _counted(tmp_path).kernels[0].notes[0]


def test_without_one_it_is_said_that_there_is_none() -> None:
    (found,) = disassemble((), b"", read_code_object(code_object([kernel("k")]), "a.co")).kernels
    assert found.notes == ("its instructions are not counted: there is no llvm-objdump on PATH",)


def test_an_unknown_target_is_not_guessed(tmp_path: Path) -> None:
    _printing(tmp_path)
    code = _counted(tmp_path, code_object([kernel("k")], machine=0x7E))
    assert code.kernels[0].notes == ("its instructions are not counted: the target is not known",)


def test_the_real_one_finds_matrix_instructions_in_the_wheels_gemm(hsa: Path) -> None:
    file = next(iter(sorted((hsa / "gfx942" / "bf16gemm").glob("*.co"))), None)
    if file is None:
        pytest.skip("this wheel has no bf16gemm")
    content = file.read_bytes()
    (found,) = disassemble(find_disassemblers(), content, read_code_object(content, file.name)).kernels
    if found.instructions is None:
        pytest.skip(found.notes[0])
    assert any(name.startswith("v_mfma_f32") for name in found.instructions)
    assert found.instructions["s_endpgm"] >= 1
    assert found.notes == ()
