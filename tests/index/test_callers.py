"""Names of what can lead to a function, by words alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.index.mini import write_mini
from tracer.aiter.tree import AiterTree
from tracer.index.callers import callers
from tracer.index.tree_index import TreeIndex

FILE = "csrc/kernels/norm.cu"


def _callers(tmp_path: Path, text: str) -> frozenset[str] | None:
    root = write_mini(tmp_path / "mini")
    (root / FILE).write_text(text)
    return callers(TreeIndex(AiterTree.find(root), tmp_path / "cache"), "work", [FILE])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("void one() { work(); }\nvoid two() { one(); }\nvoid other() { works(); }\n", {"one", "two"}),
        ("#define GO(n) \\\n    work<n>()\nvoid one() { GO(1); }\nvoid other() {}\n", {"GO", "one"}),
        ("#define NAME work\nvoid one() { NAME(); }\n", {"NAME", "one"}),
        ("#define G(n) wo##n();\nvoid one() { G(rk) }\n#define NO(n) n##_it();\nvoid no() { NO(a) }\n", {"G", "one"}),
        ("struct Box { Box() { work(); } };\nusing B = Box;\nvoid one() { B b(1); }\n", {"Box", "B", "one"}),
        ("void one() {\n    auto f = [] { work(); };\n}\n", {"one"}),
    ],
)  # fmt: skip
def test_a_function_is_reached_by_what_names_it_or_pastes_its_name(tmp_path: Path, text: str, found: set[str]) -> None:
    assert _callers(tmp_path, text) == {"work", *found}


def test_so_many_names_that_they_tell_nothing_are_none(tmp_path: Path) -> None:
    assert _callers(tmp_path, "".join(f"void f{i}() {{ work(); }}\n" for i in range(200))) is None
