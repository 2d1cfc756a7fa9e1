"""`ktrace check OP --shape ... | --log FILE | --lint`: what aiter's tuned configs hold, and why they miss."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from tracer.aiter.aiter_log import LoggedLookup, read_log
from tracer.aiter.compiled import compiled_in
from tracer.aiter.findings import LintResult, Severity
from tracer.aiter.lint import lint
from tracer.aiter.lint_kernels import ARCH_OF_CU_NUM
from tracer.aiter.lookups import FUSED_MOE, lookup_rule, ops
from tracer.aiter.tree import AiterTree, default_environment
from tracer.aiter.tuned import lookup
from tracer.capture.targets import target_facts
from tracer.cli.check_answers import as_json, as_text, finding_json
from tracer.cli.op_arguments import shapes_of
from tracer.cli.options import AITER
from tracer.errors import GateError, UsageError
from tracer.model.environment import Target
from tracer.model.roofline import Work
from tracer.model.source import MissReason, TunedStatus
from tracer.ops.base import Dim, Op, Options, Shape, TensorFactory
from tracer.ops.registry import OPS

_KNOWN = f"one of {', '.join(ops())}"
_NOTHING_LOGGED = (
    "{log} has no line by which aiter says what it looked up in a tuned config "
    "(it logs hits only with AITER_LOG_TUNED_CONFIG=1)"
)
_BATCH = Dim("B", "batch")
_MNK = (Dim("M", "rows of the activations"), Dim("N", "rows of the weight"), Dim("K", "columns of both"))
_MOE = (
    Dim("token", "tokens"),
    Dim("model_dim", "columns of the hidden states"),
    Dim("inter_dim", "columns of an expert's inner state"),
    Dim("expert", "experts"),
    Dim("topk", "experts a token"),
)


class _ShapeOnly(Op):
    """An op of which only the shape is read: a look-up takes shapes that the op itself would refuse."""

    def __init__(self, name: str, dims: tuple[Dim, ...]) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "dims", dims)

    def inputs(self, shape: Shape, options: Options, factory: TensorFactory) -> dict[str, Any]:
        raise NotImplementedError

    def call(self, inputs: Mapping[str, Any], options: Options, config: Mapping[str, Any] | None) -> Any:
        raise NotImplementedError

    def work(self, shape: Shape, options: Options) -> Work:
        raise NotImplementedError


@click.command()
@click.argument("op", required=False)
@click.option(
    "--shape", "shapes", multiple=True, metavar="SHAPE", help="128,1536,7168 or M=128,N=1536,K=7168 or @file."
)
@click.option("--key", "keys", multiple=True, metavar="COLUMN=VALUE", help="Another key column: q_dtype_w=torch.int8.")
@click.option("--log", "log", type=click.Path(path_type=Path), help="A log of aiter: which shapes missed, and why.")
@click.option("--lint", "lint_", is_flag=True, help="Check every tuned CSV that this aiter reads.")
@click.option("--target", metavar="ARCH", help="gfx942 (default) or gfx950.")
@click.option("--cu-num", type=click.IntRange(1, 4096), help="CUs of the target (gfx942: 304, or 80 for an MI308X).")
@click.option("--device", metavar="NAME", help="The part: MI300X, MI308X, MI355X, ...")
@click.option("--aiter", "aiter_path", **AITER)
@click.option("--fail-on", type=click.Choice(["miss", "lint"]), multiple=True, help="Exit code 3 when there is one.")
@click.option("--all", "all_", is_flag=True, help="With --lint: also findings by which nothing is lost.")
@click.option("--json", "json_", is_flag=True, help="JSON Lines (docs/json.md).")
def command(
    op: str | None,
    shapes: tuple[str, ...],
    keys: tuple[str, ...],
    log: Path | None,
    lint_: bool,
    target: str | None,
    cu_num: int | None,
    device: str | None,
    aiter_path: Path | None,
    fail_on: tuple[str, ...],
    all_: bool,
    json_: bool,
) -> None:
    """Say what aiter's tuned configs hold for a shape, what its log says was missed, or what is wrong in them."""
    if (op is not None) + (log is not None) + lint_ != 1:
        raise UsageError(
            "check takes an op, --log FILE or --lint", expected="one of them", hint=f"ops: {', '.join(ops())}"
        )
    tree = AiterTree.find(aiter_path)
    if lint_:
        _lint(tree, json_=json_, everything=all_, gate="lint" in fail_on)
        return
    on = target_facts(target, cu_num, device).target
    if op is not None:
        name = _op(op)
        if name in ops():
            answers = [_ask(tree, name, key, on) for key in _keys(name, shapes, keys)]
        else:
            answers = [_idle(name, on)]
    else:
        assert log is not None
        answers = _ask_log(tree, log, on)
    for answer in answers:
        click.echo(msgspec.json.encode(answer).decode() if json_ else as_text(answer))
    asked = [answer for answer in answers if answer["reason"] != MissReason.NOT_CONSULTED]
    missed = [answer for answer in asked if answer["status"] == TunedStatus.MISS]
    if log is not None and not answers:
        click.echo(_NOTHING_LOGGED.format(log=log), err=json_)
    if asked and not json_:
        click.echo(f"{len(asked) - len(missed)} hit, {len(missed)} missed, on {on.arch} with {on.compute_units} CUs")
    if "miss" in fail_on and missed:
        raise GateError(
            f"{len(missed)} of {len(asked)} shapes missed their tuned config", expected="no miss (--fail-on miss)"
        )


