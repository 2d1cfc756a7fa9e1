"""Trees for the tests of tracer.aiter: the installed wheel where there is one, and miniature trees of our own."""

from __future__ import annotations

from pathlib import Path

MARKS = {"__init__.py": "", "jit/core.py": "", "jit/optCompilerConfig.json": "{}"}


def write_package(root: Path) -> Path:
    """A package `aiter` that has nothing but the files by which it is known."""
    for name, text in MARKS.items():
        file = root / "aiter" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root
