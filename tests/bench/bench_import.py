"""`make bench-import RIVAL=PATH`: trace import against TraceLens's own loader and tree, and its growth with size.

Both read the same file on the same machine in one session, each in fresh processes that take turns. Ratios are of
processor time, which other programs disturb least; both sides use one processor. PATH is a checkout
of AMD-AGI/TraceLens; RIVAL_PYTHON is an interpreter that has its dependencies (pandas, orjson, tqdm). Exits 1 when a
limit does not hold.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.table import Table

from tracer.importers.formats import read_timeline
from tracer.importers.kineto_plain import is_compiled

#: limits: so many times as fast, so much of the memory, on traces of more events than this
FASTER, SMALLER, MANY_EVENTS = 8.0, 1 / 3, 10_000
#: time a megabyte may grow by this factor from the smallest repeated trace to the largest
GROWTH_LIMIT = 1.35

#: peak memory in KiB: of this program only (ru_maxrss would include the process that started it)
_PEAK = """
def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
"""
_OURS = (
    _PEAK
    + """
import sys, time
from pathlib import Path
from tracer.importers.formats import read_timeline
from tracer.importers.joins import join
base = peak()
start, busy = time.perf_counter(), time.process_time()
joined = join(read_timeline(Path(sys.argv[1])))
took, busy = time.perf_counter() - start, time.process_time() - busy
print(took, busy, base, peak(), len(joined.timeline.kernels))
"""
)
_RIVAL = (
    _PEAK
    + """
import contextlib, io, logging, sys, time
logging.disable(logging.CRITICAL)
sys.path.insert(0, sys.argv[2])
from TraceLens.TreePerf.tree_perf import TreePerfAnalyzer
base = peak()
start, busy = time.perf_counter(), time.process_time()
with contextlib.redirect_stdout(io.StringIO()):
    analyzer = TreePerfAnalyzer.from_file(sys.argv[1], add_python_func=sys.argv[3] == "python")
took, busy = time.perf_counter() - start, time.process_time() - busy
print(took, busy, base, peak(), 0)
"""
)


class Run(msgspec.Struct, frozen=True):
    """One reading: seconds by the clock and of a processor; memory in MiB, before and at its peak; kernels found."""

    seconds: float
    busy_seconds: float
    base_mib: float
    peak_mib: float
    kernels: int


def measure(python: str, code: str, *arguments: str) -> Run | str:
    """One reading in a fresh process; the last line of what went wrong when it fails."""
    done = subprocess.run([python, "-c", code, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no message"])[-1]
    took, busy, base, peak, kernels = done.stdout.split()[-5:]
    return Run(float(took), float(busy), int(base) / 1024, int(peak) / 1024, int(kernels))


def best(runs: list[Run]) -> Run:
    """The run of least processor time: what the work takes when nothing else disturbs it."""
    return min(runs, key=lambda run: run.busy_seconds)


def rival_missing(rival: str | None, python: str) -> str | None:
    """Why the rival can't be measured, or None."""
    if not rival:
        return "RIVAL names no checkout of AMD-AGI/TraceLens"
    if not (Path(rival) / "TraceLens" / "TreePerf" / "tree_perf.py").is_file():
        return f"{rival} is no checkout of AMD-AGI/TraceLens"
    code = "import sys; sys.path.insert(0, sys.argv[1]); from TraceLens.TreePerf.tree_perf import TreePerfAnalyzer"
    done = subprocess.run([python, "-c", code, rival], capture_output=True, text=True, check=False)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return f"{python} can't import it ({why}); RIVAL_PYTHON may name an interpreter that can"
    return None


def against_rival(console: Console, traces: list[Path], rival: str | None, python: str, runs: int) -> bool:
    """Prints the table of both; whether every limit holds."""
    missing = rival_missing(rival, python)
    if missing is not None:
        console.print(f"[bold yellow]SKIPPED: the rival's rows. {missing}.[/]")
    reader = "compiled reader" if is_compiled() else "reader in Python: nothing was compiled when ktrace was installed"
    table = Table(title=f"trace import ({reader}), best of {runs} fresh processes in turn")
    for column in (
        "trace",
        "events",
        "ktrace ms",
        "CPU ms",
        "MiB",
        "TraceLens ms",
        "CPU ms",
        "MiB",
        "faster",
        "memory",
        "with Python CPU ms",
        "faster",
    ):
        table.add_column(column, justify="left" if column == "trace" else "right")
    held = True
    for path in traces:
        ours: list[Run] = []
        theirs: dict[str, list[Run]] = {"operators": [], "python": []}
        failure: str | None = missing
        for _ in range(runs):
            for tree, done in theirs.items():
                run = measure(python, _RIVAL, str(path), str(rival), tree) if failure is None else failure
                if isinstance(run, str):
                    failure = run
                else:
                    done.append(run)
            own = measure(sys.executable, _OURS, str(path))
            if isinstance(own, str):
                raise click.ClickException(f"{path.name}: {own}")
            ours.append(own)
        us = best(ours)
        events = sum(read_timeline(path).events.values())
        row = [path.name.removesuffix(".json.gz"), f"{events:,}", f"{min(run.seconds for run in ours) * 1000:.1f}"]
        row += [f"{us.busy_seconds * 1000:.1f}", f"{us.peak_mib:.0f}"]
        if failure is not None:
            table.add_row(*row, "skipped" if missing else f"fails: {failure}"[:34], "", "", "", "", "", "")
            continue
        them, with_python = best(theirs["operators"]), best(theirs["python"])
        faster, share = them.busy_seconds / us.busy_seconds, us.peak_mib / them.peak_mib
        good = events <= MANY_EVENTS or (faster >= FASTER and share <= SMALLER)
        held &= good
        table.add_row(
            *row,
            f"{min(run.seconds for run in theirs['operators']) * 1000:.0f}",
            f"{them.busy_seconds * 1000:.0f}",
            f"{them.peak_mib:.0f}",
            f"{faster:.1f}x",
            f"1/{1 / share:.1f}",
            f"{with_python.busy_seconds * 1000:.0f}",
            f"{with_python.busy_seconds / us.busy_seconds:.1f}x",
            style="" if good else "bold red",
        )
    console.print(table)
    console.print(
        f"limits on traces of more than {MANY_EVENTS:,} events: {FASTER:.0f}x as fast, 1/{1 / SMALLER:.0f} of memory"
    )
    return held


