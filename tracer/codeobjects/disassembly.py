"""Instruction counts by LLVM's disassembler, where one is at hand: a code object's bytes in, counts a kernel out.

Optional: nothing else needs it. A disassembler that does not know the target stops or prints encodings: both are said.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from tracer.codeobjects.amdgcn import mnemonic
from tracer.codeobjects.kernel import CodeObject, KernelCode

#: where ROCm keeps its own LLVM
_ROCM = ("/opt/rocm/llvm/bin", "/opt/rocm/lib/llvm/bin")
_NEWEST, _OLDEST = 30, 14
_VERSION = re.compile(r"LLVM version (\S+)")
_INSTRUCTION = re.compile(r"^\s+(\S+)(.*?)//\s*([0-9A-F]{6,}):", re.MULTILINE)
_WORD = re.compile(r"[a-z][a-z0-9_]+")
_TIMEOUT_S = 120


class Disassembler(msgspec.Struct, frozen=True):
    """One llvm-objdump.

    Attributes:
        path: where it lies.
        version: LLVM's version, as it prints it; None when it does not.
    """

    path: str
    version: str | None

    @property
    def label(self) -> str:
        """What answers call it."""
        return f"llvm-objdump {self.version}" if self.version else "llvm-objdump"


def find_disassemblers(environment: Mapping[str, str] | None = None) -> tuple[Disassembler, ...]:
    """Every llvm-objdump on PATH (also `llvm-objdump-19`), under ROCM_PATH and in /opt/rocm, the newest first."""
    env = os.environ if environment is None else environment
    rocm = [f"{env['ROCM_PATH']}/llvm/bin"] if env.get("ROCM_PATH") else []
    numbered = [f"llvm-objdump-{n}" for n in range(_NEWEST, _OLDEST - 1, -1)]
    places = [("llvm-objdump", folder) for folder in (*rocm, *_ROCM)]
    places += [(name, env.get("PATH", os.defpath)) for name in ("llvm-objdump", *numbered)]
    found = dict.fromkeys(at for name, path in places if (at := shutil.which(name, path=path)) is not None)
    tools = [Disassembler(path, _version(path)) for path in found]
    return tuple(sorted(tools, key=lambda tool: _parts(tool.version), reverse=True))


def _version(path: str) -> str | None:
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    found = _VERSION.search(said.stdout)
    return found.group(1) if found else None


def _parts(version: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version or "")[:3])


def disassemble(tools: Sequence[Disassembler], content: bytes, code: CodeObject) -> CodeObject:
    """Counts the instructions of every kernel of a code object.

    Args:
        tools: the disassemblers to try, in order, until one knows the target.
        content: the code object's bytes.
        code: what was read from them.

    Returns:
        The code object with counts, or, where none does, with a note on every kernel that says so.
    """
    problem = "there is no llvm-objdump on PATH"
    for tool in tools:
        lines, why = _run(tool, content, code)
        if why is None:
            return _counted(tool, lines, code)
        problem = why
    return _noted(code, f"its instructions are not counted: {problem}")


def _counted(tool: Disassembler, lines: list[tuple[str, str, str]], code: CodeObject) -> CodeObject:
    """Gives every instruction to the kernel in whose range of addresses it lies."""
    ranges = sorted(
        (kernel.code_address, kernel.code_address + kernel.code_bytes, kernel.name)
        for kernel in code.kernels
        if kernel.code_address is not None and kernel.code_bytes is not None
    )
    starts = [start for start, _, _ in ranges]
    counts: dict[str, Counter[str]] = {name: Counter() for _, _, name in ranges}
    unknown: Counter[str] = Counter()
    for word, operands, address in lines:
        at = int(address, 16)
        place = bisect_right(starts, at) - 1
        if place < 0 or at >= ranges[place][1]:
            continue
        name = ranges[place][2]
        if _WORD.fullmatch(word):
            counts[name][mnemonic(word, operands)] += 1
        else:
            unknown[name] += 1
    kernels = tuple(_with(kernel, counts, unknown, tool) for kernel in code.kernels)
    return msgspec.structs.replace(code, kernels=kernels)


def _with(
    kernel: KernelCode, counts: Mapping[str, Counter[str]], unknown: Mapping[str, int], tool: Disassembler
) -> KernelCode:
    if kernel.name not in counts:
        return msgspec.structs.replace(
            kernel, notes=(*kernel.notes, "its instructions are not counted: no symbol says where its code lies")
        )
    missed = unknown.get(kernel.name, 0)
    note = (f"{missed} instructions are not known to {tool.label}",) if missed else ()
    return msgspec.structs.replace(
        kernel,
        instructions=dict(counts[kernel.name]),
        instructions_from=tool.label,
        notes=(*kernel.notes, *note),
    )


def _noted(code: CodeObject, note: str) -> CodeObject:
    kernels = tuple(msgspec.structs.replace(kernel, notes=(*kernel.notes, note)) for kernel in code.kernels)
    return msgspec.structs.replace(code, kernels=kernels)


def _run(tool: Disassembler, content: bytes, code: CodeObject) -> tuple[list[tuple[str, str, str]], str | None]:
    """(mnemonic, operands, address) of every instruction, or why there are none."""
    arch = code.target.arch
    if arch is None:
        return [], "the target is not known"
    with tempfile.TemporaryDirectory(prefix="ktrace-isa-") as folder:
        file = Path(folder) / "code.o"
        file.write_bytes(content)
        command = [tool.path, "-d", "--no-show-raw-insn", "--triple=amdgcn-amd-amdhsa", f"--mcpu={arch}", str(file)]
        try:
            # in a folder of its own: a version that does not know the target aborts, which may leave a core file
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S, check=False, cwd=folder
            )
        except (OSError, subprocess.SubprocessError) as error:
            return [], f"{tool.label} did not run: {error}"
    if "is not a recognized processor" in done.stderr:
        return [], f"{tool.label} does not know {arch}: a newer one does"
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[:1]
        return [], f"{tool.label} failed with status {done.returncode}{': ' + last[0] if last else ''}"
    found = _INSTRUCTION.findall(done.stdout)
    return found, None if found else f"{tool.label} printed no instruction"
