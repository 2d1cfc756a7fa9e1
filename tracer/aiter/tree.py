"""Where an aiter lies on disk: a path (or nothing) in, an `AiterTree` out that knows its layout, version and folders.

Nothing of aiter is imported. Files are named as in aiter's repository (`aiter/ops/...`, `csrc/...`, `hsa/...`), whether
the tree is an installed wheel (which keeps `csrc` and `hsa` in the package `aiter_meta`) or a source checkout.
"""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

import msgspec

from tracer.errors import SourceTreeError
from tracer.model.environment import SourceTree
from tracer.model.source import SourceRef

REPOSITORY = "https://github.com/ROCm/aiter"

#: files without which a folder named `aiter` is some other project
_MARKS = ("__init__.py", "jit/core.py", "jit/optCompilerConfig.json")
#: folders that the wheel keeps in `aiter_meta` and the repository at its top
_META = ("csrc", "hsa", "3rdparty", "gradlib")
_CK = "3rdparty/composable_kernel"
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_RELEASE = re.compile(r"\d+(?:\.\d+)*(?:rc\d+|\.post\d+)?")
_LOCAL_COMMIT = re.compile(r"\+g([0-9a-f]{7,40})\b")


class AiterTree(msgspec.Struct, frozen=True, kw_only=True):
    """One aiter on disk.

    Attributes:
        layout: "wheel" (csrc in `aiter_meta`) or "checkout" (csrc beside the package).
        version: what the installed distribution or `aiter/_version.py` states; None when neither does.
        commit: commit of the checkout, or the one that the version states (`+g<hash>`); None when not known.
        python_root: the folder that holds the package `aiter`.
        meta_root: the folder that holds `csrc`, `hsa` and `3rdparty`.
        ck_root: Composable Kernel's folder, or None when its headers are not there (submodule not fetched).
    """

    layout: str
    version: str | None
    commit: str | None
    python_root: Path
    meta_root: Path
    ck_root: Path | None

    @classmethod
    def find(cls, path: Path | None = None) -> AiterTree:
        """Finds an aiter.

        Args:
            path: a checkout, a site-packages folder, the package folder itself, or a virtual environment; None for the
                aiter that the running interpreter would import (PYTHONPATH included). It is not imported.

        Raises:
            SourceTreeError: nothing there, a broken aiter, or some other project.
        """
        package = _installed_package() if path is None else _package_at(Path(path))
        return _tree_of(package.resolve())

    @property
    def csrc_root(self) -> Path:
        """The folder of the C++ sources."""
        return self.meta_root / "csrc"

    @property
    def hsa_root(self) -> Path:
        """The folder of the assembly code objects, one subfolder a target."""
        return self.meta_root / "hsa"

    @property
    def configs_root(self) -> Path:
        """The folder of the shipped tuned CSVs."""
        return self.python_root / "aiter" / "configs"

    def absolute(self, relative: str) -> Path:
        """The place on disk of a file named as in aiter's repository. It need not exist."""
        head = relative.split("/", 1)[0]
        return (self.meta_root if head in _META else self.python_root) / relative

    def relative(self, path: str | Path) -> str | None:
        """The repository's name of a file of this tree, with forward slashes; None for a file outside it."""
        given = Path(path)
        for candidate in (given, given.resolve()):
            for root, heads in ((self.meta_root, _META), (self.python_root, ("aiter",))):
                if candidate.is_relative_to(root):
                    inside = candidate.relative_to(root)
                    if self.layout == "checkout" or (inside.parts and inside.parts[0] in heads):
                        return inside.as_posix()
        return None

    def permalink(self, relative: str, line: int | None = None, end_line: int | None = None) -> str | None:
        """The public address of a file at this tree's commit or release; None when neither is known.

        Files of the submodule 3rdparty/composable_kernel get none: its commit is not stated in the tree.
        """
        at = self.commit or _release_tag(self.version)
        if at is None or relative.startswith(_CK + "/"):
            return None
        lines = "" if line is None else f"#L{line}" + ("" if end_line is None else f"-L{end_line}")
        return f"{REPOSITORY}/blob/{at}/{relative}{lines}"

    def ref(self, relative: str, line: int | None = None, end_line: int | None = None) -> SourceRef:
        """A citation of a place in this tree."""
        return SourceRef(relative, line, "aiter", end_line, self.permalink(relative, line, end_line))

    def source_tree(self) -> SourceTree:
        """What a record says of this tree."""
        return SourceTree(
            name="aiter", version=self.version, commit=self.commit, layout=self.layout, repository=REPOSITORY
        )


def _installed_package() -> Path:
    try:
        spec = importlib.util.find_spec("aiter")  # a top-level name: found, not imported
    except ValueError:  # a half-made module of that name stands in sys.modules
        spec = None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        return Path(folder)
    raise SourceTreeError(
        "aiter is not installed for this Python",
        expected="an importable package `aiter`, or a checkout named with --aiter PATH",
        hint="pip install 'ktrace[dry]', or give --aiter PATH",
    )