def repeated(path: Path, megabytes: int, target: Path) -> None:
    """Writes a trace of some megabytes by repeating a real one, each time later and with ids of its own."""
    with gzip.open(path) as file:
        trace = json.load(file)
    events = trace.pop("traceEvents")
    times = [e["ts"] for e in events if "ts" in e]
    span = max(times) - min(times) + max(e.get("dur", 0) for e in events)
    ids = 1 + max(e["args"].get(k, 0) for e in events if "args" in e for k in ("correlation", "External id"))
    encode = msgspec.json.Encoder().encode
    with target.open("wb") as out:
        out.write(encode(trace)[:-1] + b', "traceEvents": [')
        first = True
        while out.tell() < megabytes << 20:
            if not first:
                events = list(_later(events, span, ids))
            out.write((b"" if first else b", ") + b", ".join(map(encode, events)))
            first = False
        out.write(b"]}")


def _later(events: list[dict[str, object]], span: float, ids: int) -> Iterator[dict[str, object]]:
    for event in events:
        if "ts" in event:
            event["ts"] = round(event["ts"] + span, 3)  # type: ignore[operator]
        if "id" in event:
            event["id"] += ids  # type: ignore[operator]
        args = event.get("args")
        if isinstance(args, dict):
            for key in ("correlation", "External id", "Python id"):
                if isinstance(args.get(key), int):
                    args[key] += ids
        yield event


def growth(console: Console, path: Path, sizes: list[int], runs: int) -> bool:
    """Prints how time and memory grow with size; whether time stays linear."""
    table = Table(title=f"growth: {path.name} repeated, plain JSON")
    for column in ("MB", "kernels", "CPU seconds", "MB/s", "peak MiB", "bytes a kernel above the smallest"):
        table.add_column(column, justify="right")
    rates: list[float] = []
    smallest: Run | None = None
    with tempfile.TemporaryDirectory(prefix="ktrace-bench-") as folder:
        for size in sizes:
            file = Path(folder) / "repeated.json"
            repeated(path, size, file)
            megabytes = file.stat().st_size / 1e6
            done = [measure(sys.executable, _OURS, str(file)) for _ in range(runs)]
            good = [run for run in done if isinstance(run, Run)]
            if not good:
                raise click.ClickException(f"{size} MB: {done[0]}")
            run = best(good)
            smallest = smallest or run
            more = run.kernels - smallest.kernels
            extra = (run.peak_mib - smallest.peak_mib) * 2**20 / more if more else 0
            rates.append(run.busy_seconds / megabytes)
            table.add_row(
                f"{megabytes:,.0f}",
                f"{run.kernels:,}",
                f"{run.busy_seconds:.2f}",
                f"{megabytes / run.busy_seconds:,.0f}",
                f"{run.peak_mib:,.0f}",
                f"{extra:,.0f}" if more else "",
            )
    console.print(table)
    factor = rates[-1] / rates[0]
    console.print(f"time a megabyte, largest against smallest: {factor:.2f} (limit {GROWTH_LIMIT})")
    return factor <= GROWTH_LIMIT


@click.command()
@click.option("--runs", default=5, show_default=True, help="Fresh processes a trace and side.")
@click.option(
    "--sizes", default="64,256,1024", show_default=True, help="Megabytes of the repeated traces; empty: none."
)
@click.option("--only", default="", help="Part of the name of the traces to read.")
def main(runs: int, sizes: str, only: str) -> None:
    """Measures trace import."""
    console = Console(width=160)
    folder = os.environ.get("KTRACE_DATA")
    if not folder:
        console.print(
            "[bold yellow]SKIPPED: KTRACE_DATA names no folder with public traces, so there is nothing to read.[/]"
        )
        return
    traces = sorted(path for path in (Path(folder) / "traces").glob("*.json.gz") if only in path.name)
    rival, python = os.environ.get("RIVAL"), os.environ.get("RIVAL_PYTHON") or sys.executable
    held = against_rival(console, traces, rival, python, runs)
    wanted = [int(size) for size in sizes.split(",") if size]
    if wanted:
        source = next((p for p in traces if "prefill_decode" in p.name), traces[0])
        held &= growth(console, source, wanted, max(1, runs // 2))
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
