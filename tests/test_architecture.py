"""The page on architecture: the rooms that are there, in the order of the import contract, and files that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


def rooms() -> list[list[str]]:
    """The rooms of the page's table, a list a line, bottom to top."""
    lines = PAGE.partition("| room |")[2].partition("\n\n")[0].splitlines()[2:]
    return [re.findall(r"`(\w+)`", line.split("|")[1]) for line in lines]


def test_the_rooms_stand_in_the_order_of_the_import_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert [sorted(line) for line in rooms()] == [
        sorted(name.strip().removeprefix("tracer.") for name in layer.split("|")) for layer in reversed(layers)
    ]


def test_every_room_that_is_there_is_named() -> None:
    there = {
        path.stem for path in (ROOT / "tracer").iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert {name for line in rooms() for name in line} == {name for name in there if not name.startswith("__")}


def test_every_module_that_the_page_names_is_there() -> None:
    named = re.findall(r"`([\w/]+\.py)`", PAGE)
    assert named
    known = [path.relative_to(ROOT / "tracer").as_posix() for path in (ROOT / "tracer").rglob("*.py")]
    assert [name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in known)] == []
