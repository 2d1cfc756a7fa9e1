"""`make bench`: the main job as a whole process, against a process that only imports aiter under the same dry set-up.

Prints medians and ratios; exits 1 when a ratio is over its limit. Both sides take turns in one run.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from tracer.aiter.tree import AiterTree
from tracer.capture.dry import capture_dry, job_for
from tracer.capture.protocol import CallRequest
from tracer.capture.sandbox import child_environment
from tracer.capture.targets import target_facts

NAME = "a8w8_blockscale_1x128x128_256x16x128x256_16x16_16x16_16x16x1_16x16x1_1x16x1x16_8_1x2_intrawave_v1"
KTRACE = [sys.executable, "-m", "tracer"]
MAIN_LIMIT, DECODE_LIMIT, MEMORY_LIMIT = 1.3, 10.0, 1.5e9

#: what the rival does: load aiter as a dry run does, and leave
IMPORT_ONLY = """
import os, sys
from tracer.capture.child import Child
from tracer.capture.overlay import Overlay
from tracer.capture.protocol import Job
import msgspec, pathlib
job = msgspec.json.decode(pathlib.Path(sys.argv[1]).read_bytes(), type=Job)
Overlay(job.folder).install()
Child(job, os.open(os.devnull, os.O_WRONLY)).load()
os._exit(0)
"""


def seconds(command: list[str], env: dict[str, str] | None = None) -> float:
    """Wall time of a whole process that must succeed."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
    return time.perf_counter() - start


def import_only(folder: Path) -> tuple[list[str], dict[str, str]]:
    """The rival's command and environment, with its folder prepared."""
    facts = target_facts("gfx942", None, None)
    tree = AiterTree.find(None)
    job_for((), facts, tree, folder)
    root = str(Path(__file__).resolve().parents[2])
    env = child_environment(folder, facts, os.environ) | {"PYTHONPATH": root}
    return [sys.executable, "-c", IMPORT_ONLY, str(folder / "job.json")], env


def alternate(rounds: int, sides: dict[str, tuple[list[str], dict[str, str] | None]]) -> dict[str, list[float]]:
    """Times each side in turn, so that what else the machine does falls on both; the first round is thrown away."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    for round_ in range(rounds + 1):
        for name, (command, env) in sides.items():
            taken = seconds(command, env)
            if round_:
                times[name].append(taken)
    return times


@click.command()
@click.option("--rounds", default=5, show_default=True, help="Timed rounds a side.")
def main(rounds: int) -> None:
    """Measures the main job, `decode`, and the child's memory."""
    table = Table("what", "median s", "rival", "median s", "ratio", "limit")
    failed = False

    def row(what: str, ours: list[float], rival: str, theirs: list[float], limit: float) -> None:
        nonlocal failed
        ratio = statistics.median(ours) / statistics.median(theirs)
        failed |= ratio > limit
        cells = (
            f"{statistics.median(ours):.3f}",
            rival,
            f"{statistics.median(theirs):.3f}",
            f"{ratio:.2f}",
            f"{limit:g}",
        )
        table.add_row(what, *cells)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        site = folder / "site"
        job = [*KTRACE, "gemm_a8w8_blockscale", "--shape", "128,1536,7168", "--target", "gfx942", "--out", str(site)]
        (folder / "rival").mkdir()
        times = alternate(rounds, {"main": (job, None), "rival": import_only(folder / "rival")})
        row("ktrace gemm_a8w8_blockscale", times["main"], "import aiter, dry set-up", times["rival"], MAIN_LIMIT)
        sides = {"decode": ([*KTRACE, "decode", NAME], None), "rival": ([sys.executable, "-c", "pass"], None)}
        times = alternate(rounds * 3, sides)
        row("ktrace decode NAME", times["decode"], "python -c pass", times["rival"], DECODE_LIMIT)

    shapes = [{"M": m, "N": n, "K": k} for m, n, k in ((128, 1536, 7168), (65536, 65536, 65536), (1, 7168, 256))]
    options = {"dtype": "bf16"}
    capture_dry([CallRequest(op="gemm_a8w8_blockscale", shape=shape, options=options) for shape in shapes])
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    failed |= peak > MEMORY_LIMIT
    Console().print(table)
    Console().print(f"largest child: {peak / 1e6:.0f} MB (limit {MEMORY_LIMIT / 1e6:.0f} MB)")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
