"""`make bench-index`: index build time cold and warm, memory, and answers a second, for the wheel and for aiter's main.

    python -m tests.bench.bench_index [--json]

Each figure is taken in a process of its own, over a cache folder made for the run. Cold reads every source of the tree;
warm opens the pack that the cold run kept and takes every file's facts from it; `chains` leads every declared op with
a warm index; `answers` asks for a fixed random mix of ops, Python functions, Triton kernels, HIP kernels, assembly
symbols and instances in one process. Seconds are wall time, with CPU seconds of the process and its workers beside
them, because this machine may be shared. Main is KTRACE_AITER, where the environment names it.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from tracer.aiter.instances import MODULES, instance_table
from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError
from tracer.index.tree_index import TreeIndex
from tracer.resolve.chain import Chains
from tracer.resolve.where import Finder

_MIX = 300


def _cpu() -> float:
    own, workers = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + workers.ru_utime + workers.ru_stime


def names(finder: Finder) -> list[str]:
    """A fixed mix of names of every kind that a tree has."""
    index = finder.index
    kernels = [
        function.name
        for file in index.cpp_files
        if (facts := index.cpp(file)) is not None
        for function in facts.functions
        if function.kernel and function.kind == "definition"
    ]
    instances = []
    for family in MODULES:
        try:
            instances += [i.name for i in instance_table(index.tree, family, "gfx942").by_id.values()]
        except SourceTreeError:
            continue
    kinds = [
        [op.declaration.name for op in index.ops],
        [guarded.name for _, guarded in index.guarded],
        sorted(finder.routes.triton_kernels),
        sorted(set(kernels)),
        sorted(finder.chains.ends.assembly.by_symbol),
        instances,
    ]
    chosen = random.Random(20261129)
    return [chosen.choice(kind) for kind in kinds if kind for _ in range(_MIX // len(kinds))]


def measure(part: str, root: Path | None, cache: Path) -> dict[str, Any]:
    """One figure, in this process."""
    tree = AiterTree.find(root)
    started, cpu = time.perf_counter(), _cpu()
    index = TreeIndex(tree, cache)
    answers = 0
    if part in ("cold", "warm"):
        ops = len(index.ops)
        index.read_all_cpp()
        files = sum(index.cpp(file) is not None for file in index.cpp_files)
        index.save()
        return _figures(part, started, cpu, ops=ops, files=files, pack_bytes=index.cache.path.stat().st_size)
    if part == "chains":
        answers = len(Chains(index).all())
    else:
        finder = Finder(index)
        asked = names(finder)
        started, cpu = time.perf_counter(), _cpu()
        for name in asked:
            finder.find(name)
        answers = len(asked)
    return _figures(part, started, cpu, answers=answers)


def _figures(part: str, started: float, cpu: float, **more: int) -> dict[str, Any]:
    seconds, spent = time.perf_counter() - started, _cpu() - cpu
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {"part": part, "seconds": seconds, "cpu_seconds": spent, "peak_bytes": peak * 1024, **more}


def _in_process(part: str, root: Path | None, cache: Path) -> dict[str, Any]:
    line = [sys.executable, "-m", "tests.bench.bench_index", "--part", part, "--cache", str(cache)]
    line += ["--root", str(root)] if root is not None else []
    made: dict[str, Any] = json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)
    return made


def _one_command(root: Path | None, cache: Path) -> dict[str, Any]:
    """`ktrace where OP` as a user runs it, with a warm index."""
    line = [sys.executable, "-m", "tracer", "where", "gemm_a8w8_blockscale", "--json"]
    environment = {**os.environ, "KTRACE_CACHE": str(cache), "KTRACE_AITER": str(root or "")}
    started = time.perf_counter()
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, _, used = os.wait4(process.pid, 0)
    return {
        "part": "ktrace where OP",
        "seconds": time.perf_counter() - started,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_bytes": used.ru_maxrss * 1024,
        "answers": 1,
    }


@click.command()
@click.option("--json", "json_", is_flag=True, help="One JSON object a figure.")
@click.option("--part", hidden=True)
@click.option("--root", hidden=True, type=click.Path(path_type=Path))
@click.option("--cache", hidden=True, type=click.Path(path_type=Path))
def main(json_: bool, part: str | None, root: Path | None, cache: Path | None) -> None:
    """Measures the index and the answers."""
    if part is not None:
        assert cache is not None
        click.echo(json.dumps(measure(part, root, cache)))
        return
    trees: dict[str, Path | None] = {"wheel": None}
    if os.environ.get("KTRACE_AITER"):
        trees["main"] = Path(os.environ["KTRACE_AITER"])
    rows = []
    for name, where in trees.items():
        with tempfile.TemporaryDirectory() as folder:
            kept = Path(folder)
            found = [_in_process(p, where, kept) for p in ("cold", "warm", "chains", "answers")]
            found.append(_one_command(where, kept))
            rows += [{"tree": name, **figures} for figures in found]
    if json_:
        for row in rows:
            click.echo(json.dumps(row))
        return
    table = Table("tree", "part", "seconds", "CPU s", "answers/s", "peak MB", "more")
    for row in rows:
        rate = f"{row['answers'] / row['seconds']:,.1f}" if row.get("answers") else ""
        more = ", ".join(
            f"{row[k]:,} {k.replace('_', ' ')}" for k in ("ops", "files", "pack_bytes", "answers") if k in row
        )
        table.add_row(
            row["tree"], row["part"], f"{row['seconds']:.2f}", f"{row['cpu_seconds']:.2f}", rate,
            f"{row['peak_bytes'] / 1e6:,.0f}", more,
        )  # fmt: skip
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
