"""`make fuzz`: reads a million random and spoiled names; reports what must not be, and exits 1 on any.

    python -m tests.fuzz.fuzz_names [COUNT] [--seed SEED] [--names FILE]

What must not be: an exception, for any text; an answer that takes longer than the limit, three times in a row; an
answer whose spans lie outside the name or miss a field; and a name that is read whole by a formal grammar but comes
back otherwise than it is spelled. The names that are spoiled are the golden cases, and the corpus where KTRACE_DATA
names its folder.
"""

from __future__ import annotations

import collections
import json
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec

from tests.fuzz.spoiled_names import Spoiler
from tests.names import goldens
from tracer.names import registry

#: seconds for a name of up to NORMAL characters; a longer one may take longer in proportion
LIMIT, NORMAL = 0.05, 4096
_SHOWN = 10
_FORMAL = frozenset(family for grammar in registry.GRAMMARS for family in grammar.formal)


class Problem(msgspec.Struct, frozen=True):
    """What must not be.

    Attributes:
        kind: exception, slow, spans or round trip.
        name: the name.
        detail: what happened.
    """

    kind: str
    name: str
    detail: str


def real_names() -> list[str]:
    """The names to spoil: every golden case, and the corpus where there is one."""
    names = [name for _, name in goldens.case_names()]
    folder = os.environ.get("KTRACE_DATA")
    if folder:
        with (Path(folder) / "names" / "corpus.jsonl").open(encoding="utf-8") as file:
            names += [json.loads(line)["name"] for line in file]
    return sorted(set(names))


def check(name: str, limit: float | None = LIMIT) -> Problem | None:
    """Reads one name and says what is wrong with the answer, if anything is.

    Args:
        name: any text.
        limit: seconds that a name of normal length may take; None does not look at the time.
    """
    start = time.perf_counter()
    try:
        answer = registry.decode(name)
        taken = time.perf_counter() - start
        registry.view(answer)
        again = registry.format_name(answer) if answer.family in _FORMAL and answer.complete else answer.spelled
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what this looks for
        return Problem("exception", name, f"{type(error).__name__}: {error}")
    if limit is not None and taken > limit * max(1.0, len(name) / NORMAL):
        taken = min(_seconds(name) for _ in range(3))
        if taken > limit * max(1.0, len(name) / NORMAL):
            return Problem("slow", name, f"{1000 * taken:.0f} ms for {len(name)} characters")
    size = len(answer.spelled)
    if set(answer.spans) != set(answer.fields):
        return Problem("spans", name, f"fields without span or the other way: {set(answer.spans) ^ set(answer.fields)}")
    for key, (first, end) in answer.spans.items():
        if not 0 <= first <= end <= size:
            return Problem("spans", name, f"{key} at {first}:{end} of {size} characters")
    if again != answer.spelled:
        return Problem("round trip", name, f"{answer.family} writes {again!r}")
    return None


def _seconds(name: str) -> float:
    start = time.perf_counter()
    registry.decode(name)
    return time.perf_counter() - start


def run(count: int, seed: int, names: Sequence[str], limit: float | None = LIMIT) -> Iterator[Problem]:
    """Reads `count` names made from `names` and yields what must not be."""
    spoiler = Spoiler(names, random.Random(seed))
    for _ in range(count):
        problem = check(spoiler.name(), limit)
        if problem is not None:
            yield problem


@click.command()
@click.argument("count", default=1_000_000)
@click.option("--seed", default=1, show_default=True, help="The same seed makes the same names.")
@click.option("--names", "file", type=click.Path(exists=True, path_type=Path), help="More names to spoil, one a line.")
def main(count: int, seed: int, file: Path | None) -> None:
    """Reads COUNT random and spoiled names and reports exceptions, slow answers and names that do not come back."""
    names = real_names()
    if file is not None:
        names += [line for line in file.read_text(encoding="utf-8").splitlines() if line]
    start = time.perf_counter()
    found: collections.Counter[str] = collections.Counter()
    for problem in run(count, seed, names):
        found[problem.kind] += 1
        if found[problem.kind] <= _SHOWN:
            click.echo(f"{problem.kind}: {problem.name[:300]!a}\n    {problem.detail[:300]}", err=True)
    seconds = time.perf_counter() - start
    click.echo(
        f"{count} names from {len(names)} real ones, seed {seed}, {seconds:.0f} s: {sum(found.values())} problems"
    )
    for kind, times in found.most_common():
        click.echo(f"    {times} {kind}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
