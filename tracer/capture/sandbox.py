"""The child's world: a target and a temporary folder in, a fake ROCm prefix and an environment that stays inside out.

aiter asks `hipconfig` and `rocminfo` for the GPU, `GPU_ARCHS` and `CU_NUM` for the target, and several libraries keep
caches in the home folder: each is given a place in the folder, which the parent removes.
"""

from __future__ import annotations

import os
import site
from collections.abc import Mapping
from pathlib import Path

from tracer.capture.protocol import TargetFacts

#: what the fake hipconfig prints: aiter only picks compiler flags by it, and nothing is compiled with hipcc here
_HIP_VERSION = "6.4.43482-0f2d60242"

_ROCMINFO = """ROCk module is loaded
==========
HSA Agents
==========
*******
Agent 1
*******
  Name:                    CPU
  Device Type:             CPU
*******
Agent 2
*******
  Name:                    {arch}
  Marketing Name:          {name}
  Device Type:             GPU
  Compute Unit:            {compute_units}
  Wavefront Size:          64(0x40)
"""

#: variables that would change what runs, not what is asked: they are taken out
_DROPPED = (
    "AITER_REBUILD",
    "AITER_JIT_DIR",
    "AITER_META_DIR",
    "TRITON_INTERPRET",
    "TRITON_CACHE_MANAGER",
    "PYTHONSTARTUP",
    "PYTHONINSPECT",
    "PYTHONPYCACHEPREFIX",
    "PYTHONHASHSEED",
    "AMDGCN_USE_BUFFER_OPS",
)
#: Triton before 3.5 links with ROCm's ld.lld, wherever that is
_KEPT = ("TRITON_HIP_LLD_PATH",)


def prepare_folder(folder: Path, facts: TargetFacts, modules: tuple[str, ...]) -> None:
    """Fills the child's folder: home, caches, an aiter JIT folder with an empty file a module, a ROCm prefix.

    Args:
        folder: an empty folder.
        facts: what rocminfo is to print.
        modules: names of aiter's JIT modules (its ctypes bindings look for the file before they load it).
    """
    for name in ("home", "tmp", "cache", "triton", "jit", "rocm/bin"):
        (folder / name).mkdir(parents=True)
    for module in modules:
        (folder / "jit" / f"{module}.so").touch()
    listing = _ROCMINFO.format(
        arch=facts.target.arch, name=facts.device_name or "AMD Instinct", compute_units=facts.target.compute_units
    )
    (folder / "rocm" / "rocminfo.txt").write_text(listing)
    _script(folder / "rocm" / "bin" / "hipconfig", f"echo {_HIP_VERSION}")
    _script(folder / "rocm" / "bin" / "rocminfo", f'cat "{folder}/rocm/rocminfo.txt"')


def _script(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def child_environment(folder: Path, facts: TargetFacts, outer: Mapping[str, str]) -> dict[str, str]:
    """The environment variables of the child."""
    env = {
        k: v
        for k, v in outer.items()
        if k in _KEPT or (k not in _DROPPED and not k.startswith(("TRITON_", "MLIR_", "LLVM_")))
    }
    env |= {
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "XDG_CONFIG_HOME": str(folder / "home" / ".config"),
        "TRITON_HOME": str(folder / "triton"),
        "TRITON_CACHE_DIR": str(folder / "triton" / "cache"),
        "TRITON_DUMP_DIR": str(folder / "triton" / "dump"),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache" / "inductor"),
        "TORCH_EXTENSIONS_DIR": str(folder / "cache" / "extensions"),
        "FLYDSL_RUNTIME_CACHE_DIR": str(folder / "cache" / "flydsl"),
        "AITER_JIT_DIR": str(folder / "jit"),
        "ROCM_HOME": str(folder / "rocm"),
        "ROCM_PATH": str(folder / "rocm"),
        "PATH": f"{folder / 'rocm' / 'bin'}{os.pathsep}{outer.get('PATH', os.defpath)}",
        "GPU_ARCHS": facts.target.arch or "",
        "CU_NUM": str(facts.target.compute_units),
        # a GPU that is there is not the target, and must not be touched
        "HIP_VISIBLE_DEVICES": "-1",
        "ROCR_VISIBLE_DEVICES": "-1",
        "CUDA_VISIBLE_DEVICES": "-1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "" if site.ENABLE_USER_SITE else "1",
        # the home folder is another one: packages that the user installed there must still be found
        "PYTHONUSERBASE": outer.get("PYTHONUSERBASE", site.getuserbase()),
        "OMP_NUM_THREADS": outer.get("OMP_NUM_THREADS", "1"),
    }
    if not env["PYTHONNOUSERSITE"]:
        del env["PYTHONNOUSERSITE"]
    return env
