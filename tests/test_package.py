"""The package's public face: what it lists, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

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


@pytest.mark.parametrize(
    "arguments",
    [
        ["decode", "a8w8_blockscale_1x128x128", "--json"],
        ["ops"],
        ["devices"],
        ["--help"],
        ["run", "gemm_a8w8_blockscale", "--help"],
    ],
    ids=" ".join,
)
def test_light_commands_load_neither_torch_nor_triton(arguments: list[str]) -> None:
    code = f"from tracer.cli.main import main\ntry:\n    main({arguments!r})\nexcept SystemExit as left:\n    assert not left.code"
    assert not loaded_by(code) & HEAVY


def test_decoding_a_name_loads_no_renderer() -> None:
    code = "from tracer.cli.main import main\ntry:\n    main(['decode', 'x'])\nexcept SystemExit as left:\n    assert not left.code"
    assert not loaded_by(code) & {"jinja2", "libcst", "tree_sitter", "elftools", "tomllib"}
