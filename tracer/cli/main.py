"""The command line: `ktrace VERB ...`, and `ktrace OP ...` as the short form of `ktrace run OP ...`.

A verb is a module beside this one that holds a click command called `command`; it is imported only when it is asked
for, so that `ktrace decode` stays as quick as an interpreter start.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys

import click

from tracer.errors import KtraceError

#: what the system says where there is no room to write
_FULL = (errno.ENOSPC, errno.EDQUOT)
#: verb -> one line for --help; the module tracer.cli.<verb> holds it
VERBS = {
    "run": "Run (or dry-run) an op, follow it to its kernel, and write its page.",
    "render": "Write pages again from stored records.",
    "decode": "Read kernel names, instance names or symbols into typed fields.",
    "glossary": "Say what the fields of decoded names mean.",
    "import": "Summarise traces that somebody recorded, and write pages of what is picked in them.",
    "diff": "Compare two traces or records: kernels that changed, by decoded fields, with times.",
    "where": "Lead an op, a function, a kernel or an instance to its source, line by line.",
    "symbols": "Print the kernel symbols of a CK instance, or the one that runs for a shape.",
    "check": "Check aiter's tuned configs: a shape, a log, or all of its files.",
    "isa": "Show kernels, registers, occupancy and instructions of compiled code.",
    "site": "Make, build or serve the site of pages.",
    "ops": "List the ops that ktrace can run.",
    "devices": "List the devices ktrace knows, with the source of every figure.",
    "doctor": "Say what this machine can do, and what is missing.",
}


class Verbs(click.Group):
    """Loads verbs lazily and takes an op's name as the short form of `run`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order of the help text."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports the module of a verb."""
        if cmd_name not in VERBS:
            return None
        module = "import_" if cmd_name == "import" else cmd_name  # a keyword can't be imported
        command = importlib.import_module(f"tracer.cli.{module}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Turns `OP ...` into `run OP ...`."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            args = ["run", *args]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of verbs without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


def _show_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        from tracer.versions import ktrace_version  # loads `packaging`, which costs as much as the rest of a start

        click.echo(f"ktrace, version {ktrace_version()}")
        ctx.exit()


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks of errors; may stand anywhere.")
def cli() -> None:
    """Which line of Python ends in which GPU kernel, what its name says, how fast it could be, and why it was chosen.

    ktrace OP --shape ... is short for ktrace run OP --shape ...
    """


def _fail(error: KtraceError) -> int:
    click.echo(f"ktrace: error: {error.message}", err=True)
    if error.expected:
        click.echo(f"  expected: {error.expected}", err=True)
    if error.hint:
        click.echo(f"  next step: {error.hint}", err=True)
    return error.exit_code


def main(argv: list[str] | None = None) -> None:
    """Runs the command line and leaves with its exit code: 0 done, 1 failed, 2 wrong usage, 3 a gate did not hold.

    `--debug` anywhere on the line shows tracebacks.
    """
    args = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in args or bool(os.environ.get("KTRACE_DEBUG"))
    args = [a for a in args if a != "--debug"]
    try:
        code = cli.main(args=args, prog_name="ktrace", standalone_mode=False)
    except KtraceError as error:
        if debug:
            sys.excepthook(type(error), error, error.__traceback__)
        code = _fail(error)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = 2
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("ktrace: stopped", err=True)
        code = 130
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - the reader is gone; nothing more can be said to it
        code = 0
    except OSError as error:
        if debug:
            raise
        if error.errno not in _FULL:
            code = _internal(error)
        else:
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - what is left in it can't be written either
            where = error.filename or "the output"
            why = f"{where} can't be written: {error.strerror}"
            code = _fail(KtraceError(why, hint="make room, or write elsewhere"))
    except Exception as error:
        if debug:
            raise
        code = _internal(error)
    sys.exit(code if isinstance(code, int) else 0)


def _internal(error: Exception) -> int:
    """The last door: no traceback reaches a user who did not ask for it."""
    click.echo(f"ktrace: internal error: {type(error).__name__}: {error}", err=True)
    click.echo("  next step: run it again with --debug and report what it prints", err=True)
    return 1