def _op(given: str) -> str:
    """The look-up that an op makes: its own, or that of its part; an op of ktrace that makes none stays itself."""
    if given in ops():
        return given
    names = [*ops(), *(known.name for known in OPS)]
    part = next(
        (name for name in sorted(ops(), key=len, reverse=True) if given in names and given.endswith(name)), None
    )
    if part is not None:
        return part
    if given in names:
        return given
    near = difflib.get_close_matches(given, dict.fromkeys(names), 3)
    raise UsageError(
        f"there is no op {given!r} whose tuned config can be checked",
        expected=_KNOWN,
        hint=f"did you mean {' or '.join(near)}?" if near else None,
    )


def _keys(op: str, shapes: Iterable[str], keys: Iterable[str]) -> list[dict[str, str]]:
    more: dict[str, str] = {}
    for text in keys:
        column, sign, value = text.partition("=")
        if not sign or not column:
            raise UsageError(f"--key {text!r} is no COLUMN=VALUE", expected="for example q_dtype_w=torch.int8")
        more[column.strip()] = value.strip()
    dims = _MOE if op == FUSED_MOE else (_BATCH, *_MNK) if op.startswith("batched_") else _MNK
    given = shapes_of(_ShapeOnly(op, dims), shapes, more, elsewhere="--key, --target and --cu-num")
    return [{**{k: str(v) for k, v in shape.items()}, **more} for shape in given]


def _ask(tree: AiterTree, op: str, key: Mapping[str, str], target: Target) -> dict[str, Any]:
    try:
        found = lookup(tree, op, dict(key), target, default_environment())
    except KeyError as error:
        columns = lookup_rule(tree, op).keys[0]
        raise UsageError(
            f"{op} looks its config up by {', '.join(columns)}; no value is known for {error}",
            hint=f"--key {error.args[0]}=VALUE",
        ) from None
    return as_json(tree, op, key, target, compiled_in(tree, op, found, target))


def _idle(op: str, target: Target) -> dict[str, Any]:
    """The answer for an op that looks no tuned config up."""
    base: dict[str, Any] = {"op": op, "key": {}, "target": target.arch, "cu_num": target.compute_units}
    return {**base, "status": TunedStatus.MISS, "reason": MissReason.NOT_CONSULTED}


def _ask_log(tree: AiterTree, log: Path, target: Target) -> list[dict[str, Any]]:
    try:
        with log.open(encoding="utf-8", errors="replace") as file:
            logged = read_log(tree, file, default_environment())
    except OSError as error:
        raise UsageError(f"the log {log} can't be read: {error.strerror or error}", expected="a text file") from None
    return [_of_log(tree, entry, target) for entry in logged]


def _of_log(tree: AiterTree, entry: LoggedLookup, target: Target) -> dict[str, Any]:
    """One shape of a log, with what the files at hand say of it. What aiter itself said stands under `log`."""
    said = {
        "hit": entry.hit,
        "padded_m": entry.padded_m,
        "kernel": entry.kernel,
        "file": entry.file,
        "line": entry.line,
        "count": entry.count,
    }
    on = target
    if entry.cu_num not in (None, target.compute_units):
        arch = ARCH_OF_CU_NUM.get(entry.cu_num or 0, target.arch)
        on = msgspec.structs.replace(target, arch=arch, compute_units=entry.cu_num)
    if entry.op is None:
        status = TunedStatus.EXACT if entry.hit else TunedStatus.MISS
        base = {"op": None, "key": entry.key, "target": on.arch, "cu_num": on.compute_units, "status": status}
        return {**base, "reason": None, "log": said, "disagrees": None}
    answer = _ask(tree, entry.op, entry.key, on)
    return {**answer, "log": said, "disagrees": entry.hit is (answer["status"] == TunedStatus.MISS)}


def _lint(tree: AiterTree, *, json_: bool, everything: bool, gate: bool) -> None:
    result: LintResult = lint(tree, default_environment())
    shown = [f for f in result.findings if everything or f.severity is not Severity.INFO]
    for finding in shown:
        if json_:
            click.echo(msgspec.json.encode(finding_json(finding)).decode())
        else:
            place = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
            other = f" [{finding.other}]" if finding.other else ""
            click.echo(f"{place}: {finding.severity}: {finding.kind}: {finding.message}{other}")
    errors = sum(finding.severity is Severity.ERROR for finding in result.findings)
    if not json_:
        hidden = len(result.findings) - len(shown)
        click.echo(
            f"{result.rows} rows: {errors} errors, {len(shown) - errors} warnings"
            + (f", {hidden} more by which nothing is lost (--all)" if hidden else "")
            + (f"; {result.unchecked} kernel names not looked up" if result.unchecked else "")
        )
    if gate and errors:
        raise GateError(f"{errors} errors in aiter's tuned CSVs", expected="no error (--fail-on lint)")
