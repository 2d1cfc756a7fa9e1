"""`ktrace run OP --shape ...`: a command an op, with its own options; arguments in, records, pages and answers out."""

from __future__ import annotations

import shlex
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click
import msgspec

from tracer.capture.protocol import CallRequest
from tracer.cli.answers import run_answer, run_text
from tracer.cli.op_arguments import explicit_config, shapes_of
from tracer.cli.options import AITER, LANG, OUT, languages
from tracer.errors import RenderError, UsageError
from tracer.model.capture import CaptureRecord
from tracer.ops.base import Op
from tracer.ops.callable import CallableOp, is_callable_path
from tracer.ops.registry import OPS, get_op

COMMON: tuple[click.Parameter, ...] = (
    click.Option(
        ["--shape", "shapes"],
        multiple=True,
        metavar="SHAPE",
        help="128,1536,7168 or M=128,N=1536,K=7168 or @shapes.csv (columns M,N,K); may stand several times.",
    ),
    click.Option(["--target"], metavar="ARCH", help="gfx942 or gfx950 (dry); live takes the GPU that is there."),
    click.Option(
        ["--cu-num"], type=click.IntRange(1, 4096), help="CUs of the target (gfx942: 304, or 80 for an MI308X)."
    ),
    click.Option(
        ["--device"], metavar="NAME", help="The part, for the roofline: MI300X, MI355X, ... (see ktrace devices)."
    ),
    click.Option(["--mode"], type=click.Choice(["live", "dry"]), help="Default: live where a GPU is, else dry."),
    click.Option(["--aiter", "aiter_path"], **AITER),
    click.Option(["--config", "config_text"], metavar="JSON", help="Explicit kernel configuration (Triton ops)."),
    click.Option(["--lang"], **LANG),
    click.Option(["--out"], **OUT),
    click.Option(["--timeout", "timeout_s"], type=click.IntRange(1), default=600, help="Seconds a capture may take."),
    click.Option(["--json", "json_"], is_flag=True, help="One JSON object a call (docs/json.md)."),
)


class OpCommands(click.Group):
    """A command an op: `ktrace run OP --help` shows the op's own options."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The ops, in registry order."""
        return [op.name for op in OPS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Builds the command of an op.

        Raises:
            UsageError: there is no such op; the nearest names are offered.
        """
        if is_callable_path(cmd_name):
            return _callable_command(cmd_name)
        op = get_op(cmd_name)
        own = [
            click.Option(
                [f"--{option.name.replace('_', '-')}", f"opt_{option.name}"],
                type=click.Choice(option.choices) if option.choices else None,
                default=option.default,
                show_default=True,
                help=option.meaning,
            )
            for option in op.options
        ]

        def callback(**given: Any) -> int:
            options = {option.name: given.pop(f"opt_{option.name}") for option in op.options}
            return run_op(op, options, (), **given)

        return click.Command(
            op.name, params=[*COMMON, *own], callback=callback, help=f"{op.summary}\n\nCalls {op.entry}."
        )


def _callable_command(path: str) -> click.Command:
    """The command of any importable callable: its arguments are typed as `--arg 'x=bf16[128,7168]'`."""
    argument = click.Option(
        ["--arg", "arguments"],
        multiple=True,
        metavar="NAME=VALUE",
        help="x=bf16[128,7168] (a tensor), x=bf16 (a dtype), x=aiter:QuantType.No (what a module holds), x=none, or "
        "JSON; may stand several times.",
    )

    def callback(arguments: tuple[str, ...], **given: Any) -> int:
        return run_op(CallableOp(path, arguments), {}, arguments, **given)

    return click.Command(
        path, params=[argument, *COMMON], callback=callback, help=f"Call {path} with the given arguments."
    )


@click.command(cls=OpCommands, context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Run (or dry-run) an op, follow it to its kernel, and write its page."""


def _command_line(
    op: Op, shape: dict[str, int], options: dict[str, str], arguments: tuple[str, ...], given: dict[str, str | None]
) -> str:
    """The command that makes one record again."""
    words = ["ktrace", op.name]
    if shape:
        words += ["--shape", ",".join(map(str, shape.values()))]
    for argument in arguments:
        words += ["--arg", argument]
    for option in op.options:
        if options[option.name] != option.default:
            words += [f"--{option.name.replace('_', '-')}", options[option.name]]
    for name, value in given.items():
        if value is not None:
            words += [f"--{name}", value]
    return shlex.join(words)


def _writable(out: Path) -> None:
    """Refuses an output folder that can't be written, before anything is run."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise RenderError(
            f"the output folder {out} can't be written: {error.strerror or error}", hint="choose another one with --out"
        ) from None


@contextmanager
def _orderly_end() -> Iterator[None]:
    """Takes a request to end as Ctrl-C is taken: the child ends, and its temporary folder goes."""

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    taken = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _load_renderer(languages: Sequence[str]) -> None:
    """Loads what writes pages, while the child imports the libraries to capture."""
    import tracer.render.publish  # noqa: F401
    from tracer.render.pages import read_ahead

    read_ahead(languages)


def _publish(record: CaptureRecord, out: Path, wanted: Sequence[str], *, json_: bool) -> None:
    """Writes the page of a record and says what it came to."""
    from tracer.render.publish import publish

    done = publish(record, out, wanted, refresh=False)
    if json_:
        answer = run_answer(done.report, page=str(done.page), record=str(done.record))
        click.echo(msgspec.json.encode(answer).decode())
    else:
        click.echo(run_text(done.report, page=str(done.page)))


def run_op(
    op: Op,
    options: dict[str, str],
    arguments: tuple[str, ...],
    *,
    shapes: tuple[str, ...],
    target: str | None,
    cu_num: int | None,
    device: str | None,
    mode: str | None,
    aiter_path: Path | None,
    config_text: str | None,
    lang: str,
    out: Path,
    timeout_s: int,
    json_: bool,
) -> int:
    """Captures every shape, writes a page for each, and says what came of it.

    Returns:
        0, or 1 when a call raised.
    """
    from tracer.capture.select import capture

    config = explicit_config(op, config_text)
    if shapes and not op.dims:
        raise UsageError(f"{op.name} takes no --shape", hint="give each tensor's shape: --arg 'x=bf16[128,7168]'")
    wanted = shapes_of(op, shapes, options) if op.dims else [{}]
    _writable(out)
    given = {
        "target": target,
        "cu-num": None if cu_num is None else str(cu_num),
        "device": device,
        "mode": mode,
        "aiter": None if aiter_path is None else "PATH",  # no path of this machine enters a record
        "config": config_text,
    }
    requests = [
        CallRequest(
            op=op.name,
            shape=shape,
            options=options,
            config=config,
            arguments=arguments,
            command=_command_line(op, shape, options, arguments, given),
        )
        for shape in wanted
    ]
    raised = 0

    def show(_: int, record: CaptureRecord) -> None:
        nonlocal raised
        raised += record.exception is not None
        _publish(record, out, languages(lang), json_=json_)

    try:
        with _orderly_end():
            capture(
                requests,
                mode=mode,
                target=target,
                cu_num=cu_num,
                device=device,
                aiter_path=aiter_path,
                timeout_s=timeout_s,
                on_record=show,
                meanwhile=lambda: _load_renderer(languages(lang)),
            )
    finally:
        if (out / "entries").is_dir():
            from tracer.render.publish import refresh_index

            refresh_index(out, languages(lang))
    if not json_:
        click.echo(f"\nsite: {out}   build it: ktrace site build {out}   read it: ktrace site serve {out}")
    return 1 if raised else 0
