"""What every command has in common: exit codes, errors without tracebacks, the short form of `run`."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from tests.cli.conftest import Answer
from tracer.cli.main import VERBS, cli

Ktrace = Callable[..., Answer]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_a_command_with_help(ktrace: Ktrace, verb: str) -> None:
    answer = ktrace(verb, "--help")
    assert answer.code == 0
    assert "Usage: ktrace" in answer.out


def test_the_list_of_verbs_names_each_with_its_purpose(ktrace: Ktrace) -> None:
    answer = ktrace("--help")
    assert answer.code == 0
    for verb in VERBS:
        assert f"  {verb} " in answer.out


def test_no_arguments_shows_the_help_and_is_wrong_usage(ktrace: Ktrace) -> None:
    assert ktrace().code == 2


def test_a_name_that_is_no_verb_is_taken_for_an_op_and_the_nearest_ops_are_offered(ktrace: Ktrace) -> None:
    answer = ktrace("gemm_a8w8_blokscale", "--shape", "1,2,3")
    assert answer.code == 2
    assert "gemm_a8w8_blokscale" in answer.err
    assert "gemm_a8w8_blockscale" in answer.err
    assert "Traceback" not in answer.err


def test_the_help_lists_the_option_that_an_internal_error_names(ktrace: Ktrace) -> None:
    assert "--debug" in ktrace("--help").out


def test_an_unknown_option_is_wrong_usage(ktrace: Ktrace) -> None:
    answer = ktrace("decode", "--nothing-like-this")
    assert answer.code == 2
    assert "nothing-like-this" in answer.err


def test_an_error_of_ours_is_explained_without_a_traceback(ktrace: Ktrace, tmp_path: Path) -> None:
    answer = ktrace("render", str(tmp_path / "nothing.json"), "--out", str(tmp_path))
    assert answer.code != 0
    assert "nothing.json" in answer.err
    assert "Traceback" not in answer.err


def test_debug_shows_the_traceback_of_an_error_of_ours_and_keeps_its_exit_code(ktrace: Ktrace) -> None:
    answer = ktrace("no_such_op", "--debug")
    assert answer.code == 2
    assert "Traceback" in answer.err
    assert "ktrace: error: there is no op called 'no_such_op'" in answer.err


def test_a_fault_of_ours_is_named_and_debug_shows_the_traceback(
    ktrace: Ktrace, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("tracer.cli.ops")

    @click.command()
    def broken() -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(module, "command", broken)
    answer = ktrace("ops")
    assert answer.code == 1
    assert "internal error: RuntimeError: a bug" in answer.err
    assert "--debug" in answer.err
    with pytest.raises(RuntimeError, match="a bug"):
        importlib.import_module("tracer.cli.main").main(["ops", "--debug"])


def test_the_group_lists_exactly_the_verbs() -> None:
    assert cli.list_commands(click.Context(cli)) == list(VERBS)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
def test_output_that_finds_no_room_is_an_error_with_a_next_step() -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "tracer", "devices"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("ktrace: error: the output can't be written: ")
    assert "internal error" not in done.stderr
