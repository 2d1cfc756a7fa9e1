"""Compiles the package's .pyx modules when it is installed or built; goes without them where that fails."""

from __future__ import annotations

import contextlib
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledModules(BuildHookInterface):
    """Hatch's build hook."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compiles, and adds what came of it to the wheel."""
        if self.target_name != "wheel":
            return
        compiled = compile_modules(Path(self.root))
        if compiled:
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["artifacts"] += [f"/{path.as_posix()}" for path in compiled]
        else:
            self.app.display_warning("ktrace was not compiled (no C compiler?): importing traces will take longer")


def compile_modules(root: Path) -> list[Path]:
    """Compiles every .pyx file of the package, beside itself, for the Python that runs this.

    Returns:
        Paths of the compiled modules, relative to `root`; none where not all could be compiled, and then none is left.
    """
    sources = [path.relative_to(root) for path in sorted(root.glob("tracer/**/*.pyx"))]
    places = [source.with_name(source.stem + sysconfig.get_config_var("EXT_SUFFIX")) for source in sources]
    with tempfile.TemporaryDirectory() as scratch:
        try:
            with contextlib.chdir(root):
                _compile(sources, scratch)
            for place in places:
                shutil.copy(Path(scratch, "lib", place), root / place)
        except Exception as error:  # noqa: BLE001 - compilers fail in many ways, and none is a reason not to install
            print(f"ktrace goes without compiled modules: {error}", file=sys.stderr)
        else:
            return places
    for place in places:
        with contextlib.suppress(OSError):
            (root / place).unlink()
    return []


def _compile(sources: list[Path], scratch: str) -> None:
    """Compiles modules below the working folder into `lib` of another one."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    flags = ["-O3", "-g0"]
    modules = [
        Extension(".".join(source.with_suffix("").parts), [str(source)], extra_compile_args=flags) for source in sources
    ]
    distribution = Distribution({"ext_modules": cythonize(modules, build_dir=scratch, quiet=True)})
    command = distribution.get_command_obj("build_ext")
    command.build_temp, command.build_lib = scratch, f"{scratch}/lib"
    command.ensure_finalized()
    command.run()
