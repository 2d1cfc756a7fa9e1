"""Shapes as people type them, and what is said of those that can't be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracer.errors import UsageError
from tracer.ops.base import LARGEST_EXTENT
from tracer.ops.registry import get_op
from tracer.ops.shapes import parse_shape, read_shapes

OP = get_op("gemm_a8w8_blockscale")


@pytest.mark.parametrize(
    "text", ["128,1536,7168", "M=128,N=1536,K=7168", "k=7168, n=1536, m=128", " 128 , 1536 , 7168 "]
)
def test_every_spelling_gives_the_same_shape_in_the_ops_order(text: str) -> None:
    shape = parse_shape(OP, text)
    assert list(shape.items()) == [("M", 128), ("N", 1536), ("K", 7168)]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("128,1536", "has 2 values"),
        ("1,2,3,4", "has 4 values"),
        ("0,1536,7168", "M=0"),
        ("-1,1536,7168", "M=-1"),
        ("a,1536,7168", "'a'"),
        ("1.5,1536,7168", "'1.5'"),
        ("1_28,1536,7168", "'1_28'"),
        ("１２８,1536,7168", "'１２８'"),
        (f"{LARGEST_EXTENT + 1},1536,7168", "absurdly large"),
        ("128,1536,100", "multiple of 128"),
        ("M=1,N=2,Q=3", "'Q'"),
        ("M=1,M=2,K=128", "'M'"),
        ("M=1,N=2", "lacks K"),
        ("", "has 1 values"),
    ],
)
def test_a_shape_that_cannot_be_is_refused_by_name(text: str, part: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_shape(OP, text)
    assert part in caught.value.message
    assert caught.value.expected


def test_the_nearest_multiple_is_offered() -> None:
    with pytest.raises(UsageError) as caught:
        parse_shape(OP, "128,1536,7000")
    assert caught.value.hint == "the nearest is K=7040"


def test_a_csv_of_shapes_gives_its_rows_in_order(tmp_path: Path) -> None:
    path = tmp_path / "shapes.csv"
    path.write_text("N,K,M,note\n1536,7168,1,first\n1536,7168,2,second\n", encoding="utf-8")
    assert [s["M"] for s in read_shapes(OP, [f"@{path}", "3,1536,7168"])] == [1, 2, 3]


def test_columns_of_a_csv_that_are_no_dimension_are_handed_out(tmp_path: Path) -> None:
    path = tmp_path / "shapes.csv"
    path.write_text("cu_num,M,n,K, us ,\n304,1,1536,7168,8.5,\n\n80,2,1536,7168,9.5,\n", encoding="utf-8")
    unread: list[tuple[Path, list[str]]] = []
    assert [s["M"] for s in read_shapes(OP, [f"@{path}"], lambda *found: unread.append(found))] == [1, 2]
    assert unread == [(path, ["cu_num", "us"])]


def test_a_csv_of_dimensions_alone_hands_out_nothing(tmp_path: Path) -> None:
    path = tmp_path / "shapes.csv"
    path.write_text("M,N,K\n1,1536,7168\n", encoding="utf-8")
    read_shapes(OP, [f"@{path}"], lambda *found: pytest.fail(str(found)))


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("M,N,K\n1,1536,7168,8.5\n", r"shapes\.csv:2: the row has 4 values"),
        ("M,N,K\n1,1536\n", r"shapes\.csv:2: .*''"),
        ("M,N,K,m\n1,1536,7168,2\n", "the column M twice"),
    ],
)
def test_a_csv_whose_values_have_no_one_column_is_refused(tmp_path: Path, content: str, part: str) -> None:
    path = tmp_path / "shapes.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=part):
        read_shapes(OP, [f"@{path}"])


def test_a_bad_row_is_named_by_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "shapes.csv"
    path.write_text("M,N,K\n1,1536,7168\n1,1536,7\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"shapes\.csv:3: .*K=7"):
        read_shapes(OP, [f"@{path}"])


@pytest.mark.parametrize("content", ["M,N\n1,2\n", ""])
def test_a_csv_without_a_column_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "shapes.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match="lacks the column"):
        read_shapes(OP, [f"@{path}"])


def test_a_csv_without_rows_is_named(tmp_path: Path) -> None:
    path = tmp_path / "shapes.csv"
    path.write_text("M,N,K\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"shapes\.csv has a header and no rows"):
        read_shapes(OP, [f"@{path}", "1,1536,7168"])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing\.csv"):
        read_shapes(OP, [f"@{tmp_path}/nothing.csv"])


def test_no_shape_at_all_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="no shape"):
        read_shapes(OP, [])


@pytest.mark.parametrize(
    ("name", "called"),
    [("aiter.ops.activation.silu_and_mul", "aiter.ops.activation:silu_and_mul"), ("zzz", "aiter:zzz")],
)
def test_a_function_that_is_no_op_is_offered_as_a_callable(name: str, called: str) -> None:
    with pytest.raises(UsageError) as caught:
        get_op(name)
    assert called in (caught.value.hint or "")


def test_an_unknown_op_offers_the_nearest_names() -> None:
    with pytest.raises(UsageError) as caught:
        get_op("gemm_a8w8_blockscal")
    assert "gemm_a8w8_blockscale" in (caught.value.hint or "")
    assert "gemm_a8w8_blockscale" not in (caught.value.expected or "")  # it is not the only one that would do
