"""Compiles the package's .pyx modules when it is installed or built; goes without them where that fails."""

from __future__ import annotations

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
    """Compiles every .pyx file of the package, beside itself.

    Returns:
        Paths of the compiled modules, relative to `root`; none where not all could be compiled.
    """
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    sources = [path.relative_to(root) for path in sorted(root.glob("tracer/**/*.pyx"))]
    for source in sources:
        for left in (root / source.parent).glob(f"{source.stem}.*.so"):
            left.unlink()
    with tempfile.TemporaryDirectory() as scratch:
        flags = ["-O3", "-g0"]
        modules = [
            Extension(".".join(source.with_suffix("").parts), [str(source)], extra_compile_args=flags, optional=True)
            for source in sources
        ]
        distribution = Distribution({"ext_modules": cythonize(modules, build_dir=scratch, quiet=True)})
        command = distribution.get_command_obj("build_ext")
        command.inplace, command.build_temp = True, scratch
        command.ensure_finalized()
        command.run()
    compiled = [path for source in sources for path in (root / source.parent).glob(f"{source.stem}.*.so")]
    if len(compiled) < len(sources):
        for path in compiled:
            path.unlink()
        return []
    return [path.relative_to(root) for path in compiled]
