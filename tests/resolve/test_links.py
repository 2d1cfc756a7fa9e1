"""Permalinks: a commit or a released tag, and nothing where neither is known."""

from __future__ import annotations

import pytest

from tracer.model.environment import SourceTree
from tracer.model.source import SourceRef
from tracer.resolve.links import linked, permalink

AITER = "https://github.com/ROCm/aiter"
TORCH = "https://github.com/pytorch/pytorch"
TRITON = "https://github.com/triton-lang/triton"


@pytest.mark.parametrize(
    ("ref", "tree", "address"),
    [
        (
            SourceRef("aiter/ops/quant.py", 216, "aiter"),
            SourceTree(name="aiter", version="0.1.9", commit="0123abcd", repository=AITER),
            f"{AITER}/blob/0123abcd/aiter/ops/quant.py#L216",
        ),
        (
            SourceRef("torch/_ops.py", 1267, "torch"),
            SourceTree(name="torch", version="2.13.0+cpu", repository=TORCH),
            f"{TORCH}/blob/v2.13.0/torch/_ops.py#L1267",
        ),
        (
            SourceRef("triton/runtime/jit.py", 695, "triton", 700),
            SourceTree(name="triton", version="3.6.0", repository=TRITON),
            f"{TRITON}/blob/v3.6.0/python/triton/runtime/jit.py#L695-L700",
        ),
        # a development version has no tag
        (
            SourceRef("aiter/ops/quant.py", 216, "aiter"),
            SourceTree(name="aiter", version="0.1.7.post2.dev18", repository=AITER),
            None,
        ),
        (
            SourceRef("torch/_ops.py", 1, "torch"),
            SourceTree(name="torch", version="2.9.0a0+git1234567", repository=TORCH),
            None,
        ),
        (SourceRef("torch/_ops.py", 1, "torch"), SourceTree(name="torch", version="2.13.0"), None),
        (SourceRef("<string>", 2, "torch"), SourceTree(name="torch", version="2.13.0", repository=TORCH), None),
        (SourceRef("mine/a.py", 2, "mine"), SourceTree(name="torch", version="2.13.0", repository=TORCH), None),
    ],
)
def test_a_place_has_an_address_where_its_revision_is_known(
    ref: SourceRef, tree: SourceTree, address: str | None
) -> None:
    assert permalink(ref, (tree,)) == address


def test_a_permalink_that_is_there_is_kept() -> None:
    tree = SourceTree(name="aiter", commit="abc", repository=AITER)
    ref = SourceRef("a.py", 1, "aiter", permalink="https://example.org/a.py#L1")
    assert linked(ref, (tree,)) is ref
    assert linked(None, (tree,)) is None


def test_odd_characters_of_a_path_are_quoted() -> None:
    tree = SourceTree(name="aiter", commit="abc", repository=AITER)
    assert permalink(SourceRef("a b/c#d.py", 1, "aiter"), (tree,)) == f"{AITER}/blob/abc/a%20b/c%23d.py#L1"
