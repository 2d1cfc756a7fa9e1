"""The enums are those of the C++ headers: read here, compiled there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tracer.aiter.tree import AiterTree
from tracer.capture.boundary import Boundary
from tracer.capture.enums import read_enums, tree_enums
from tracer.capture.values import Values
from tracer.errors import SourceTreeError


def test_values_count_on_from_the_last_one_given() -> None:
    text = "enum class A : int { No = -1, /* skipped */ First, // one\n Ninth = 0x9, Tenth };\nenum B { X, Y, };"
    assert read_enums(text) == {"A": {"No": -1, "First": 0, "Ninth": 9, "Tenth": 10}, "B": {"X": 0, "Y": 1}}


def test_a_value_that_is_no_number_is_an_error() -> None:
    with pytest.raises(SourceTreeError, match="gives B the value 'A \\+ 1'"):
        read_enums("enum class E { A, B = A + 1 };")


def test_a_tree_without_the_header_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceTreeError, match="ActivationType and QuantType"):
        tree_enums(tmp_path)


def compiled(tree: AiterTree, folder: Path) -> dict[str, dict[str, int]]:
    """What g++ says the values are."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is not there")
    enums = tree_enums(tree.csrc_root)
    header = tree.csrc_root / "include" / "aiter_enum.h"
    declared = read_enums(header.read_text())
    lines = [
        f'std::printf("{name} {member} %d\\n", (int){name}::{member});' for name in declared for member in enums[name]
    ]
    source = f'#include <cstdio>\n#include "{header}"\nint main() {{ {" ".join(lines)} }}\n'
    (folder / "enums.cpp").write_text(source)
    subprocess.run(["g++", "-std=c++17", "-o", str(folder / "enums"), str(folder / "enums.cpp")], check=True)
    found: dict[str, dict[str, int]] = {}
    for line in subprocess.run([str(folder / "enums")], capture_output=True, text=True, check=True).stdout.splitlines():
        name, member, value = line.split()
        found.setdefault(name, {})[member] = int(value)
    return found


def test_the_values_read_are_the_values_compiled_for_the_wheel(needs_wheel: None, tmp_path: Path) -> None:
    tree = AiterTree.find()
    found = compiled(tree, tmp_path)
    assert found["QuantType"]["per_1x128"] == 4
    assert found == {name: tree_enums(tree.csrc_root)[name] for name in found}


def test_the_values_read_are_the_values_compiled_for_main(aiter_main: Path, tmp_path: Path) -> None:
    tree = AiterTree.find(aiter_main)
    found = compiled(tree, tmp_path)
    assert found == {name: tree_enums(tree.csrc_root)[name] for name in found}


def test_python_sees_them_as_pybind_exports_them() -> None:
    boundary = Boundary({"QuantType": {"No": 0, "per_1x128": 4}}, "/nowhere", lambda _: None, lambda: 0, Values())
    kind = boundary.member("module_aiter_enum", "QuantType")
    assert type(kind(0)) is kind
    assert (kind.per_1x128.value, kind.per_1x128.name, kind(4)) == (4, "per_1x128", kind.per_1x128)
    assert kind.__doc__.startswith("Members:")


def test_their_text_is_pybinds_by_which_aiter_names_modules() -> None:
    boundary = Boundary({"QuantType": {"No": 0, "per_1x128": 4}}, "/nowhere", lambda _: None, lambda: 0, Values())
    kind = boundary.member("module_aiter_enum", "QuantType")
    assert (str(kind(4)), f"{kind.No}") == ("QuantType.per_1x128", "QuantType.No")
