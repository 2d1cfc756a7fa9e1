"""The versions ktrace is made for: a package's name and version in, whether it is inside the supported range out.

The same ranges stand in pyproject.toml for installers; a test keeps the two together.
"""

from __future__ import annotations

import importlib.metadata
import platform

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

#: ktrace's own version; the packaging file reads it from here
__version__ = "0.1.0"

#: what ktrace runs with; a version outside is refused by `doctor` and by captures
SUPPORTED = {
    "python": SpecifierSet(">=3.11,<3.14"),
    "torch": SpecifierSet(">=2.8,<2.15"),
    "triton": SpecifierSet(">=3.4,<3.10"),
    "amd-aiter": SpecifierSet("==0.1.7.post2.dev18", prereleases=True),
}


def installed_version(package: str) -> str | None:
    """The version of an installed distribution, or None; "python" is the running interpreter."""
    if package == "python":
        return platform.python_version()
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def is_supported(package: str, version: str) -> bool:
    """Whether `version` of `package` lies in the supported range; local suffixes such as +rocm6.4 don't matter."""
    try:
        return SUPPORTED[package].contains(Version(version).public, prereleases=True)
    except InvalidVersion:
        return False


def ktrace_version() -> str:
    """The version of ktrace itself, installed or run from a checkout."""
    return __version__
