"""The build hook: compiled modules where there is a compiler, an install without them where there is none."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from unittest import mock

import pytest

ROOT = Path(__file__).parent.parent
SUFFIX = str(sysconfig.get_config_var("EXT_SUFFIX"))

pytest.importorskip("Cython")
pytest.importorskip("setuptools")


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    """The hook, which imports hatchling's interface when it is loaded."""
    interface = ModuleType("hatchling.builders.hooks.plugin.interface")
    interface.BuildHookInterface = object  # type: ignore[attr-defined]
    parents = ("hatchling", "hatchling.builders", "hatchling.builders.hooks", "hatchling.builders.hooks.plugin")
    stand_ins = {name: ModuleType(name) for name in parents} | {interface.__name__: interface}
    spec = importlib.util.spec_from_file_location("compile_hook", ROOT / ".hooks" / "compile.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, stand_ins):
        spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A package with one small module to compile."""
    (tmp_path / "tracer").mkdir()
    (tmp_path / "tracer" / "__init__.py").touch()
    (tmp_path / "tracer" / "small.pyx").write_text("def answer():\n    return 42\n")
    return tmp_path


@pytest.mark.skipif(
    shutil.which("cc") is None or not Path(sysconfig.get_path("include"), "Python.h").exists(),
    reason="no C compiler, or no headers of Python, here",
)
def test_modules_are_compiled_beside_their_source(hook: ModuleType, tree: Path) -> None:
    assert hook.compile_modules(tree) == [Path("tracer", f"small{SUFFIX}")]
    assert sorted(path.name for path in tree.rglob("*") if path.is_file()) == [
        "__init__.py",
        f"small{SUFFIX}",
        "small.pyx",
    ]


@pytest.mark.parametrize("why", ["no compiler", "broken source", "no Cython"])
def test_where_compiling_fails_nothing_is_left_of_an_earlier_build_and_the_install_goes_on(
    hook: ModuleType, tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], why: str
) -> None:
    (tree / "tracer" / f"small{SUFFIX}").write_bytes(b"of an earlier build")
    if why == "no compiler":
        monkeypatch.setenv("CC", "/bin/false")
    elif why == "broken source":
        (tree / "tracer" / "small.pyx").write_text("def answer(:\n")
    else:
        monkeypatch.setitem(sys.modules, "Cython.Build", None)
    assert hook.compile_modules(tree) == []
    assert not list(tree.rglob("*.so"))
    assert "goes without compiled modules" in capsys.readouterr().err
