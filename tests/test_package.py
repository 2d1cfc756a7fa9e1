"""The package's public face: what it lists, and what importing it costs."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

import tracer

HEAVY = {"torch", "triton", "aiter", "pandas", "numpy", "mkdocs"}


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after `code`."""
    script = f"import sys\n{code}\nprint(' '.join(sorted({{m.partition('.')[0] for m in sys.modules}})))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.splitlines()[-1].split())


def test_every_public_name_is_there_and_listed_once() -> None:
    assert len(set(tracer.__all__)) == len(tracer.__all__)
    for name in tracer.__all__:
        assert getattr(tracer, name) is not None
    assert dir(tracer) == sorted(tracer.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_like_this"):
        _ = tracer.nothing_like_this


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert not loaded_by("import tracer") & (HEAVY | {"msgspec", "click", "jinja2"})


INSTANCE = "a8w8_blockscale_1x128x128_256x16x128x256_16x16_16x16_16x16x1_16x16x1_1x16x1x16_8_1x2_intrawave_v1"
TRACE = str(Path(__file__).parent / "data" / "traces" / "h200_eager_stack.json.gz")


def loaded_by_command(arguments: list[str]) -> set[str]:
    """The modules that a command has loaded when it is done; it must succeed."""
    lines = ("from tracer.cli.main import main", "try:", f"    main({arguments!r})", "except SystemExit as left:")
    return loaded_by("\n".join((*lines, "    assert not left.code")))


@pytest.mark.parametrize(
    "arguments",
    [
        ["decode", "a8w8_blockscale_1x128x128", "--json"],
        ["ops"],
        ["devices"],
        ["--help"],
        ["run", "gemm_a8w8_blockscale", "--help"],
        ["import", TRACE, "--json"],
        pytest.param(["check", "gemm_a8w8_blockscale", "--shape", "128,1536,7168"], marks=pytest.mark.aiter),
        pytest.param(["symbols", INSTANCE], marks=pytest.mark.aiter),
        pytest.param(["where", "gemm_a8w8_blockscale"], marks=pytest.mark.aiter),
    ],
    ids=lambda arguments: arguments[0],
)
def test_light_commands_load_neither_torch_nor_triton(
    arguments: list[str], request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if request.node.get_closest_marker("aiter") and importlib.util.find_spec("aiter") is None:
        pytest.skip("aiter is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KTRACE_AITER", raising=False)
    assert not loaded_by_command(arguments) & HEAVY


def test_decoding_a_name_loads_no_renderer() -> None:
    assert not loaded_by_command(["decode", "x"]) & {"jinja2", "libcst", "tree_sitter", "elftools", "tomllib"}


@pytest.mark.aiter
def test_decoding_a_ck_symbol_loads_no_reader_of_sources() -> None:
    if importlib.util.find_spec("aiter") is None:
        pytest.skip("aiter is not installed")
    lines = (Path(__file__).parent / "data/ck_symbols.jsonl").read_bytes().splitlines()
    symbol = json.loads(lines[0])["symbols"][0]
    assert not loaded_by_command(["decode", symbol]) & {"jinja2", "libcst", "tree_sitter"}
