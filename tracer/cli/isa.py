"""`ktrace isa FILE... | OP --shape ...`: compiled code in; its kernels, resources, occupancy and instructions out."""

from __future__ import annotations

import fnmatch
import sys
from collections.abc import Callable
from pathlib import Path

import click

from tracer.cli.isa_answers import call_answer, failed_answer, file_answer, kernel_answers
from tracer.cli.isa_text import call_text, file_text
from tracer.cli.name_answers import encode
from tracer.cli.options import AITER
from tracer.codeobjects.disassembly import Disassembler, disassemble, find_disassemblers
from tracer.codeobjects.files import CodeFile, read_code_file
from tracer.codeobjects.kernel import CodeObject, KernelCode
from tracer.codeobjects.machine import machine_targets
from tracer.codeobjects.module import BuiltModule
from tracer.codeobjects.targets import TargetId, parse_target
from tracer.codeobjects.verdict import Verdict
from tracer.devices.registry import device_named
from tracer.errors import CodeObjectError, KtraceError, RecordError, SourceTreeError, UsageError
from tracer.model.capture import CaptureRecord
from tracer.model.environment import Target

_SUFFIXES = (".co", ".hsaco", ".so", ".amdgcn", ".ptx", ".s", ".S", ".json", ".o", ".hipfb")


@click.command()
@click.argument("inputs", nargs=-1, metavar="FILE... | OP")
@click.option("--kernel", "globs", multiple=True, metavar="GLOB", help="Only kernels whose name fits; may be repeated.")
@click.option(
    "--target", metavar="ARCH", help="What it is to run on: gfx942, gfx950, gfx942:xnack-. Default: the GPU here."
)
@click.option("--cu-num", type=click.IntRange(1, 4096), help="CUs of the target: which tuned rows a module must have.")
@click.option(
    "--aiter",
    "aiter_path",
    **{**AITER, "help": "The aiter that built modules are held against; default: the installed package."},
)
@click.option("--arguments", is_flag=True, help="List the arguments of every kernel.")
@click.option("--count/--no-count", default=True, help="Count instructions with llvm-objdump, where one is at hand.")
@click.option("--shape", "shapes", multiple=True, metavar="SHAPE", help="Of an OP: as for ktrace run.")
@click.option("--arg", "call_arguments", multiple=True, metavar="NAME=VALUE", help="Of pkg.mod:fn: as for ktrace run.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="Of an OP: one of its options.")
@click.option("--config", "config_text", metavar="JSON", help="Of an OP: an explicit kernel configuration.")
@click.option("--timeout", "timeout_s", type=click.IntRange(1), default=600, help="Of an OP: seconds it may take.")
@click.option("--json", "json_", is_flag=True, help="One JSON object an input (docs/json.md).")
def command(
    inputs: tuple[str, ...],
    globs: tuple[str, ...],
    target: str | None,
    cu_num: int | None,
    aiter_path: Path | None,
    arguments: bool,
    count: bool,
    shapes: tuple[str, ...],
    call_arguments: tuple[str, ...],
    options: tuple[str, ...],
    config_text: str | None,
    timeout_s: int,
    json_: bool,
) -> int:
    """Show the kernels of code objects, built modules, assembly text and records, or of an op that is dry-run.

    A built module of aiter is held against the tuned CSVs and instance tables at hand: stale, wrong target, or current.
    """
    if not inputs:
        raise UsageError("no input was given", expected="FILE... or OP --shape ...", hint="ktrace isa --help")
    wanted = _target(target)
    tools = find_disassemblers() if count else ()
    failed = 0

    def show(record: CaptureRecord, code: CodeObject) -> None:
        answers = kernel_answers((code,), _chosen(globs), None)
        _put(encode(call_answer(record, code, answers)) if json_ else call_text(record, code, answers))

    for i, given in enumerate(inputs):
        try:
            if _is_file(given):
                file = read_code_file(Path(given), _counter(tools, globs) if count else None)
                answers = kernel_answers(file.objects, _chosen(globs), wanted)
                verdict, why = _verdict(file, wanted, cu_num, aiter_path)
                if json_:
                    _put(encode(file_answer(file, answers, verdict, why)))
                else:
                    said = _uncounted(file, tools, count=count, globs=globs)
                    _put(file_text(file, answers, verdict, why, said=said, arguments=arguments))
            else:
                from tracer.cli.isa_call import dry_code

                failed += dry_code(
                    given,
                    shapes=shapes,
                    options=options,
                    arguments=call_arguments,
                    config_text=config_text,
                    target=target,
                    cu_num=cu_num,
                    aiter_path=aiter_path,
                    timeout_s=timeout_s,
                    show=show,
                )
        except (CodeObjectError, RecordError) as error:
            if len(inputs) == 1 and not json_:
                raise
            failed += 1
            _say(error, given, json_=json_)
        if not json_ and i + 1 < len(inputs):
            _put("")
    return 1 if failed else 0


def _put(line: bytes | str) -> None:
    """Writes a line: JSON as it is, text in the terminal's own encoding."""
    if isinstance(line, str):
        line = line.encode(sys.stdout.encoding or "utf-8", "backslashreplace")
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.flush()


def _say(error: KtraceError, given: str, *, json_: bool) -> None:
    if json_:
        _put(encode(failed_answer(given, error)))
    else:
        click.echo(f"ktrace: error: {error}", err=True)


def _is_file(given: str) -> bool:
    """Whether an input names a file: one that is there, or a name that no op could have."""
    return Path(given).is_file() or given.endswith(_SUFFIXES) or "/" in given


def _target(text: str | None) -> TargetId | None:
    if text is None:
        return None
    found = parse_target(text)
    if found is None and not text.startswith("sm_"):
        part = device_named(text)
        raise UsageError(
            f"{text!r} is no target",
            expected="gfx942, gfx950, gfx942:sramecc+:xnack-, sm_90, ...",
            hint=f"the target of {part.key} is {part.arch}" if part is not None else None,
        )
    return found or TargetId(arch=text)


def _chosen(globs: tuple[str, ...]) -> Callable[[KernelCode], bool]:
    """Whether a kernel was asked for: by its name, mangled or not; a pattern without wildcard fits any part of it."""
    if not globs:
        return lambda kernel: True
    from tracer.names import registry

    patterns = [glob if any(c in glob for c in "*?[") else f"*{glob}*" for glob in globs]

    def fits(kernel: KernelCode) -> bool:
        names = (kernel.name, registry.decode(kernel.name).spelled)
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns for name in names)

    return fits


