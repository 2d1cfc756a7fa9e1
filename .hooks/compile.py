"""Compiles the package's .pyx modules when it is installed or built; goes without them where that fails."""

from __future__ import annotations

import contextlib
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
    compiled = [source.with_name(source.stem + sysconfig.get_config_var("EXT_SUFFIX")) for source in sources]
    try:
        _remove(root, compiled)
        _compile(sources)
    except Exception as error:  # noqa: BLE001 - compilers fail in many ways, and none is a reason not to install
        print(f"ktrace goes without compiled modules: {error}", file=sys.stderr)
    if all((root / path).exists() for path in compiled):
        return compiled
    with contextlib.suppress(OSError):
        _remove(root, compiled)
    return []


def _compile(sources: list[Path]) -> None:
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    flags = ["-O3", "-g0"]
    modules = [
        Extension(".".join(source.with_suffix("").parts), [str(source)], extra_compile_args=flags) for source in sources
    ]
    with tempfile.TemporaryDirectory() as scratch:
        distribution = Distribution({"ext_modules": cythonize(modules, build_dir=scratch, quiet=True)})
        command = distribution.get_command_obj("build_ext")
        # nothing that an earlier build left is taken for something that this one made
        command.inplace, command.build_temp, command.build_lib = True, scratch, f"{scratch}/lib"
        command.ensure_finalized()
        command.run()


def _remove(root: Path, compiled: list[Path]) -> None:
    for path in compiled:
        (root / path).unlink(missing_ok=True)
