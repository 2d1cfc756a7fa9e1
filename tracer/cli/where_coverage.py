"""What `ktrace where --coverage` prints: counts by JIT module and in total, as a table or as one JSON object."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from tracer.index.tree_index import TreeIndex
from tracer.resolve.chain import Chains
from tracer.resolve.coverage import Count, Coverage, coverage

SCHEMA = "ktrace.where.coverage/1"
_HEAD = (
    f"{'module':52} {'ops':>4} | {'resolved':>8} {'inferred':>8} {'ambig.':>6} {'unres.':>6} | "
    f"{'resolved':>8} {'inferred':>8} {'host':>5} {'unres.':>6}  reasons"
)


def as_json(found: Coverage, index: TreeIndex) -> dict[str, Any]:
    """The documented object of `where --coverage --json` (docs/where.md)."""
    plain: dict[str, Any] = msgspec.to_builtins(found)
    tree = index.tree
    about = {
        "layout": tree.layout,
        "version": tree.version,
        "commit": tree.commit,
        "composable_kernel": tree.ck_root is not None,
    }
    return {"schema": SCHEMA, "tree": about, **plain}


def _line(count: Count) -> str:
    definition, launch = count.definition, count.launch
    reasons = ", ".join(f"{reason} {number}" for reason, number in sorted(count.reasons.items()))
    return (
        f"{count.module[:52]:52} {count.ops:4} | {definition.get('resolved', 0):8} {definition.get('inferred', 0):8} "
        f"{definition.get('ambiguous', 0):6} {definition.get('unresolved', 0):6} | {launch.get('resolved', 0):8} "
        f"{launch.get('inferred', 0):8} {launch.get('host_only', 0):5} {launch.get('unresolved', 0):6}  {reasons}"
    )


def as_text(found: Coverage) -> str:
    """The table for people."""
    total = found.total
    launching = total.ops - total.launch.get("host_only", 0)
    lines = [
        f"{'':52} {'':4} | {'C++ definition':31} | launch site or instance set",
        _HEAD,
        *(_line(count) for count in found.modules),
        "-" * len(_HEAD),
        _line(total),
        "",
        f"C++ definition: {total.definition.get('resolved', 0)} of {total.ops} resolved "
        f"({100 * total.definition_share:.1f} %)",
    ]
    if total.launch_share is not None:
        lines.append(
            f"launch site or instance set: {total.launch.get('resolved', 0)} of the {launching} that launch something "
            f"resolved ({100 * total.launch_share:.1f} %); {total.launch.get('host_only', 0)} launch nothing"
        )
    return "\n".join(lines)


def show(index: TreeIndex, *, json_: bool) -> None:
    """Prints the coverage of a tree."""
    found = coverage(Chains(index))
    click.echo(msgspec.json.encode(as_json(found, index)).decode() if json_ else as_text(found))
