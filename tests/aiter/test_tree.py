"""Finding an aiter on disk."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.aiter.conftest import write_package
from tracer.aiter.tree import REPOSITORY, AiterTree, head_commit
from tracer.errors import SourceTreeError

COMMIT = "e4048607a535ace3a2b51ded31b1c8c2d45c0879"


def checkout(root: Path) -> Path:
    write_package(root)
    (root / "csrc").mkdir()
    (root / "hsa").mkdir()
    return root


def wheel_like(root: Path, version: str = "0.1.7.post2.dev18") -> Path:
    write_package(root)
    (root / "aiter_meta" / "csrc").mkdir(parents=True)
    (root / f"amd_aiter-{version}.dist-info").mkdir()
    return root


def git(root: Path, head: str, **files: str) -> Path:
    folder = root / ".git"
    folder.mkdir()
    (folder / "HEAD").write_text(head)
    for name, text in files.items():
        (folder / name.replace("packed_refs", "packed-refs")).write_text(text)
    return folder


def test_a_wheel_keeps_its_csrc_in_aiter_meta_but_is_named_as_in_the_repository(tmp_path: Path) -> None:
    tree = AiterTree.find(wheel_like(tmp_path))
    assert (tree.layout, tree.version, tree.commit) == ("wheel", "0.1.7.post2.dev18", None)
    assert tree.absolute("csrc/a.cu") == tmp_path / "aiter_meta" / "csrc" / "a.cu"
    assert tree.absolute("aiter/ops/a.py") == tmp_path / "aiter" / "ops" / "a.py"
    assert tree.relative(tmp_path / "aiter_meta" / "csrc" / "a.cu") == "csrc/a.cu"
    assert tree.relative(tmp_path / "aiter" / "ops" / "a.py") == "aiter/ops/a.py"
    assert tree.relative(tmp_path / "torch" / "a.py") is None


def test_a_checkout_has_one_root(tmp_path: Path) -> None:
    tree = AiterTree.find(checkout(tmp_path))
    assert (tree.layout, tree.version, tree.ck_root) == ("checkout", None, None)
    assert tree.relative(tree.csrc_root / "a.cu") == "csrc/a.cu"
    assert tree.relative(tmp_path / "op_tests" / "t.py") == "op_tests/t.py"


def test_the_package_folder_itself_and_a_virtual_environment_are_accepted(tmp_path: Path) -> None:
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    wheel_like(site)
    assert AiterTree.find(tmp_path).python_root == site
    assert AiterTree.find(site / "aiter").python_root == site


def test_the_running_interpreters_aiter_is_found_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel_like(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert AiterTree.find().python_root == tmp_path
    assert "aiter" not in sys.modules


@pytest.mark.parametrize(
    ("head", "files", "commit"),
    [
        (COMMIT, {}, COMMIT),
        ("ref: refs/heads/main\n", {"packed_refs": f"# pack-refs with: peeled\n{COMMIT} refs/heads/main\n"}, COMMIT),
        ("ref: refs/heads/gone\n", {}, None),
        ("nonsense", {}, None),
    ],
)
def test_the_commit_is_read_from_gits_files(tmp_path: Path, head: str, files: dict[str, str], commit: str) -> None:
    git(tmp_path, head, **files)
    assert head_commit(tmp_path) == commit


def test_a_loose_branch_wins_over_a_packed_one(tmp_path: Path) -> None:
    folder = git(tmp_path, "ref: refs/heads/main", packed_refs=f"{'0' * 40} refs/heads/main\n")
    (folder / "refs" / "heads").mkdir(parents=True)
    (folder / "refs" / "heads" / "main").write_text(COMMIT + "\n")
    assert head_commit(tmp_path) == COMMIT


def test_a_worktree_finds_its_branch_in_the_repository_it_belongs_to(tmp_path: Path) -> None:
    repository, tree = tmp_path / "repository", tmp_path / "tree"
    repository.mkdir()
    tree.mkdir()
    folder = git(repository, "ref: refs/heads/main", packed_refs=f"{COMMIT} refs/heads/work\n")
    own = folder / "worktrees" / "tree"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/work\n")
    (own / "commondir").write_text("../..\n")
    (tree / ".git").write_text(f"gitdir: {own}\n")
    assert head_commit(tree) == COMMIT


def test_a_permalink_needs_a_commit_or_a_release(tmp_path: Path) -> None:
    root = checkout(tmp_path / "checkout")
    git(root, COMMIT)
    assert AiterTree.find(root).permalink("csrc/a.cu", 3) == f"{REPOSITORY}/blob/{COMMIT}/csrc/a.cu#L3"
    release = AiterTree.find(wheel_like(tmp_path / "release", "0.1.7.post1"))
    assert release.permalink("csrc/a.cu", 3, 5) == f"{REPOSITORY}/blob/v0.1.7.post1/csrc/a.cu#L3-L5"
    development = AiterTree.find(wheel_like(tmp_path / "development"))
    assert development.permalink("csrc/a.cu", 3) is None
    local = AiterTree.find(wheel_like(tmp_path / "local", "0.1.9.dev3+gabcdef12.d20260101"))
    assert local.permalink("csrc/a.cu") == f"{REPOSITORY}/blob/abcdef12/csrc/a.cu"
    assert release.permalink("3rdparty/composable_kernel/include/ck/ck.hpp") is None


@pytest.mark.parametrize("what", ["missing", "other project", "no sources", "broken"])
def test_what_is_no_usable_aiter_is_refused_with_the_next_step(tmp_path: Path, what: str) -> None:
    path = tmp_path / "given"
    if what == "other project":
        path.mkdir()
        (path / "setup.py").write_text("")
    elif what == "no sources":
        write_package(path)
    elif what == "broken":
        checkout(path)
        (path / "aiter" / "jit" / "core.py").unlink()
    with pytest.raises(SourceTreeError) as caught:
        AiterTree.find(path)
    assert str(path) in caught.value.message
    assert caught.value.hint


def test_the_installed_wheel_has_its_composable_kernel_headers(wheel: AiterTree) -> None:
    assert wheel.ck_root is not None
    assert wheel.absolute("csrc/pybind/gemm_a8w8_blockscale_pybind.cu").is_file()
    assert wheel.source_tree().version == wheel.version


def test_a_checkout_of_main_states_its_commit(main_tree: AiterTree) -> None:
    assert main_tree.layout == "checkout"
    assert main_tree.commit is not None
    assert len(main_tree.commit) == 40
