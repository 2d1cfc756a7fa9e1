"""Runs aiter's own generator scripts, for tests that hold what ktrace evaluates against what they write."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

#: runs a script with its folder on the path, and a module that answers which GPU there is
START = """
import runpy, sys, types
chip, arch, script = types.ModuleType("chip_info"), sys.argv[1], sys.argv[2]
chip.get_gfx = lambda: arch
chip.get_gfx_list = lambda: [arch]
sys.modules["chip_info"] = chip
sys.path.insert(0, script.rpartition("/")[0])
sys.argv = sys.argv[2:]
runpy.run_path(script, run_name="__main__")
"""


def run_generator(script: Path, arch: str, options: Sequence[str], folder: Path) -> dict[str, str]:
    """What a script writes into a folder, by file name. Only the question for the GPU is answered in its place."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", START, arch, str(script), *options]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return {path.name: path.read_text() for path in folder.rglob("*") if path.is_file()}
