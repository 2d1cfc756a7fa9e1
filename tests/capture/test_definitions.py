"""Where a function's `def` stands, below whatever decorates it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from tracer.capture.definitions import Definition, definition_of
from tracer.model.source import Decorator

SOURCE = """\
def compile_ops(*_, **__):
    return lambda function: function


torch_compile_guard = compile_ops


@torch_compile_guard(
    # def guarded(: a comment is no definition
    gen_fake=None,
)
@compile_ops("module_x", fc_name="y")
def guarded(x):
    pass


def plain(x):
    def inner():
        pass
    return inner


class Kept:
    @staticmethod
    async def method():
        pass


made = (lambda:
        0)
"""


@pytest.fixture
def module(tmp_path: Path) -> ModuleType:
    path = tmp_path / "decorated.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("decorated", path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def line_of(text: str) -> int:
    return SOURCE[: SOURCE.index(text)].count("\n") + 1


def test_a_decorated_function_is_defined_at_its_def_and_aiters_decorators_are_told(module: ModuleType) -> None:
    code = module.guarded.__code__
    assert code.co_firstlineno == line_of("@torch_compile_guard(")
    assert definition_of(code) == Definition(
        line_of("def guarded(x)"),
        (
            Decorator("torch_compile_guard", line_of("@torch_compile_guard(")),
            Decorator("compile_ops", line_of("@compile_ops(")),
        ),
    )


def test_other_decorators_are_passed_over_and_not_told(module: ModuleType) -> None:
    assert definition_of(module.Kept.method.__code__) == Definition(line_of("async def method"))


def test_an_undecorated_function_and_a_lambda_keep_their_line(module: ModuleType) -> None:
    assert definition_of(module.plain.__code__) == Definition(line_of("def plain"))
    assert definition_of(module.made.__code__) == Definition(line_of("(lambda:"))


@pytest.mark.parametrize("there", [False, True])
def test_a_file_that_is_gone_or_another_one_leaves_the_first_line(tmp_path: Path, there: bool) -> None:
    path = tmp_path / "changed.py"
    code = compile("@staticmethod\ndef f():\n    pass\n", str(path), "exec").co_consts
    if there:
        path.write_text("@staticmethod\ndef renamed():\n    pass\n")
    function = next(const for const in code if isinstance(const, CodeType))
    assert definition_of(function) == Definition(1)