def _counter(
    tools: tuple[Disassembler, ...], globs: tuple[str, ...]
) -> Callable[[bytes, CodeObject], CodeObject] | None:
    """Counts instructions of a code object on its own; of one among many in a module only where a kernel was picked."""
    if not tools:
        return None
    fits = _chosen(globs)

    def count(content: bytes, code: CodeObject) -> CodeObject:
        if code.entry is not None and not (globs and any(map(fits, code.kernels))):
            return code
        return disassemble(tools, content, code)

    return count


def _uncounted(file: CodeFile, tools: tuple[Disassembler, ...], *, count: bool, globs: tuple[str, ...]) -> str | None:
    """Why instructions of code objects are not counted, where that is not a kernel's own note; None otherwise."""
    if not count or all(kernel.instructions is not None or kernel.notes for kernel in file.kernels):
        return None
    if file.kind.value == "record":
        return None
    if not tools:
        return "instructions are not counted: no llvm-objdump on PATH or under /opt/rocm"
    return None if globs else "instructions inside a module are counted for the kernels that --kernel picks"


def _verdict(
    file: CodeFile, wanted: TargetId | None, cu_num: int | None, aiter_path: Path | None
) -> tuple[Verdict | None, str | None]:
    """What a built module is worth, or why nobody can say."""
    if file.module is None:
        return None, None
    from tracer.aiter.tree import AiterTree, default_environment
    from tracer.resolve.built_modules import judge_module

    here = machine_targets() if wanted is None else ()
    targets = (wanted,) if wanted is not None else tuple(TargetId(arch=gpu.arch) for gpu in here)
    if wanted is not None:
        rows = Target(arch=wanted.arch, compute_units=cu_num)
    else:
        rows = here[0] if here else Target(arch=_own(file.module), compute_units=None)
        rows = Target(arch=rows.arch, compute_units=cu_num or rows.compute_units)
    try:
        tree = AiterTree.find(aiter_path)
        return judge_module(tree, file.module, default_environment(), target=rows, wanted=targets), None
    except SourceTreeError as error:
        return None, f"not held against an aiter: {error.message}"


def _own(module: BuiltModule) -> str | None:
    return next((target.arch for target in module.targets if target.arch), None)
