"""`make bench-decode`: names a second in one process, the whole `ktrace decode NAME`, memory over a stream of names.

    python -m tests.bench.bench_decode [--passes N] [--stream N] [--strict]

Rivals, in the same run: for mangled names pycxxfilt alone, for the rest a plain `str.split("_")` loop (the floor for
anything written in Python), for the whole process `python -c pass`. Names are those of the corpus where KTRACE_DATA
names its folder, else the golden cases. What runs in one process is timed in CPU seconds, so that other work on the
machine falls on neither side. Beside the rivals stands a second floor: making the same answers of ready values, which
no decoder in Python can pass that answers with fields and their places. With --strict a figure that misses its aim
makes the exit code 1.
"""

from __future__ import annotations

import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click
import pycxxfilt
from rich.console import Console
from rich.table import Table

from tests.names import goldens
from tracer.model.kernel import DecodedName
from tracer.names import itanium, registry

#: names a second over plain names
PLAIN_AIM = 100_000
#: at most so many times the demangler's time, that of `python -c pass`, and the memory that half the stream needs
MANGLED_AIM, PROCESS_AIM, GROWTH_AIM = 3.0, 10.0, 1.1
NAME = "a8w8_blockscale_1x128x128_256x16x128x256_16x16_16x16_16x16x1_16x16x1_1x16x1x16_8_1x2_intrawave_v1"
_KTRACE = [sys.executable, "-m", "tracer"]
_NUMBER = re.compile(r"[0-9]+")


def corpus() -> tuple[str, list[str]]:
    """Where the names come from, and the names."""
    folder = os.environ.get("KTRACE_DATA")
    if not folder:
        return "golden cases", [name for _, name in goldens.case_names()]
    with (Path(folder) / "names" / "corpus.jsonl").open(encoding="utf-8") as file:
        return "corpus", [json.loads(line)["name"] for line in file]


def split_all(names: Sequence[str]) -> None:
    """The floor: splits every name."""
    for name in names:
        name.split("_")


def demangle_all(names: Sequence[str]) -> None:
    """The demangler alone, as it is called to demangle a symbol table."""
    demangle = pycxxfilt.itanium_demangle
    for name in names:
        try:
            demangle(name)
        except ValueError:
            # it refuses symbols with a wrong length; that took its time too
            continue


def decode_all(names: Sequence[str]) -> None:
    """ktrace."""
    decode = registry.decode
    for name in names:
        decode(name)


def ready_answers(names: Sequence[str]) -> Callable[[Sequence[str]], None]:
    """What makes the answers to `names` again, of values that are there already."""
    ready = []
    for answer in map(registry.decode, names):
        starts, ends = zip(*answer.spans.values(), strict=True) if answer.spans else ((), ())
        ready.append((answer, (*answer.fields,), (*answer.fields.values(),), (*answer.spans,), starts, ends))

    def make_all(_: Sequence[str]) -> None:
        for a, keys, values, places, starts, ends in ready:
            fields = dict(zip(keys, values, strict=True))
            spans = dict(zip(places, zip(starts, ends, strict=True), strict=True))
            DecodedName(
                a.text, a.spelled, a.grammar, a.family, fields, spans, a.unparsed, a.likely, a.notes, a.demangle
            )

    return make_all


def passes_of(function: Callable[[Sequence[str]], None], names: Sequence[str], passes: int) -> list[float]:
    """Names a CPU second in each pass over `names`."""
    speeds = []
    for _ in range(passes):
        start = time.process_time()
        function(names)
        speeds.append(len(names) / (time.process_time() - start))
    return speeds


def process_seconds(command: Sequence[str], rounds: int) -> float:
    """Median wall time of a whole process; the first round is thrown away."""
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def varied(names: Sequence[str], count: int, seed: int = 1) -> Iterator[str]:
    """`count` names, nearly all different: real ones with up to three numbers changed."""
    rng = random.Random(seed)
    for _ in range(count):
        name = rng.choice(names)
        for _ in range(3):
            found = list(_NUMBER.finditer(name))
            if found:
                m = rng.choice(found)
                name = f"{name[: m.start()]}{rng.randrange(1, 2049)}{name[m.end() :]}"
        yield name


