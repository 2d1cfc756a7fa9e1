"""`ktrace symbols INSTANCE [--shape M,N,K]`: the kernel symbols of an instance, or the one that runs for a shape."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import msgspec

from tracer.aiter.ck_launch import Problem
from tracer.capture.targets import DRY_TARGETS
from tracer.cli.options import AITER, opened_index
from tracer.errors import UsageError
from tracer.resolve.symbol_answers import CkSymbol, InstanceSymbols
from tracer.resolve.symbols import CkSymbols


def read_shape(text: str, k_batch: int) -> Problem:
    """`M,N,K`, `B,M,N,K` or `M=..,N=..,K=..` in, a shape out. Raises UsageError for anything else."""
    expected = "M,N,K or B,M,N,K or M=128,N=1536,K=7168"
    named = re.fullmatch(r"(?:\s*[A-Za-z]\s*=\s*\d+\s*,?)+", text)
    if named:
        pairs = [(name.upper(), int(value)) for name, value in re.findall(r"([A-Za-z])\s*=\s*(\d+)", text)]
        given = dict(pairs)
        if len(given) != len(pairs) or not {"M", "N", "K"} <= set(given) <= {"B", "M", "N", "K"}:
            raise UsageError(f"the shape {text!r} does not name M, N and K once", expected=expected)
        numbers = [given.get("B", 1), given["M"], given["N"], given["K"]]
    else:
        parts = re.split(r"[,xX]", text.strip())
        if not all(part.strip().isdigit() for part in parts) or len(parts) not in (3, 4):
            raise UsageError(f"{text!r} is no shape", expected=expected)
        numbers = [1, *(int(part) for part in parts)][-4:]
    if min(numbers) < 1:
        raise UsageError(f"the shape {text!r} has an extent below 1", expected=expected)
    batch, m, n, k = numbers
    return Problem(m=m, n=n, k=k, k_batch=k_batch, batch=batch)


def as_json(answer: InstanceSymbols, symbol: CkSymbol) -> dict[str, Any]:
    """The documented object of `symbols --json` (docs/where.md): one a symbol."""
    return {
        "instance": answer.instance,
        "family": answer.family,
        "types": answer.types,
        "symbol": symbol.symbol,
        "gemm_spec": symbol.gemm_spec,
        "main_k_loop": symbol.main_k_loop,
        "mem_op": symbol.mem_op,
        "tail": symbol.tail,
        "min_occupancy": symbol.min_occupancy,
        "scales": symbol.scales,
        "reason": symbol.reason,
        "refused": answer.refused,
        "file": symbol.file,
        "line": symbol.line,
    }


def _text(answer: InstanceSymbols) -> str:
    lines = [answer.instance, f"  constructed   {answer.file}:{answer.line}"]
    if answer.types:
        others = f"; also <{'>, <'.join(answer.other_types)}>" if answer.other_types else ""
        lines.append(f"  instantiated  <{answer.types}>{others}")
    for symbol in answer.symbols:
        facts = [symbol.gemm_spec] if symbol.gemm_spec else []
        if symbol.main_k_loop is not None:
            facts.append("main K loop" if symbol.main_k_loop else "no main K loop")
        facts += [str(symbol.mem_op), f"tail {symbol.tail}"] if symbol.mem_op else []
        facts += ["scales" if symbol.scales else "no scales"] if symbol.scales is not None else []
        facts += [f"occupancy >= {symbol.min_occupancy}"] if symbol.min_occupancy is not None else []
        lines += ["", *(["  " + ", ".join(facts)] if facts else [])]
        lines.append(f"    {symbol.symbol or f'no symbol: {symbol.reason}'}")
    if answer.refused is not None:
        lines.append(f"  note  the kernel does not run for this shape: {answer.refused}")
    lines += [f"  note  {note}" for note in answer.notes]
    return "\n".join(lines)


@click.command()
@click.argument("instances", nargs=-1, required=True, metavar="INSTANCE...")
@click.option("--shape", metavar="M,N,K", help="Only the kernel that runs for this problem.")
@click.option("--k-batch", type=click.IntRange(1, 65535), default=1, show_default=True, help="Parts K is split into.")
@click.option("--types", metavar="LIST", help='Another instantiation, as the generator writes it: "F32, F16".')
@click.option("--bias", is_flag=True, help="The kernels of a call with a bias.")
@click.option("--scales/--no-scales", default=None, help="Only the kernels of a call with scales, or without.")
@click.option("--target", type=click.Choice(DRY_TARGETS), default=DRY_TARGETS[0], show_default=True)
@click.option("--aiter", "aiter_path", **AITER)
@click.option("--json", "json_", is_flag=True, help="JSON Lines: one object a symbol (docs/where.md).")
def command(
    instances: tuple[str, ...],
    shape: str | None,
    k_batch: int,
    types: str | None,
    bias: bool,
    scales: bool | None,
    target: str,
    aiter_path: Path | None,
    json_: bool,
) -> None:
    """Print the kernel symbols that a CK or CK-tile instance compiles to, or the one that runs for a shape."""
    problem = read_shape(shape, k_batch) if shape is not None else None
    with opened_index(aiter_path) as index:
        finder = CkSymbols(index, target)
        for name in instances:
            answer = finder.of(name, types, problem, bias=bias, scales=scales)
            if json_:
                for symbol in answer.symbols:
                    click.echo(msgspec.json.encode(as_json(answer, symbol)).decode())
            else:
                click.echo(_text(answer))
