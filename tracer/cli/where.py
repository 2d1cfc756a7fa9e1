"""`ktrace where NAME...`: the chain from a name to its kernel's source, as text or JSON; `--coverage` for all ops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from tracer.cli.name_answers import encode
from tracer.cli.name_text import printable
from tracer.cli.options import AITER, opened_index
from tracer.errors import UsageError
from tracer.index.tree_index import TreeIndex
from tracer.model.source import Hop, Layer, SourceRef, UnresolvedReason
from tracer.resolve.answers import Where
from tracer.resolve.asked import find
from tracer.resolve.chain import OpChain
from tracer.resolve.where import Finder

SCHEMA = "ktrace.where/1"


#: of the kernels that one line launches, so many are written out
_VARIANTS = 3


def _shown(names: str) -> str:
    """The kernels of a launch, few of them: a macro's line can launch a score."""
    every = [""]
    depth = 0
    for char in names:
        depth += (char in "<({") - (char in ">)}")
        if char == "," and depth == 0:
            every.append("")
        else:
            every[-1] += char
    left = len(every) - _VARIANTS
    return names if left < 2 else ",".join(every[:_VARIANTS]) + f", and {left} more"


def _place(source: SourceRef | None) -> str:
    if source is None:
        return "-"
    return source.file if source.line is None else f"{source.file}:{source.line}"


def as_json(answer: Where, index: TreeIndex) -> dict[str, Any]:
    """The documented object of `where --json` (docs/where.md)."""
    plain: dict[str, Any] = msgspec.to_builtins(answer)
    tree = index.tree
    return {
        "schema": SCHEMA,
        **plain,
        "tree": {
            "layout": tree.layout,
            "version": tree.version,
            "commit": tree.commit,
            "composable_kernel": tree.ck_root is not None,
        },
    }


def _hop_lines(hops: tuple[Hop, ...], indent: str = "  ") -> list[str]:
    lines = []
    for hop in hops:
        known = hop.evidence if hop.reason is None else f"{hop.evidence}: {hop.reason}"
        name = _shown(hop.name) if hop.layer is Layer.LAUNCH else hop.name
        lines.append(f"{indent}{hop.layer:13} {name}")
        lines.append(f"{indent}{'':13} {_place(hop.source)}  [{known}]{f'  {hop.note}' if hop.note else ''}")
        if hop.source is not None and hop.source.permalink:
            lines.append(f"{indent}{'':13} {hop.source.permalink}")
    return lines


def _chain_lines(chain: OpChain) -> list[str]:
    lines = []
    for end in chain.launches:
        lines.append(f"    {end.kind:8} {_shown(end.kernel)}")
        lines.append(f"    {'':8} {_place(end.source)}  [{end.evidence}]")
        lines += [f"    {'':8} if {condition}" for condition in end.conditions]
        for kernel in end.kernels[:4]:
            why = f"  [unresolved: {kernel.reason}]" if kernel.reason else ""
            lines.append(f"    {'':8} -> {kernel.name}  {_place(kernel.source)}{why}")
        if len(end.kernels) > 4:
            lines.append(f"    {'':8} -> and {len(end.kernels) - 4} more")
    return lines


def as_text(answer: Where) -> str:
    """The answer for people."""
    head = f"{printable(answer.name[:200]) or '(empty)'}: {answer.kind}, {answer.status}"
    lines = [head + (f" ({answer.reason})" if answer.reason else "")]
    lines += _hop_lines(answer.hops)
    for chain in answer.chains if len(answer.chains) == 1 else ():
        if len(chain.launches) > 1:
            lines.append(f"  launches of {chain.op}")
            lines += _chain_lines(chain)
    if len(answer.chains) > 1:
        lines.append("  chains")
        for chain in answer.chains:
            end = next((hop for hop in reversed(chain.hops) if hop.source is not None), None)
            where = _place(end.source) if end is not None else "-"
            lines.append(f"    {chain.python} [{chain.module}] -> {where}  [{chain.launch}]")
    if len(answer.routes) > 1:
        lines.append("  reaches")
        for route in answer.routes:
            lines.append(f"    {route.kind:7} {route.to}")
            lines += [f"            {_place(hop.source)}  {hop.name}" for hop in route.hops]
    if answer.ops and len(answer.chains) != 1:
        lines.append("  ops  " + ", ".join(answer.ops[:12]))
    if answer.instances:
        lines.append("  instances")
        for match in answer.instances:
            lines.append(f"    {match.instance}  {match.file}:{match.line}")
            lines += [f"      {file}:{line}" for file, line in match.rows]
    if answer.core_flow:
        shared = " (the same for every instance of the family)" if answer.core_flow[0].shared else ""
        lines.append(f"  core flow{shared}")
        for number, step in enumerate(answer.core_flow, 1):
            lines.append(f"    {number:2}. {step.text}  {_place(step.source)}")
    if answer.candidates:
        lines.append("  candidates")
        for candidate in answer.candidates:
            note = f"  {candidate.note}" if candidate.note else ""
            lines.append(f"    {candidate.name}  {_place(candidate.source)}{note}")
    lines += [f"  note  {note}" for note in answer.notes]
    return "\n".join(lines)


@click.command()
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--coverage", is_flag=True, help="How far every declared op is led, by module and in total.")
@click.option("--aiter", "aiter_path", **AITER)
@click.option("--json", "json_", is_flag=True, help="One JSON object a name (docs/where.md).")
def command(names: tuple[str, ...], coverage: bool, aiter_path: Path | None, json_: bool) -> int:
    """Lead an op, a function, a kernel, an instance or a code object to its source, line by line.

    The exit code is 1 where the tree has nothing of any name that was asked for.
    """
    if coverage == bool(names):
        raise UsageError("where takes names or --coverage", expected="one of them")
    with opened_index(aiter_path) as index:
        if coverage:
            from tracer.cli.where_coverage import show

            show(index, json_=json_)
            return 0
        finder = Finder(index)
        known = False
        for name in names:
            answer = find(finder, name)
            known = known or answer.reason is not UnresolvedReason.NO_SUCH_NAME
            click.echo(encode(as_json(answer, index)) if json_ else as_text(answer))
        return 0 if known else 1