def peak_megabytes(names: Sequence[str], count: int) -> float:
    """Peak resident memory of `ktrace decode --file - --json` that is fed `count` names through a pipe."""
    process = subprocess.Popen(
        [*_KTRACE, "decode", "--file", "-", "--json"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    if process.stdin is None:
        raise RuntimeError("the process has no pipe to feed")
    with process.stdin as pipe:
        for name in varied(names, count):
            pipe.write(name.encode() + b"\n")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"ktrace decode ended with {process.returncode} on a stream of {count} names")
    return usage.ru_maxrss / 1024


@click.command()
@click.option("--passes", default=5, show_default=True, help="Passes over the names.")
@click.option("--stream", default=1_000_000, show_default=True, help="Names in the memory check.")
@click.option("--strict", is_flag=True, help="Exit with 1 when a figure misses its aim.")
def main(passes: int, stream: int, strict: bool) -> None:
    """Measures decoding and prints it beside its rivals."""
    source, names = corpus()
    mangled = [name for name in names if itanium.is_mangled(name)]
    plain = [name for name in names if not itanium.is_mangled(name)]
    # grammars are imported when a name first needs them; here they are there from the start
    if not registry.GRAMMARS:
        raise click.ClickException("the registry has no grammars")
    table = Table("what", "first pass", "median", "rival", "median", "ratio", "aim", "")
    misses = 0

    def row(what: str, first: str, ours: str, rival: str, theirs: str, ratio: str, aim: str, met: bool | None) -> None:
        nonlocal misses
        misses += met is False
        table.add_row(what, first, ours, rival, theirs, ratio, aim, "" if met is None else "met" if met else "missed")

    for what, some, rival, theirs in (
        ("plain names", plain, 'str.split("_")', split_all),
        ("mangled names", mangled, "pycxxfilt", demangle_all),
    ):
        ours = passes_of(decode_all, some, passes)
        speed, limit = statistics.median(ours), statistics.median(passes_of(theirs, some, passes))
        aim = f"{PLAIN_AIM:,} names/s" if some is plain else f"at most {MANGLED_AIM:g}"
        met = speed >= PLAIN_AIM if some is plain else limit / speed <= MANGLED_AIM
        cells = (f"{len(some)} {what}, names/s", f"{ours[0]:,.0f}", f"{speed:,.0f}", rival, f"{limit:,.0f}")
        row(*cells, f"{limit / speed:.1f}", aim, met)
        floor = statistics.median(passes_of(ready_answers(some), some, passes))
        row(
            "", "", f"{speed:,.0f}", "the answers alone", f"{floor:,.0f}", f"{floor / speed:.1f}", "none: a floor", None
        )
    whole = process_seconds([*_KTRACE, "decode", NAME], 3 * passes)
    empty = process_seconds([sys.executable, "-c", "pass"], 3 * passes)
    process = ("ktrace decode NAME, ms", "", f"{1000 * whole:.0f}", "python -c pass", f"{1000 * empty:.0f}")
    row(*process, f"{whole / empty:.1f}", f"at most {PROCESS_AIM:g}", whole / empty <= PROCESS_AIM)
    half, full = peak_megabytes(names, max(stream // 2, 1)), peak_megabytes(names, stream)
    memory = (f"peak MB, {stream:,} names from stdin", "", f"{full:.1f}", f"{stream // 2:,} names", f"{half:.1f}")
    row(*memory, f"{full / half:.2f}", f"at most {GROWTH_AIM:g}", full / half <= GROWTH_AIM)
    console = Console()
    console.print(f"names: {source}")
    console.print(table)
    sys.exit(1 if strict and misses else 0)


if __name__ == "__main__":
    main()
