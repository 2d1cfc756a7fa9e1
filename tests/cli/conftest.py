"""Runs the command line in this process and keeps what it printed."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from tracer.cli.main import main


class Answer(msgspec.Struct, frozen=True):
    """What a command came to."""

    code: int
    out: str
    err: str


@pytest.fixture
def ktrace(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Calls `ktrace` with arguments; gives exit code, standard output and standard error."""

    def run(*arguments: str) -> Answer:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main(list(arguments))
        printed = capsys.readouterr()
        return Answer(int(left.value.code or 0), printed.out, printed.err)

    return run
