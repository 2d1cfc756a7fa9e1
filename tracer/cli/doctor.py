"""`ktrace doctor`: what this machine can do, what is missing, and the command that adds it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import Any

import click
import msgspec

from tracer.importers.kineto_plain import is_compiled
from tracer.versions import SUPPORTED, installed_version, is_supported, ktrace_version

_GPU_PROBE = """
import json
try:
    import torch
    ok = torch.cuda.is_available()
    p = torch.cuda.get_device_properties(0) if ok else None
    print(json.dumps({
        "available": ok, "cuda": torch.version.cuda, "rocm": torch.version.hip,
        "device": p.name if ok else None, "compute_units": p.multi_processor_count if ok else None,
        "arch": (getattr(p, "gcnArchName", "").split(":")[0] or f"sm_{p.major}{p.minor}") if ok else None}))
except Exception as error:
    print(json.dumps({"available": False, "error": f"{type(error).__name__}: {error}"}))
"""

_ADD = {
    "torch": "pip install 'ktrace[dry]' (on a GPU machine install the ROCm or CUDA build first: it is then left alone)",
    "triton": "pip install 'ktrace[dry]'",
    "amd-aiter": "pip install 'ktrace[dry]', or name a checkout with --aiter PATH or KTRACE_AITER",
    "mkdocs-material": "pip install 'ktrace[site]'",
}


class Part(msgspec.Struct, kw_only=True):
    """One line of the doctor's answer.

    Attributes:
        name: what was looked for; state: "ok", "missing", "unsupported", "unproven" or "none".
        found: the version or device; detail: one sentence; add: the command that adds it, or None.
    """

    name: str
    state: str
    found: str | None = None
    detail: str | None = None
    add: str | None = None


def _package(name: str) -> Part:
    version = installed_version(name)
    if version is None:
        return Part(name=name, state="missing", add=_ADD.get(name))
    if name in SUPPORTED and not is_supported(name, version):
        return Part(
            name=name, state="unsupported", found=version, detail=f"supported: {SUPPORTED[name]}", add=_ADD.get(name)
        )
    return Part(name=name, state="ok", found=version)


def _gpu() -> tuple[Part, dict[str, Any]]:
    if installed_version("torch") is None:
        return Part(name="gpu", state="none", detail="torch is not installed, so no GPU can be used"), {}
    try:
        run = subprocess.run(
            [sys.executable, "-c", _GPU_PROBE], capture_output=True, text=True, timeout=120, check=False
        )
        answer: dict[str, Any] = json.loads(run.stdout.strip().splitlines()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError):
        return Part(name="gpu", state="none", detail="torch could not say whether there is a GPU"), {}
    if not answer["available"]:
        return Part(name="gpu", state="none", detail=answer.get("error") or "torch sees no GPU"), answer
    found = f"{answer['device']} ({answer['arch']}, {answer['compute_units']} CUs or SMs)"
    if answer["rocm"]:
        detail = "live capture on ROCm is unproven: nobody has run it yet; compare with a trace by `ktrace import`"
        return Part(name="gpu", state="unproven", found=found, detail=detail), answer
    return Part(name="gpu", state="ok", found=found), answer


def _trace_reader() -> Part:
    if is_compiled():
        return Part(name="trace reader", state="ok", found="compiled")
    return Part(
        name="trace reader",
        state="missing",
        found="in Python",
        detail="`ktrace import` works, and takes about twice as long on torch.profiler's traces",
        add="install a C compiler and Python's headers, then ktrace again, by pip install --force-reinstall "
        "--no-cache-dir --no-deps",
    )


def examine() -> tuple[list[Part], dict[str, str]]:
    """What is here: the parts, and for each mode whether it works ("yes", "no: why", "unproven: why")."""
    parts = [_package(name) for name in ("python", "torch", "triton", "amd-aiter", "mkdocs-material")]
    gpu, answer = _gpu()
    parts.append(gpu)
    rocm = shutil.which("hipconfig")
    parts.append(
        Part(
            name="rocm",
            state="ok" if rocm else "none",
            found=answer.get("rocm") or rocm,
            detail=None if rocm else "not needed for dry runs",
        )
    )
    parts.append(_trace_reader())
    lacking = [p.name for p in parts if p.name in ("python", "torch", "triton", "amd-aiter") and p.state != "ok"]
    modes = {"dry": "yes" if not lacking else f"no: {', '.join(lacking)} missing or unsupported"}
    if gpu.state == "ok":
        modes["live"] = "yes"
    elif gpu.state == "unproven":
        modes["live"] = f"unproven: {gpu.detail}"
    else:
        modes["live"] = f"no: {gpu.detail}"
    modes["import"] = "yes"
    site = next(p for p in parts if p.name == "mkdocs-material")
    modes["site"] = "yes" if site.state == "ok" else "no: mkdocs-material missing"
    return parts, modes


@click.command()
@click.option("--json", "json_", is_flag=True, help="One JSON object.")
def command(json_: bool) -> None:
    """Say what this machine can do, and what is missing with the command that adds it."""
    parts, modes = examine()
    if json_:
        click.echo(msgspec.json.encode({"ktrace": ktrace_version(), "parts": parts, "modes": modes}).decode())
        return
    click.echo(f"ktrace {ktrace_version()}")
    for part in parts:
        click.echo(f"  {part.name:16} {part.state:12} {part.found or '-'}")
        if part.detail:
            click.echo(f"  {'':16} {part.detail}")
        if part.add:
            click.echo(f"  {'':16} add it: {part.add}")
    click.echo("modes")
    for mode, state in modes.items():
        click.echo(f"  {mode:16} {state}")