def _package_at(path: Path) -> Path:
    if not path.exists():
        raise SourceTreeError(
            f"{path} does not exist", expected="a checkout of aiter or a folder that holds it", hint="check --aiter"
        )
    candidates = [path / "aiter", path, *sorted(path.glob("lib/python3*/site-packages/aiter"))]
    for candidate in candidates:
        if all((candidate / mark).is_file() for mark in _MARKS):
            return candidate
    for candidate in (path / "aiter", path):
        present = [mark for mark in _MARKS if (candidate / mark).is_file()]
        if len(present) > 1:
            missing = ", ".join(mark for mark in _MARKS if mark not in present)
            raise SourceTreeError(
                f"the aiter in {path} is broken: {missing} is missing",
                expected=f"the files {', '.join(_MARKS)} in the package",
                hint="install it again, or check out the files that are missing",
            )
    raise SourceTreeError(
        f"{path} holds no aiter",
        expected="a checkout of https://github.com/ROCm/aiter, or a site-packages folder with amd-aiter in it",
        hint="name the folder that contains aiter/__init__.py",
    )


def _tree_of(package: Path) -> AiterTree:
    missing = [mark for mark in _MARKS if not (package / mark).is_file()]
    if missing:
        raise SourceTreeError(
            f"the package {package} is not ROCm's aiter, or is broken: {', '.join(missing)} is missing",
            expected=f"the files {', '.join(_MARKS)}",
            hint="pip install amd-aiter (the name `aiter` alone is another project), or give --aiter PATH",
        )
    root = package.parent
    if (root / "aiter_meta" / "csrc").is_dir():
        layout, meta = "wheel", root / "aiter_meta"
    elif (root / "csrc").is_dir():
        layout, meta = "checkout", root
    else:
        raise SourceTreeError(
            f"the aiter in {root} has no C++ sources",
            expected=f"{root / 'aiter_meta' / 'csrc'} (wheel) or {root / 'csrc'} (checkout)",
            hint="install amd-aiter from its wheel again, or check out the whole repository",
        )
    version = _version(root, layout)
    ck = meta / _CK
    return AiterTree(
        layout=layout,
        version=version,
        commit=head_commit(root) if layout == "checkout" else _stated_commit(version),
        python_root=root,
        meta_root=meta,
        ck_root=ck if (ck / "include" / "ck").is_dir() else None,
    )


def _version(root: Path, layout: str) -> str | None:
    """The distribution's version for a wheel, else what `aiter/_version.py` states (setuptools-scm writes it)."""
    if layout == "wheel":
        for info in sorted(root.glob("amd_aiter-*.dist-info")):
            return info.name.removeprefix("amd_aiter-").removesuffix(".dist-info")
    try:
        text = (root / "aiter" / "_version.py").read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.search(r"^__version__\s*(?:[:=][^'\"]*)?['\"]([^'\"]+)['\"]", text, re.MULTILINE)
    return found.group(1) if found else None


def _stated_commit(version: str | None) -> str | None:
    found = _LOCAL_COMMIT.search(version) if version else None
    return found.group(1) if found else None


def _release_tag(version: str | None) -> str | None:
    """The tag of a release version (`0.1.7.post1` -> `v0.1.7.post1`); None for a development version."""
    return f"v{version}" if version and _RELEASE.fullmatch(version) else None


def head_commit(root: Path) -> str | None:
    """The commit that is checked out in `root`, read from git's own files without running git; None when not known."""
    git = root / ".git"
    try:
        if git.is_file():  # a worktree or submodule: "gitdir: PATH"
            pointer = git.read_text(encoding="utf-8").partition("gitdir:")[2].strip()
            git = (root / pointer).resolve()
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
    except OSError:
        return None
    if not head.startswith("ref:"):
        return head if _HASH.fullmatch(head) else None
    name = head.removeprefix("ref:").strip()
    shared = git
    if (git / "commondir").is_file():  # a worktree keeps its branches in the repository it belongs to
        shared = (git / (git / "commondir").read_text(encoding="utf-8").strip()).resolve()
    for folder in dict.fromkeys((git, shared)):
        loose = folder / name
        if loose.is_file():
            commit = loose.read_text(encoding="utf-8").strip()
            return commit if _HASH.fullmatch(commit) else None
    packed = shared / "packed-refs"
    if packed.is_file():
        for line in packed.read_text(encoding="utf-8", errors="replace").splitlines():
            commit, _, ref = line.partition(" ")
            if ref == name and _HASH.fullmatch(commit):
                return commit
    return None


def default_environment() -> dict[str, str]:
    """The environment variables of this process that decide what aiter does."""
    return {k: v for k, v in os.environ.items() if k.startswith("AITER_") or k in ("GPU_ARCHS", "CU_NUM", "CK_DIR")}
