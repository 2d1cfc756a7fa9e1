"""What a capture's result depends on: the running process in, versions and source trees out."""

from __future__ import annotations

import os
import platform
import sys

from tracer.capture.protocol import AiterPlace
from tracer.model.environment import Environment, SourceTree
from tracer.versions import installed_version, ktrace_version

#: public repositories of the libraries whose frames are cited, and how a version is named there
_REPOSITORIES = {
    "torch": "https://github.com/pytorch/pytorch",
    "triton": "https://github.com/triton-lang/triton",
    "pandas": "https://github.com/pandas-dev/pandas",
    "python": "https://github.com/python/cpython",
}
#: what aiter reads to choose kernels and configurations (its Python up to 2026-11), besides what begins like _PREFIXES
_VARIABLES = frozenset(
    {
        "GPU_ARCHS", "CU_NUM", "PYTORCH_ALLOC_CONF", "ENABLE_CK", "CK_DIR", "ENABLE_ROPE_POSITIONS_INT32",
        "GPTOSS_SWIGLU_MXFP4_BF16_BOUND", "MEGA_DISPATCH", "TRITON_F32_DEFAULT", "AMDGCN_USE_BUFFER_OPS",
    }
)  # fmt: skip
_PREFIXES = ("AITER_", "FLASH_ATTENTION_", "FLA_", "FLYDSL_", "MXFP4_")
#: folders that say where things are kept, not what is chosen
_FOLDERS = frozenset({"AITER_JIT_DIR", "AITER_ASM_DIR", "FLYDSL_RUNTIME_CACHE_DIR"})


def version_of(package: str) -> str | None:
    """The version of a package: what is loaded says, else what is installed; None when neither is there."""
    loaded = getattr(sys.modules.get(package), "__version__", None)
    return str(loaded) if loaded is not None else installed_version(package)


def describe(aiter: AiterPlace | None, *, dry: bool) -> Environment:
    """The environment of this process.

    Args:
        aiter: the aiter that was imported, or None.
        dry: whether the run had no GPU; then no ROCm or CUDA version is stated, though torch has been told one.
    """
    torch = sys.modules.get("torch")
    version = getattr(torch, "version", None)
    trees = [
        SourceTree(name=name, version=version_of(name), repository=_REPOSITORIES[name])
        for name in ("torch", "triton", "pandas")
        if name in sys.modules
    ]
    trees.append(SourceTree(name="python", version=platform.python_version(), repository=_REPOSITORIES["python"]))
    if aiter is not None:
        trees.insert(
            0,
            SourceTree(
                name="aiter",
                version=aiter.version,
                commit=aiter.commit,
                layout=aiter.layout,
                repository=aiter.repository,
            ),
        )
    return Environment(
        ktrace=ktrace_version(),
        python=platform.python_version(),
        platform=f"{platform.system()}-{platform.machine()}",
        torch=version_of("torch"),
        triton=version_of("triton"),
        rocm=None if dry else getattr(version, "hip", None),
        cuda=None if dry else getattr(version, "cuda", None),
        trees=tuple(trees),
        variables={
            k: v
            for k, v in sorted(os.environ.items())
            if k in _VARIABLES or (k.startswith(_PREFIXES) and k not in _FOLDERS)
        },
    )
